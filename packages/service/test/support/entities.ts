/** Short ways to say in a test which entity is written and which was found. */
import { strict as assert } from 'node:assert'
import {
  compareKeys,
  type EntityKey,
  everything,
  type KeyRange,
  type PartitionKey,
  parsePartitionKey,
  parseRowKey,
  successor,
} from '../../src/model/keys.ts'
import type { Condition, Mutation } from '../../src/model/mutation.ts'
import { encodeContent, keysText, type Property } from '../../src/model/content.ts'
import { type EntityRecord, keyOf, propertiesOf, recordAt, versionOf } from '../../src/model/record.ts'
import { recordAlone, type Records } from '../../src/model/records.ts'
import type { TableId } from '../../src/model/table.ts'
import type { Value } from '../../src/model/values.ts'
import type { Version } from '../../src/model/version.ts'
import type { CommitOutcome, Store, Visit } from '../../src/store/store.ts'

export type Properties = Readonly<Record<string, Value>>

export const any: Condition = { kind: 'any' }
export const absent: Condition = { kind: 'absent' }
export const present: Condition = { kind: 'present' }

export function at(version: Version): Condition {
  return { kind: 'version', version }
}

export function keyAt(partition: string, row: string): EntityKey {
  return { partition: parsePartitionKey(partition), row: parseRowKey(row) }
}

/** All rows of a partition. */
export function wholePartition(partition: PartitionKey): KeyRange {
  return { from: { partition, row: '' }, until: { partition: successor(partition), row: '' } }
}

export function text(value: string): Value {
  return { type: 'Edm.String', value }
}

export function int32(value: number): Value {
  return { type: 'Edm.Int32', value }
}

export function binary(bytes: number): Value {
  return { type: 'Edm.Binary', value: Buffer.alloc(bytes, 0xa5) }
}

export function listOf(properties: Properties): Property[] {
  return Object.entries(properties).map(([name, value]) => ({ name, value }))
}

export function put(key: EntityKey, properties: Properties = {}, when: Condition = any): Mutation {
  return change('put', key, properties, when)
}

export function merge(key: EntityKey, properties: Properties = {}, when: Condition = any): Mutation {
  return change('merge', key, properties, when)
}

export function remove(key: EntityKey, when: Condition = present): Mutation {
  return { kind: 'remove', row: key.row, when }
}

function change(kind: 'put' | 'merge', key: EntityKey, properties: Properties, when: Condition): Mutation {
  return { kind, row: key.row, when, keys: keysText(key), content: encodeContent(listOf(properties)) }
}

/** Commits mutations that must all be accepted, and returns their versions. */
export async function commit(
  store: Store,
  table: TableId,
  partition: string,
  mutations: readonly Mutation[],
): Promise<readonly Version[]> {
  const outcome = await store.commit(table, parsePartitionKey(partition), mutations)
  if (outcome.kind !== 'committed') throw new Error(`not committed: ${shown(outcome)}`)
  return outcome.versions
}

/** Puts one entity and returns its version. */
export async function putOne(
  store: Store,
  table: TableId,
  key: EntityKey,
  properties: Properties = {},
): Promise<Version> {
  const [version] = await commit(store, table, key.partition, [put(key, properties)])
  if (version === undefined) throw new Error('a commit answered without a version')
  return version
}

/** An outcome in words, without its versions. */
export function shown(outcome: CommitOutcome): string {
  return outcome.kind === 'refused' ? `${outcome.index}: ${outcome.reason}` : outcome.kind
}

/** All that is known of an entity, ready to be compared. */
export interface Seen {
  readonly key: EntityKey
  readonly version: Version
  readonly properties: readonly Property[]
}

export function seen(record: EntityRecord): Seen {
  return { key: keyOf(record), version: versionOf(record), properties: propertiesOf(record) }
}

/** A visitor that looks at records one by one. */
export function eachRecord(visit: (record: EntityRecord) => ReturnType<Visit>): Visit {
  return ({ bytes, starts, count }) => {
    for (const at of starts.subarray(0, count)) {
      const goOn = visit(recordAt(bytes, at))
      if (goOn !== 'next') return goOn
    }
    return 'next'
  }
}

/** Records as a scan meets them: in one buffer, with other bytes between them. */
export function recordsTogether(records: readonly EntityRecord[], around = ''): Records {
  const padding = Buffer.from(around)
  const bytes = Buffer.concat([padding, ...records.flatMap((record) => [record, padding])])
  const starts = new Int32Array(records.length)
  let at = padding.length
  for (const [index, record] of records.entries()) {
    starts[index] = at
    at += record.length + padding.length
  }
  return { ...recordAlone(bytes), starts, count: records.length }
}

/** Copies of all records of a table, or of some ranges of it. */
export async function recordsOf(
  store: Store,
  table: TableId,
  ranges: readonly KeyRange[] = [everything],
): Promise<EntityRecord[]> {
  const records: EntityRecord[] = []
  const visit = eachRecord((record) => {
    records.push(Buffer.from(record))
    return 'next'
  })
  await store.scan(table, ranges, visit)
  return records
}

export async function keysOf(
  store: Store,
  table: TableId,
  ranges: readonly KeyRange[] = [everything],
): Promise<EntityKey[]> {
  return (await recordsOf(store, table, ranges)).map(keyOf)
}

export function sorted(keys: readonly EntityKey[]): EntityKey[] {
  return keys.toSorted(compareKeys)
}

/** Compares records byte for byte, and says only which differ: a diff of bytes tells nobody anything. */
export function assertSame(
  actual: readonly (EntityRecord | undefined)[],
  expected: readonly (EntityRecord | undefined)[],
): void {
  assert.deepEqual(actual.map(named), expected.map(named))
  for (const [i, record] of actual.entries()) {
    const other = expected[i]
    if (record === undefined || other === undefined) continue
    assert(record.equals(other), `the bytes of ${named(record)} differ`)
  }
}

function named(record: EntityRecord | undefined): string {
  if (record === undefined) return 'nothing'
  return `${JSON.stringify(keyOf(record))} at ${versionOf(record)}, ${record.length} bytes`
}

/** The value of one property, or undefined. */
export function valueIn(record: EntityRecord | undefined, name: string): Value['value'] | undefined {
  if (record === undefined) return undefined
  return propertiesOf(record).find((property) => property.name === name)?.value.value
}

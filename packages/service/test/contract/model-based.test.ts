/** Random histories, run against memory and LMDB alike: after every step both must show the same. */
import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import * as fc from 'fast-check'
import {
  compareKeys,
  type EntityKey,
  everything,
  type KeyPosition,
  type KeyRange,
  parsePartitionKey,
  successor,
} from '../../src/model/keys.ts'
import type { Condition, Mutation } from '../../src/model/mutation.ts'
import type { Property } from '../../src/model/content.ts'
import { type EntityRecord, keyOf, versionOf } from '../../src/model/record.ts'
import {
  type AccountName,
  catalogue,
  parseTableName,
  partitionOfAccount,
  type TableId,
} from '../../src/model/table.ts'
import type { Version } from '../../src/model/version.ts'
import { catalogueEntryOf } from '../../src/store/catalogue.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import type { CommitOutcome, Store } from '../../src/store/store.ts'
import {
  absent,
  any,
  at,
  eachRecord,
  int32,
  keyAt,
  merge,
  present,
  type Properties,
  put,
  recordsOf,
  remove,
  seen,
  text,
  wholePartition,
} from '../support/entities.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

/** The first two are one name in two cases. */
const names = ['aaa', 'AAA', 'aab', 'bbb'].map(parseTableName)
const partitions = ['', 'p', 'p!', '\ud83d\ude00']
const rows = ['', 'a', 'ab', 'b', '\ud800', '\uffff', 'c', 'd', 'e', 'f', 'g', 'h']

type Step =
  | { readonly kind: 'create' | 'drop'; readonly name: number }
  /** Several at once are asked without waiting for one another. */
  | { readonly kind: 'commits'; readonly name: number; readonly groups: readonly Group[] }
  | {
      readonly kind: 'scan'
      readonly name: number
      readonly bounds: readonly KeyPosition[]
      readonly turns: readonly Turn[]
    }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'clock'; readonly move: bigint }

interface Group {
  readonly partition: number
  readonly changes: readonly Change[]
}

interface Change {
  readonly kind: Mutation['kind']
  readonly row: number
  readonly when: 'any' | 'absent' | 'present' | 'current' | 'former'
  readonly properties: Properties
}

/** What a visitor answers: to go on, to stop, or to go to a place if that lies ahead. */
type Turn = 'next' | 'stop' | KeyPosition

const position: fc.Arbitrary<KeyPosition> = fc.record({
  partition: fc.oneof(fc.constantFrom(...partitions), fc.constantFrom(...partitions.map(successor))),
  row: fc.oneof(fc.constantFrom(...rows), fc.constantFrom(...rows.map(successor))),
})

const value = fc.oneof(
  fc.integer({ min: -5, max: 5 }).map(int32),
  fc.string({ unit: 'binary', maxLength: 5 }).map(text),
  fc.bigInt({ min: -5n, max: 5n }).map((number) => ({ type: 'Edm.Int64' as const, value: number })),
  fc.constant({ type: 'Edm.Double' as const, value: Number.NaN }),
)

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('put', 'merge', 'remove'),
  row: fc.nat(rows.length - 1),
  when: fc.constantFrom('any', 'any', 'any', 'absent', 'present', 'current', 'former'),
  properties: fc.dictionary(fc.constantFrom('a', 'b', 'B', '\u00e9', 'z'), value, {
    maxKeys: 4,
    noNullPrototype: true,
  }),
})

const group: fc.Arbitrary<Group> = fc.record({
  partition: fc.nat(partitions.length - 1),
  changes: fc.uniqueArray(change, { minLength: 1, maxLength: 10, selector: ({ row }) => row }),
})

const name = fc.nat(names.length - 1)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), name }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('commits' as const),
      name,
      groups: fc.array(group, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('scan' as const),
      name,
      bounds: fc.uniqueArray(position, { maxLength: 5, comparator: (a, b) => compareKeys(a, b) === 0 }),
      turns: fc.array(
        fc.oneof(
          { weight: 4, arbitrary: fc.constant('next' as const) },
          fc.constant('stop' as const),
          position,
        ),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clock' as const), move: fc.bigInt({ min: -50n, max: 50n }) }),
  },
)

it('memory and lmdb cannot be told apart by any history', { timeout: 120_000 }, async () => {
  const path = await temporaryFolder()
  const clock = testClock()
  const memory = openMemoryStore({ clock: clock.read })
  let lmdb = await openLmdbStore({ path, clock: clock.read })
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
      const account = `run${++runs}` as AccountName
      const sides = [history(account), history(account)] as const
      for (const [i, next] of steps.entries()) {
        if (next.kind === 'clock') clock.move(next.move)
        if (next.kind === 'reopen') {
          await lmdb.close()
          lmdb = await openLmdbStore({ path, clock: clock.read })
        }
        const [expected, actual] = [await sides[0].take(memory, next), await sides[1].take(lmdb, next)]
        assert.deepEqual(actual, expected, `step ${i} was answered otherwise`)
        const [expectedState, actualState] = [await sides[0].state(memory), await sides[1].state(lmdb)]
        assert.deepEqual(actualState, expectedState, `step ${i} left something else`)
      }
    }),
    { numRuns: 30 },
  )
  await lmdb.close()
  await memory.close()
})

/** One store's side of a history: which ids and versions it has handed out. Answers hold neither. */
function history(account: AccountName) {
  const tables = new Map<string, TableId>()
  const former = new Map<string, Version>()
  let dead = 4_000_000_000 as TableId
  return { take, state }

  async function take(store: Store, next: Step): Promise<unknown> {
    switch (next.kind) {
      case 'create': {
        const id = await store.create(account, names[next.name] as (typeof names)[0])
        if (id !== undefined) tables.set(slot(next.name), id)
        return id !== undefined
      }
      case 'drop': {
        const dropped = await store.drop(account, names[next.name] as (typeof names)[0])
        if (dropped) dead = tables.get(slot(next.name)) as TableId
        tables.delete(slot(next.name))
        return dropped
      }
      case 'commits': {
        const table = tables.get(slot(next.name)) ?? dead
        const groups: [string, Mutation[]][] = []
        for (const { partition, changes } of next.groups) {
          const mutations: Mutation[] = []
          for (const item of changes)
            mutations.push(await mutationOf(store, table, partitions[partition] as string, item))
          groups.push([partitions[partition] as string, mutations])
        }
        const outcomes = await Promise.all(
          groups.map(([partition, mutations]) =>
            store.commit(table, parsePartitionKey(partition), mutations),
          ),
        )
        for (const [i, outcome] of outcomes.entries())
          remember(table, groups[i] as [string, Mutation[]], outcome)
        return ranked(outcomes)
      }
      case 'scan': {
        const table = tables.get(slot(next.name))
        return table === undefined ? 'no table' : scanned(store, table, next)
      }
      case 'reopen':
      case 'clock':
        return undefined
    }
  }

  async function mutationOf(
    store: Store,
    table: TableId,
    partition: string,
    item: Change,
  ): Promise<Mutation> {
    const key = keyAt(partition, rows[item.row] as string)
    const when = await conditionOf(store, table, key, item.when)
    if (item.kind === 'remove') return remove(key, when)
    return (item.kind === 'put' ? put : merge)(key, item.properties, when)
  }

  async function conditionOf(
    store: Store,
    table: TableId,
    key: EntityKey,
    when: Change['when'],
  ): Promise<Condition> {
    if (when === 'any') return any
    if (when === 'absent') return absent
    if (when === 'present') return present
    if (when === 'former') return at(former.get(place(table, key)) ?? (1n as Version))
    const record = table === dead ? undefined : await store.get(table, key)
    return at(record === undefined ? (2n as Version) : versionOf(record))
  }

  /** The first version an entity ever had; it may be its version still. */
  function remember(
    table: TableId,
    [partition, mutations]: [string, Mutation[]],
    outcome: CommitOutcome,
  ): void {
    if (outcome.kind !== 'committed') return
    for (const [i, { row }] of mutations.entries()) {
      const where = place(table, keyAt(partition, row))
      if (!former.has(where)) former.set(where, outcome.versions[i] as Version)
    }
  }

  /** All tables with all rows. Versions appear as their rank among all there are. */
  async function state(store: Store): Promise<unknown> {
    const entries = await recordsOf(store, catalogue, [wholePartition(partitionOfAccount(account))])
    const found: [table: string, records: EntityRecord[]][] = []
    for (const entry of entries) {
      const { id, name } = catalogueEntryOf(entry)
      found.push([name, await recordsOf(store, id)])
    }
    const rank = ranks(found.flatMap(([, records]) => records.map(versionOf)))
    return found.map(([name, records]) => [name, records.map((record) => described(record, rank))])
  }
}

async function scanned(
  store: Store,
  table: TableId,
  { bounds, turns }: Step & { kind: 'scan' },
): Promise<unknown> {
  const ascending = bounds.toSorted(compareKeys)
  const ranges: KeyRange[] = []
  for (let i = 0; i < ascending.length; i += 2)
    ranges.push({ from: ascending[i] as KeyPosition, until: ascending[i + 1] })
  const met: EntityRecord[] = []
  const visit = eachRecord((record) => {
    const turn = turns[met.length] ?? 'next'
    met.push(Buffer.from(record))
    if (typeof turn === 'string') return turn
    return compareKeys(turn, keyOf(record)) > 0 ? turn : 'next'
  })
  await store.scan(table, ranges.length === 0 ? [everything] : ranges, visit)
  const rank = ranks(met.map(versionOf))
  return met.map((record) => described(record, rank))
}

function described(
  record: EntityRecord,
  rank: Map<Version, number>,
): [EntityKey, number | undefined, readonly Property[]] {
  const { key, version, properties } = seen(record)
  return [key, rank.get(version), properties]
}

function ranked(outcomes: readonly CommitOutcome[]): unknown {
  const rank = ranks(outcomes.flatMap((outcome) => (outcome.kind === 'committed' ? outcome.versions : [])))
  return outcomes.map((outcome) =>
    outcome.kind === 'committed' ? outcome.versions.map((version) => rank.get(version)) : outcome,
  )
}

function ranks(versions: readonly Version[]): Map<Version, number> {
  const ascending = versions.toSorted((a, b) => Number(a - b))
  return new Map(ascending.map((version, i) => [version, i]))
}

function slot(index: number): string {
  return (names[index] as string).toLowerCase()
}

function place(table: TableId, key: EntityKey): string {
  return JSON.stringify([table, key.partition, key.row])
}

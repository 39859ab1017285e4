/** Intent to steps: pure, so that a test can compare what would be sent with data. */
import { randomUUID } from 'node:crypto'
import type { Definition } from '../definition/entity.ts'
import { type Clock, systemClock } from '../definition/instant.ts'
import type { Values } from '../definition/key-template.ts'
import { PatternsError, unreachable } from '../patterns-error.ts'
import { checkSomeValues, checkValues, indexLayout } from '../row/codec.ts'
import { checkRow, jsonBytes, limits } from '../row/limits.ts'
import type { StoredRow } from '../row/row.ts'
import type { Change, Facet, Known, Wanted } from './facet.ts'
import type { Intent } from './intent.ts'
import type { Step } from './step.ts'

/** Where fresh values come from. */
export interface Sources {
  readonly clock: Clock
  readonly newGuid: () => string
}

export const systemSources: Sources = { clock: systemClock, newGuid: randomUUID }

/** Checks all values and makes the fresh ones, once: a write that is planned again keeps them. */
export function complete(intent: Intent, sources: Sources): Wanted {
  const { definition } = intent
  const common = { definition, stamp: { at: sources.clock(), id: sources.newGuid() } }
  switch (intent.kind) {
    case 'insert':
    case 'upsert':
      return { kind: intent.kind, ...common, values: completed(definition, intent.entity, sources) }
    case 'upsertMerge':
      return { kind: intent.kind, ...common, values: withoutFresh(definition, intent.entity) }
    case 'replace': {
      const { kind, etag, entity } = intent
      return { kind, ...common, etag, values: completed(definition, entity, sources) }
    }
    case 'patch': {
      const changes = checkSomeValues(definition, intent.patch)
      checkPatchable(definition, Object.keys(changes))
      return { kind: 'patch', ...common, key: keyValues(definition, intent.key), changes, etag: intent.etag }
    }
    case 'remove':
      return { kind: 'remove', ...common, key: keyValues(definition, intent.key), etag: intent.etag }
    case 'change': {
      const { before, entity, foreign } = intent
      const known = { values: checkValues(definition, before), etag: before.etag, foreign }
      const values = entity && completed(definition, entity, sources)
      return { kind: 'change', ...common, before: known, values }
    }
    default:
      return unreachable(intent)
  }
}

/** What the facets are asked about, given the entity as it is stored. */
export function changeOf(wanted: Wanted, before: Known | 'absent' | 'unread', sources: Sources): Change {
  if (wanted.kind === 'change') return { wanted, before: wanted.before, after: wanted.values }
  if (!('values' in wanted)) return { wanted, before, after: undefined }
  if (wanted.kind !== 'upsertMerge' || before === 'unread') return { wanted, before, after: wanted.values }
  const old = before === 'absent' ? {} : before.values
  return { wanted, before, after: completed(wanted.definition, { ...old, ...wanted.values }, sources) }
}

/** The steps of one change. `found` has, for each facet, the rows it asked for. */
export function stepsOf(
  change: Change,
  facets: readonly Facet[],
  found: readonly (readonly (readonly StoredRow[])[])[],
): readonly Step[] {
  const after = facets.reduce(
    (values, facet, index) => values && (facet.fill?.(values, change, found[index] ?? []) ?? values),
    change.after,
  )
  return combined(facets.flatMap((facet, index) => facet.steps({ ...change, after }, found[index] ?? [])))
}

/**
 * Two facets may have something to say about one row that they both have read: a transaction writes it once. What is
 * merged goes over what is replaced.
 */
function combined(steps: readonly Step[]): readonly Step[] {
  const byRow = new Map<string, Step>()
  for (const step of steps) {
    const id = JSON.stringify([step.partitionKey, step.rowKey])
    const other = byRow.get(id)
    const both = other && combinedStep(other, step)
    if (other !== undefined && both === undefined) return steps
    byRow.set(id, both ?? step)
  }
  return [...byRow.values()]
}

/** Undefined if they contradict each other; the limits then refuse them. */
function combinedStep(one: Step, other: Step): Step | undefined {
  if (one.kind !== 'merge' && other.kind === 'merge') return combinedStep(other, one)
  if (one.kind !== 'merge' || (other.kind !== 'merge' && other.kind !== 'replace')) return undefined
  if (one.etag !== other.etag) return undefined
  return { ...other, row: { ...other.row, ...one.row } }
}

/** Refuses what the service would refuse, before anything is sent. */
export function checkSteps(steps: readonly Step[]): void {
  const [first] = steps
  if (first === undefined) return
  if (steps.length > limits.transactionStepsMax) {
    throw exceeded(`${steps.length} steps in one transaction; at most ${limits.transactionStepsMax}`)
  }
  let bytes = 0
  const rowKeys = new Set<string>()
  for (const step of steps) {
    if (step.partitionKey !== first.partitionKey) {
      throw exceeded(
        `one transaction has one partition: ${first.of} is in ${first.partitionKey}, ${step.of} in ${step.partitionKey}`,
      )
    }
    if (rowKeys.has(step.rowKey))
      throw exceeded(`${step.of}: one transaction writes a row once, not ${step.rowKey} twice`)
    rowKeys.add(step.rowKey)
    const row = step.kind === 'delete' ? {} : step.row
    checkRow(step.of, step.partitionKey, step.rowKey, row)
    bytes += jsonBytes(step.partitionKey, step.rowKey, row) + partBytes(step)
  }
  if (bytes > limits.transactionBytesMax) {
    throw exceeded(`about ${bytes} bytes in one transaction; at most ${limits.transactionBytesMax}`)
  }
}

/** Headers and address of a step inside a transaction's body; keys in the address may be escaped to three times their size. */
function partBytes({ partitionKey, rowKey }: Step): number {
  return 600 + 3 * (Buffer.byteLength(partitionKey) + Buffer.byteLength(rowKey))
}

/** Steps and their bytes, for whoever divides many writes into transactions. */
export function stepBytes(step: Step): number {
  return jsonBytes(step.partitionKey, step.rowKey, step.kind === 'delete' ? {} : step.row) + partBytes(step)
}

function completed(definition: Definition, entity: object, { clock, newGuid }: Sources): Values {
  const given = ownValues(definition, entity)
  const fresh: Record<string, unknown> = {}
  for (const [name, { edm, flags }] of Object.entries(definition.properties)) {
    if (!flags.includes('fresh') || given[name] !== undefined) continue
    fresh[name] = edm === 'Guid' ? newGuid() : clock()
  }
  return checkValues(definition, { ...given, ...fresh })
}

/** What an upsertMerge gives: everything but what may be left out. */
function withoutFresh(definition: Definition, entity: object): Values {
  const given = ownValues(definition, entity)
  for (const [name, { flags }] of Object.entries(definition.properties)) {
    if (given[name] !== undefined || flags.includes('optional') || flags.includes('fresh')) continue
    throw new PatternsError('InvalidValue', `${definition.name}.${name} is missing`)
  }
  return checkSomeValues(definition, given)
}

/** An entity that was read has `etag` and `timestamp` beside its properties; other strangers are refused. */
function ownValues(definition: Definition, entity: object): Readonly<Record<string, unknown>> {
  const own: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(entity)) {
    if (name in definition.properties) own[name] = value
    else if (name !== 'etag' && name !== 'timestamp' && name !== 'type') {
      throw new PatternsError('InvalidValue', `${definition.name} has no property ${name}`)
    }
  }
  return own
}

export function keyValues(definition: Definition, key: object): Values {
  const own = ownValues(definition, key)
  const names = [...definition.partition.names, ...definition.row.names]
  for (const name of names) {
    if (own[name] === undefined)
      throw new PatternsError('InvalidValue', `${definition.name}.${name} is missing: the key needs it`)
  }
  return checkSomeValues(definition, Object.fromEntries(names.map((name) => [name, own[name]])))
}

/** As the type Patch says; for callers whose types were lost. */
function checkPatchable(definition: Definition, changed: readonly string[]): void {
  const { name, properties, partition, row, indexes } = definition
  const feeds = new Set([...partition.names, ...row.names])
  for (const label of Object.keys(indexes)) {
    for (const each of indexLayout(definition, label).names) feeds.add(each)
  }
  for (const each of changed) {
    if (feeds.has(each))
      throw new PatternsError('InvalidValue', `${name}.${each} feeds a key or an index: use change`)
    if (properties[each]?.flags.includes('encrypted') || properties[each]?.flags.includes('large')) {
      throw new PatternsError('InvalidValue', `${name}.${each} cannot be merged: use replace or change`)
    }
  }
}

function exceeded(text: string): PatternsError {
  return new PatternsError('LimitExceeded', text)
}

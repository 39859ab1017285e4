/** The one way to change entities: a group of mutations on one partition; a single write is a group of one. */
import { unreachable } from '../model/brand.ts'
import { checkEntity } from '../model/entity.ts'
import { Fault } from '../model/faults.ts'
import type { EntityKey, PartitionKey } from '../model/keys.ts'
import type { Mutation, Refusal } from '../model/mutation.ts'
import { byName, encodeTexts, type PropertyOrder, type PropertyText } from '../model/content.ts'
import type { TableId } from '../model/table.ts'
import type { Version } from '../model/version.ts'
import type { CommitOutcome, Store } from '../store/store.ts'

export interface EntityWrite {
  readonly key: EntityKey
  /** To the row of the key. */
  readonly mutation: Mutation
}

/** The content of an entity that keeps the rules. What is content already was checked by who made it. */
export function contentOf(
  key: EntityKey,
  properties: readonly PropertyText[] | Buffer,
  order: PropertyOrder,
): Buffer {
  if (Buffer.isBuffer(properties)) return properties
  checkEntity(key, properties)
  return encodeTexts(order === 'given' ? properties : properties.toSorted(byName))
}

export type GroupOutcome =
  /** One version for each write, in order. */
  | { readonly kind: 'written'; readonly versions: readonly Version[] }
  /** Nothing was written; `index` is that of the first write refused. */
  | { readonly kind: 'refused'; readonly index: number; readonly fault: Fault }

/** Applies one write and returns the entity's new version. */
export async function writeEntity(store: Store, table: TableId, write: EntityWrite): Promise<Version> {
  const { key, mutation } = write
  const outcome = outcomeOf(await store.commit(table, key.partition, [mutation]))
  if (outcome.kind === 'refused') throw outcome.fault
  return outcome.versions[0] as Version
}

/** Applies every mutation or none. REQUIRES: 1 to 100 mutations, each to another row. */
export function writeGroup(
  store: Store,
  table: TableId,
  partition: PartitionKey,
  mutations: readonly Mutation[],
): Promise<GroupOutcome> {
  return store.commit(table, partition, mutations).then(outcomeOf)
}

function outcomeOf(outcome: CommitOutcome): GroupOutcome {
  switch (outcome.kind) {
    case 'committed':
      return { kind: 'written', versions: outcome.versions }
    case 'no table':
      return { kind: 'refused', index: 0, fault: new Fault('TableNotFound') }
    case 'refused':
      return { kind: 'refused', index: outcome.index, fault: faultOf(outcome.reason) }
    default:
      return unreachable(outcome)
  }
}

function faultOf(reason: Refusal): Fault {
  switch (reason) {
    case 'exists':
      return new Fault('EntityAlreadyExists')
    case 'missing':
      return new Fault('ResourceNotFound')
    case 'changed':
      return new Fault('UpdateConditionNotSatisfied')
    case 'too large':
      return new Fault('EntityTooLarge')
    case 'too many properties':
      return new Fault('TooManyProperties')
    default:
      return unreachable(reason)
  }
}

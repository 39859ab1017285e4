/** The contract every engine keeps. The suite in test/contract holds each of them to it. */
import type { EntityKey, KeyPosition, KeyRange, PartitionKey } from '../model/keys.ts'
import type { Mutation, Refusal } from '../model/mutation.ts'
import type { EntityRecord } from '../model/record.ts'
import type { Records } from '../model/records.ts'
import type { Soon } from '../model/soon.ts'
import type { AccountName, TableId, TableName } from '../model/table.ts'
import type { Version } from '../model/version.ts'

/**
 * An ordered map of entities, in partitions that change atomically.
 *
 * Order       scan visits by partition, then row, as compareKeys does.
 * Atomicity   a commit is seen whole or not at all, by readers and after a crash.
 * Durability  when commit, create or drop resolves, the change survives loss of power
 *             (unless the store was opened with a weaker durability).
 * Snapshot    all that one scan visits belongs to one moment.
 * Recency     get and scan see every change acknowledged before they were called, by any process.
 * Versions    are unique and grow within a partition, whatever the clock does, also across restarts.
 */
export interface Store {
  /** The record is the caller's to keep. */
  get(table: TableId, key: EntityKey): Soon<EntityRecord | undefined>

  /**
   * Visits the rows of `ranges`, but for those that `passes` passes over. REQUIRES: ranges ascend and do not touch.
   * Long scans let other work run in between.
   */
  scan(table: TableId, ranges: readonly KeyRange[], visit: Visit, passes?: Passes): Promise<void>

  /**
   * Applies every mutation, in order, or none. REQUIRES: 1 to 100 mutations, rows distinct.
   * Conditions are judged by applyMutation in the same transaction that writes.
   */
  commit(table: TableId, partition: PartitionKey, mutations: readonly Mutation[]): Promise<CommitOutcome>

  /** Enters a table in the catalogue under an id never used before; undefined if the name is taken. */
  create(account: AccountName, name: TableName): Promise<TableId | undefined>

  /**
   * Takes a table out of the catalogue; false if it is not there. When this resolves the name is free and
   * the id is dead: commits to it are refused. Its rows are reclaimed in the background, also after a crash.
   */
  drop(account: AccountName, name: TableName): Promise<boolean>

  close(): Promise<void>
}

/**
 * Meets some rows, one or more, valid during the call only. Copy what must stay.
 * Returns where to go on: behind them, at the first row from a later position on that lies in a range, or nowhere.
 */
export type Visit = (records: Records) => 'next' | 'stop' | KeyPosition

/**
 * Whether the visitor can do without rows of which it is told only how many there are, where they lie and what wrote
 * them: a store may ask before it looks where they begin.
 */
export type Passes = (records: Records) => boolean

export type CommitOutcome =
  /** One version for each mutation, in order. */
  | { readonly kind: 'committed'; readonly versions: readonly Version[] }
  /** `index` is that of the first mutation refused. */
  | { readonly kind: 'refused'; readonly index: number; readonly reason: Refusal }
  | { readonly kind: 'no table' }

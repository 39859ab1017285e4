/**
 * Rows that the library keeps for itself beside the entities. No entity's row may begin as they do.
 *
 *   PartitionKey        RowKey                    holds
 *   the entity's        ~outbox_entry_<at>_<id>   an entry: what a write has made stale elsewhere
 *   the entity's        ~outbox_clear_<due>_<id>  marks elsewhere that may be cleared away then
 *   the source's        ~outbox_link_<of>_<by>    who holds copies of this entity
 *   ~outbox_partitions  ~outbox_partition_<hash>  a partition that may have entries
 *
 * Times are ticks of 19 digits, so entries are read oldest first.
 */
import { createHash } from 'node:crypto'
import { libraryRows } from '../definition/entity.ts'
import { Instant } from '../definition/instant.ts'

export const outboxPrefix = `${libraryRows}outbox_`
export const entryPrefix = `${outboxPrefix}entry_`
export const clearPrefix = `${outboxPrefix}clear_`
export const linkPrefix = `${outboxPrefix}link_`
export const registryPartition = `${outboxPrefix}partitions`

export function timedKey(prefix: string, at: Instant, id: string): string {
  return `${prefix}${at.ticks.toString().padStart(ticksDigits, '0')}_${id}`
}

/** The inverse of timedKey, as far as it is asked for. */
export function timeOf(prefix: string, rowKey: string): Instant {
  return Instant.ofTicks(BigInt(rowKey.slice(prefix.length, prefix.length + ticksDigits)))
}

export function idOf(prefix: string, rowKey: string): string {
  return rowKey.slice(prefix.length + ticksDigits + 1)
}

export const registeredPrefix = `${outboxPrefix}partition_`

export function registryKey(partitionKey: string): string {
  return `${registeredPrefix}${shortHash(partitionKey)}`
}

/** 128 bits: a key may be as long as a key can be, so it cannot stand in another as it is. */
export function shortHash(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 32)
}

const ticksDigits = 19

/**
 * Log tail: the newest entries first, without a sort and without reading the old ones. No guarantee is needed: it is
 * pure key design.
 *
 *   PartitionKey  RowKey                    holds
 *   claims        2516075999999999999_…   the entry of 2026-11-15T00:00:00
 *   claims        2516076863999999999_…   the entry of the day before
 *
 * `desc` writes the time as what is left until the year 10000, in 100 ns ticks and always 19 digits, so the newest
 * sorts first and the first n rows are the n newest. Two entries of one tick need a part behind it to tell them apart:
 * `key(desc('at'), text('id'))` with `id: guid().fresh()`.
 *
 * Given up: all inserts of a partition go to its beginning. Where that is too much for one partition, spread it.
 */
import type { Definition } from './definition/entity.ts'
import { PatternsError } from './patterns-error.ts'

/** Refuses a definition whose first rows are not its newest. */
export function checkNewestFirst({ name, row }: Definition): void {
  const first = row.parts.find((part) => typeof part !== 'string')
  if (first?.kind !== 'time' || !first.descending) {
    throw new PatternsError('InvalidDefinition', `${name}: latest needs a row key that begins with desc`)
  }
}

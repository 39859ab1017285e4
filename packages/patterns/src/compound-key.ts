/**
 * Compound key: related entities of another type in the same partition, under keys made of several parts. No guarantee
 * is needed: it is pure key design.
 *
 *   PartitionKey  RowKey        holds
 *   Sales         000123_2012   the review of employee 000123 in 2012
 *   Sales         000123_2013   the next one
 *
 * One entity is one point read; all that share their leading parts are one range. Keys sort as their parts do, so the
 * order of the parts decides which ranges there are: reviews of one year, whoever they are of, need another key.
 */
import { formatLeading, type KeyTemplate, type Values } from './definition/key-template.ts'
import { afterPrefix } from './definition/key-text.ts'
import type { PropertyMap } from './definition/properties.ts'
import { allOf, compare, type Filter } from './filter/filter.ts'

/** Which rows of a partition are meant, by the leading parts of their key; each may be given with the others. */
export interface RowRange {
  /** Exactly these leading parts. */
  readonly prefix?: Values
  /** The same, but the last text given is only the beginning of its part. */
  readonly startsWith?: Values
  /** From these leading parts on, them included. */
  readonly from?: Values
  /** Up to these leading parts, them excluded. */
  readonly until?: Values
}

/** Without any range: all keys that begin as the template does. */
export function rowsInRange(
  template: KeyTemplate,
  properties: PropertyMap,
  range: RowRange,
): Filter | undefined {
  const { prefix = {}, startsWith, from, until } = range
  const beginning = startsWith
    ? formatLeading(template, properties, { ...prefix, ...startsWith }, { open: true })
    : formatLeading(template, properties, prefix)
  const lower = [beginning, ...(from ? [formatLeading(template, properties, from)] : [])]
  const upper = [afterPrefix(beginning), ...(until ? [formatLeading(template, properties, until)] : [])]
  const first = lower.reduce((a, b) => (a > b ? a : b))
  const end = upper.filter((each) => each !== undefined).reduce((a, b) => (a < b ? a : b), unbounded)
  return allOf([
    first === '' ? undefined : compare('RowKey', 'ge', { type: 'String', value: first }),
    end === unbounded ? undefined : compare('RowKey', 'lt', { type: 'String', value: end }),
  ])
}

/** Above all keys: they cannot hold it, because texts escape it. */
const unbounded = '\uffff\uffff'

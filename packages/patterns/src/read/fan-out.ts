/** One reading over several partitions, in the order of the rows: what a spread key asks of its readers. */
import { compare, type Filter } from '../filter/filter.ts'
import { PatternsError } from '../patterns-error.ts'
import { byKey, parallelKeyed } from './parallel.ts'
import {
  checkSize,
  fingerprint,
  type Keyed,
  type Reading,
  readCursor,
  readingOf,
  writeCursor,
} from './reading.ts'

export interface FanOutOptions<T> {
  readonly partitionKeys: readonly string[]
  readonly take: number | undefined
  /** What tells this query from another, for its cursors. */
  readonly query: unknown
  /** The rows of one partition, or those behind a RowKey. */
  open(partitionKey: string, behind?: Behind): Reading<T>
}

export interface Behind {
  readonly rowKey: string
  readonly itself: 'included' | 'excluded'
}

export function rowsBehind({ rowKey, itself }: Behind): Filter {
  return compare('RowKey', itself === 'included' ? 'ge' : 'gt', { type: 'String', value: rowKey })
}

/** A cursor is the last key given: items were already taken from every partition, so no token of one could do. */
interface FanOutCursor {
  readonly rowKey: string
  readonly partitionKey: string
  readonly taken: number
}

export function fanOut<T>({ partitionKeys, take, query, open }: FanOutOptions<T>): Reading<T> {
  return readingOf<T>(
    () =>
      merged(
        partitionKeys.map((each) => open(each)),
        take,
      ),
    page,
  )

  async function page({ size, cursor }: { readonly size: number; readonly cursor?: string | undefined }) {
    checkSize(size)
    const mine = fingerprint([partitionKeys, query])
    const from = cursor === undefined ? undefined : (readCursor(cursor, mine) as unknown as FanOutCursor)
    const left = (take ?? Number.POSITIVE_INFINITY) - (from?.taken ?? 0)
    const readings = partitionKeys.map((each) => open(each, from && behind(from, each)))
    const found: Keyed<T>[] = []
    for await (const each of merged(readings, Math.min(size, left))) found.push(each)
    const last = found.at(-1)
    const taken = (from?.taken ?? 0) + found.length
    const ended = last === undefined || found.length < size || found.length === left
    return {
      items: found.map(({ item }) => item),
      cursor: ended
        ? undefined
        : writeCursor({ rowKey: last.rowKey, partitionKey: last.partitionKey, taken }, mine),
    }
  }
}

function merged<T>(readings: readonly Reading<T>[], take: number | undefined): AsyncIterable<Keyed<T>> {
  if (readings.length === 0) throw new PatternsError('InvalidValue', 'no partition to read')
  return parallelKeyed(readings, { order: 'key', ...(take !== undefined && { take }) })
}

/** The order is by RowKey, then PartitionKey: a row of the same RowKey is still to come in later partitions. */
function behind({ rowKey, partitionKey }: FanOutCursor, each: string): Behind {
  const place = { rowKey, item: undefined }
  const later = byKey({ ...place, partitionKey: each }, { ...place, partitionKey }) > 0
  return { rowKey, itself: later ? 'included' : 'excluded' }
}

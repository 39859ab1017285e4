/** A query that has not been sent yet: to loop over, to collect, or to take page by page. */
import { createHash } from 'node:crypto'
import type { RowQuery, Rows } from '../client/rows.ts'
import { formatFilter } from '../filter/filter.ts'
import { PatternsError } from '../patterns-error.ts'
import type { StoredRow } from '../row/row.ts'

export interface Reading<T> extends AsyncIterable<T> {
  /** The same with the keys of each item, which `parallel` merges by. */
  keyed(): AsyncIterable<Keyed<T>>
  toArray(): Promise<T[]>
  first(): Promise<T | undefined>
  /** A page of exactly `size` items, unless there are no more. The cursor may be stored and used by another process. */
  page(options: PageOptions): Promise<Page<T>>
}

export interface Keyed<T> {
  readonly partitionKey: string
  readonly rowKey: string
  readonly item: T
}

export interface PageOptions {
  readonly size: number
  readonly cursor?: string | undefined
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Undefined after the last page. */
  readonly cursor: string | undefined
}

export interface ReadingOptions<T> extends RowQuery {
  readonly rows: Rows
  /** In all, however many pages it takes. */
  readonly take?: number | undefined
  /** Undefined leaves the row out. */
  decode(row: StoredRow): Promise<T | undefined>
}

export function openReading<T>(options: ReadingOptions<T>): Reading<T> {
  const { rows, take = Number.POSITIVE_INFINITY, decode } = options
  if (!(take >= 0)) throw new PatternsError('InvalidValue', `take ${take}: it must not be negative`)
  return readingOf(keyed, page)

  async function* keyed(): AsyncGenerator<Keyed<T>> {
    let left = take
    let token: string | undefined
    if (left === 0) return
    do {
      const found = await rows.page(options, { size: Math.min(left, pageRowsMax), token })
      for await (const { row, item } of decoded(found.rows, decode)) {
        yield { partitionKey: row.partitionKey, rowKey: row.rowKey, item }
        left -= 1
        if (left === 0) return
      }
      token = found.token
    } while (token !== undefined)
  }

  async function page({ size, cursor }: PageOptions): Promise<Page<T>> {
    checkSize(size)
    const query = fingerprint([rows.table, options.filter && formatFilter(options.filter), options.select])
    const state: CursorState =
      cursor === undefined ? start : (readCursor(cursor, query) as unknown as CursorState)
    let { token, taken } = state
    const items: T[] = []
    for (;;) {
      const wanted = Math.min(size - items.length, take - taken)
      if (wanted === 0) break
      const found = await rows.page(options, { size: Math.min(wanted, pageRowsMax), token })
      for await (const { item } of decoded(found.rows, decode)) {
        items.push(item)
        taken += 1
      }
      token = found.token
      if (token === undefined) return { items, cursor: undefined }
    }
    return { items, cursor: taken >= take ? undefined : writeCursor({ token, taken }, query) }
  }
}

/** In order, some at a time: to decode a row may take a request. */
async function* decoded<T>(
  rows: readonly StoredRow[],
  decode: (row: StoredRow) => Promise<T | undefined>,
): AsyncGenerator<{ readonly row: StoredRow; readonly item: T }> {
  for (let at = 0; at < rows.length; at += decodedAtOnce) {
    const some = rows.slice(at, at + decodedAtOnce)
    const items = await Promise.all(some.map(decode))
    for (const [index, item] of items.entries()) {
      if (item !== undefined) yield { row: some[index] as StoredRow, item }
    }
  }
}

/** The rest of a reading follows from its items and its pages. */
export function readingOf<T>(keyed: () => AsyncIterable<Keyed<T>>, page: Reading<T>['page']): Reading<T> {
  return {
    keyed,
    page,
    async *[Symbol.asyncIterator]() {
      for await (const { item } of keyed()) yield item
    },
    async toArray() {
      const items: T[] = []
      for await (const { item } of keyed()) items.push(item)
      return items
    },
    async first() {
      for await (const { item } of keyed()) return item
      return undefined
    },
  }
}

export function checkSize(size: number): void {
  if (!Number.isInteger(size) || size < 1) throw new PatternsError('InvalidValue', `a page of ${size} items`)
}

// ---------------------------------------------------------------- cursors

interface CursorState {
  readonly token: string | undefined
  readonly taken: number
}

const start: CursorState = { token: undefined, taken: 0 }

/** Texts as base64url JSON: which query it belongs to, and where that goes on. */
export function writeCursor(state: object, query: string): string {
  return Buffer.from(JSON.stringify({ query, ...state })).toString('base64url')
}

export function readCursor(cursor: string, query: string): Readonly<Record<string, unknown>> {
  const state = parsed(cursor)
  if (state === undefined || state['query'] !== query) {
    throw new PatternsError('InvalidCursor', 'the cursor belongs to another query, or is none')
  }
  return state
}

export function fingerprint(query: unknown): string {
  return createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 16)
}

function parsed(cursor: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const pageRowsMax = 1000
const decodedAtOnce = 16

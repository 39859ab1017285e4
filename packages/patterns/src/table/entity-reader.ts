/** Reads of one definition in one of its orders: its own keys, or those of an index. */
import type { Rows } from '../client/rows.ts'
import { rowsInRange, type RowRange } from '../compound-key.ts'
import type { Concurrency, Definition } from '../definition/entity.ts'
import { formatAllBuckets, formatKey, type Values } from '../definition/key-template.ts'
import { columnsOf } from '../filter/columns.ts'
import { allOf, compare, type Filter } from '../filter/filter.ts'
import { PatternsError } from '../patterns-error.ts'
import { type Behind, fanOut, rowsBehind } from '../read/fan-out.ts'
import { openReading, type Reading } from '../read/reading.ts'
import { checkSomeValues, decodeEntity, foreignCells, isOfLayout, type Layout } from '../row/codec.ts'
import type { Row, StoredRow } from '../row/row.ts'
import { openRow } from '../write/execute.ts'
import type { Seal } from '../write/seal.ts'

export interface ReaderContext {
  readonly rows: Rows
  readonly seals: readonly Seal[]
}

/** Without types; the surface that users see gives them back. */
export interface ReaderQuery {
  readonly prefix?: object | undefined
  readonly startsWith?: object | undefined
  readonly from?: object | undefined
  readonly until?: object | undefined
  readonly where?: ((columns: never) => Filter) | undefined
  readonly select?: readonly string[] | undefined
  readonly take?: number | undefined
}

export interface EntityReader {
  get(key: object, select?: readonly string[]): Promise<object | undefined>
  /** With what the row holds besides. */
  getWhole(key: object): Promise<WholeEntity | undefined>
  query(partition: object, query: ReaderQuery): Reading<object>
  scan(query: ReaderQuery): Reading<object>
  /** Undefined if the entity has gone meanwhile. */
  decode(row: StoredRow, select?: readonly string[]): Promise<object | undefined>
}

export interface WholeEntity {
  readonly entity: object & Concurrency
  readonly foreign: Row
}

export function openEntityReader(
  context: ReaderContext,
  definition: Definition,
  layout: Layout,
  /** What a row stands for, if that is not what it holds; undefined leaves it out. */
  behind?: (row: StoredRow) => Promise<object | undefined>,
): EntityReader {
  const { rows, seals } = context
  const { properties, type } = definition
  const columns = columnsOf(definition, layout)
  return { get, getWhole, query, scan, decode }

  async function get(key: object, select?: readonly string[]): Promise<object | undefined> {
    const row = await getRow(key, select)
    return row && found(row, select)
  }

  async function getWhole(key: object): Promise<WholeEntity | undefined> {
    const row = await getRow(key)
    if (row === undefined) return undefined
    const opened = await openRow(context, definition, row)
    if (opened === undefined) return undefined
    return { entity: entityOf(opened), foreign: foreignCells(definition, opened) }
  }

  function getRow(key: object, select?: readonly string[]): Promise<StoredRow | undefined> {
    const values = given(key)
    const partitionKey = formatKey(layout.partition, properties, values)
    return rows.get(partitionKey, formatKey(layout.row, properties, values), cellsOf(select))
  }

  function query(partition: object, asked: ReaderQuery): Reading<object> {
    const partitionKeys = formatAllBuckets(layout.partition, properties, given(partition))
    const [only] = partitionKeys
    if (partitionKeys.length === 1) return inPartition(only as string, asked, asked.take)
    return fanOut({
      partitionKeys,
      take: asked.take,
      query: [definition.name, rangeFilter(asked), asked.select],
      open: (partitionKey, after) => inPartition(partitionKey, asked, undefined, after),
    })
  }

  function inPartition(
    partitionKey: string,
    asked: ReaderQuery,
    take: number | undefined,
    after?: Behind,
  ): Reading<object> {
    const partition = compare('PartitionKey', 'eq', { type: 'String', value: partitionKey })
    const rest = after && rowsBehind(after)
    return reading(allOf([partition, rest, rangeFilter(asked)]), asked, take)
  }

  function scan(asked: ReaderQuery): Reading<object> {
    return reading(rangeFilter(asked), asked, asked.take)
  }

  function rangeFilter(asked: ReaderQuery): Filter | undefined {
    const range: RowRange = {
      ...(asked.prefix && { prefix: given(asked.prefix) }),
      ...(asked.startsWith && { startsWith: given(asked.startsWith) }),
      ...(asked.from && { from: given(asked.from) }),
      ...(asked.until && { until: given(asked.until) }),
    }
    const mark = type && compare(type.property, 'eq', { type: 'String', value: type.value })
    return allOf([rowsInRange(layout.row, properties, range), mark, asked.where?.(columns as never)])
  }

  function reading(
    filter: Filter | undefined,
    { select }: ReaderQuery,
    take: number | undefined,
  ): Reading<object> {
    return openReading({
      rows,
      filter,
      select: cellsOf(select),
      take,
      // A range of keys may hold rows that others have written there.
      decode: async (row) => (isOfLayout(definition, layout, row) ? found(row, select) : undefined),
    })
  }

  async function found(row: StoredRow, select?: readonly string[]): Promise<object | undefined> {
    return behind === undefined ? decode(row, select) : behind(row)
  }

  async function decode(row: StoredRow, select?: readonly string[]): Promise<object | undefined> {
    const opened = await openRow(context, definition, row, cellsOf(select))
    return opened && entityOf(opened, select)
  }

  function entityOf(opened: StoredRow, select?: readonly string[]): object & Concurrency {
    const { etag, timestamp } = opened
    return { ...decodeEntity(definition, layout, opened, select), etag, timestamp }
  }

  /** The cells to ask for; the type mark is among them, because it tells whose row it is. */
  function cellsOf(select: readonly string[] | undefined): readonly string[] | undefined {
    if (select === undefined) return undefined
    const unknown = select.find((name) => !layout.names.includes(name))
    if (unknown !== undefined) {
      throw new PatternsError('InvalidValue', `${definition.name}: rows of this order hold no ${unknown}`)
    }
    return [
      ...select,
      ...(type ? [type.property] : []),
      ...seals.flatMap((seal) => seal.cellsFor(definition, select)),
    ]
  }

  function given(values: object): Values {
    return checkSomeValues(definition, withoutConcurrency(values))
  }
}

/** An entity that was read may stand where a key is asked for. */
function withoutConcurrency(values: object): object {
  const { etag: _etag, timestamp: _timestamp, type: _type, ...rest } = values as Record<string, unknown>
  return rest
}

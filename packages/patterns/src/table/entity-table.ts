/** The operations on one definition in one table, with the types that follow from it. */
import type {
  Definition,
  Entity,
  IndexCopy,
  IndexKeyOf,
  IndexName,
  IndexPartitionOf,
  KeyOf,
  Leading,
  PartitionOf,
  Patch,
  Stored,
  Write,
  Concurrency,
} from '../definition/entity.ts'
import type { KeyTemplate } from '../definition/key-template.ts'
import type { Columns } from '../filter/columns.ts'
import type { Filter } from '../filter/filter.ts'
import { openListReader, type UntypedListReader } from '../index-entities.ts'
import { openInterPartitionReaders } from '../inter-partition-index.ts'
import { checkNewestFirst } from '../log-tail.ts'
import type { EntityPlace } from '../outbox/elsewhere.ts'
import { withoutGone } from '../outbox/gone.ts'
import { isPatternsError, PatternsError, type PatternsErrorCode } from '../patterns-error.ts'
import type { Reading } from '../read/reading.ts'
import { indexLayout, indexOf, ownLayout } from '../row/codec.ts'
import { waitBefore } from '../write/backoff.ts'
import { write, type WriteContext, type Written } from '../write/execute.ts'
import * as intents from '../write/intent.ts'
import { load, type LoadOptions, type LoadResult } from './load.ts'
import { type EntityReader, openEntityReader, type ReaderQuery } from './entity-reader.ts'

export interface Query<D extends Definition, Names extends readonly string[], K extends string> {
  /** Exactly these leading parts of the RowKey. */
  readonly prefix?: Leading<D, Names>
  /** The same, but the last text given is only the beginning of its part. */
  readonly startsWith?: Leading<D, Names>
  readonly from?: Leading<D, Names>
  readonly until?: Leading<D, Names>
  readonly where?: (columns: Columns<D>) => Filter
  readonly select?: readonly K[]
  /** In all, however many pages it takes. */
  readonly take?: number
}

type Names<D extends Definition> = keyof Entity<D> & string
type Selected<D extends Definition, K extends string> = Pick<Entity<D>, K & keyof Entity<D>> & Concurrency
type RowNamesOf<D extends Definition> = D['row']['names']

export interface EntityTable<D extends Definition> {
  readonly definition: D
  get<K extends Names<D> = Names<D>>(
    key: KeyOf<D>,
    options?: { readonly select: readonly K[] },
  ): Promise<Selected<D, K> | undefined>
  insert(entity: Write<D>): Promise<Written>
  /** Drops what is not given. */
  replace(entity: Write<D>, condition: intents.Condition): Promise<Written>
  /** Changes what is given, and reads nothing. */
  patch(key: KeyOf<D>, changes: Patch<D>, condition?: intents.Condition): Promise<Written>
  /** Insert or replace. */
  upsert(entity: Write<D>): Promise<Written>
  /** Insert or merge: optional properties that are left out stay as they are. */
  upsertMerge(entity: Write<D>): Promise<Written>
  /**
   * Reads, has the next state computed, and writes it under the ETag that was read; if another was faster, again.
   * `compute` is given undefined if there is none, gives undefined to have none, and may run several times.
   */
  change(
    key: KeyOf<D>,
    compute: (current: Stored<D> | undefined) => Next<D> | Promise<Next<D>>,
  ): Promise<Changed>
  /** Says whether it was there. */
  remove(key: KeyOf<D>, condition?: intents.Condition): Promise<boolean>
  /** One partition, or all of a spread key if what it is spread by is left out. */
  query<K extends Names<D> = Names<D>>(
    partition: Partial<PartitionOf<D>>,
    query?: Query<D, RowNamesOf<D>, K>,
  ): Reading<Selected<D, K>>
  /** The whole table: as expensive as it is large. */
  scan<K extends Names<D> = Names<D>>(
    query?: Pick<Query<D, RowNamesOf<D>, K>, 'where' | 'select' | 'take'>,
  ): Reading<Selected<D, K>>
  /** The newest n; the row key must begin with `desc`. */
  latest(partition: Partial<PartitionOf<D>>, n: number): Promise<Stored<D>[]>
  by<X extends IndexName<D>>(index: X): ReaderOf<D, X>
  /** Many entities, grouped by partition; a result for each, in the order in which they are done. */
  load(
    entities: Iterable<Write<D>> | AsyncIterable<Write<D>>,
    options?: LoadOptions,
  ): AsyncIterable<LoadResult<Write<D>>>
}

type Next<D extends Definition> = Write<D> | undefined

export interface Changed extends Written {
  /** How often the next state was computed. */
  readonly attempts: number
}

/** What an index offers follows from where its rows are, and whether they are copies or lists. */
export type ReaderOf<D extends Definition, X extends IndexName<D>> = D['indexes'][X] extends {
  readonly list: true
}
  ? ListReader<D, X>
  : D['indexes'][X] extends { readonly partition: KeyTemplate }
    ? RemoteIndexReader<D, X>
    : IndexReader<D, X>

type IndexRange<D extends Definition, X extends IndexName<D>> = Omit<
  Query<D, D['indexes'][X]['row']['names'], never>,
  'select'
>
type IndexScan<D extends Definition, X extends IndexName<D>> = Pick<IndexRange<D, X>, 'where' | 'take'>

export interface IndexReader<D extends Definition, X extends IndexName<D>> {
  get(key: IndexKeyOf<D, X>): Promise<IndexCopy<D, X> | undefined>
  query(partition: Partial<IndexPartitionOf<D, X>>, query?: IndexRange<D, X>): Reading<IndexCopy<D, X>>
  scan(query?: IndexScan<D, X>): Reading<IndexCopy<D, X>>
}

/** Reads the entity behind each copy and gives that; copies whose entity has moved on are left out. */
export interface Verified {
  readonly verify: true
}

/** Copies that follow a moment later. */
export interface RemoteIndexReader<D extends Definition, X extends IndexName<D>> extends IndexReader<D, X> {
  get(key: IndexKeyOf<D, X>): Promise<IndexCopy<D, X> | undefined>
  get(key: IndexKeyOf<D, X>, options: Verified): Promise<Stored<D> | undefined>
  query(partition: Partial<IndexPartitionOf<D, X>>, query: IndexRange<D, X> & Verified): Reading<Stored<D>>
  query(partition: Partial<IndexPartitionOf<D, X>>, query?: IndexRange<D, X>): Reading<IndexCopy<D, X>>
  scan(query: IndexScan<D, X> & Verified): Reading<Stored<D>>
  scan(query?: IndexScan<D, X>): Reading<IndexCopy<D, X>>
}

/** Lists of the entities that have a value. */
export interface ListReader<D extends Definition, X extends IndexName<D>> {
  /** The entities that have it: the list first, then they, several at a time. */
  get(key: IndexKeyOf<D, X>, options?: { readonly concurrency?: number }): Promise<Stored<D>[]>
  /** Only the list. An eventual one may be a moment behind. */
  keys(key: IndexKeyOf<D, X>): Promise<readonly EntityPlace[]>
}

export function openEntityTable<D extends Definition>(context: WriteContext, definition: D): EntityTable<D> {
  const reader = openEntityReader(context, definition, ownLayout(definition))
  // The reader knows no types; those of the surface follow from the definition it reads by.
  const table: Untyped = {
    definition,
    get: (key, options) => reader.get(key, options?.select),
    insert: (entity) => one(intents.insert(definition, entity as Write<D>)),
    replace: (entity, condition) => one(intents.replace(definition, entity as Write<D>, condition)),
    patch: (key, changes, condition) => one(intents.patch(definition, key as KeyOf<D>, changes, condition)),
    upsert: (entity) => one(intents.upsert(definition, entity as Write<D>)),
    upsertMerge: (entity) => one(intents.upsertMerge(definition, entity as Write<D>)),
    change: (key, compute) => change(context, reader, definition, key, compute),
    remove: (key, condition) => remove(key as KeyOf<D>, condition),
    query: (partition, query = {}) => reader.query(partition, query),
    scan: (query = {}) => reader.scan(query),
    latest,
    by: (label) => openIndex(context, definition, label),
    load: (entities, options) => load(context, definition, entities, options),
  }
  return table as unknown as EntityTable<D>

  async function one(intent: intents.Intent): Promise<Written> {
    const [written] = await write(context, [intent])
    return written as Written
  }

  async function remove(key: KeyOf<D>, condition?: intents.Condition): Promise<boolean> {
    try {
      await one(intents.remove(definition, key, condition))
      return true
    } catch (error) {
      if (isPatternsError(error, 'NotFound')) return false
      throw error
    }
  }

  async function latest(partition: object, take: number): Promise<object[]> {
    checkNewestFirst(definition)
    return reader.query(partition, { take }).toArray()
  }
}

interface Untyped {
  readonly definition: Definition
  get(key: object, options?: { readonly select: readonly string[] }): Promise<object | undefined>
  insert(entity: object): Promise<Written>
  replace(entity: object, condition: intents.Condition): Promise<Written>
  patch(key: object, changes: object, condition?: intents.Condition): Promise<Written>
  upsert(entity: object): Promise<Written>
  upsertMerge(entity: object): Promise<Written>
  change(key: object, compute: Compute): Promise<Changed>
  remove(key: object, condition?: intents.Condition): Promise<boolean>
  query(partition: object, query?: object): Reading<object>
  scan(query?: object): Reading<object>
  latest(partition: object, n: number): Promise<object[]>
  by(index: string): UntypedIndex | UntypedListReader
  load(
    entities: Iterable<object> | AsyncIterable<object>,
    options?: LoadOptions,
  ): AsyncIterable<LoadResult<object>>
}

interface UntypedIndex {
  get(key: object, options?: Partial<Verified>): Promise<object | undefined>
  query(partition: object, query?: ReaderQuery & Partial<Verified>): Reading<object>
  scan(query?: ReaderQuery & Partial<Verified>): Reading<object>
}

function openIndex(
  context: WriteContext,
  definition: Definition,
  label: string,
): UntypedIndex | UntypedListReader {
  const { partition, table, container, list } = indexOf(definition, label)
  const rows = context.rowsAt({ table, container })
  if (list === true) return openListReader(context, rows, definition, label)
  if (partition === undefined) {
    return indexReader(() => openEntityReader(context, definition, indexLayout(definition, label)))
  }
  const { copies, verified } = openInterPartitionReaders(context, withoutGone(rows), definition, label)
  return indexReader(({ verify }) => (verify === true ? verified : copies))
}

function indexReader(readerFor: (options: Partial<Verified>) => EntityReader): UntypedIndex {
  return {
    get: (key, options = {}) => readerFor(options).get(key),
    query: (partition, query = {}) => readerFor(query).query(partition, query),
    scan: (query = {}) => readerFor(query).scan(query),
  }
}

type Compute = (current: object | undefined) => object | undefined | Promise<object | undefined>

async function change(
  context: WriteContext,
  reader: EntityReader,
  definition: Definition,
  key: object,
  compute: Compute,
): Promise<Changed> {
  let refused: { readonly error: PatternsError; readonly etag: string | undefined } | undefined
  for (let attempts = 1; ; attempts++) {
    const { entity: current, foreign = {} } = (await reader.getWhole(key)) ?? {}
    // Nobody has written since: what was refused would be refused again.
    if (refused !== undefined && refused.etag === current?.etag) throw refused.error
    const next = await compute(current)
    if (next === current) return { etag: current?.etag, attempts }
    const intent: intents.Intent =
      current === undefined
        ? { kind: 'insert', definition, entity: next as object }
        : { kind: 'change', definition, before: current, entity: next, foreign }
    try {
      const [written] = await write(context, [intent])
      return { ...(written as Written), attempts }
    } catch (error) {
      if (!isConflict(error) || attempts >= context.backoff.attemptsMax) throw error
      refused = { error, etag: current?.etag }
      await waitBefore(attempts, context.backoff)
    }
  }
}

/** Perhaps another has written since the read; or the refusal would be the same whatever was read. */
function isConflict(error: unknown): error is PatternsError {
  const codes: readonly PatternsErrorCode[] = ['Changed', 'NotFound', 'AlreadyExists']
  return error instanceof PatternsError && codes.includes(error.code)
}

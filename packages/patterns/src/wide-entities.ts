/**
 * Wide entities: one logical entity with more properties, or more bytes, than a row holds, kept in several rows of one
 * partition. Atomic.
 *
 *   PartitionKey  RowKey        holds
 *   Sales         year_2026_00  some of the properties, Whole: 6f9a…
 *   Sales         year_2026_01  others, Whole: 6f9a…
 *
 * The schema says which part a property is in, or a stable hash of its name does. All parts are always there. Whatever
 * writes more than one part writes all of them, in one transaction and with the same new `Whole`; a patch within one
 * part merges into that row and touches no other. So a reader whose rows came in two pages, with a write in between,
 * notices it by `Whole` and reads again: a write is seen whole or not at all.
 *
 * Given up: a whole entity is at most 4 MiB and 100 parts, as a transaction is; the number of parts that a hash
 * distributes over is fixed for as long as entities are stored.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type Definition,
  entity,
  type Entity,
  type KeyOf,
  type Leading,
  type PartitionOf,
  type Patch,
  type Stored,
  type Write,
} from './definition/entity.ts'
import { formatKey, key, type KeyTemplate, type Values } from './definition/key-template.ts'
import { guid, type PropertyMap } from './definition/properties.ts'
import { rowsInRange, type RowRange } from './compound-key.ts'
import { allOf, beginsWith, compare, type Filter } from './filter/filter.ts'
import { PatternsError } from './patterns-error.ts'
import { openReading } from './read/reading.ts'
import { checkSomeValues, decodeEntity, foreignCells, isOfLayout, ownLayout } from './row/codec.ts'
import { limits } from './row/limits.ts'
import type { Row, StoredRow } from './row/row.ts'
import { waitBefore } from './write/backoff.ts'
import { openRow, write, type WriteContext } from './write/execute.ts'
import * as intents from './write/intent.ts'
import type { Intent } from './write/intent.ts'
import { againWhileOvertaken } from './write/overtaken.ts'

export interface Wide<D extends Definition = Definition> {
  /** As it would be if one row held it all: what its types follow from. */
  readonly whole: D
  readonly parts: readonly Part[]
}

/** One row of a logical entity, as a definition of its own. */
export interface Part {
  readonly definition: Definition
  /** The properties it holds besides those of the keys. */
  readonly names: readonly string[]
}

type NoIndexes = { readonly [K in never]: never }

export interface WideOptions<
  P extends PropertyMap,
  PK extends readonly string[],
  RK extends readonly string[],
> {
  readonly properties: P
  readonly partition: KeyTemplate<PK>
  readonly row: KeyTemplate<RK>
  /** How many parts a hash of the name chooses from; or the properties of each part. */
  readonly parts: number | readonly (readonly (Exclude<keyof P, PK[number] | RK[number]> & string)[])[]
}

/** A plain value, as an entity's definition is one. */
export function wide<
  const N extends string,
  P extends PropertyMap,
  PK extends readonly (keyof P & string)[],
  RK extends readonly (keyof P & string)[],
>(name: N, options: WideOptions<P, PK, RK>): Wide<Definition<N, P, PK, RK, NoIndexes>> {
  const { properties, partition, row, parts } = options
  const keys = new Set<string>([...partition.names, ...row.names])
  const own = Object.keys(properties).filter((each) => !keys.has(each))
  const freshKey = [...keys].find((each) => properties[each]?.flags.includes('fresh'))
  if (freshKey !== undefined) throw invalid(name, `${freshKey} is in the key, so it must be given, not made`)
  if (wholeMark in properties) throw invalid(name, `${wholeMark} is kept for the library`)
  const groups = typeof parts === 'number' ? byHash(name, own, parts) : bySchema(name, own, parts)
  return Object.freeze({
    whole: Object.freeze({ name, properties, partition, row, indexes: {}, type: undefined }),
    parts: partsOf(name, { properties: { ...properties, [wholeMark]: guid() }, partition, row }, groups, [
      wholeMark,
    ]),
  })
}

/** Rows that share a key and divide what they hold; `wide` ties them together, a data series does not. */
export function partsOf(
  name: string,
  { properties, partition, row }: Pick<Definition, 'properties' | 'partition' | 'row'>,
  groups: readonly (readonly string[])[],
  /** Properties that each part has, besides those of the keys. */
  shared: readonly string[],
): readonly Part[] {
  if (groups.length > limits.transactionStepsMax)
    throw invalid(name, `${groups.length} parts; a transaction writes ${limits.transactionStepsMax}`)
  const inAll = [...partition.names, ...row.names, ...shared]
  return groups.map((names, index) => ({
    names,
    definition: entity(`${name}.${suffixOf(index)}`, {
      properties: Object.fromEntries(
        [...inAll, ...names].map((each) => [each, properties[each]]),
      ) as PropertyMap,
      partition,
      row: key(...row.parts, `_${suffixOf(index)}`),
    }),
  }))
}

export interface WideTable<D extends Definition> {
  /** One range query; with `select`, and all of that in one part, one point read. */
  get(key: KeyOf<D>): Promise<Stored<D> | undefined>
  get<K extends keyof Entity<D> & string>(
    key: KeyOf<D>,
    options: { readonly select: readonly K[] },
  ): Promise<Pick<Entity<D>, K> | undefined>
  insert(entity: Write<D>): Promise<void>
  /** Drops what is not given. */
  replace(entity: Write<D>, condition: intents.Condition): Promise<void>
  upsert(entity: Write<D>): Promise<void>
  /** Without a read. Within one part, and without a condition, it touches that part only. */
  patch(key: KeyOf<D>, changes: Patch<D>, condition?: intents.Condition): Promise<void>
  /** As that of an entity: `compute` may run several times, and undefined is for none. */
  change(
    key: KeyOf<D>,
    compute: (current: Stored<D> | undefined) => Write<D> | undefined | Promise<Write<D> | undefined>,
  ): Promise<void>
  /** Says whether it was there. */
  remove(key: KeyOf<D>, condition?: intents.Condition): Promise<boolean>
  /** In the order of the keys. */
  query(partition: PartitionOf<D>, query?: WideQuery<D>): AsyncGenerator<Stored<D>>
}

export interface WideQuery<D extends Definition> {
  readonly prefix?: Leading<D, D['row']['names']>
  readonly from?: Leading<D, D['row']['names']>
  readonly until?: Leading<D, D['row']['names']>
  readonly take?: number
}

export function openWide<D extends Definition>(context: WriteContext, definition: Wide<D>): WideTable<D> {
  const { whole, parts } = definition
  const { rows, backoff, newGuid } = context
  const { properties } = whole
  const stem = stemOf(whole)
  const table: Untyped = { get, insert, replace, upsert, patch, change, remove, query }
  return table as unknown as WideTable<D>

  async function insert(given: object): Promise<void> {
    await send(insertWide(definition, given, newGuid()))
  }

  async function replace(given: object, { etag }: intents.Condition): Promise<void> {
    await send(replaceWide(definition, given, etag, newGuid()))
  }

  async function upsert(given: object): Promise<void> {
    await send(upsertWide(definition, given, newGuid()))
  }

  async function patch(keys: object, changes: object, condition?: intents.Condition): Promise<void> {
    await send(patchWide(definition, keys, changes, condition?.etag ?? '*', newGuid()))
  }

  async function remove(keys: object, condition?: intents.Condition): Promise<boolean> {
    try {
      await send(removeWide(definition, keys, condition?.etag ?? '*'))
      return true
    } catch (error) {
      if (error instanceof PatternsError && error.code === 'NotFound') return false
      throw error
    }
  }

  async function change(
    keys: object,
    compute: (current: object | undefined) => object | undefined | Promise<object | undefined>,
  ): Promise<void> {
    await againWhileOvertaken(backoff, async () => {
      const current = await read(keys)
      const next = await compute(current?.entity)
      if (next !== current?.entity) await send(changeWide(definition, current, next, newGuid()))
    })
  }

  async function send(all: readonly Intent[]): Promise<void> {
    if (all.length > 0) await write(context, all)
  }

  async function get(
    keys: object,
    options?: { readonly select: readonly string[] },
  ): Promise<object | undefined> {
    if (options === undefined) return (await read(keys))?.entity
    const { select } = options
    const holding = parts.filter(({ names }) => names.some((each) => select.includes(each)))
    const [only = parts[0] as Part, ...more] = holding
    const found: Values | undefined =
      more.length > 0 ? (await read(keys))?.entity : await readPart(keys, only)
    return found && Object.fromEntries(select.flatMap((each) => (each in found ? [[each, found[each]]] : [])))
  }

  async function readPart(keys: object, part: Part): Promise<Values | undefined> {
    const values = given(keys)
    const partitionKey = formatKey(whole.partition, properties, values)
    const row = await rows.get(partitionKey, formatKey(part.definition.row, properties, values))
    const opened = row && (await openRow(context, part.definition, row))
    return opened && decodeEntity(part.definition, ownLayout(part.definition), opened)
  }

  async function read(keys: object): Promise<WholeWide | undefined> {
    const values = given(keys)
    const rowKeys = beginsWith('RowKey', formatKey(stem, properties, values))
    const filter = allOf([inPartition(values), rowKeys])
    for (let attempt = 1; ; attempt++) {
      const found = await reading(filter).toArray()
      if (found.length === 0) return undefined
      const joined = join(found)
      if (joined !== 'torn') return joined
      if (attempt >= backoff.attemptsMax) {
        const { partitionKey, rowKey } = (found[0] as FoundPart).row
        const place = `${whole.name} at (${partitionKey}, ${rowKey})`
        throw new PatternsError('UnreadableRow', `${place}: its parts do not belong together`)
      }
      await waitBefore(attempt, backoff)
    }
  }

  async function* query(partition: object, asked: UntypedQuery = {}): AsyncGenerator<object> {
    const range: RowRange = {
      ...(asked.prefix && { prefix: given(asked.prefix) }),
      ...(asked.from && { from: given(asked.from) }),
      ...(asked.until && { until: given(asked.until) }),
    }
    const filter = allOf([inPartition(given(partition)), rowsInRange(stem, properties, range)])
    let left = asked.take ?? Number.POSITIVE_INFINITY
    if (left <= 0) return
    for await (const group of groups(reading(filter))) {
      const joined = join(group)
      const found = joined === 'torn' ? await read(keysOf(definition, group[0]?.values ?? {})) : joined
      if (found === undefined) continue
      yield found.entity
      left -= 1
      if (left === 0) return
    }
  }

  /** Rows of others in the same range are left out. */
  function reading(filter: Filter | undefined) {
    return openReading<FoundPart>({
      rows,
      filter,
      select: undefined,
      async decode(row) {
        const part = parts.find((each) => isOfLayout(each.definition, ownLayout(each.definition), row))
        const opened = part && (await openRow(context, part.definition, row))
        return opened && foundPart(part, opened)
      },
    })
  }

  function join(found: readonly FoundPart[]): WholeWide | 'torn' {
    const marks = new Set(found.map(({ values }) => values[wholeMark]))
    if (found.length !== parts.length || marks.size !== 1) return 'torn'
    const { [wholeMark]: _, ...values } = Object.assign({}, ...found.map((each) => each.values)) as Values
    const newest = found.reduce((a, b) => (a.row.timestamp.ticks < b.row.timestamp.ticks ? b : a))
    const etag = found.map(({ row }) => row.etag).join(' ')
    return {
      entity: { ...values, etag, timestamp: newest.row.timestamp },
      foreign: found.map(({ foreign }) => foreign),
    }
  }

  function inPartition(values: Values): Filter {
    const value = formatKey(whole.partition, properties, values)
    return compare('PartitionKey', 'eq', { type: 'String', value })
  }

  function given(values: object): Values {
    return checkSomeValues(whole, ownValues(whole, values))
  }
}

interface FoundPart {
  readonly row: StoredRow
  readonly values: Values
  readonly foreign: Row
}

function foundPart({ definition: part }: Part, row: StoredRow): FoundPart {
  return { row, values: decodeEntity(part, ownLayout(part), row), foreign: foreignCells(part, row) }
}

/** With the cells of each part that its definition does not know, which a change keeps. */
interface WholeWide {
  readonly entity: WideStored
  readonly foreign: readonly Row[]
}

type WideStored = Values & { readonly etag: string; readonly timestamp: StoredRow['timestamp'] }

interface UntypedQuery {
  readonly prefix?: object
  readonly from?: object
  readonly until?: object
  readonly take?: number
}

interface Untyped {
  get(key: object, options?: { readonly select: readonly string[] }): Promise<object | undefined>
  insert(entity: object): Promise<void>
  replace(entity: object, condition: intents.Condition): Promise<void>
  upsert(entity: object): Promise<void>
  patch(key: object, changes: object, condition?: intents.Condition): Promise<void>
  change(
    key: object,
    compute: (current: object | undefined) => object | undefined | Promise<object | undefined>,
  ): Promise<void>
  remove(key: object, condition?: intents.Condition): Promise<boolean>
  query(partition: object, query?: UntypedQuery): AsyncGenerator<object>
}

/** Invariant: no key of an entity is the beginning of another's, so the rows of one come together. */
async function* groups(found: AsyncIterable<FoundPart>): AsyncGenerator<readonly FoundPart[]> {
  let group: FoundPart[] = []
  const stemText = ({ row }: FoundPart): string => row.rowKey.slice(0, -suffixOf(0).length)
  for await (const each of found) {
    const [first] = group
    if (first !== undefined && stemText(first) !== stemText(each)) {
      yield group
      group = []
    }
    group.push(each)
  }
  if (group.length > 0) yield group
}

// ---------------------------------------------------------------- writes, as intents for the parts

export function insertWide(definition: Wide, given: object, whole: string): readonly Intent[] {
  return divided(definition, given, whole).map(({ part, values }) => intents.insert(part, values))
}

export function upsertWide(definition: Wide, given: object, whole: string): readonly Intent[] {
  return divided(definition, given, whole).map(({ part, values }) => intents.upsert(part, values))
}

export function replaceWide(definition: Wide, given: object, etag: string, whole: string): readonly Intent[] {
  const etags = etagsOf(definition, etag)
  return divided(definition, given, whole).map(({ part, values }, index) =>
    intents.replace(part, values, { etag: etags[index] as string }),
  )
}

export function patchWide(
  definition: Wide,
  keys: object,
  changes: object,
  etag: string,
  whole: string,
): readonly Intent[] {
  const etags = etagsOf(definition, etag)
  const changed = ownValues(definition.whole, changes)
  const inKeys = [...definition.whole.partition.names, ...definition.whole.row.names]
  const fixed = Object.keys(changed).find((each) => inKeys.includes(each))
  if (fixed !== undefined)
    throw new PatternsError('InvalidValue', `${definition.whole.name}.${fixed} feeds a key`)
  const all = definition.parts.map(({ definition: part, names }, index) => ({
    part,
    etag: etags[index] as string,
    own: pick(changed, names),
  }))
  const touched = all.filter(({ own }) => Object.keys(own).length > 0)
  const key = keysOf(definition, keys)
  if (touched.length <= 1 && etag === '*')
    return touched.map(({ part, own }) => intents.patch(part, key, own as never))
  return all.map(({ part, own, etag: each }) =>
    intents.patch(part, key, { ...own, [wholeMark]: whole } as never, { etag: each }),
  )
}

export function removeWide(definition: Wide, keys: object, etag: string): readonly Intent[] {
  const etags = etagsOf(definition, etag)
  const key = keysOf(definition, keys)
  return definition.parts.map(({ definition: part }, index) =>
    intents.remove(part, key, { etag: etags[index] as string }),
  )
}

/** Parts that stay as they are only get the new mark: the others may have been computed from them. */
export function changeWide(
  definition: Wide,
  current: WholeWide | undefined,
  next: object | undefined,
  whole: string,
): readonly Intent[] {
  if (current === undefined) return next === undefined ? [] : insertWide(definition, next, whole)
  const { entity: old, foreign } = current
  if (next === undefined) return removeWide(definition, old, old.etag)
  const etags = etagsOf(definition, old.etag)
  const key = keysOf(definition, old)
  if (!isDeepStrictEqual(key, keysOf(definition, next)))
    throw new PatternsError('InvalidValue', `${definition.whole.name}: a change cannot move a wide entity`)
  const before = divided(definition, old, whole)
  return divided(definition, next, whole).map(({ part, values }, index): Intent => {
    const etag = etags[index] as string
    const was = before[index]?.values
    if (isDeepStrictEqual(values, was))
      return intents.patch(part, key, { [wholeMark]: whole } as never, { etag })
    return {
      kind: 'change',
      definition: part,
      before: { ...was, etag },
      entity: values,
      foreign: foreign[index] ?? {},
    }
  })
}

function divided(
  { whole: definition, parts }: Wide,
  given: object,
  whole: string,
): readonly { readonly part: Definition; readonly values: Write<Definition> }[] {
  const own = ownValues(definition, given)
  const keys = pick(own, [...definition.partition.names, ...definition.row.names])
  return parts.map(({ definition: part, names }) => ({
    part,
    values: { ...keys, ...pick(own, names), [wholeMark]: whole } as Write<Definition>,
  }))
}

function keysOf({ whole }: Wide, given: object): KeyOf<Definition> {
  const keys = pick(given as Values, [...whole.partition.names, ...whole.row.names])
  return checkSomeValues(whole, keys) as KeyOf<Definition>
}

/** The ETag of a wide entity is those of its parts, in order. */
function etagsOf({ whole, parts }: Wide, etag: string): readonly string[] {
  if (etag === '*') return parts.map(() => '*')
  const etags = etag.split(' ')
  if (etags.length !== parts.length)
    throw new PatternsError('InvalidValue', `${whole.name}: ${etag} is no ETag of such an entity`)
  return etags
}

function ownValues({ name, properties }: Definition, given: object): Readonly<Record<string, unknown>> {
  const { etag: _etag, timestamp: _timestamp, ...own } = given as Record<string, unknown>
  const stranger = Object.keys(own).find((each) => !(each in properties))
  if (stranger !== undefined) throw new PatternsError('InvalidValue', `${name} has no property ${stranger}`)
  return own
}

function pick(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    names.flatMap((each) => (values[each] === undefined ? [] : [[each, values[each]]])),
  )
}

// ---------------------------------------------------------------- which part

const wholeMark = 'Whole'

function suffixOf(part: number): string {
  return part.toString().padStart(2, '0')
}

/** What the RowKeys of all parts begin with. A text part ends where the next begins, so it is not the last one. */
function stemOf({ row }: Definition): KeyTemplate {
  return key(...row.parts, '_')
}

function byHash(name: string, own: readonly string[], parts: number): readonly (readonly string[])[] {
  if (!Number.isInteger(parts) || parts < 2) throw invalid(name, `${parts} parts; at least two`)
  const groups: string[][] = Array.from({ length: parts }, () => [])
  for (const each of own) {
    const digest = createHash('sha256').update(each).digest()
    groups[digest.readUInt32BE() % parts]?.push(each)
  }
  return groups
}

function bySchema(
  name: string,
  own: readonly string[],
  groups: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const listed = groups.flat()
  const [unknown] = listed.filter((each) => !own.includes(each))
  if (unknown !== undefined) throw invalid(name, `${unknown} is no property that a part could hold`)
  const twice = listed.find((each, index) => listed.indexOf(each) !== index)
  if (twice !== undefined) throw invalid(name, `${twice} is in two parts`)
  const listedSet = new Set(listed)
  const missing = own.find((each) => !listedSet.has(each))
  if (missing !== undefined) throw invalid(name, `${missing} is in no part`)
  if (groups.length < 2) throw invalid(name, `${groups.length} parts; at least two`)
  return groups
}

function invalid(where: string, text: string): PatternsError {
  return new PatternsError('InvalidDefinition', `${where}: ${text}`)
}

/**
 * Data series: a value for each hour of a day (or each minute of an hour, each day of a year …) in one row, not in one
 * row each. Atomic for each call.
 *
 *   PartitionKey  RowKey                    holds
 *   Sales         messages_000223_20261115  hour07: 12, hour08: 31, …
 *   Sales         messages_000223_20261116  the next day
 *
 * A period is a row and a slot is a property of it; all times are UTC. `set` merges values in without a read; `add`
 * reads the slots, and merges the sums under the ETag it has read. Where a period has more slots than a row has room
 * for, its row is divided as that of a wide entity is, consecutive slots together.
 *
 * `add` also writes a mark that no other write has. Without it, two that add the same to the same number would write
 * the same row, and one whose answer was lost could take the other's write for its own.
 *
 * Given up: filters by value, and slots that nobody planned: the unit is chosen once.
 */
import { type Definition, entity, type KeyOf } from './definition/entity.ts'
import { Instant } from './definition/instant.ts'
import { digits, formatKey, key, type KeyTemplate, type Values } from './definition/key-template.ts'
import {
  type EdmType,
  guid,
  int64,
  type Property,
  type PropertyMap,
  type ReadAs,
  type Value,
  type WriteAs,
} from './definition/properties.ts'
import { allOf, compare } from './filter/filter.ts'
import { PatternsError } from './patterns-error.ts'
import { openReading } from './read/reading.ts'
import { checkSomeValues, decodeEntity, isOfLayout, ownLayout } from './row/codec.ts'
import type { StoredRow } from './row/row.ts'
import { partsOf } from './wide-entities.ts'
import { write, type WriteContext } from './write/execute.ts'
import * as intents from './write/intent.ts'
import type { Intent } from './write/intent.ts'
import { againWhileOvertaken } from './write/overtaken.ts'

export type Unit = 'minute' | 'hour' | 'day' | 'month' | 'year'

/** How many digits of `YYYYMMDDhhmm` name one. */
const digitsOf = { year: 4, month: 6, day: 8, hour: 10, minute: 12 } as const satisfies Record<Unit, number>

export interface Series<D extends Definition = Definition, E extends EdmType = EdmType> {
  /** What tells one series from another; it has no row of its own. */
  readonly of: D
  readonly slot: Unit
  readonly per: Unit
  readonly value: Property<E>
  /** The rows of one period: one, or several that divide its slots. */
  readonly rows: readonly SeriesRow[]
}

export interface SeriesRow {
  readonly definition: Definition
  /** In the order of time. */
  readonly slots: readonly string[]
}

export interface SeriesOptions<
  P extends PropertyMap,
  PK extends readonly string[],
  RK extends readonly string[],
  E extends EdmType,
> {
  /** Those of the keys, and no others. */
  readonly properties: P
  readonly partition: KeyTemplate<PK>
  /** The period follows behind it. */
  readonly row: KeyTemplate<RK>
  readonly slot: Exclude<Unit, 'year'>
  /** The period that a row holds. */
  readonly per: Exclude<Unit, 'minute'>
  readonly value: Property<E, never>
}

type NoIndexes = { readonly [K in never]: never }

/** A plain value, as an entity's definition is one. */
export function series<
  const N extends string,
  P extends PropertyMap,
  PK extends readonly (keyof P & string)[],
  RK extends readonly (keyof P & string)[],
  E extends EdmType,
>(name: N, options: SeriesOptions<P, PK, RK, E>): Series<Definition<N, P, PK, RK, NoIndexes>, E> {
  const { properties, partition, row, slot, per, value } = options
  const keys: readonly string[] = [...partition.names, ...row.names]
  for (const [each, { flags }] of Object.entries(properties)) {
    if (!keys.includes(each)) throw invalid(name, `${each} is in no key`)
    if (flags.includes('fresh')) throw invalid(name, `${each} is in the key, so it must be given, not made`)
    if (each === period || each === addMark || slotPattern.test(each))
      throw invalid(name, `${each} is kept for the series itself`)
  }
  if (value.flags.length > 0) throw invalid(name, `a value cannot be ${value.flags.join(' and ')}`)
  if (digitsOf[slot] <= digitsOf[per]) throw invalid(name, `a ${per} has no slots of a ${slot}`)
  const slots = slotsOf(slot, per)
  const all: PropertyMap = {
    ...properties,
    [period]: int64(),
    [addMark]: guid().optional(),
    ...Object.fromEntries(slots.map((each) => [each, (value as Property).optional()])),
  }
  return Object.freeze({
    of: Object.freeze({ name, properties, partition, row, indexes: {}, type: undefined }),
    slot,
    per,
    value,
    rows: rowsOf(name, { properties: all, partition, row: periodKey(row, per) }, slots),
  })
}

/** `at` is the beginning of the slot. */
export interface Point<T> {
  readonly at: Date
  readonly value: T
}

export interface GivenPoint<T> {
  readonly at: Date | Instant
  readonly value: T
}

export interface TimeRange {
  readonly from: Date | Instant
  /** Slots that begin then or later are not included. */
  readonly until: Date | Instant
}

type Summable = 'Int32' | 'Int64' | 'Double'

export interface SeriesTable<D extends Definition, E extends EdmType> {
  /** Whatever was there, without a read. All points or none. */
  set(series: KeyOf<D>, ...points: readonly GivenPoint<WriteAs[E]>[]): Promise<void>
  /** Adds to what is there, and to nothing where there is none. All points or none; exactly once, or it throws. */
  add: E extends Summable
    ? (series: KeyOf<D>, ...points: readonly GivenPoint<WriteAs[E]>[]) => Promise<void>
    : never
  /** The period that the time is in: one point read, or one range query where its row is divided. */
  get(series: KeyOf<D>, at: Date | Instant): Promise<Point<ReadAs[E]>[]>
  /** The slots that hold a value, oldest first: one range query, whatever the number of periods. */
  read(series: KeyOf<D>, range: TimeRange): AsyncGenerator<Point<ReadAs[E]>>
}

export function openSeries<D extends Definition, E extends EdmType>(
  context: WriteContext,
  definition: Series<D, E>,
): SeriesTable<D, E> {
  const { of, rows: rowKinds, slot, per } = definition
  const { rows, backoff, newGuid } = context
  const table: Untyped = { set, add, get, read }
  return table as unknown as SeriesTable<D, E>

  async function set(keys: object, ...points: readonly GivenPoint<Value>[]): Promise<void> {
    await send(setPoints(definition, keys, points))
  }

  async function add(keys: object, ...points: readonly GivenPoint<Value>[]): Promise<void> {
    await againWhileOvertaken(backoff, async () => {
      const wanted = rowWrites(definition, keys, points, sum)
      const found = await Promise.all(wanted.map((each) => readRow(each)))
      await send(addPoints(wanted, found, newGuid()))
    })
  }

  async function send(all: readonly Intent[]): Promise<void> {
    if (all.length > 0) await write(context, all)
  }

  async function readRow({ kind, keys, values }: RowWrite): Promise<FoundRow | undefined> {
    const { properties, partition, row } = kind.definition
    const partitionKey = formatKey(partition, properties, keys)
    const stored = await rows.get(partitionKey, formatKey(row, properties, keys), Object.keys(values))
    if (stored === undefined) return undefined
    return { values: decodeEntity(kind.definition, ownLayout(kind.definition), stored), etag: stored.etag }
  }

  async function get(keys: object, at: Date | Instant): Promise<Point<Value>[]> {
    const [only, ...more] = rowKinds
    const placed = placedAt(definition, keys, at)
    if (only !== undefined && more.length === 0) {
      const { properties, partition, row } = only.definition
      const found = await rows.get(
        formatKey(partition, properties, placed),
        formatKey(row, properties, placed),
      )
      return found ? pointsOf(only, found) : []
    }
    const points: Point<Value>[] = []
    const { from, until } = boundsOf(definition, at)
    for await (const point of read(keys, { from, until })) points.push(point)
    return points
  }

  async function* read(keys: object, range: TimeRange): AsyncGenerator<Point<Value>> {
    const from = Instant.from(range.from).toDate()
    const until = roundedUp(range.until)
    const last = new Date(until.getTime() - 1)
    if (last < from) return
    const partition = formatKey(of.partition, of.properties, checkSomeValues(of, keys))
    const filter = allOf([
      compare('PartitionKey', 'eq', { type: 'String', value: partition }),
      compare('RowKey', 'ge', { type: 'String', value: rowKeyAt(keys, from) }),
      compare('RowKey', 'le', { type: 'String', value: rowKeyAt(keys, last) }),
    ])
    const found = openReading<Point<Value>[]>({
      rows,
      filter,
      select: undefined,
      async decode(row) {
        const kind = rowKinds.find((each) => isOfLayout(each.definition, ownLayout(each.definition), row))
        return kind && pointsOf(kind, row)
      },
    })
    // The slot that `from` falls into is one that was asked for.
    const first = boundsOf({ per: slot }, from).from
    for await (const points of found)
      for (const point of points) if (point.at >= first && point.at < until) yield point
  }

  function rowKeyAt(keys: object, at: Date): string {
    const { definition: kind } = rowOfSlot(definition, slotAt(definition, at))
    return formatKey(kind.row, kind.properties, placedAt(definition, keys, at))
  }

  function pointsOf({ definition: kind, slots }: SeriesRow, row: StoredRow): Point<Value>[] {
    const values = decodeEntity(kind, ownLayout(kind), row)
    const start = String(values[period]).padStart(digitsOf[per], '0')
    return slots.flatMap((name) => {
      const value = values[name]
      return value === undefined ? [] : [{ at: dateOf(start + name.slice(slot.length)), value }]
    })
  }
}

interface Untyped {
  set(series: object, ...points: readonly GivenPoint<Value>[]): Promise<void>
  add(series: object, ...points: readonly GivenPoint<Value>[]): Promise<void>
  get(series: object, at: Date | Instant): Promise<Point<Value>[]>
  read(series: object, range: TimeRange): AsyncGenerator<Point<Value>>
}

// ---------------------------------------------------------------- writes, as intents for the rows

/** The last of several values for one slot. */
export function setPoints(
  definition: Series,
  keys: object,
  points: readonly GivenPoint<Value>[],
): readonly Intent[] {
  return rowWrites(definition, keys, points, (_, value) => value).map((each) =>
    intents.upsertMerge(each.kind.definition, { ...each.keys, ...each.values }),
  )
}

/** What is to be written to one row: its values, before those that are there were added. */
export interface RowWrite {
  readonly kind: SeriesRow
  readonly keys: Values
  readonly values: Readonly<Record<string, Value>>
}

export interface FoundRow {
  readonly values: Values
  readonly etag: string
}

/** `found` has, for each write, the row as it is stored. */
export function addPoints(
  writes: readonly RowWrite[],
  found: readonly (FoundRow | undefined)[],
  mark: string,
): readonly Intent[] {
  return writes.map(({ kind: { definition }, keys, values }, index) => {
    const old = found[index]
    const sums = Object.entries(values).map(([name, value]) => [name, sum(old?.values[name], value)])
    const next = { ...Object.fromEntries(sums), [addMark]: mark }
    if (old === undefined) return intents.insert(definition, { ...keys, ...next } as never)
    return intents.patch(definition, keys as never, next as never, { etag: old.etag })
  })
}

/** Points by row, in the order of their first points; two of one slot are made one. */
export function rowWrites(
  definition: Series,
  keys: object,
  points: readonly GivenPoint<Value>[],
  combine: (old: Value | undefined, value: Value) => Value,
): readonly RowWrite[] {
  const writes = new Map<string, { kind: SeriesRow; keys: Values; values: Record<string, Value> }>()
  for (const { at, value } of points) {
    const slot = slotAt(definition, at)
    const kind = rowOfSlot(definition, slot)
    const placed = placedAt(definition, keys, at)
    const id = `${kind.definition.name} ${String(placed[period])}`
    const found = writes.get(id) ?? { kind, keys: placed, values: {} }
    writes.set(id, found)
    found.values[slot] = combine(found.values[slot], value)
  }
  return [...writes.values()]
}

/** Int32 and Double are numbers, Int64 is a bigint; a sum that does not fit is refused with the value. */
function sum(old: Value | undefined, value: Value): Value {
  if (typeof value === 'bigint') return ((old as bigint | undefined) ?? 0n) + value
  return ((old as number | undefined) ?? 0) + (value as number)
}

// ---------------------------------------------------------------- time to rows and slots

/** Properties of the rows that are not the caller's. */
const period = 'period'
const addMark = 'Added'
const slotPattern = /^(?:minute|hour|day|month)\d+$/

/** `YYYYMMDDhhmm`, UTC. */
function digitsAt(at: Date | Instant): string {
  return Instant.from(at).toString().replaceAll(/\D/g, '').slice(0, digitsOf.minute)
}

function dateOf(text: string): Date {
  const [, year, month = '01', day = '01', hour = '00', minute = '00'] =
    /^(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?$/.exec(text) ?? []
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:00Z`)
}

/** The whole key of the rows that hold this time. */
function placedAt({ of, per }: Series, keys: object, at: Date | Instant): Values {
  return { ...checkSomeValues(of, keys), [period]: BigInt(digitsAt(at).slice(0, digitsOf[per])) }
}

/** To milliseconds: what begins at the last whole one is before the time itself. */
function roundedUp(at: Date | Instant): Date {
  return Instant.ofTicks(Instant.from(at).ticks + 9999n).toDate()
}

/** `hour07` of a day, `day1115` of a year. */
function slotAt({ slot, per }: Series, at: Date | Instant): string {
  return slot + digitsAt(at).slice(digitsOf[per], digitsOf[slot])
}

/** When the period begins that the time is in, and when the next one does. */
function boundsOf({ per }: { readonly per: Unit }, at: Date | Instant): { from: Date; until: Date } {
  const from = dateOf(digitsAt(at).slice(0, digitsOf[per]))
  const until = new Date(from)
  if (per === 'year') until.setUTCFullYear(from.getUTCFullYear() + 1)
  else if (per === 'month') until.setUTCMonth(from.getUTCMonth() + 1)
  else until.setTime(from.getTime() + { day: 86_400_000, hour: 3_600_000, minute: 60_000 }[per])
  return { from, until }
}

function rowOfSlot({ of, rows }: Series, slot: string): SeriesRow {
  const found = rows.length === 1 ? rows[0] : rows.find(({ slots }) => slots.includes(slot))
  if (found === undefined) throw new PatternsError('InvalidValue', `${of.name} has no slot ${slot}`)
  return found
}

/** All slots that any such period has, in order: the month of 31 days, the year of 366. */
function slotsOf(slot: Unit, per: Unit): readonly string[] {
  const longest = boundsOf({ per }, new Date('2024-01-01T00:00:00Z'))
  const names: string[] = []
  for (let at = longest.from; at < longest.until; at = boundsOf({ per: slot }, at).until)
    names.push(slot + digitsAt(at).slice(digitsOf[per], digitsOf[slot]))
  return names
}

/** Leaves room for the properties that keys could not give back, and for those of the series itself. */
const slotsPerRowMax = 240

function rowsOf(
  name: string,
  parts: Pick<Definition, 'properties' | 'partition' | 'row'>,
  slots: readonly string[],
): readonly SeriesRow[] {
  if (slots.length <= slotsPerRowMax) return [{ definition: entity(name, parts), slots }]
  const count = Math.ceil(slots.length / slotsPerRowMax)
  const size = Math.ceil(slots.length / count)
  const groups = Array.from({ length: count }, (_, index) => slots.slice(index * size, (index + 1) * size))
  return partsOf(name, parts, groups, [addMark]).map(({ definition, names }) => ({
    definition,
    slots: names,
  }))
}

function periodKey(row: KeyTemplate, per: Unit): KeyTemplate {
  return key(...row.parts, digits(period, digitsOf[per]))
}

function invalid(where: string, text: string): PatternsError {
  return new PatternsError('InvalidDefinition', `${where}: ${text}`)
}

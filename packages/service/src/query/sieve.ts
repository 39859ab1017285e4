/**
 * What earlier scans saw of values, so that later ones need not look at the same rows again. Rows that lie together
 * and were not written since have the same values; a digest of each tells for most of them that they cannot match.
 *
 *   slot    = place · written:u64 · column · count · patience · digest*      (32 bits each)
 *   column  = one property, as far as its values have one type
 *
 * A digest never excludes a row that matches: equal values have equal digests, and where order can be asked for, a
 * greater value has no smaller digest. Values of other types than the column's are `unknown`, and have to be looked at.
 *
 * Memory is bounded: a column of a place has one slot, which it may share with others. What is there stays while it is
 * asked for now and then, so that a table a few times too large keeps a part in it and is not learnt in vain.
 */
import { unreachable } from '../model/brand.ts'
import { type Place, propertyFinder, type Records } from '../model/records.ts'
import { type EdmType, typeCodes, type Value, valueText } from '../model/values.ts'
import type { Comparison, Filter } from './filter.ts'

export interface Sieve {
  /** Whether it is known that none of the records matches. */
  excludes(records: Records): boolean
  /** Remembers what `excludes` will want to know of them. */
  learn(records: Records): void
}

/** What is known of one store's rows. */
export interface Memory {
  slots(): Int32Array
  /** The number of a column, which is never that of another. */
  columnOf(property: string, type: EdmType): number
}

const slotInts = 64
const [placeAt, writtenAt, writtenHighAt, columnAt, countAt, patienceAt, digestsAt] = [0, 1, 2, 3, 4, 5, 6]
const rowsMax = slotInts - digestsAt
/** 64 MiB, of which the system gives what is used. */
const slotCount = 2 ** 18
const columnsMax = 4096
/** How many rivals a slot refuses before it gives way. */
const patience = 4

export function openMemory(): Memory {
  const columns = new Map<string, number>()
  let lastColumn = 0
  let all: Int32Array | undefined
  return { slots, columnOf }

  function slots(): Int32Array {
    all ??= new Int32Array(slotCount * slotInts)
    return all
  }

  function columnOf(property: string, type: EdmType): number {
    const name = `${type} ${property}`
    if (columns.size >= columnsMax) columns.clear()
    const column = columns.get(name) ?? ++lastColumn
    columns.set(name, column)
    return column
  }
}

/** Undefined if digests cannot tell anything of the filter. */
export function sieveOf(filter: Filter, memory: Memory): Sieve | undefined {
  switch (filter.kind) {
    case 'comparison':
      return allOf([filter], memory)
    case 'and':
      return allOf(filter.terms, memory)
    case 'or':
      return anyOf(filter.terms, memory)
    case 'constant':
    case 'not':
      return undefined
    default:
      return unreachable(filter)
  }
}

/** Excludes what one of the terms excludes. Comparisons with one column are an interval of it. */
function allOf(terms: readonly Filter[], memory: Memory): Sieve | undefined {
  const intervals = new Map<number, Interval>()
  const sieves: Sieve[] = []
  for (const term of terms) {
    if (term.kind !== 'comparison') {
      const sieve = sieveOf(term, memory)
      if (sieve !== undefined) sieves.push(sieve)
      continue
    }
    const [low, high] = digestsOf(term) ?? []
    if (low === undefined || high === undefined) continue
    const column = memory.columnOf(term.property, term.literal.type)
    const known = intervals.get(column) ?? { ...term, low: digestMin, high: digestMax }
    intervals.set(column, { ...known, low: Math.max(low, known.low), high: Math.min(high, known.high) })
  }
  for (const [column, interval] of intervals) sieves.push(sieveOfInterval(column, interval, memory))
  if (sieves.length <= 1) return sieves[0]
  return {
    excludes: (records) => sieves.some((sieve) => sieve.excludes(records)),
    learn: (records) => sieves.forEach((sieve) => sieve.learn(records)),
  }
}

/** Excludes what all of the terms exclude. */
function anyOf(terms: readonly Filter[], memory: Memory): Sieve | undefined {
  const sieves = terms.map((term) => sieveOf(term, memory)).filter((sieve) => sieve !== undefined)
  if (sieves.length < terms.length) return undefined
  return {
    excludes: (records) => sieves.every((sieve) => sieve.excludes(records)),
    learn: (records) => sieves.forEach((sieve) => sieve.learn(records)),
  }
}

/** Digests from `low` to `high` may be those of matching values. */
interface Interval {
  readonly property: string
  readonly literal: Value
  readonly low: number
  readonly high: number
}

function sieveOfInterval(column: number, { property, literal, low, high }: Interval, memory: Memory): Sieve {
  const slots = memory.slots()
  const find = propertyFinder(property)
  const place: Place = { type: 0, from: 0, until: 0 }
  const type = typeCodes[literal.type]
  const digest = digestOf[literal.type]
  return { excludes, learn }

  function excludes(records: Records): boolean {
    const slot = slotOf(records.place)
    if (!isKnown(slot, records)) return false
    slots[slot + patienceAt] = patience
    const from = slot + digestsAt
    const until = from + records.count
    for (let i = from; i < until; i++) {
      const known = slots[i] as number
      if ((known >= low && known <= high) || known === unknown) return false
    }
    return true
  }

  function learn(records: Records): void {
    if (records.count > rowsMax) return
    const slot = slotOf(records.place)
    if (isKnown(slot, records) || refuses(slot, records)) return
    slots[slot + placeAt] = records.place | 0
    slots[slot + writtenAt] = records.written | 0
    slots[slot + writtenHighAt] = Math.floor(records.written / 2 ** 32)
    slots[slot + columnAt] = column
    slots[slot + countAt] = records.count
    slots[slot + patienceAt] = patience
    for (let i = 0; i < records.count; i++)
      slots[slot + digestsAt + i] = digestIn(records, records.starts[i] as number)
  }

  function digestIn(records: Records, at: number): number {
    if (!find(records, at, place)) return absent
    return place.type === type ? digest(records.bytes, place.from, place.until) : unknown
  }

  function refuses(slot: number, { place: where }: Records): boolean {
    // What lay at this place before is not asked for any more.
    if (slots[slot + placeAt] === (where | 0) && slots[slot + columnAt] === column) return false
    const left = slots[slot + patienceAt] as number
    if (left > 0) slots[slot + patienceAt] = left - 1
    return left > 0
  }

  /** Places that follow each other have slots that do. */
  function slotOf(where: number): number {
    return ((where + Math.imul(column, 0x9e3779b1)) & (slotCount - 1)) * slotInts
  }

  function isKnown(slot: number, { place: where, written, count }: Records): boolean {
    return (
      slots[slot + placeAt] === (where | 0) &&
      slots[slot + writtenAt] === (written | 0) &&
      slots[slot + writtenHighAt] === Math.floor(written / 2 ** 32) &&
      slots[slot + columnAt] === column &&
      slots[slot + countAt] === count
    )
  }
}

const unknown = -(2 ** 31)
/** Below all that can match: an absent property satisfies no comparison. */
const absent = unknown + 1
const digestMin = absent + 1
const digestMax = 2 ** 31 - 1

/** Between which digests those of matching values lie; undefined if that may be any. */
function digestsOf(comparison: Comparison): readonly [low: number, high: number] | undefined {
  const { property, operator, literal } = comparison
  if (systemProperties.has(property)) return undefined
  const text = Buffer.from(valueText(literal), 'latin1')
  const wanted = digestOf[literal.type](text, 0, text.length)
  if (wanted === unknown || (operator !== 'eq' && !isOrdered(literal.type))) return undefined
  switch (operator) {
    case 'eq':
      return [wanted, wanted]
    case 'lt':
    case 'le':
      return [digestMin, wanted]
    case 'gt':
    case 'ge':
      return [wanted, digestMax]
    case 'ne':
      return undefined
    default:
      return unreachable(operator)
  }
}

/** Not among the properties of a record. */
const systemProperties: ReadonlySet<string> = new Set(['PartitionKey', 'RowKey', 'Timestamp'])

function isOrdered(type: EdmType): boolean {
  return digestOf[type] !== digestOfText
}

/** The digest of a value of each type, from its text. */
const digestOf: Readonly<Record<EdmType, (bytes: Buffer, from: number, until: number) => number>> = {
  'Edm.Binary': digestOfText,
  'Edm.Boolean': digestOfText,
  'Edm.DateTime': digestOfMoment,
  'Edm.Double': digestOfNumber,
  'Edm.Guid': digestOfText,
  'Edm.Int32': digestOfInt32,
  'Edm.Int64': digestOfNumber,
  'Edm.String': digestOfText,
}

/** The number itself, but for the least. */
function digestOfInt32(bytes: Buffer, from: number, until: number): number {
  const isNegative = bytes[from] === minus
  const digitsFrom = isNegative ? from + 1 : from
  const digits = digitsAt(bytes, digitsFrom, until - digitsFrom)
  return isNegative ? Math.max(-digits, digestMin) : digits
}

const minus = 0x2d

/** By its leading bits. Those of a float ascend with it, and those of negative ones descend. */
function digestOfNumber(bytes: Buffer, from: number, until: number): number {
  const number = Number(bytes.toString('latin1', from, until).replaceAll('"', ''))
  if (Number.isNaN(number)) return unknown
  // Adding zero makes −0 the 0 that it equals.
  floats[0] = number + 0
  const bits = bitsOfFloats[0] as number
  return bits >= 0 ? bits : -(bits + 2 ** 31)
}

const floats = new Float32Array(1)
const bitsOfFloats = new Int32Array(floats.buffer)

/** By its seconds, as if all months had 31 days; all moments long before or behind our time have the same digest. */
function digestOfMoment(bytes: Buffer, from: number): number {
  const [year, month, day] = [
    digitsAt(bytes, from + 1, 4),
    digitsAt(bytes, from + 6, 2),
    digitsAt(bytes, from + 9, 2),
  ]
  const [hour, minute] = [digitsAt(bytes, from + 12, 2), digitsAt(bytes, from + 15, 2)]
  const days = ((year - 2016) * 12 + month) * 31 + day
  const seconds = ((days * 24 + hour) * 60 + minute) * 60 + digitsAt(bytes, from + 18, 2)
  return Math.min(Math.max(seconds, digestMin), digestMax)
}

function digitsAt(bytes: Buffer, from: number, count: number): number {
  let number = 0
  for (let i = from; i < from + count; i++) number = number * 10 + (bytes[i] as number) - 0x30
  return number
}

/** By a hash of how it begins and of its length: good for equality only. */
function digestOfText(bytes: Buffer, from: number, until: number): number {
  let hash = 0x811c9dc5 ^ (until - from)
  const hashedUntil = Math.min(until, from + hashedBytesMax)
  for (let i = from; i < hashedUntil; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  return Math.max(hash, digestMin)
}

const hashedBytesMax = 256

/**
 * Compares a constant with a value where it stands in a record, without reading it out.
 *
 * A value's text is canonical (record.ts), so equal values have equal text, and each type's order can be
 * had from its text: digits, sextets and characters in turn, never by way of a double or a Date.
 */
import { unreachable } from '../model/brand.ts'
import { type Records, textAt, versionHighOf, versionLowOf } from '../model/records.ts'
import type { Ticks } from '../model/ticks.ts'
import { type EdmType, edmTypes, typeCodes, type Value, valueText } from '../model/values.ts'
import type { Operator } from './filter.ts'

/** How a stored value lies to the constant. One bit each, so that an operator is the set it accepts. */
export type Relation = number

export const below = 1
export const equal = 2
export const above = 4
/** NaN is neither below, equal nor above. */
export const unordered = 8

export const accepted = {
  eq: equal,
  ne: below | above | unordered,
  lt: below,
  le: below | equal,
  gt: above,
  ge: above | equal,
} as const satisfies Record<Operator, Relation>

/** Compares the value whose text stands from `from` until `until`. */
export type Comparer = (records: Records, from: number, until: number) => Relation

/** Strict: only Int32 constants meet other numbers. Lenient: all numbers meet. */
export type NumericComparison = 'strict' | 'lenient'

/** For each type a stored value may have, by its index in edmTypes, how it compares with `literal`. */
export function comparersOf(
  literal: Value,
  operator: Operator,
  numbers: NumericComparison,
): readonly Comparer[] {
  return edmTypes.map((type) => {
    if (meets(type, literal.type, numbers)) return comparerOf(type, literal, operator)
    const relation = relationOf(type, literal.type)
    return () => relation
  })
}

/** How values of types that do not meet lie to each other: as the types' indexes do. */
export function relationOf(stored: EdmType, literal: EdmType): Relation {
  return typeCodes[stored] < typeCodes[literal] ? below : above
}

function meets(stored: EdmType, literal: EdmType, numbers: NumericComparison): boolean {
  if (stored === literal) return true
  if (!isNumber(stored) || !isNumber(literal)) return false
  return numbers === 'lenient' || (literal === 'Edm.Int32' && stored !== 'Edm.Int32')
}

function isNumber(type: EdmType): boolean {
  return type === 'Edm.Int32' || type === 'Edm.Int64' || type === 'Edm.Double'
}

/** REQUIRES: the types meet. */
function comparerOf(stored: EdmType, literal: Value, operator: Operator): Comparer {
  switch (literal.type) {
    case 'Edm.Boolean':
      return compareBoolean(literal.value)
    case 'Edm.Double':
      return stored === 'Edm.Double' ? compareDouble(literal.value) : compareIntegerExactly(literal.value)
    case 'Edm.Int32':
    case 'Edm.Int64':
      return stored === 'Edm.Double' ? compareDouble(literal.value) : compareInteger(stored, literal.value)
    case 'Edm.Binary':
    case 'Edm.DateTime':
    case 'Edm.Guid':
    case 'Edm.String':
      if (operator === 'eq' || operator === 'ne') return compareText(valueText(literal))
      return compareOrder(literal)
    default:
      return unreachable(literal)
  }
}

function compareOrder(literal: Value & { type: 'Edm.Binary' | 'Edm.DateTime' | 'Edm.Guid' | 'Edm.String' }) {
  switch (literal.type) {
    case 'Edm.String':
      return compareString(literal.value)
    case 'Edm.Binary':
      return compareWeighed(valueText(literal), sextets)
    case 'Edm.DateTime':
    case 'Edm.Guid':
      return compareWeighed(valueText(literal), fractions)
    default:
      return unreachable(literal)
  }
}

/** Equal or not; which of the two is greater stays open. */
function compareText(text: string): Comparer {
  const stands = textAt(text)
  return ({ view }, from, until) => (until - from === text.length && stands(view, from) ? equal : above)
}

/** By the weight of the first byte that differs. Both texts end in a quote, which weighs least. */
function compareWeighed(text: string, weights: Uint8Array): Comparer {
  const literal = Buffer.from(text, 'latin1')
  return ({ bytes }, from) => {
    for (let i = 0; i < literal.length; i++) {
      const stored = bytes[from + i] as number
      const wanted = literal[i] as number
      if (stored !== wanted) {
        return (weights[stored] as number) < (weights[wanted] as number) ? below : above
      }
    }
    return equal
  }
}

/**
 * Base64 in the order of the bytes it stands for: sextets compare as the bits they are, and padding, which
 * only a shorter value has there, weighs less than any sextet.
 */
const sextets = weightsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')

function weightsOf(ascending: string): Uint8Array {
  const weights = new Uint8Array(256)
  for (let i = 0; i < ascending.length; i++) weights[ascending.charCodeAt(i)] = i + 1
  return weights
}

/**
 * Moments and GUIDs in their own order: bytes as they are, but for the Z. A moment's fraction has lost its
 * trailing zeros, so where one ends and the other goes on, the one that ends is earlier.
 */
const fractions = Uint8Array.from({ length: 256 }, (_, byte) => byte)
fractions['Z'.charCodeAt(0)] = 0

function compareString(text: string): Comparer {
  const units = unitsOf(text)
  return ({ bytes }, from) => compareUnits(bytes, from, units)
}

/** A JSON string, from its opening quote, by UTF-16 code unit. */
export function compareUnits(bytes: Buffer, from: number, units: Uint16Array): Relation {
  let at = from + 1
  for (let i = 0; i < units.length; i++) {
    let stored = bytes[at] as number
    if (stored === quote) return below
    if (stored === backslash) {
      stored = escapedUnit(bytes, at + 1)
      at += bytes[at + 1] === letterU ? 6 : 2
    } else {
      at++
    }
    const wanted = units[i] as number
    if (stored !== wanted) return stored < wanted ? below : above
  }
  return bytes[at] === quote ? equal : above
}

export function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i)
  return units
}

const quote = 0x22
const backslash = 0x5c
const letterU = 0x75
const shortEscapes: ReadonlyMap<string, number> = new Map([
  ['b', 0x08],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
])

/** The unit an escape stands for, from behind its backslash. */
function escapedUnit(bytes: Buffer, at: number): number {
  const letter = bytes[at] as number
  // A quote and a backslash stand for themselves.
  if (letter !== letterU) return shortEscapes.get(String.fromCharCode(letter)) ?? letter
  let unit = 0
  for (let i = 1; i <= 4; i++) {
    const digit = bytes[at + i] as number
    // Hex digits are 0–9 and a–f.
    unit = (unit << 4) | (digit < 0x61 ? digit - 0x30 : digit - 0x57)
  }
  return unit
}

function compareBoolean(wanted: boolean): Comparer {
  return ({ bytes }, from) => {
    const stored = bytes[from] === 0x74
    if (stored === wanted) return equal
    return stored ? above : below
  }
}

/** Any two integers, by sign, number of digits, digits: exact for all 64 bits. */
function compareInteger(stored: EdmType, value: number | bigint): Comparer {
  const negative = value < 0
  const digits = Buffer.from(value.toString().slice(negative ? 1 : 0), 'latin1')
  const [larger, smaller] = negative ? [below, above] : [above, below]
  // An Int64 stands in quotes.
  const quotes = stored === 'Edm.Int64' ? 1 : 0
  return ({ bytes }, from, until) => {
    let at = from + quotes
    if ((bytes[at] === minus) !== negative) return negative ? above : below
    if (negative) at++
    const count = until - quotes - at
    if (count !== digits.length) return count > digits.length ? larger : smaller
    for (let i = 0; i < count; i++) {
      const digit = bytes[at + i] as number
      const wanted = digits[i] as number
      if (digit !== wanted) return digit > wanted ? larger : smaller
    }
    return equal
  }
}

const minus = 0x2d

/** An integer with a double. JavaScript compares a bigint with a number exactly. */
function compareIntegerExactly(value: number): Comparer {
  return ({ bytes }, from, until) => {
    const text = bytes.toString('latin1', from, until).replaceAll('"', '')
    return relate(BigInt(text), value)
  }
}

function compareDouble(value: number | bigint): Comparer {
  return ({ bytes }, from, until) => relate(readDouble(bytes, from, until), value)
}

function relate(stored: number | bigint, value: number | bigint): Relation {
  if (stored < value) return below
  if (stored > value) return above
  // oxlint-disable-next-line eqeqeq -- a bigint and a number that are the same number are equal
  return stored == value ? equal : unordered
}

/** Digits and powers of ten that a double holds exactly, so that one operation rounds correctly. */
const exactMax = 2 ** 53
const exactPowers = Array.from({ length: 23 }, (_, power) => 10 ** power)

function readDouble(bytes: Buffer, from: number, until: number): number {
  let at = from
  const negative = bytes[at] === minus
  if (negative) at++
  let digits = 0
  let scale = 0
  let fraction = 0
  for (; at < until; at++) {
    const byte = bytes[at] as number
    if (byte === 0x2e) fraction = 1
    else if (byte >= 0x30 && byte <= 0x39) {
      digits = digits * 10 + byte - 0x30
      scale += fraction
    } else return readDoubleSlowly(bytes, from, until)
  }
  const power = exactPowers[scale]
  if (power === undefined || digits >= exactMax) return readDoubleSlowly(bytes, from, until)
  return negative ? -digits / power : digits / power
}

/** Exponents, many digits, and the names of what is not finite. */
function readDoubleSlowly(bytes: Buffer, from: number, until: number): number {
  return Number(bytes.toString('latin1', from, until).replaceAll('"', ''))
}

/** The Timestamp, which a record keeps as a number. */
export function compareVersion(moment: Ticks): (bytes: Buffer, at: number) => Relation {
  const high = Number(moment >> 32n)
  const low = Number(moment & 0xffff_ffffn)
  return (bytes, at) => {
    const storedHigh = versionHighOf(bytes, at)
    if (storedHigh !== high) return storedHigh < high ? below : above
    const storedLow = versionLowOf(bytes, at)
    if (storedLow === low) return equal
    return storedLow < low ? below : above
  }
}

/**
 * Copies an entity straight from the bytes of its body into the content of a record, without a string or an
 * object for each value. That is possible for most: they are written like one before, and their values stand
 * there as a record holds them.
 *
 * Nothing is refused or mended here. Whatever is not plain (an escape, a character beyond ASCII, another blank, a
 * number in another form, a body long enough to break a limit) is left to the reader, so that each rule is kept in
 * one place.
 */
import { strict as assert } from 'node:assert'
import { unreachable } from '../model/brand.ts'
import { areLegalNames, faultOfValue } from '../model/entity.ts'
import { limits } from '../model/limits.ts'
import { byName, type PropertyOrder } from '../model/content.ts'
import { contentCopier, type ValuePlaces } from '../model/copy-content.ts'
import { type EdmType, typeCodes } from '../model/values.ts'
import type { Outline, Slot } from './entity-outline.ts'
import { isNumber, type JsonScalar } from './json-reader.ts'
import { readValue } from './read-value.ts'

/** Gives the entity of a body, or undefined for one that it leaves to the reader. */
export type Transcript = (body: Buffer) => Transcribed | undefined

export interface Transcribed {
  readonly partition: string | undefined
  readonly row: string | undefined
  /** The content of a record. */
  readonly properties: Buffer
}

/** So short a body can break no limit of size, neither that of a value nor that of the entity. */
const transcribedBytesMax = 32_768
assert(transcribedBytesMax <= limits.stringCharactersMax && transcribedBytesMax <= limits.binaryBytesMax)
// By the protocol's formula the six bytes of `"a":1,` come to fourteen; nothing gains more.
assert(3 * transcribedBytesMax <= limits.entityBytesMax)

/** For bodies of this outline; undefined if all of them are for the reader. */
export function transcriptOf({ slots, tail }: Outline, order: PropertyOrder): Transcript | undefined {
  const types = slots.map(typeOf)
  if (!types.every((type) => type !== undefined)) return undefined
  const parts = slots.map(
    ({ lead, kind, name, role, type }): Part => ({
      lead: Buffer.from(lead),
      kind,
      name,
      type: role === 'property' ? type : undefined,
    }),
  )
  const properties = slots.flatMap(({ name, role, kind, lead }, place) =>
    role === 'property'
      ? [{ name, type: types[place] as EdmType, quoted: kind === 'string', place, lead }]
      : [],
  )
  if (!areLegalNames(properties)) return undefined
  const copyContent = contentCopier(order === 'given' ? properties : properties.toSorted(byName))
  const partition = slots.findIndex(({ role }) => role === 'PartitionKey')
  const row = slots.findIndex(({ role }) => role === 'RowKey')
  const end = Buffer.from(tail)
  let lastPartition = ''
  const places: ValuePlaces = {
    from: new Int32Array(slots.length),
    until: new Int32Array(slots.length),
    type: Uint8Array.from(types, (type) => typeCodes[type]),
    cut: new Uint8Array(slots.length),
  }
  return (body) => {
    if (body.length > transcribedBytesMax || !findValues(body, parts, end, places)) return undefined
    // Entities of a group share theirs, and comparing costs less than making another string.
    if (partition >= 0 && !isText(body, places, partition, lastPartition)) {
      lastPartition = unquoted(body, places, partition)
    }
    return {
      partition: partition < 0 ? undefined : lastPartition,
      row: row < 0 ? undefined : unquoted(body, places, row),
      properties: copyContent(body, places),
    }
  }
}

/** The types that records write as JSON of a kind; the first is that of a value without annotation. */
const typesByKind: Readonly<Record<JsonScalar['kind'], readonly EdmType[]>> = {
  string: ['Edm.String', 'Edm.Binary', 'Edm.DateTime', 'Edm.Guid', 'Edm.Int64'],
  // A number without annotation is an Int32 until its text is seen.
  number: ['Edm.Int32', 'Edm.Double'],
  boolean: ['Edm.Boolean'],
  // Not written at all, so that any will do.
  null: ['Edm.String'],
}

/** Undefined if no value of the slot can stand in a record as it stands in a body. */
function typeOf({ kind, role, type }: Slot): EdmType | undefined {
  const types = typesByKind[kind]
  switch (role) {
    case 'nothing':
      return types[0]
    case 'PartitionKey':
    case 'RowKey':
      return kind === 'string' && (type === undefined || type === 'Edm.String') ? 'Edm.String' : undefined
    case 'property':
      return type === undefined ? types[0] : types.find((each) => each === type)
    case 'repetition':
      return undefined
    default:
      return unreachable(role)
  }
}

/** What the bytes of a body are held against. */
interface Part {
  readonly lead: Uint8Array
  readonly kind: JsonScalar['kind']
  readonly name: string
  /** As an annotation gives it. */
  readonly type: string | undefined
}

/** Notes where the values stand, quotes included; false if the outline is another or a value is not plain. */
function findValues(body: Buffer, parts: readonly Part[], tail: Uint8Array, places: ValuePlaces): boolean {
  let at = 0
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as Part
    if (!standsAt(body, at, part.lead)) return false
    const from = at + part.lead.length
    at = valueUntil(body, from, part)
    if (at < 0) return false
    places.from[i] = from
    places.until[i] = at
    if (part.kind === 'number') {
      const type = numberType(body, from, at, part)
      if (type === undefined) return false
      places.type[i] = typeCodes[type]
    } else if (part.type === 'Edm.DateTime' && !placeTime(body, i, part, places)) {
      return false
    }
  }
  return at + tail.length === body.length && standsAt(body, at, tail)
}

/** Where the value that begins at `from` ends; negative if there is none of its kind, or it is not plain. */
function valueUntil(body: Buffer, from: number, part: Part): number {
  switch (part.kind) {
    case 'string':
      return stringUntil(body, from, part)
    case 'number': {
      let at = from
      while (at < body.length && isNumberByte[body[at] as number] === 1) at++
      return at
    }
    case 'boolean':
      return standsAt(body, from, trueWord) ? from + trueWord.length : wordUntil(body, from, falseWord)
    case 'null':
      return wordUntil(body, from, nullWord)
    default:
      return unreachable(part.kind)
  }
}

function stringUntil(body: Buffer, from: number, { name, type }: Part): number {
  if (body[from] !== quote) return -1
  const at = plainUntil(body, from + 1)
  if (body[at] !== quote) return -1
  const isPlain =
    type === undefined ||
    type === 'Edm.String' ||
    type === 'Edm.DateTime' ||
    (type === 'Edm.Int64' && isInteger(body, from + 1, at, int64Digits)) ||
    (type === 'Edm.Guid' && at - from - 1 === guidShape.length && isLike(body, from + 1, guidShape))
  if (!isPlain) {
    const text = body.toString('latin1', from + 1, at)
    const property = readValue(name, { kind: 'string', text, plain: true }, type)
    if (property?.text !== text || faultOfValue(property) !== undefined) return -1
  }
  return at + 1
}

/** Records write no zeros at the end of a time, so one that has some is cut; false if more than that is different. */
function placeTime(body: Buffer, place: number, { name, type }: Part, places: ValuePlaces): boolean {
  const from = (places.from[place] as number) + 1
  const until = (places.until[place] as number) - 1
  if (isCommonTime(body, from, until)) {
    const kept = until - 1 - zerosBefore(body, from, until - 1)
    places.cut[place] = Number(kept < until - 1)
    if (kept < until - 1) places.until[place] = kept
    return true
  }
  const text = body.toString('latin1', from, until)
  const property = readValue(name, { kind: 'string', text, plain: true }, type)
  if (property === undefined || faultOfValue(property) !== undefined) return false
  const isCut = property.text !== text
  places.cut[place] = Number(isCut)
  if (!isCut) return true
  const kept = property.text.length - 'Z'.length
  places.until[place] = from + kept
  return property.text.length < text.length && text.startsWith(property.text.slice(0, kept))
}

/** Whether a time of this form surely exists: every month has 28 days. */
function isCommonTime(body: Buffer, from: number, until: number): boolean {
  const fraction = from + secondShape.length
  return (
    isLike(body, from, secondShape) &&
    twoDigits(body, from) >= 17 &&
    isWithin(twoDigits(body, from + 5), 1, 12) &&
    isWithin(twoDigits(body, from + 8), 1, 28) &&
    twoDigits(body, from + 11) < 24 &&
    twoDigits(body, from + 14) < 60 &&
    twoDigits(body, from + 17) < 60 &&
    body[until - 1] === letterZ &&
    (fraction === until - 1 || isFraction(body, fraction, until - 1))
  )
}

function isFraction(body: Buffer, from: number, until: number): boolean {
  return body[from] === dot && until - from <= '.fffffff'.length && isDigits(body, from + 1, until)
}

/** How many bytes before `until` say nothing: zeros at the end of a fraction, and then its point. */
function zerosBefore(body: Buffer, from: number, until: number): number {
  if (until - from === secondShape.length) return 0
  let at = until
  while (body[at - 1] === zero) at--
  if (body[at - 1] === dot) at--
  return until - at
}

function twoDigits(body: Buffer, at: number): number {
  return 10 * (body[at] as number) + (body[at + 1] as number) - 11 * zero
}

function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most
}

/** Undefined if the number is not written as records write it. */
function numberType(body: Buffer, from: number, until: number, { name, type }: Part): EdmType | undefined {
  const short = shortNumberType(body, from, until)
  if (short !== undefined && (type === undefined || type === short)) return short
  const text = body.toString('latin1', from, until)
  if (!isNumber(text)) return undefined
  const property = readValue(name, { kind: 'number', text, plain: false }, type)
  return property?.text === text ? property.type : undefined
}

/** The type of a number that a look at its bytes shows to be as records write it: true for most of those. */
function shortNumberType(body: Buffer, from: number, until: number): EdmType | undefined {
  let point = from
  while (point < until && body[point] !== dot) point++
  if (point === until) return isInt32(body, from, until) ? 'Edm.Int32' : undefined
  const isShort =
    until - from <= doubleCharacters &&
    isInteger(body, from, point, doubleCharacters) &&
    isDigits(body, point + 1, until) &&
    body[until - 1] !== zero &&
    // Small ones have another form; how small, others know.
    (body[from] !== zero || body[point + 1] !== zero)
  return isShort ? 'Edm.Double' : undefined
}

/** So many digits are always in range. */
const int32Digits = 9
const int64Digits = 18
/** So few hold no digit that a double has not. */
const doubleCharacters = 15

/** Whether an integer stands here as String would write it, and is surely in range. Times in seconds have ten digits. */
function isInt32(body: Buffer, from: number, until: number): boolean {
  const first = body[from] === minus ? from + 1 : from
  const startsLow = body[first] === one || (body[first] === two && body[first + 1] === zero)
  return isInteger(body, from, until, startsLow ? int32Digits + 1 : int32Digits)
}

/** Whether an integer stands here as String would write it. */
function isInteger(body: Buffer, from: number, until: number, digitsMax: number): boolean {
  const first = body[from] === minus ? from + 1 : from
  if (body[first] === zero) return first === from && until === from + 1
  return until - first <= digitsMax && isDigits(body, first, until)
}

function isDigits(body: Buffer, from: number, until: number): boolean {
  for (let at = from; at < until; at++) {
    const digit = (body[at] as number) - zero
    if (digit < 0 || digit > 9) return false
  }
  return from < until
}

// Four bytes in a turn: in these two loops, where most of the time goes, a turn costs as much as a comparison.

/** Behind the characters that stand for themselves between quotes. */
function plainUntil(body: Buffer, from: number): number {
  const last = body.length - 4
  let at = from
  while (
    at <= last &&
    (plain(body, at) & plain(body, at + 1) & plain(body, at + 2) & plain(body, at + 3)) === 1
  ) {
    at += 4
  }
  while (at < body.length && plain(body, at) === 1) at++
  return at
}

function plain(body: Buffer, at: number): number {
  return isPlainByte[body[at] as number] as number
}

function standsAt(body: Buffer, at: number, expected: Uint8Array): boolean {
  const { length } = expected
  if (at + length > body.length) return false
  let i = 0
  for (; i + 4 <= length; i += 4) {
    const from = at + i
    const first = unlike(body, from, expected, i) | unlike(body, from + 1, expected, i + 1)
    if ((first | unlike(body, from + 2, expected, i + 2) | unlike(body, from + 3, expected, i + 3)) !== 0)
      return false
  }
  for (; i < length; i++) if (body[at + i] !== expected[i]) return false
  return true
}

function unlike(body: Buffer, at: number, expected: Uint8Array, i: number): number {
  return (body[at] as number) ^ (expected[i] as number)
}

/** Whether each byte is of the kind that stands in its place. */
function isLike(body: Buffer, at: number, shape: Uint8Array): boolean {
  for (let i = 0; i < shape.length; i++) {
    if (((kindsOf[body[at + i] as number] as number) & (shape[i] as number)) === 0) return false
  }
  return true
}

function wordUntil(body: Buffer, from: number, word: Uint8Array): number {
  return standsAt(body, from, word) ? from + word.length : -1
}

function isText(body: Buffer, { from, until }: ValuePlaces, place: number, text: string): boolean {
  const first = (from[place] as number) + 1
  if ((until[place] as number) - 1 - first !== text.length) return false
  for (let i = 0; i < text.length; i++) if (body[first + i] !== text.charCodeAt(i)) return false
  return true
}

function unquoted(body: Buffer, { from, until }: ValuePlaces, place: number): string {
  return body.toString('latin1', (from[place] as number) + 1, (until[place] as number) - 1)
}

const quote = 0x22
const minus = 0x2d
const dot = 0x2e
const zero = 0x30
const one = 0x31
const two = 0x32
const letterZ = 0x5a
const trueWord = Buffer.from('true')
const falseWord = Buffer.from('false')
const nullWord = Buffer.from('null')
/** ASCII that stands for itself between quotes. */
const isPlainByte = bytesLike(/[\x20\x21\x23-\x5b\x5d-\x7f]/)
const isNumberByte = bytesLike(/[\d.eE+-]/)

/** One for each byte that is such a character. */
function bytesLike(character: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(character.test(String.fromCharCode(byte))))
}

/** The kinds of bytes that shapes are made of, by the sign that stands for them. */
const kinds: readonly (readonly [sign: string, bytes: RegExp])[] = [
  ['0', /\d/],
  ['x', /[\da-f]/],
  ['-', /-/],
  [':', /:/],
  ['T', /T/],
]
/** A bit for each kind that a byte is of. */
const kindsOf = kinds
  .map(([, bytes]) => bytesLike(bytes))
  .reduce(
    (all, some, kind) => all.map((bits, byte) => bits | ((some[byte] as number) << kind)),
    new Uint8Array(256),
  )
const secondShape = shapeOf('0000-00-00T00:00:00')
const guidShape = shapeOf('xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx')

function shapeOf(signs: string): Uint8Array {
  return Uint8Array.from(signs, (sign) => 1 << kinds.findIndex(([of]) => of === sign))
}

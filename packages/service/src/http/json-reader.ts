/** A strict reader for the one shape bodies have: a flat JSON object. Numbers keep their text. */
import { isAscii, isUtf8 } from 'node:buffer'
import { Fault, inputTexts } from '../model/faults.ts'

export interface JsonMember {
  readonly name: string
  readonly kind: 'string' | 'number' | 'boolean' | 'null'
  /** The value of a string, and the literal as written of all else. */
  readonly text: string
  /** Whether this is a string that stands for itself: ASCII, and nothing in it needs an escape. */
  readonly plain: boolean
}

/** Members in the order written, equal names included. */
export function readJsonObject(body: Buffer): JsonMember[] {
  const text = decode(body)
  const cursor: Cursor = {
    text,
    escapes: text.includes('\\'),
    at: text.charCodeAt(0) === byteOrderMark ? 1 : 0,
  }
  const members: JsonMember[] = []
  if (next(cursor) !== openBrace) throw malformed()
  cursor.at++
  if (next(cursor) === closeBrace) {
    cursor.at++
  } else {
    for (;;) {
      members.push(readMember(cursor))
      const separator = next(cursor)
      cursor.at++
      if (separator === closeBrace) break
      if (separator !== comma) throw malformed()
    }
  }
  next(cursor)
  if (cursor.at !== text.length) throw malformed()
  return members
}

interface Cursor {
  readonly text: string
  /** Whether there is a backslash anywhere. Without one, a string ends at the next quote. */
  readonly escapes: boolean
  at: number
}

const byteOrderMark = 0xfeff
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d

function decode(body: Buffer): string {
  if (isAscii(body)) return body.toString('latin1')
  if (!isUtf8(body)) throw malformed()
  return body.toString('utf8')
}

/** The next character that is not a blank, where the cursor then stands; NaN at the end. */
function next(cursor: Cursor): number {
  for (;;) {
    const unit = cursor.text.charCodeAt(cursor.at)
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return unit
    cursor.at++
  }
}

function readMember(cursor: Cursor): JsonMember {
  const name = readName(cursor)
  if (next(cursor) !== colon) throw malformed()
  cursor.at++
  switch (next(cursor)) {
    case quote: {
      const from = cursor.at + 1
      const until = endOfString(cursor)
      const raw = cursor.text.slice(from, until)
      const plain = isPlain(cursor.text, from, until)
      return { name, kind: 'string', text: plain ? raw : decodeString(raw), plain }
    }
    case 0x74:
      return { name, kind: 'boolean', text: readWord(cursor, 'true'), plain: false }
    case 0x66:
      return { name, kind: 'boolean', text: readWord(cursor, 'false'), plain: false }
    case 0x6e:
      return { name, kind: 'null', text: readWord(cursor, 'null'), plain: false }
    default:
      return { name, kind: 'number', text: readNumber(cursor), plain: false }
  }
}

function readWord(cursor: Cursor, word: string): string {
  if (!cursor.text.startsWith(word, cursor.at)) throw malformed()
  cursor.at += word.length
  return word
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function readNumber(cursor: Cursor): string {
  numberPattern.lastIndex = cursor.at
  if (!numberPattern.test(cursor.text)) throw malformed()
  const from = cursor.at
  cursor.at = numberPattern.lastIndex
  return cursor.text.slice(from, cursor.at)
}

/**
 * Clients send the same names again and again. Those met last are kept, each in a place that its characters
 * give it, so that most names need not be looked at closely.
 */
const recentNames: string[] = Array.from({ length: 1024 }, () => '')
const recentNameCharactersMax = 64

function readName(cursor: Cursor): string {
  const { text } = cursor
  if (next(cursor) !== quote) throw malformed()
  const from = cursor.at + 1
  const until = endOfString(cursor)
  const raw = text.slice(from, until)
  const middle = text.charCodeAt((from + until) >> 1)
  const place =
    ((until - from) * 31 + text.charCodeAt(from) * 7 + middle * 3 + text.charCodeAt(until - 1)) & 1023
  const recent = recentNames[place] as string
  if (raw === recent) return recent
  if (raw.length > recentNameCharactersMax || !isPlain(text, from, until)) return decodeString(raw)
  // Copied, because a slice would keep the whole body in memory.
  const name = Buffer.from(raw, 'latin1').toString('latin1')
  recentNames[place] = name
  return name
}

/** Where the string that begins here ends; moves behind the quote that ends it. */
function endOfString(cursor: Cursor): number {
  const { text, escapes, at } = cursor
  let until = text.indexOf('"', at + 1)
  if (escapes) {
    while (until >= 0 && isEscaped(text, at, until)) until = text.indexOf('"', until + 1)
  }
  if (until < 0) throw malformed()
  cursor.at = until + 1
  return until
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(text: string, from: number, at: number): boolean {
  let before = at
  while (before > from && text.charCodeAt(before - 1) === backslash) before--
  return (at - before) % 2 === 1
}

function isPlain(text: string, from: number, until: number): boolean {
  for (let i = from; i < until; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 || unit >= 0x80 || unit === backslash) return false
  }
  return true
}

/** The value of a string, from what stands between its quotes. */
function decodeString(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch (error) {
    throw malformed(error)
  }
}

function malformed(cause?: unknown): Fault {
  return new Fault('InvalidInput', { text: inputTexts.conversion, cause })
}

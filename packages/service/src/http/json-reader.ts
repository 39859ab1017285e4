/** A strict reader for the one shape bodies have: a flat JSON object. Numbers keep their text. */
import { isAscii, isUtf8 } from 'node:buffer'
import { Fault, inputTexts } from '../model/faults.ts'

/** A body's text and how far it has been read. */
export interface JsonCursor {
  readonly text: string
  /** Whether there is a backslash anywhere. Without one, a string ends at the next quote. */
  readonly escapes: boolean
  at: number
}

export interface JsonScalar {
  readonly kind: 'string' | 'number' | 'boolean' | 'null'
  /** The value of a string, and the literal as written of all else. */
  readonly text: string
  /** Whether this is a string that stands for itself: ASCII, and nothing in it needs an escape. */
  readonly plain: boolean
}

export interface JsonMember {
  readonly name: string
  readonly value: JsonScalar
  /** Where the value stands in the text. */
  readonly from: number
  readonly until: number
}

export function openJson(body: Buffer): JsonCursor {
  const text = decode(body)
  return { text, escapes: text.includes('\\'), at: 0 }
}

/** All members in the order written, equal names included; nothing may follow them. */
export function readMembers(cursor: JsonCursor): JsonMember[] {
  const members: JsonMember[] = []
  if (cursor.text.charCodeAt(0) === byteOrderMark) cursor.at++
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
  if (cursor.at !== cursor.text.length) throw malformed()
  return members
}

function readMember(cursor: JsonCursor): JsonMember {
  if (next(cursor) !== quote) throw malformed()
  const name = readString(cursor).text
  if (next(cursor) !== colon) throw malformed()
  cursor.at++
  next(cursor)
  const from = cursor.at
  return { name, value: readScalar(cursor), from, until: cursor.at }
}

/** Whether the next character may stand between values and means nothing. */
export function isBlank({ text, at }: JsonCursor): boolean {
  const unit = text.charCodeAt(at)
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
}

/** The value that begins here. */
export function readScalar(cursor: JsonCursor): JsonScalar {
  switch (cursor.text.charCodeAt(cursor.at)) {
    case quote:
      return readString(cursor)
    case 0x74:
      return readWord(cursor, 'boolean', 'true')
    case 0x66:
      return readWord(cursor, 'boolean', 'false')
    case 0x6e:
      return readWord(cursor, 'null', 'null')
    default:
      return readNumber(cursor)
  }
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
function next(cursor: JsonCursor): number {
  while (isBlank(cursor)) cursor.at++
  return cursor.text.charCodeAt(cursor.at)
}

function readWord(cursor: JsonCursor, kind: 'boolean' | 'null', word: string): JsonScalar {
  if (!cursor.text.startsWith(word, cursor.at)) throw malformed()
  cursor.at += word.length
  return { kind, text: word, plain: false }
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

export function isNumber(text: string): boolean {
  numberPattern.lastIndex = 0
  return numberPattern.test(text) && numberPattern.lastIndex === text.length
}

function readNumber(cursor: JsonCursor): JsonScalar {
  const { text, at } = cursor
  numberPattern.lastIndex = at
  if (!numberPattern.test(text)) throw malformed()
  cursor.at = numberPattern.lastIndex
  return { kind: 'number', text: text.slice(at, cursor.at), plain: false }
}

/** REQUIRES: a quote stands here. */
function readString(cursor: JsonCursor): JsonScalar {
  const { text, escapes, at } = cursor
  const from = at + 1
  let until = text.indexOf('"', from)
  if (escapes) {
    while (until >= 0 && isEscaped(text, from, until)) until = text.indexOf('"', until + 1)
  }
  if (until < 0) throw malformed()
  cursor.at = until + 1
  const raw = text.slice(from, until)
  const plain = isPlain(text, from, until)
  return { kind: 'string', text: plain ? raw : decodeString(raw), plain }
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

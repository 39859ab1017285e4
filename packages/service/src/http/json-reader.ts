/** A strict reader for the one shape bodies have: a flat JSON object. Numbers keep their text. */
import { isUtf8 } from 'node:buffer'
import { Fault, inputTexts } from '../model/faults.ts'

/** `text` is the value of a string, and the literal as written of all else. */
export type JsonScalar = JsonValue | { readonly kind: 'null'; readonly text: string }

export interface JsonValue {
  readonly kind: 'string' | 'number' | 'boolean'
  readonly text: string
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const byteOrderMark = 0xfeff

/** Members in the order written, equal names included. */
export function readJsonObject(body: Buffer): [name: string, value: JsonScalar][] {
  if (!isUtf8(body)) throw malformed()
  const text = body.toString('utf8')
  let at = text.charCodeAt(0) === byteOrderMark ? 1 : 0
  const members: [string, JsonScalar][] = []
  skipSpace()
  expect('{')
  skipSpace()
  if (text[at] === '}') at++
  else readMembers()
  skipSpace()
  if (at !== text.length) throw malformed()
  return members

  function readMembers(): void {
    for (;;) {
      skipSpace()
      const name = readString()
      skipSpace()
      expect(':')
      skipSpace()
      members.push([name, readScalar()])
      skipSpace()
      const separator = text[at++]
      if (separator === '}') return
      if (separator !== ',') throw malformed()
    }
  }

  function readScalar(): JsonScalar {
    switch (text.charCodeAt(at)) {
      case 0x22:
        return { kind: 'string', text: readString() }
      case 0x74:
        return { kind: 'boolean', text: readWord('true') }
      case 0x66:
        return { kind: 'boolean', text: readWord('false') }
      case 0x6e:
        return { kind: 'null', text: readWord('null') }
      default:
        return { kind: 'number', text: readNumber() }
    }
  }

  function readWord(word: string): string {
    if (!text.startsWith(word, at)) throw malformed()
    at += word.length
    return word
  }

  function readNumber(): string {
    numberPattern.lastIndex = at
    const match = numberPattern.exec(text)
    if (match === null) throw malformed()
    at = numberPattern.lastIndex
    return match[0]
  }

  function readString(): string {
    expect('"')
    const start = at
    let escaped = false
    for (; ; at++) {
      const unit = text.charCodeAt(at)
      if (unit === 0x22) break
      // Also true at the end of the text, where charCodeAt gives NaN.
      if (!(unit >= 0x20)) throw malformed()
      if (unit === 0x5c) {
        escaped = true
        at++
      }
    }
    const raw = text.slice(start, at++)
    if (!escaped) return raw
    try {
      return JSON.parse(`"${raw}"`) as string
    } catch (error) {
      throw malformed(error)
    }
  }

  function expect(character: string): void {
    if (text[at] !== character) throw malformed()
    at++
  }

  function skipSpace(): void {
    for (;;) {
      const unit = text.charCodeAt(at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
      at++
    }
  }
}

function malformed(cause?: unknown): Fault {
  return new Fault('InvalidInput', { text: inputTexts.conversion, cause })
}

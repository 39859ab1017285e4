/**
 * The words of a filter. Positions are UTF-16 units of the decoded text, from zero.
 * Source: the tokens of OData version 3, whose messages the service answers with.
 */
import { unreachable } from '../model/brand.ts'
import { Fault } from '../model/faults.ts'
import { parseTicks } from '../model/ticks.ts'
import type { Value } from '../model/values.ts'

export type Token = {
  readonly from: number
  readonly until: number
} & (
  | { readonly kind: 'end' | '(' | ')' | ',' | '-' }
  /** Words that the language may use one day; no expression begins with one. */
  | { readonly kind: 'mark' }
  /** Also `and`, `eq` and the like: what an identifier means depends on where it stands. */
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'literal'; readonly type: LiteralType }
)

/** The types that can be written; those after Edm.String parse, but no property has them. */
export type LiteralType = Value['type'] | 'Edm.Single' | 'Edm.Decimal' | 'null' | 'foreign'

/** Reads the token at or after `from`. */
export function readToken(text: string, from: number): Token {
  let at = from
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  const unit = text[at]
  switch (unit) {
    case undefined:
      return { kind: 'end', from: at, until: at }
    case '(':
    case ')':
    case ',':
      return { kind: unit, from: at, until: at + 1 }
    case '=':
    case '/':
    case '?':
    case '.':
    case '*':
    case ':':
      return { kind: 'mark', from: at, until: at + 1 }
    case "'":
      return { kind: 'literal', type: 'Edm.String', from: at, until: stringUntil(text, at) }
    case '-':
      return readMinus(text, at)
    default:
      if (isDigit(text, at)) return readNumber(text, at, at)
      return readWord(text, at)
  }
}

/** The value of a literal token. Null, and types that no property has, have none. */
export function readLiteral(text: string, token: Token & { readonly kind: 'literal' }): Value | undefined {
  const written = text.slice(token.from, token.until)
  const value = parseLiteral(token.type, written)
  if (value === 'bad') {
    throw new Fault('InvalidInput', {
      text: `Unrecognized '${token.type}' literal '${written}' at '${token.from}' in '${text}'.`,
    })
  }
  return value
}

export function faultAt(what: string, position: number, text: string): Fault {
  return new Fault('InvalidInput', { text: `${what} at position ${position} in '${text}'.` })
}

function readMinus(text: string, at: number): Token {
  if (isDigit(text, at + 1)) {
    const number = readNumber(text, at, at + 1)
    // A minus before `0x1f` is not part of it.
    if (number.kind === 'literal' && number.type !== 'Edm.Binary') return number
  }
  const word = matchAt(identifier, text, at + 1)
  if (word === 'INF') return { kind: 'literal', type: 'Edm.Double', from: at, until: at + 4 }
  if (word === 'INFf') return { kind: 'literal', type: 'Edm.Single', from: at, until: at + 5 }
  return { kind: '-', from: at, until: at + 1 }
}

function readNumber(text: string, from: number, digitsFrom: number): Token {
  const hex = matchAt(hexNumber, text, digitsFrom)
  if (hex !== undefined) return { kind: 'literal', type: 'Edm.Binary', from, until: digitsFrom + hex.length }
  let type: LiteralType = 'Edm.Int32'
  let at = digitsUntil(text, digitsFrom)
  if (text[at] === '.') {
    type = 'Edm.Double'
    at = digitsUntil(text, at + 1)
  }
  if (text[at] === 'e' || text[at] === 'E') {
    type = 'Edm.Double'
    const signed = text[at + 1] === '+' || text[at + 1] === '-'
    at = digitsUntil(text, at + (signed ? 2 : 1))
  }
  const suffix = numberSuffixes.get(text[at] ?? '')
  if (suffix === undefined) return { kind: 'literal', type, from, until: at }
  return { kind: 'literal', type: suffix, from, until: at + 1 }
}

const hexNumber = /0[xX][0-9a-fA-F]*/y
const numberSuffixes: ReadonlyMap<string, LiteralType> = new Map([
  ['L', 'Edm.Int64'],
  ['l', 'Edm.Int64'],
  ['D', 'Edm.Double'],
  ['d', 'Edm.Double'],
  ['F', 'Edm.Single'],
  ['f', 'Edm.Single'],
  ['M', 'Edm.Decimal'],
  ['m', 'Edm.Decimal'],
])

function readWord(text: string, from: number): Token {
  const name = matchAt(identifier, text, from)
  if (name === undefined) {
    const character = String.fromCodePoint(text.codePointAt(from) ?? 0)
    throw faultAt(`Syntax error: character '${character}' is not valid`, from, text)
  }
  const until = from + name.length
  const prefixed = text[until] === "'" ? prefixes.get(name.toLowerCase()) : undefined
  if (prefixed !== undefined) {
    const close = text.indexOf("'", until + 1)
    if (close < 0) throw faultAt('There is an unterminated literal', text.length, text)
    return { kind: 'literal', type: prefixed, from, until: close + 1 }
  }
  const named = namedLiterals.get(name)
  if (named !== undefined) return { kind: 'literal', type: named, from, until }
  return { kind: 'identifier', name, from, until }
}

const identifier = /[\p{L}\p{Nl}_$][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}$]*/uy
const prefixes: ReadonlyMap<string, LiteralType> = new Map([
  ['binary', 'Edm.Binary'],
  ['x', 'Edm.Binary'],
  ['datetime', 'Edm.DateTime'],
  ['guid', 'Edm.Guid'],
  ['datetimeoffset', 'foreign'],
  ['geography', 'foreign'],
  ['geometry', 'foreign'],
  ['time', 'foreign'],
])
const namedLiterals: ReadonlyMap<string, LiteralType> = new Map([
  ['true', 'Edm.Boolean'],
  ['false', 'Edm.Boolean'],
  ['null', 'null'],
  ['NaN', 'Edm.Double'],
  ['INF', 'Edm.Double'],
  ['NaNf', 'Edm.Single'],
  ['INFf', 'Edm.Single'],
])

function parseLiteral(type: LiteralType, written: string): Value | undefined | 'bad' {
  switch (type) {
    case 'Edm.String':
      return { type, value: written.slice(1, -1).replaceAll("''", "'") }
    case 'Edm.Boolean':
      return { type, value: written === 'true' }
    case 'Edm.Int32': {
      const value = Number(written)
      return value === (value | 0) ? { type, value: value | 0 } : 'bad'
    }
    case 'Edm.Int64': {
      const digits = written.slice(0, -1)
      if (!integer.test(digits)) return 'bad'
      const value = BigInt(digits)
      return value === BigInt.asIntN(64, value) ? { type, value } : 'bad'
    }
    case 'Edm.Double':
    case 'Edm.Single': {
      const value = parseDouble(written)
      return value === undefined ? 'bad' : { type: 'Edm.Double', value }
    }
    case 'Edm.DateTime': {
      const value = parseTicks(quotedPart(written))
      return value === undefined ? 'bad' : { type, value }
    }
    case 'Edm.Guid': {
      const value = quotedPart(written).toLowerCase()
      return guid.test(value) ? { type, value } : 'bad'
    }
    case 'Edm.Binary': {
      const digits = quotedPart(written)
      return hexPairs.test(digits) ? { type, value: Buffer.from(digits, 'hex') } : 'bad'
    }
    case 'Edm.Decimal':
    case 'foreign':
    case 'null':
      return undefined
    default:
      return unreachable(type)
  }
}

const integer = /^-?\d+$/
const guid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const hexPairs = /^(?:[0-9a-fA-F]{2})*$/
const special: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['INF', Number.POSITIVE_INFINITY],
  ['-INF', Number.NEGATIVE_INFINITY],
])

/** Undefined beyond the largest double: infinity has its own name. */
function parseDouble(written: string): number | undefined {
  const plain = written.replace(/[dDfF]$/, '')
  const named = special.get(written) ?? special.get(plain)
  if (named !== undefined) return named
  const value = Number(plain)
  return Number.isFinite(value) ? value : undefined
}

/** What stands between the quotes; nothing can be read from a `0x1f`, so its text is kept and refused. */
function quotedPart(written: string): string {
  const open = written.indexOf("'")
  return open < 0 ? written : written.slice(open + 1, -1)
}

function stringUntil(text: string, from: number): number {
  let at = from + 1
  for (;;) {
    const close = text.indexOf("'", at)
    if (close < 0) throw faultAt('There is an unterminated string literal', text.length, text)
    if (text[close + 1] !== "'") return close + 1
    at = close + 2
  }
}

function digitsUntil(text: string, from: number): number {
  if (!isDigit(text, from)) throw faultAt('A digit was expected', from, text)
  let at = from
  while (isDigit(text, at)) at++
  return at
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0x30 && unit <= 0x39
}

/** Unicode white space as the service's runtime counts it. */
function isSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0
  return wideSpaces.has(unit) || (unit >= 0x2000 && unit <= 0x200a)
}

const wideSpaces: ReadonlySet<number> = new Set([0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000])

function matchAt(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0]
}

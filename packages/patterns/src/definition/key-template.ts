/** Keys made of literal texts and named parts, in both directions. */
import { createHash } from 'node:crypto'
import { PatternsError, unreachable } from '../patterns-error.ts'
import { Instant, ticksMax } from './instant.ts'
import { endOfText, escapeText, readText, refusalOfText } from './key-text.ts'
import type { EdmType, PropertyMap, Value } from './properties.ts'

export type KeyPart<N extends readonly string[] = readonly string[]> =
  | { readonly kind: 'text'; readonly names: N }
  | { readonly kind: 'digits'; readonly names: N; readonly width: number; readonly descending: boolean }
  | { readonly kind: 'time'; readonly names: N; readonly descending: boolean }
  | { readonly kind: 'hash'; readonly names: N }
  | { readonly kind: 'spread'; readonly names: N; readonly buckets: number }

export interface KeyTemplate<N extends readonly string[] = readonly string[]> {
  readonly parts: readonly (string | KeyPart)[]
  /** The properties it is made of, in order. */
  readonly names: N
}

export type Values = Readonly<Record<string, Value | undefined>>

type NamesOf<P extends readonly unknown[]> = P extends readonly [infer Head, ...infer Rest]
  ? Head extends KeyPart<infer N>
    ? readonly [...N, ...NamesOf<Rest>]
    : NamesOf<Rest>
  : readonly []

export function key<const P extends readonly (string | KeyPart)[]>(...parts: P): KeyTemplate<NamesOf<P>> {
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.names))
  return Object.freeze({ parts, names: names as readonly string[] as NamesOf<P> })
}

/** A string or guid, as it is but for what keys may not hold. */
export const text = <const N extends string>(name: N): KeyPart<readonly [N]> => ({
  kind: 'text',
  names: [name],
})

/** A whole number of at most `width` digits, zero-padded. */
export const digits = <const N extends string>(
  name: N,
  width: number,
  order: 'asc' | 'desc' = 'asc',
): KeyPart<readonly [N]> => ({ kind: 'digits', names: [name], width, descending: order === 'desc' })

/** Ticks of a dateTime, oldest first. */
export const asc = <const N extends string>(name: N): KeyPart<readonly [N]> => ({
  kind: 'time',
  names: [name],
  descending: false,
})

/** Ticks of a dateTime, newest first. Let another part follow if two may have the same time. */
export const desc = <const N extends string>(name: N): KeyPart<readonly [N]> => ({
  kind: 'time',
  names: [name],
  descending: true,
})

/** 128 bits of a hash: load is even, order is lost. */
export const hash = <const N extends readonly [string, ...string[]]>(...names: N): KeyPart<N> => ({
  kind: 'hash',
  names,
})

/** Which of `buckets` partitions, by a stable hash of the properties. */
export const spread = <const N extends readonly [string, ...string[]]>(
  buckets: number,
  ...names: N
): KeyPart<N> => ({ kind: 'spread', names, buckets })

/** The texts around and between parts are the author's; this is the one every such key begins with. */
export function leadingLiteral(template: KeyTemplate): string {
  const [first] = template.parts
  return typeof first === 'string' ? first : ''
}

/** The properties whose values can be read back from the key. */
export function recoverableNames(template: KeyTemplate): readonly string[] {
  return template.parts.flatMap((part) => (typeof part !== 'string' && isRecoverable(part) ? part.names : []))
}

export function formatKey(template: KeyTemplate, properties: PropertyMap, values: Values): string {
  return template.parts
    .map((part, index) => formatPart(part, properties, values, { last: index === template.parts.length - 1 }))
    .join('')
}

/**
 * What all keys begin with that have these values in their leading parts. With `open`, the last text given need only
 * be the beginning of its part. REQUIRES: the values fill leading parts, without a gap.
 */
export function formatLeading(
  template: KeyTemplate,
  properties: PropertyMap,
  values: Values,
  { open = false }: { readonly open?: boolean } = {},
): string {
  const given = Object.keys(values).filter((name) => values[name] !== undefined)
  const missing = new Set(given)
  let prefix = ''
  for (const [index, part] of template.parts.entries()) {
    if (typeof part === 'string') {
      prefix += part
      continue
    }
    if (part.names.some((name) => values[name] === undefined)) break
    for (const name of part.names) missing.delete(name)
    const piece = formatPart(part, properties, values, { last: index === template.parts.length - 1 })
    if (missing.size > 0) {
      prefix += piece
      continue
    }
    if (!open) return prefix + piece
    if (part.kind !== 'text') {
      throw new PatternsError('InvalidValue', `${part.names[0]}: only a text can be given by its beginning`)
    }
    return prefix + (piece.endsWith(endOfText) ? piece.slice(0, -endOfText.length) : piece)
  }
  for (const name of missing) {
    throw new PatternsError(
      'InvalidValue',
      `${name} is no leading part of the key, or a part before it is missing`,
    )
  }
  return prefix
}

/** The same key with a number of fixed width behind it: several rows for what one key names. */
export function numbered(template: KeyTemplate, name: string, width: number): KeyTemplate {
  return key(...template.parts, digits(name, width))
}

/** Each value that the key holds; undefined if the key was not made by this template. */
export function parseKey(
  template: KeyTemplate,
  properties: PropertyMap,
  key: string,
): Record<string, Value> | undefined {
  const values: Record<string, Value> = {}
  let rest = key
  for (const [index, part] of template.parts.entries()) {
    const last = index === template.parts.length - 1
    const taken = takePart(part, properties, rest, { last })
    if (taken === undefined) return undefined
    if (taken.value !== undefined) values[(part as KeyPart).names[0] as string] = taken.value
    rest = rest.slice(taken.length)
  }
  return rest === '' ? values : undefined
}

/** Every key of a template whose `spread` parts are left open: one for each bucket, in order. */
export function formatAllBuckets(template: KeyTemplate, properties: PropertyMap, values: Values): string[] {
  let keys = ['']
  for (const [index, part] of template.parts.entries()) {
    const last = index === template.parts.length - 1
    const open =
      typeof part !== 'string' &&
      part.kind === 'spread' &&
      part.names.some((name) => values[name] === undefined)
    const pieces = open
      ? Array.from({ length: part.buckets }, (_, bucket) => bucketText(bucket, part.buckets))
      : [formatPart(part, properties, values, { last })]
    keys = keys.flatMap((key) => pieces.map((piece) => key + piece))
  }
  return keys
}

/** Throws for a part that its properties cannot fill; `where` says which key it is. */
export function checkTemplate(where: string, template: KeyTemplate, properties: PropertyMap): void {
  for (const part of template.parts) {
    if (typeof part === 'string') {
      const refusal = refusalOfText(part)
      if (refusal !== undefined || /[#/\\?]/.test(part)) {
        throw invalid(where, `the literal ${JSON.stringify(part)} ${refusal ?? 'holds one of / \\ # ?'}`)
      }
      continue
    }
    for (const name of part.names) {
      const property = properties[name]
      if (property === undefined) throw invalid(where, `${name} is no property`)
      if (!partTakes[part.kind].includes(property.edm)) {
        throw invalid(where, `${name} is a ${property.edm}, which ${part.kind} does not take`)
      }
      for (const flag of ['optional', 'encrypted', 'large'] as const) {
        if (property.flags.includes(flag))
          throw invalid(where, `${name} is ${flag}, so no key can be made of it`)
      }
    }
    if (part.kind === 'digits' && !isWithin(part.width, 1, 19)) {
      throw invalid(where, `${part.names[0]} must have 1 to 19 digits`)
    }
    if (part.kind === 'spread' && !isWithin(part.buckets, 2, 10_000)) {
      throw invalid(where, `${part.names[0]} must spread over 2 to 10,000 partitions`)
    }
  }
  const names = template.parts.flatMap((part) =>
    typeof part !== 'string' && isRecoverable(part) ? part.names : [],
  )
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalid(where, `${twice} stands in it twice`)
}

const anyType = ['String', 'Boolean', 'Int32', 'Int64', 'DateTime', 'Guid', 'Binary'] as const
const partTakes: Readonly<Record<KeyPart['kind'], readonly EdmType[]>> = {
  text: ['String', 'Guid'],
  digits: ['Int32', 'Int64'],
  time: ['DateTime'],
  hash: anyType,
  spread: anyType,
}

function formatPart(
  part: string | KeyPart,
  properties: PropertyMap,
  values: Values,
  { last }: { readonly last: boolean },
): string {
  if (typeof part === 'string') return part
  const name = part.names[0] as string
  const value = values[name]
  for (const each of part.names) {
    if (values[each] === undefined)
      throw new PatternsError('InvalidValue', `${each} is missing: a key needs it`)
  }
  switch (part.kind) {
    case 'text': {
      if (properties[name]?.edm === 'Guid') return (value as string).toLowerCase()
      const refusal = refusalOfText(value as string)
      if (refusal !== undefined)
        throw new PatternsError('InvalidValue', `${name} ${refusal}, so it fits no key`)
      return escapeText(value as string, { last }) + (last ? '' : endOfText)
    }
    case 'digits': {
      const number = BigInt(value as number | bigint)
      const largest = 10n ** BigInt(part.width) - 1n
      if (number < 0n || number > largest) {
        throw new PatternsError(
          'InvalidValue',
          `${name}: ${number} is not in 0…${largest}, so it fits no key`,
        )
      }
      return (part.descending ? largest - number : number).toString().padStart(part.width, '0')
    }
    case 'time': {
      const { ticks } = value as Instant
      return (part.descending ? ticksMax - ticks : ticks).toString().padStart(ticksDigits, '0')
    }
    case 'hash':
      return digestOf(part.names, values).toString('hex', 0, hashBytes)
    case 'spread':
      return bucketText(digestOf(part.names, values).readUInt32BE(0) % part.buckets, part.buckets)
    default:
      return unreachable(part)
  }
}

interface Taken {
  readonly length: number
  readonly value?: Value
}

function takePart(
  part: string | KeyPart,
  properties: PropertyMap,
  key: string,
  { last }: { readonly last: boolean },
): Taken | undefined {
  if (typeof part === 'string') return key.startsWith(part) ? { length: part.length } : undefined
  const edm = properties[part.names[0] as string]?.edm
  switch (part.kind) {
    case 'text': {
      if (edm !== 'Guid') {
        const read = readText(key, { last })
        return read && { length: read.length, value: read.text }
      }
      const guid = guidPattern.exec(key)?.[0]
      return guid === undefined ? undefined : { length: guid.length, value: guid }
    }
    case 'digits': {
      const number = takeNumber(key, part.width)
      if (number === undefined) return undefined
      const value = part.descending ? 10n ** BigInt(part.width) - 1n - number : number
      return { length: part.width, value: edm === 'Int32' ? Number(value) : value }
    }
    case 'time': {
      const number = takeNumber(key, ticksDigits)
      if (number === undefined || number > ticksMax) return undefined
      return { length: ticksDigits, value: Instant.ofTicks(part.descending ? ticksMax - number : number) }
    }
    case 'hash':
      return /^[0-9a-f]{32}/.test(key) ? { length: 2 * hashBytes } : undefined
    case 'spread': {
      const { length } = bucketText(0, part.buckets)
      const bucket = takeNumber(key, length)
      return bucket !== undefined && bucket < part.buckets ? { length } : undefined
    }
    default:
      return unreachable(part)
  }
}

function isRecoverable(part: KeyPart): boolean {
  return part.kind !== 'hash' && part.kind !== 'spread'
}

function takeNumber(key: string, width: number): bigint | undefined {
  const text = key.slice(0, width)
  return text.length === width && /^\d+$/.test(text) ? BigInt(text) : undefined
}

function bucketText(bucket: number, buckets: number): string {
  return bucket.toString().padStart((buckets - 1).toString().length, '0')
}

/** Lengths stand before the texts, so that ('ab', 'c') and ('a', 'bc') differ. */
function digestOf(names: readonly string[], values: Values): Buffer {
  const digest = createHash('sha256')
  for (const name of names) {
    const text = digestText(values[name] as Value)
    digest.update(`${text.length}:${text}`)
  }
  return digest.digest()
}

function digestText(value: Value): string {
  if (value instanceof Instant) return value.ticks.toString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return String(value)
}

function isWithin(value: number, first: number, last: number): boolean {
  return Number.isInteger(value) && value >= first && value <= last
}

function invalid(where: string, text: string): PatternsError {
  return new PatternsError('InvalidDefinition', `${where}: ${text}`)
}

const ticksDigits = 19
const hashBytes = 16
const guidPattern = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/

/** The values that every client writes and every other reads. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientsFolder } from './clients.ts'

export interface Value {
  readonly name: string
  readonly type: string
  /** In the canonical form of `README.md`. */
  readonly text: string
}

type WrittenValue = Omit<Value, 'text'> & {
  readonly text?: string
  /** Stands for a text that would be too long to read: the part, and how often it comes. */
  readonly repeat?: readonly [part: string, times: number]
}

export function readValues(): readonly Value[] {
  const written = JSON.parse(readFileSync(join(clientsFolder, 'values.json'), 'utf8')) as WrittenValue[]
  return written.map(({ name, type, text, repeat }) => ({
    name,
    type,
    text: text ?? (repeat ? repeat[0].repeat(repeat[1]) : ''),
  }))
}

/** Undefined when they are the same value; else the difference in words. */
export function difference(expected: Value, type: string, text: string): string | undefined {
  if (type !== expected.type) return `${expected.name} is ${type} instead of ${expected.type}`
  const same = type === 'Edm.Double' ? Object.is(double(text), double(expected.text)) : text === expected.text
  return same ? undefined : `${expected.name} is ${shown(text)} instead of ${shown(expected.text)}`
}

function double(text: string): number {
  if (text === 'INF') return Infinity
  if (text === '-INF') return -Infinity
  if (text === 'NaN') return NaN
  const number = text === '' ? NaN : Number(text)
  if (Number.isNaN(number)) throw new Error(`${JSON.stringify(text)} is not the text of a double`)
  return number
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text)
}

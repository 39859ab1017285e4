/**
 * PartitionKey and RowKey, positions between keys, and half-open ranges of them.
 *
 * One order rules everything: by partition, then row, each compared by UTF-16 code unit as JavaScript's
 * `<` does. A slot is the string whose `<` is that order for the pair; its bytes (key-bytes.ts) keep it.
 */
import type { Brand } from './brand.ts'
import { Fault } from './faults.ts'
import { limits } from './limits.ts'

export type PartitionKey = Brand<string, 'PartitionKey'>
export type RowKey = Brand<string, 'RowKey'>

export interface EntityKey {
  readonly partition: PartitionKey
  readonly row: RowKey
}

/**
 * A place in the order of keys, not always a key: successors end in U+0000, which no key contains, and a
 * filter may name any text at all.
 */
export interface KeyPosition {
  readonly partition: string
  readonly row: string
}

/** From `from`, inside, until `until`, outside; `undefined` is the end of the table. */
export interface KeyRange {
  readonly from: KeyPosition
  readonly until: KeyPosition | undefined
}

export const firstPosition: KeyPosition = { partition: '', row: '' }
export const everything: KeyRange = { from: firstPosition, until: undefined }

/** `/ \ # ?` and the control characters U+0000–U+001F and U+007F–U+009F. */
export const forbiddenInKeys = /[/\\#?\u0000-\u001f\u007f-\u009f]/

export function parsePartitionKey(text: string): PartitionKey {
  return parseKey('PartitionKey', text) as PartitionKey
}

export function parseRowKey(text: string): RowKey {
  return parseKey('RowKey', text) as RowKey
}

function parseKey(property: string, text: string): string {
  if (forbiddenInKeys.test(text)) {
    throw new Fault('OutOfRangeInput', {
      text: `The '${property}' parameter of value '${text}' is out of range.`,
    })
  }
  if (text.length > limits.keyCharactersMax || keyBytes(text) > limits.keyBytesMax) {
    throw new Fault('PropertyValueTooLarge')
  }
  return text
}

/** What is left of a range from `position` on; undefined if nothing is. */
export function clip(range: KeyRange, position: KeyPosition): KeyRange | undefined {
  if (range.until !== undefined && compareKeys(range.until, position) <= 0) return undefined
  return compareKeys(range.from, position) >= 0 ? range : { from: position, until: range.until }
}

export function contains({ from, until }: KeyRange, key: KeyPosition): boolean {
  return compareKeys(from, key) <= 0 && (until === undefined || compareKeys(key, until) < 0)
}

/** The least string above `text`. */
export function successor(text: string): string {
  return `${text}\u0000`
}

/** U+0000 ends a partition and U+0001 stands after all rows of it; neither can occur in a stored key. */
export function slotOf(position: KeyPosition): string {
  const cut = position.partition.indexOf('\u0000')
  if (cut >= 0) return `${position.partition.slice(0, cut)}\u0001`
  return `${position.partition}\u0000${position.row}`
}

export function compareKeys(a: KeyPosition, b: KeyPosition): number {
  if (a.partition !== b.partition) return a.partition < b.partition ? -1 : 1
  if (a.row !== b.row) return a.row < b.row ? -1 : 1
  return 0
}

/** Bytes of a key at one to three bytes a UTF-16 code unit. */
export function keyBytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0x80) bytes += unit < 0x800 ? 1 : 2
  }
  return bytes
}

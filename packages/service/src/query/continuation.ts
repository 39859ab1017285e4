/**
 * Continuation tokens: a position among the keys and nothing else, so that they outlive restarts and
 * upgrades, and give no more access than the request that brings them back.
 *
 *   token = "1!" length "!" text         length counts the characters of text
 *   text  = base64 of the key's WTF-8    with `*` `_` `-` for `+` `/` `=`
 *
 * WTF-8 is UTF-8 that also writes unpaired surrogates, which keys may hold. Clients take an empty value for
 * the end of the list; a token is never empty, not even the one of an empty key.
 */
import { Fault } from '../model/faults.ts'
import type { KeyPosition } from '../model/keys.ts'

/** Where the next page begins. Without a row it is the start of the partition. */
export interface Continuation {
  readonly partition: string
  readonly row: string | undefined
}

/** Reads the parameters NextPartitionKey and NextRowKey; undefined if the request has neither. */
export function decodeContinuation(
  nextPartitionKey: string | undefined,
  nextRowKey: string | undefined,
): KeyPosition | undefined {
  if (nextPartitionKey === undefined) {
    if (nextRowKey !== undefined) throw new Fault('InvalidInput')
    return undefined
  }
  const partition = decodeToken(nextPartitionKey)
  return { partition, row: nextRowKey === undefined ? '' : decodeToken(nextRowKey) }
}

export function encodeToken(key: string): string {
  const base64 = encodeWtf8(key).toString('base64')
  return `1!${base64.length}!${base64.replaceAll('+', '*').replaceAll('/', '_').replaceAll('=', '-')}`
}

/** Exact inverse of encodeToken; takes the common alphabet of base64 as well. */
export function decodeToken(token: string): string {
  const match = /^1!(\d{1,9})!([A-Za-z0-9*_+/]*[-=]{0,2})$/.exec(token)
  const [, length, text = ''] = match ?? []
  if (Number(length) !== text.length) throw new Fault('InvalidInput')
  const base64 = text.replaceAll('*', '+').replaceAll('_', '/').replaceAll('-', '=')
  const bytes = Buffer.from(base64, 'base64')
  const key = decodeWtf8(bytes)
  if (key === undefined || bytes.toString('base64') !== base64) throw new Fault('InvalidInput')
  return key
}

const unpaired = /[\ud800-\udfff]/u

function encodeWtf8(text: string): Buffer {
  if (!unpaired.test(text)) return Buffer.from(text, 'utf8')
  return Buffer.concat(
    Array.from(text, (character) => {
      const unit = character.charCodeAt(0)
      if (character.length > 1 || unit < 0xd800 || unit > 0xdfff) return Buffer.from(character, 'utf8')
      return Buffer.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f))
    }),
  )
}

/** Undefined unless encodeWtf8 would write these bytes. */
function decodeWtf8(bytes: Buffer): string | undefined {
  let text = ''
  let at = 0
  while (at < bytes.length) {
    const surrogate = surrogateAt(bytes, at)
    if (surrogate === undefined) {
      const from = at
      while (at < bytes.length && surrogateAt(bytes, at) === undefined) at++
      text += bytes.toString('utf8', from, at)
    } else {
      text += String.fromCharCode(surrogate)
      at += 3
    }
  }
  return encodeWtf8(text).equals(bytes) ? text : undefined
}

function surrogateAt(bytes: Buffer, at: number): number | undefined {
  const [second = 0, third = 0] = [bytes[at + 1], bytes[at + 2]]
  if (bytes[at] !== 0xed || second < 0xa0) return undefined
  return 0xd000 | ((second & 0x3f) << 6) | (third & 0x3f)
}

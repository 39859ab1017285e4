/**
 * Continuation tokens: `1!` length `!` base64 of a key, with `=` `+` `/` written `-` `*` `_`. They name a
 * position and nothing else, so they outlive restarts and upgrades and give no access.
 *
 * Bytes are UTF-8, extended to unpaired surrogates so that every key survives the round trip.
 */
import { Fault } from '../model/faults.ts'

const shape = /^1!(\d{1,5})!([A-Za-z0-9+/*_=-]*)$/

/** Never empty, as clients take an empty token for the end. */
export function encodeToken(text: string): string {
  const base64 = wtf8(text).toString('base64')
  return `1!${base64.length}!${base64.replaceAll('=', '-').replaceAll('+', '*').replaceAll('/', '_')}`
}

/** Exact inverse of encodeToken; refuses all else. */
export function decodeToken(token: string): string {
  const match = shape.exec(token)
  const coded = match?.[2]
  if (coded === undefined || coded.length !== Number(match?.[1])) throw new Fault('InvalidInput')
  const base64 = coded.replaceAll('-', '=').replaceAll('*', '+').replaceAll('_', '/')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) throw new Fault('InvalidInput')
  const text = fromWtf8(bytes)
  if (!wtf8(text).equals(bytes)) throw new Fault('InvalidInput')
  return text
}

function wtf8(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8')
  const parts: Buffer[] = []
  for (const character of text) {
    const unit = character.charCodeAt(0)
    if (character.isWellFormed()) parts.push(Buffer.from(character, 'utf8'))
    else parts.push(Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]))
  }
  return Buffer.concat(parts)
}

function fromWtf8(bytes: Buffer): string {
  let text = ''
  let from = 0
  for (let i = 0; i + 2 < bytes.length; i++) {
    // Three bytes that would be a surrogate: not UTF-8, but ours.
    if (bytes[i] !== 0xed || (bytes[i + 1] as number) < 0xa0) continue
    text += bytes.toString('utf8', from, i)
    text += String.fromCharCode(
      0xd000 | (((bytes[i + 1] as number) & 0x3f) << 6) | ((bytes[i + 2] as number) & 0x3f),
    )
    from = i + 3
    i += 2
  }
  return text + bytes.toString('utf8', from)
}

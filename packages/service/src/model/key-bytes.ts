/**
 * Key bytes for stores ordered by bytes. Byte order is key order, also for characters beyond U+FFFF and for
 * unpaired surrogates, where plain UTF-8 would differ.
 *
 *   key      = table · slot
 *   table    = u32, big endian
 *   slot     = partition 00 row | partition 01          (the second only as a bound)
 *   each UTF-16 code unit as one to three bytes (CESU-8)
 */
import { type KeyPosition, slotOf } from './keys.ts'
import { limits } from './limits.ts'
import type { TableId } from './table.ts'

export const tableBytes = 4

/** The longest stored key: table, two keys at their limit, one separator. */
export const storedKeyBytesMax = tableBytes + 2 * limits.keyBytesMax + 1

/** The longest bound: a longer text is cut, and marked to lie after the stored key it begins like. */
export const boundBytesMax = storedKeyBytesMax + 1

/** Writes the key at `at` and returns the offset behind it. REQUIRES: room for `boundBytesMax` + 2. */
export function encodeKey(target: Uint8Array, at: number, table: TableId, position: KeyPosition): number {
  const start = encodeTable(target, at, table)
  const slot = slotOf(position)
  const limit = at + storedKeyBytesMax
  let end = start
  for (let i = 0; i < slot.length; i++) {
    const unit = slot.charCodeAt(i)
    if (unit < 0x80) {
      target[end++] = unit
    } else if (unit < 0x800) {
      target[end++] = 0xc0 | (unit >> 6)
      target[end++] = 0x80 | (unit & 0x3f)
    } else {
      target[end++] = 0xe0 | (unit >> 12)
      target[end++] = 0x80 | ((unit >> 6) & 0x3f)
      target[end++] = 0x80 | (unit & 0x3f)
    }
    // No stored key is longer, so what follows cannot matter: the bound lies just after these bytes.
    if (end > limit) {
      target[limit] = 0
      return limit + 1
    }
  }
  return end
}

/** The bytes every key of the table begins with; alone, they sort before all of them. */
export function encodeTable(target: Uint8Array, at: number, table: TableId): number {
  target[at] = table >>> 24
  target[at + 1] = (table >>> 16) & 0xff
  target[at + 2] = (table >>> 8) & 0xff
  target[at + 3] = table & 0xff
  return at + tableBytes
}

/**
 * Text inside a key: order is kept, nothing collides, and what keys may not hold is escaped.
 *
 *   text   = { unit }                            the last part of a key
 *   text   = { unit } space                      any other; a space is below all other units
 *   unit   = a character as it is
 *          | predecessor mark "3"                # / \ ?, each after the character below it
 *          | mark ("0" | "1" | "2")              U+FFFD, U+FFFE, U+FFFF
 *          | space mark "4"                      a space in a text that is not the last part
 *
 * The mark is U+FFFD, above all that stands unescaped, so `.` with any text behind it stays below `/`. Keys compare by
 * UTF-16 code unit. Control characters have nothing below them to stand for them: they are refused.
 */
const mark = '\ufffd'
const end = ' '
const marked = ['\ufffd', '\ufffe', '\uffff']
const escapable = /[#/\\?\ufffd-\uffff]/g
const refused = /[\u0000-\u001f\u007f-\u009f]/

/** Why a text can stand in no key, or undefined. */
export function refusalOfText(text: string): string | undefined {
  if (refused.test(text)) return 'holds a control character'
  return text.isWellFormed() ? undefined : 'holds half of a surrogate pair'
}

/** REQUIRES: a text that is not refused. */
export function escapeText(text: string, { last }: { readonly last: boolean }): string {
  const escaped = text.replaceAll(escapable, (unit) => {
    const ordinal = marked.indexOf(unit)
    return ordinal >= 0 ? `${mark}${ordinal}` : `${String.fromCharCode(unit.charCodeAt(0) - 1)}${mark}3`
  })
  return last ? escaped : escaped.replaceAll(end, `${end}${mark}4`)
}

export const endOfText = end

/** The text at the start of `key`, and how much of the key it took; undefined if none is there. */
export function readText(
  key: string,
  { last }: { readonly last: boolean },
): { readonly text: string; readonly length: number } | undefined {
  const length = last ? key.length : endIn(key)
  if (length < 0) return undefined
  const escaped = key.slice(0, length)
  const text = unescapeText(escaped)
  if (escapeText(text, { last }) !== escaped) return undefined
  return { text, length: last ? length : length + end.length }
}

function endIn(key: string): number {
  for (let at = key.indexOf(end); at >= 0; at = key.indexOf(end, at + 1)) {
    if (!key.startsWith(`${mark}4`, at + 1)) return at
  }
  return -1
}

function unescapeText(escaped: string): string {
  return escaped.replaceAll(/(["./>[]?)\ufffd3|( )\ufffd4|\ufffd([0-2])/g, (whole, below, space, ordinal) => {
    if (space !== undefined) return end
    if (ordinal !== undefined) return marked[Number(ordinal)] as string
    return below === '' ? whole : String.fromCharCode((below as string).charCodeAt(0) + 1)
  })
}

/** The least text above all that begin with `prefix`; undefined if there is none. Never half of a surrogate pair. */
export function afterPrefix(prefix: string): string | undefined {
  for (let length = prefix.length; length > 0; ) {
    const last = prefix.codePointAt(length - 2) ?? 0
    const size = length >= 2 && last > 0xffff ? 2 : 1
    const point = size === 2 ? last : prefix.charCodeAt(length - 1)
    const rest = prefix.slice(0, length - size)
    const next = nextPoint(point)
    if (next !== undefined) return rest + String.fromCodePoint(next)
    length -= size
  }
  return undefined
}

/** Code points in the order of their UTF-16 units: astral ones stand between U+D7FF and U+E000. */
function nextPoint(point: number): number | undefined {
  if (point === 0xd7ff) return 0x10000
  if (point === 0x10ffff) return 0xe000
  return point === 0xffff ? undefined : point + 1
}

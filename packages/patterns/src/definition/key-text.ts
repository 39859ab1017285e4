/**
 * Text inside a key: order is kept, nothing collides, and what keys may not hold is escaped.
 *
 *   text   = { unit }                            the last part of a key
 *   text   = { unit | inner } " "                any other
 *   unit   = a character as it is
 *          | predecessor mark "3"                # / \ ?, each after the character below it
 *          | mark ("0" | "1" | "2")              U+FFFD, U+FFFE, U+FFFF
 *   inner  = "!0" | "!1"                         a space and an exclamation mark inside such a text
 *
 * The mark is U+FFFD, above all that stands unescaped, so `.` with any text behind it stays below `/`. The space that
 * ends a text is below all that a text can hold, so a text comes before all others that begin with it. Keys compare by
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
  return last ? escaped : escaped.replaceAll(/[ !]/g, (unit) => (unit === end ? '!0' : '!1'))
}

export const endOfText = end

/** The text at the start of `key`, and how much of the key it took; undefined if none is there. */
export function readText(
  key: string,
  { last }: { readonly last: boolean },
): { readonly text: string; readonly length: number } | undefined {
  const length = last ? key.length : key.indexOf(end)
  if (length < 0) return undefined
  const escaped = key.slice(0, length)
  const text = unescapeText(
    last ? escaped : escaped.replaceAll(/![01]/g, (inner) => (inner === '!0' ? end : '!')),
  )
  if (escapeText(text, { last }) !== escaped) return undefined
  return { text, length: last ? length : length + end.length }
}

function unescapeText(escaped: string): string {
  return escaped.replaceAll(/(["./>[]?)\ufffd3|\ufffd([0-2])/g, (whole, below?: string, ordinal?: string) => {
    if (ordinal !== undefined) return marked[Number(ordinal)] as string
    return below ? String.fromCharCode(below.charCodeAt(0) + 1) : whole
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

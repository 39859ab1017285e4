/** JSON as the service writes it: no white space, pure ASCII, lower-case `\uXXXX` above U+007F. */

/** ASCII that stands for itself between quotes. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7f]*$/
const eachAboveAscii = /[\u0080-\uffff]/g

export function jsonString(text: string): string {
  if (plain.test(text)) return `"${text}"`
  return JSON.stringify(text).replace(
    eachAboveAscii,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

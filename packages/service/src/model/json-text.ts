/** JSON as the service writes it: no white space, pure ASCII, lower-case `\uXXXX` above U+007F. */

const aboveAscii = /[\u0080-\uffff]/
const eachAboveAscii = /[\u0080-\uffff]/g

export function jsonString(text: string): string {
  const quoted = JSON.stringify(text)
  if (!aboveAscii.test(quoted)) return quoted
  return quoted.replace(eachAboveAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Lines of a log, both ways:
 *
 *   line   = time ";" field *(";" field) LF
 *   time   = as Date.toISOString writes it
 *   field  = any text, with  \ → \\   ; → \s   LF → \n   CR → \r
 */
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', ';': '\\s', '\n': '\\n', '\r': '\\r' }
const originals: Readonly<Record<string, string>> = { '\\': '\\', s: ';', n: '\n', r: '\r' }

export function encodeLine(at: Date, fields: readonly string[]): string {
  return `${[at.toISOString(), ...fields.map(escaped)].join(';')}\n`
}

/** REQUIRES: no line end. Undefined for a line that is not one of ours. */
export function decodeLine(
  line: string,
): { readonly at: Date; readonly fields: readonly string[] } | undefined {
  const [time = '', ...fields] = line.split(';')
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return undefined
  return { at, fields: fields.map(unescaped) }
}

function escaped(field: string): string {
  return field.replaceAll(/[\\;\n\r]/g, (character) => escapes[character] as string)
}

function unescaped(field: string): string {
  return field.replaceAll(/\\(.)/g, (whole, character: string) => originals[character] ?? whole)
}

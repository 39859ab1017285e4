/** Puts the matrix into the published page, between two marks, and leaves the rest of it alone. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootFolder } from './clients.ts'
import {
  identityRows,
  leftOutLines,
  type Matrix,
  notesOf,
  padded,
  scenarioRows,
  valueGapLines,
  valueRows,
} from './matrix.ts'

const file = join(rootFolder, 'docs/compatibility.md')
const begin = '<!-- matrix: written by `npm run test:clients -- --write` -->'
const end = '<!-- end of matrix -->'

export function writeDocument(matrix: Matrix): void {
  const page = readFileSync(file, 'utf8')
  const from = page.indexOf(begin)
  const until = page.indexOf(end)
  if (from < 0 || until < from) throw new Error(`${file} has lost the marks around its matrix`)
  writeFileSync(file, page.slice(0, from + begin.length) + rendered(matrix) + page.slice(until))
}

function rendered(matrix: Matrix): string {
  const reasons = [
    ...notesOf(matrix).map(({ where, reason }) => `${where}: ${reason}`),
    ...valueGapLines(matrix),
    ...leftOutLines(),
  ]
  return `

Run on ${new Date().toISOString().slice(0, 10)}.

${table(identityRows(matrix))}

### Scenarios

${table(scenarioRows(matrix))}

### Values

${table(valueRows(matrix))}

### Every gap

${reasons.map((reason) => `- ${reason}`).join('\n') || 'None.'}

`
}

function table(rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  // The line below the heading needs three dashes for a column.
  const [heading = [], ...body] = padded(escaped, 3)
  return [heading, heading.map(({ length }) => '-'.repeat(length)), ...body]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
}

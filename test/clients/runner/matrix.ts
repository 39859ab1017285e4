/** What was found, counted and shown. */
import type { Column } from './check-client.ts'
import type { ValueGap, ValueMatrix } from './check-values.ts'
import { leftOut } from './clients.ts'
import type { Result } from './program.ts'
import { scenarios } from './scenarios.ts'

export interface Matrix {
  readonly columns: readonly Column[]
  readonly values: ValueMatrix
}

const marks = { pass: '✓', partial: '◐', fail: '✗', gap: '–' } as const satisfies Record<
  Result['kind'],
  string
>

function markOf(result: Result | undefined): string {
  return marks[result?.kind ?? 'fail']
}

/** Rows that say what each client is. */
export function identityRows({ columns }: Matrix): string[][] {
  return [
    ['client', 'library', 'version', 'runtime'],
    ...columns.map(({ client, identity }) => [
      client.name,
      identity?.client ?? 'did not run',
      identity?.version ?? '',
      identity?.runtime ?? '',
    ]),
  ]
}

/** Rows of the scenario table, headed by the clients' names. */
export function scenarioRows({ columns }: Matrix): string[][] {
  return [
    ['', ...columns.map(({ client }) => client.name)],
    ...scenarios.map((name) => [name, ...columns.map(({ results }) => markOf(results.get(name)))]),
  ]
}

/** Rows of the value table: who wrote in rows, who read in columns. */
export function valueRows({ columns, values }: Matrix): string[][] {
  const names = columns.map(({ client }) => client.name)
  return [
    ['written by ↓ read by →', ...names],
    ...names.map((writer) => [writer, ...names.map((reader) => markOf(values.cell(writer, reader)))]),
  ]
}

export interface Note {
  readonly where: string
  readonly result: Result
  readonly reason: string
}

/** All that is not a plain pass. */
export function notesOf(matrix: Matrix): Note[] {
  return resultsOf(matrix).flatMap(({ where, result }) =>
    result.kind === 'pass' ? [] : [{ where, result, reason: result.reason }],
  )
}

/** Values that a client cannot hold, those of one reason together. */
export function valueGapLines({ values }: Matrix): string[] {
  const groups = new Map<string, { readonly first: ValueGap; readonly names: string[] }>()
  for (const gap of values.gaps) {
    const id = `${gap.client} ${gap.verb} ${gap.reason}`
    const group = groups.get(id) ?? { first: gap, names: [] }
    group.names.push(gap.value)
    groups.set(id, group)
  }
  return [...groups.values()].map(
    ({ first: { client, verb, reason }, names }) => `${client} cannot ${verb} ${names.join(', ')}: ${reason}`,
  )
}

export function leftOutLines(): string[] {
  return leftOut.map(({ name, reason }) => `${name} is left out: ${reason}`)
}

/** One for each scenario and client, and one for each pair of clients. */
export function countResults(matrix: Matrix): Record<Result['kind'], number> {
  const count = { pass: 0, partial: 0, fail: 0, gap: 0 }
  for (const { result } of resultsOf(matrix)) count[result.kind]++
  return count
}

function resultsOf({ columns, values }: Matrix): { readonly where: string; readonly result: Result }[] {
  return [
    ...columns.flatMap(({ client, results }) =>
      scenarios.map((name) => ({
        where: `${client.name} ${name}`,
        result: results.get(name) ?? ({ kind: 'fail', reason: 'not run' } as const),
      })),
    ),
    ...columns.flatMap(({ client: writer }) =>
      columns.map(({ client: reader }) => ({
        where: `values of ${writer.name} read by ${reader.name}`,
        result: values.cell(writer.name, reader.name),
      })),
    ),
  ]
}

export function renderForTerminal(matrix: Matrix): string {
  return [
    ...padded(identityRows(matrix)).map(spaced),
    '',
    ...padded(scenarioRows(matrix)).map(spaced),
    '',
    ...padded(valueRows(matrix)).map(spaced),
    '',
    ...notesOf(matrix).map(({ where, result, reason }) => `${markOf(result)} ${where}: ${reason}`),
    ...[...valueGapLines(matrix), ...leftOutLines()].map((line) => `${marks.gap} ${line}`),
    '',
  ].join('\n')
}

function spaced(row: readonly string[]): string {
  return row.join('  ').trimEnd()
}

/** Rows whose cells are as wide as the widest of their column. */
export function padded(rows: readonly (readonly string[])[], widthMin = 0): string[][] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(widthMin, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
}

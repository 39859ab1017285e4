/** From measurements to tables. */
import { type Goal, type Part, type PhaseName, phases } from './phases.ts'
import { baseName, stubName } from './targets.ts'

/** One part of one phase, on one target, in one round. */
export interface Measurement {
  readonly phase: PhaseName
  readonly part: string
  readonly target: string
  readonly round: number
  readonly operations: number
  readonly elapsedMs: number
  readonly unitsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Shared by the operations of all parts of the phase. Undefined where the system does not tell. */
  readonly serverCpuUs: number | undefined
  /** Cores in use on average. */
  readonly serverCpu: number | undefined
  /** Processes that made the load, and the share of a core that the busiest of them used. */
  readonly clients: number
  readonly clientCpu: number
  readonly anonymousBytes: number | undefined
}

/** From here on a load client may be what limits the figures. */
export const clientCpuHigh = 0.85

export const legend = `
Figures are medians of the rounds, but for the longest latency (max). "× ${baseName}" is against its best round,
"of ${stubName}" against the bare server's median. "load" is how many processes made it and the share of a core that
the busiest of them used; "!" marks where that may be the limit.
`

/** One table per part: targets as rows. */
export function phaseTables(measurements: readonly Measurement[], targets: readonly string[]): string {
  return partsMeasured(measurements)
    .map((part) => {
      const of = measurements.filter((one) => one.part === part.name)
      const lines = targets.flatMap((target) => {
        const rounds = of.filter((one) => one.target === target)
        return rounds.length === 0 ? [] : [lineOf(target, rounds, of)]
      })
      return `${part.name}: ${part.title}, ${part.connections} connections\n${aligned([headerOf(part), ...lines])}`
    })
    .join('\n')
}

/** What one target does in one part, against the best round of the base. */
export interface Comparison {
  readonly part: Part
  readonly target: string
  readonly ratio: number
  readonly goal: Goal | undefined
}

export function comparisons(
  measurements: readonly Measurement[],
  targets: readonly string[],
  rows: number,
): Comparison[] {
  return partsMeasured(measurements).flatMap((part) => {
    const of = measurements.filter((one) => one.part === part.name)
    const best = bestOf(of)
    return rivals(targets).flatMap((target) => {
      const speed = speedOf(of, target)
      if (best === undefined || speed === undefined) return []
      return [{ part, target, ratio: speed / best, goal: part.goals(rows)[target] }]
    })
  })
}

/** Each target against the best round of the base, in Markdown: a row for each part. */
export function comparison(
  measurements: readonly Measurement[],
  targets: readonly string[],
  rows: number,
): string {
  const all = comparisons(measurements, targets, rows)
  if (all.length === 0) return ''
  const header = [
    'phase',
    `${baseName}, best`,
    'p99',
    ...rivals(targets).flatMap((name) => [name, 'ratio', `of ${stubName}`, 'p99']),
  ]
  const lines = partsMeasured(measurements).map((part) => {
    const of = measurements.filter((one) => one.part === part.name)
    const best = bestOf(of)
    const ceiling = speedOf(of, stubName)
    return [
      part.title,
      best === undefined ? '–' : `${whole(best)} ${part.unit}/s`,
      p99Of(of, baseName),
      ...rivals(targets).flatMap((target) => {
        const speed = speedOf(of, target)
        const found = all.find((one) => one.part === part && one.target === target)
        return [
          speed === undefined ? '–' : `${whole(speed)}/s`,
          found === undefined ? '–' : judged(found),
          speed && ceiling ? percent(speed / ceiling) : '–',
          p99Of(of, target),
        ]
      }),
    ]
  })
  return `Median against the best round of ${baseName}; in brackets what must be reached and what we want: – not reached, ✓ reached, ★ as wanted\n\n${markdown([header, ...lines])}`
}

/** Readers and writers beside each other: what each side keeps of what it does alone. */
export function mixedTable(measurements: readonly Measurement[], targets: readonly string[]): string {
  const lines = partsMeasured(measurements).flatMap((part) => {
    if (part.solo === undefined) return []
    return targets.flatMap((target) => {
      const beside = measurements.filter((one) => one.part === part.name && one.target === target)
      const alone = measurements.filter((one) => one.part === part.solo && one.target === target)
      if (beside.length === 0 || alone.length === 0) return []
      const speeds = [alone, beside].map((rounds) => median(rounds.map((one) => one.unitsPerSecond)))
      const [soloSpeed = 1, besideSpeed = 0] = speeds
      return [
        [
          part.title,
          target,
          `${whole(soloSpeed)}/s`,
          `${whole(besideSpeed)}/s`,
          percent(besideSpeed / soloSpeed),
          `${short(Math.max(...beside.map((one) => one.maxMs)))} ms`,
        ],
      ]
    })
  })
  if (lines.length === 0) return ''
  const header = ['side', 'target', 'alone, 64 connections', 'beside, 32', 'kept', 'longest stall']
  return `Readers and writers at once; each side should keep 25 % and no answer should take more than 100 ms\n\n${markdown([header, ...lines])}`
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]]
  return (low + high) / 2
}

/** The value that `share` of the sorted values do not exceed. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** A table in Markdown, its columns aligned so that it also reads as it stands. */
export function markdown(lines: readonly (readonly string[])[]): string {
  const widths = widthsOf(lines)
  const [header = [], ...rest] = lines.map((line) => line.map((cell, column) => padded(cell, column, widths)))
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [header, rule, ...rest].map((line) => `| ${line.join(' | ')} |\n`).join('')
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function times(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1)}×`
}

/** Milliseconds. */
export function short(milliseconds: number): string {
  if (milliseconds >= 100) return whole(milliseconds)
  return milliseconds.toFixed(milliseconds < 10 ? 2 : 1)
}

function headerOf(part: Part): string[] {
  return [
    'target',
    `${part.unit}/s`,
    'worst–best',
    `× ${baseName}`,
    `of ${stubName}`,
    'p50 ms',
    'p99 ms',
    'max ms',
    'server µs/op',
    'server cores',
    'load',
    'anon MB',
  ]
}

function lineOf(target: string, rounds: readonly Measurement[], ofAll: readonly Measurement[]): string[] {
  const best = bestOf(ofAll)
  const ceiling = speedOf(ofAll, stubName)
  const speeds = rounds.map((one) => one.unitsPerSecond)
  const speed = median(speeds)
  const clientCpu = median(rounds.map((one) => one.clientCpu))
  return [
    target,
    whole(speed),
    `${whole(Math.min(...speeds))}–${whole(Math.max(...speeds))}`,
    best === undefined ? '–' : times(speed / best),
    ceiling === undefined ? '–' : percent(speed / ceiling),
    short(median(rounds.map((one) => one.p50Ms))),
    short(median(rounds.map((one) => one.p99Ms))),
    short(Math.max(...rounds.map((one) => one.maxMs))),
    medianIfKnown(
      rounds.map((one) => one.serverCpuUs),
      whole,
    ),
    medianIfKnown(
      rounds.map((one) => one.serverCpu),
      (cores) => cores.toFixed(2),
    ),
    `${rounds[0]?.clients} × ${percent(clientCpu)}${clientCpu > clientCpuHigh ? ' !' : ''}`,
    medianIfKnown(
      rounds.map((one) => one.anonymousBytes),
      (bytes) => whole(bytes / 1e6),
    ),
  ]
}

function partsMeasured(measurements: readonly Measurement[]): Part[] {
  const names = new Set(measurements.map(({ part }) => part))
  return Object.values(phases).flatMap((phase) => phase.parts.filter(({ name }) => names.has(name)))
}

function rivals(targets: readonly string[]): string[] {
  return targets.filter((name) => name !== baseName && name !== stubName)
}

function bestOf(measurements: readonly Measurement[]): number | undefined {
  const speeds = measurements.filter((one) => one.target === baseName).map((one) => one.unitsPerSecond)
  return speeds.length === 0 ? undefined : Math.max(...speeds)
}

function speedOf(measurements: readonly Measurement[], target: string): number | undefined {
  const speeds = measurements.filter((one) => one.target === target).map((one) => one.unitsPerSecond)
  return speeds.length === 0 ? undefined : median(speeds)
}

function p99Of(measurements: readonly Measurement[], target: string): string {
  const all = measurements.filter((one) => one.target === target).map((one) => one.p99Ms)
  return all.length === 0 ? '–' : `${short(median(all))} ms`
}

function judged({ ratio, goal }: Comparison): string {
  if (goal === undefined) return times(ratio)
  const [atLeast, wanted] = goal
  const verdict = ratio >= wanted ? '★' : ratio >= atLeast ? '✓' : '–'
  return `${times(ratio)} ${verdict} (${atLeast}, ${wanted})`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function medianIfKnown(values: readonly (number | undefined)[], show: (value: number) => string): string {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? '–' : show(median(known))
}

/** Columns under their headings: the first to the left, figures to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = widthsOf(lines)
  return lines
    .map((line) => line.map((cell, column) => padded(cell, column, widths)).join('  '))
    .map((line) => `  ${line.trimEnd()}\n`)
    .join('')
}

function padded(cell: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}

function widthsOf(lines: readonly (readonly string[])[]): number[] {
  return (lines[0] ?? []).map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)))
}

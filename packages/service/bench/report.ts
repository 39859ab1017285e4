/** From measurements to tables. */
import { type Part, type PhaseName, phases } from './phases.ts'
import { baseName } from './targets.ts'

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
  readonly clientCpu: number
  readonly anonymousBytes: number | undefined
}

/** From here on a load client may be what limits the figures. */
const clientCpuHigh = 0.9

export const legend = `
Figures are medians of the rounds, but for the longest latency (max). "× ${baseName}" is against its best round.
"client core" is the share of a core that the busiest load client used; "!" marks where it may be the limit.
`

/** One table per part: targets as rows. */
export function phaseTables(measurements: readonly Measurement[], targets: readonly string[]): string {
  return partsMeasured(measurements)
    .map(([phase, part]) => {
      const of = measurements.filter((one) => one.part === part.name)
      const best = bestOf(of, baseName)
      const lines = targets.flatMap((target) => {
        const rounds = of.filter((one) => one.target === target)
        return rounds.length === 0 ? [] : [lineOf(target, rounds, best)]
      })
      const { title } = phases[phase]
      return `${part.name}: ${title}, ${part.connections} connections\n${aligned([headerOf(part), ...lines])}`
    })
    .join('\n')
}

/** Each target against the best round of the base, and against what no server on this runtime can exceed. */
export function summary(
  measurements: readonly Measurement[],
  targets: readonly string[],
  stub: string,
): string {
  const others = targets.filter((name) => name !== baseName && name !== stub)
  if (others.length === 0) return ''
  const header = ['', ...others.flatMap((name) => [name, `of ${stub}`]), 'at least', 'wanted']
  const lines = partsMeasured(measurements).map(([, part]) => {
    const of = measurements.filter((one) => one.part === part.name)
    const best = bestOf(of, baseName)
    const ceiling = medianOf(of, stub)
    const ratios = others.flatMap((name) => {
      const median = medianOf(of, name)
      return [
        median && best ? times(median / best) : '–',
        median && ceiling ? `${Math.round((median / ceiling) * 100)} %` : '–',
      ]
    })
    return [part.name, ...ratios, ...(part.goal?.map(times) ?? ['–', '–'])]
  })
  return `Median against the best round of ${baseName}\n${aligned([header, ...lines])}`
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

function headerOf(part: Part): string[] {
  return [
    'target',
    `${part.unit}/s`,
    'worst–best',
    `× ${baseName}`,
    'p50 ms',
    'p99 ms',
    'max ms',
    'server µs/op',
    'server cores',
    'client core',
    'anon MB',
  ]
}

function lineOf(target: string, rounds: readonly Measurement[], best: number | undefined): string[] {
  const speeds = rounds.map((one) => one.unitsPerSecond)
  const speed = median(speeds)
  const clientCpu = median(rounds.map((one) => one.clientCpu))
  return [
    target,
    whole(speed),
    `${whole(Math.min(...speeds))}–${whole(Math.max(...speeds))}`,
    best === undefined ? '–' : times(speed / best),
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
    `${Math.round(clientCpu * 100)} %${clientCpu > clientCpuHigh ? ' !' : ''}`,
    medianIfKnown(
      rounds.map((one) => one.anonymousBytes),
      (bytes) => whole(bytes / 1e6),
    ),
  ]
}

function partsMeasured(measurements: readonly Measurement[]): [PhaseName, Part][] {
  const names = new Set(measurements.map(({ part }) => part))
  return (Object.keys(phases) as PhaseName[]).flatMap((phase) =>
    phases[phase].parts.filter(({ name }) => names.has(name)).map((part): [PhaseName, Part] => [phase, part]),
  )
}

function bestOf(measurements: readonly Measurement[], target: string): number | undefined {
  const speeds = measurements.filter((one) => one.target === target).map((one) => one.unitsPerSecond)
  return speeds.length === 0 ? undefined : Math.max(...speeds)
}

function medianOf(measurements: readonly Measurement[], target: string): number | undefined {
  const speeds = measurements.filter((one) => one.target === target).map((one) => one.unitsPerSecond)
  return speeds.length === 0 ? undefined : median(speeds)
}

function medianIfKnown(values: readonly (number | undefined)[], show: (value: number) => string): string {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? '–' : show(median(known))
}

/** Columns under their headings: the first to the left, figures to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}\n`)
    .join('')
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function times(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1)}×`
}

function short(milliseconds: number): string {
  return milliseconds >= 100 ? whole(milliseconds) : milliseconds.toFixed(1)
}

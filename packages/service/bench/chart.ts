/** The comparison as a picture: for each part, how many times the base each target does, on a logarithmic scale. */
import { type Comparison, comparisons, type Measurement, times } from './report.ts'
import { baseName } from './targets.ts'

const width = 860
const labelWidth = 268
const right = 64
const top = 62
const barHeight = 11
const barGap = 3
const rowGap = 13

/** An SVG that follows the reader's light or dark theme. */
export function chartOf(
  measurements: readonly Measurement[],
  targets: readonly string[],
  rows: number,
): string {
  const all = comparisons(measurements, targets, rows)
  const bars = [...new Set(all.map(({ target }) => target))]
  const parts = [...new Set(all.map(({ part }) => part))]
  const scale = scaleOf(all)
  const rowHeight = bars.length * (barHeight + barGap) + rowGap
  const bottom = top + parts.length * rowHeight
  const drawn = parts.map((part, index) => {
    const of = all.filter((one) => one.part === part)
    return rowOf(of, bars, top + index * rowHeight + rowGap / 2, scale)
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 44}" width="${width}" height="${bottom + 44}" role="img" aria-label="Throughput as a multiple of ${baseName}">
<style>
${style}
</style>
<text x="12" y="22" class="title">Times the best round of ${titled(baseName)}</text>
${legendOf(bars)}
${scale.ticks.map((tick) => tickOf(tick, scale, bottom)).join('\n')}
${drawn.join('\n')}
<text x="${scale.at(1)}" y="${bottom + 36}" class="note" text-anchor="middle">slower ← ${titled(baseName)} → faster</text>
</svg>
`
}

interface Scale {
  /** Where a ratio lies, from the left edge. */
  at(ratio: number): number
  readonly ticks: readonly number[]
}

const allTicks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

function scaleOf(all: readonly Comparison[]): Scale {
  const ratios = all.flatMap(({ ratio, goal }) => (goal === undefined ? [ratio] : [ratio, goal[0]]))
  const [least, most] = [Math.min(0.5, ...ratios), Math.max(20, ...ratios)]
  const first = allTicks.findLast((tick) => tick <= least) ?? least
  const last = allTicks.find((tick) => tick >= most) ?? most
  const perLog = (width - labelWidth - right) / Math.log(last / first)
  const at = (ratio: number) => round(labelWidth + Math.log(ratio / first) * perLog)
  return { at, ticks: allTicks.filter((tick) => tick >= first && tick <= last) }
}

function tickOf(tick: number, scale: Scale, bottom: number): string {
  const x = scale.at(tick)
  return `<line x1="${x}" x2="${x}" y1="${top - 4}" y2="${bottom}" class="${tick === 1 ? 'base' : 'tick'}"/><text x="${x}" y="${bottom + 16}" class="note" text-anchor="middle">${tick}×</text>`
}

function rowOf(of: readonly Comparison[], bars: readonly string[], y: number, scale: Scale): string {
  const middle = y + (bars.length * (barHeight + barGap) - barGap) / 2
  const title = of[0]?.part.title ?? ''
  const drawn = of.map((one) => {
    const place = bars.indexOf(one.target)
    return barOf(one, place, y + place * (barHeight + barGap), scale)
  })
  return `<text x="${labelWidth - 12}" y="${middle + 4}" text-anchor="end">${title}</text>${drawn.join('')}`
}

function barOf({ ratio, goal }: Comparison, place: number, y: number, scale: Scale): string {
  const [from, until] = [scale.at(1), scale.at(ratio)].toSorted((a, b) => a - b) as [number, number]
  const goalLine =
    goal === undefined
      ? ''
      : `<line x1="${scale.at(goal[0])}" x2="${scale.at(goal[0])}" y1="${y - 2}" y2="${y + barHeight + 2}" class="goal"/>`
  return `<rect x="${from}" y="${y}" width="${round(Math.max(1, until - from))}" height="${barHeight}" rx="2" class="bar${place}"/>${goalLine}<text x="${until + 6}" y="${y + barHeight - 2}" class="value">${times(ratio)}</text>`
}

function legendOf(bars: readonly string[]): string {
  let x = 12
  const entries = bars.map((target, place) => {
    const entry = `<rect x="${x}" y="34" width="${barHeight}" height="${barHeight}" rx="2" class="bar${place}"/><text x="${x + 17}" y="44" class="note">${titled(target)}</text>`
    x += 34 + target.length * 7
    return entry
  })
  return `${entries.join('')}<line x1="${x + 5}" x2="${x + 5}" y1="32" y2="47" class="goal"/><text x="${x + 14}" y="44" class="note">our goal</text>`
}

/** `partita-2-workers` as it reads in a sentence. */
function titled(target: string): string {
  return target.charAt(0).toUpperCase() + target.slice(1).replace('-', ', ').replaceAll('-', ' ')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

const style = `text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.note { font-size: 12px; fill: #59636e; }
.value { font-size: 11px; fill: #59636e; }
.tick { stroke: #d1d9e0; }
.base { stroke: #59636e; stroke-width: 1.5; }
.goal { stroke: #bc4c00; stroke-width: 2; }
.bar0 { fill: #0969da; }
.bar1 { fill: #2da44e; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .note, .value { fill: #9198a1; }
  .tick { stroke: #3d444d; }
  .base { stroke: #9198a1; }
  .goal { stroke: #f0883e; }
  .bar0 { fill: #4493f8; }
  .bar1 { fill: #3fb950; }
}`

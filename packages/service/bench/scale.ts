/**
 * Does the service stay the same as its table grows?
 *
 * One table grows from size to size. At each, the service is started anew, and then asked for rows, for pages, for
 * rows while another client scans the whole table, and to insert: few clients, so that times are those of the
 * service and not of a queue.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parsedOrExit, wholeIn } from './command-line.ts'
import { createTable, loadRows } from './fill.ts'
import { type LoadClients, openLoadClients } from './load.ts'
import { usageOf } from './processes.ts'
import { progress } from './progress.ts'
import { markdown, quantile, short, times, whole } from './report.ts'
import { rowsPerPartition } from './rows.ts'
import { freeBytesOf, scratchByDefault, withDataFolder } from './scratch.ts'
import { type Server, startPartita } from './targets.ts'
import type { Work } from './work.ts'

const sizes = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
const largestByDefault = 10_000_000
const measureMs = 5000
const warmMs = 1000
const connections = 8
/** What a row takes in the file at most, with room for the pages that a commit leaves free. */
const fileBytesPerRow = 1000

const usage = `Usage: npm run bench:scale -- [rows] [--scratch DIR]

  rows           the largest size, up to which the table grows tenfold at a time from ${sizes[0]} (${largestByDefault})
  --scratch DIR  for the data, while the benchmark runs (${scratchByDefault})
`

interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

interface Figures {
  readonly rows: number
  readonly loadedPerSecond: number
  readonly startMs: number
  readonly get: Latency
  readonly page: Latency
  readonly getBesideScan: Latency
  readonly insert: Latency
  /** The most that was found after loading and after each measurement. */
  readonly anonymousBytes: number
  readonly fileBytes: number
}

await main()

async function main(): Promise<void> {
  const settings = parsedOrExit(usage, parseSettings)
  if (settings === undefined) return
  await withDataFolder(settings.scratchFolder, async (folder) => {
    refuseIfTooSmall(folder, settings.largest)
    const clients = openLoadClients(1)
    const table = openTable(join(folder, 'data'), clients)
    const figures: Figures[] = []
    for (const rows of sizes.filter((size) => size <= settings.largest)) {
      figures.push(await table.growTo(rows))
      // Large sizes take long: what is known already is shown.
      progress('')
      console.log(tableOf(figures))
    }
    await clients.close()
  })
}

/** Undefined when only help is asked for. */
function parseSettings(): { largest: number; scratchFolder: string } | undefined {
  const { values, positionals } = parseArgs({
    options: { scratch: { type: 'string' }, help: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  if (values.help) return undefined
  const [largest = String(largestByDefault)] = positionals
  return {
    largest: wholeIn('rows', largest, sizes[0] ?? 1, sizes.at(-1) ?? 1),
    scratchFolder: values.scratch ?? scratchByDefault,
  }
}

function refuseIfTooSmall(folder: string, rows: number): void {
  const needed = rows * fileBytesPerRow
  const free = freeBytesOf(folder)
  progress(`${gigabytes(needed)} of disk may be needed, ${gigabytes(free)} are free in ${folder}`)
  if (free < needed) throw new Error('there is too little room on the disk: choose fewer rows, or --scratch')
}

/** The one table, and a service in front of it that comes and goes. */
function openTable(dataFolder: string, clients: LoadClients) {
  let rows = 0
  let inserted = 0
  let seed = 0
  let anonymousBytes = 0
  return { growTo }

  async function growTo(size: number): Promise<Figures> {
    anonymousBytes = 0
    const loader = await startPartita({ dataFolder })
    if (rows === 0) await createTable(loader)
    const loadedPerSecond = await loadRows('partita', loader, { from: rows, until: size }, clients)
    rows = size
    note(loader)
    await loader.stop()

    const server = await startPartita({ dataFolder })
    const { startMs } = server
    const get = await latencyOf('GET', server, connections, gets)
    const page = await latencyOf('page', server, 1, () => ({ kind: 'query page', rows, seed }))
    const getBesideScan = await latencyOf('GET beside a scan', server, connections, gets, {
      kind: 'query table for nothing',
      rows,
    })
    const insert = await latencyOf('INSERT', server, connections, () => ({
      kind: 'insert',
      rows,
      client: 0,
      from: inserted,
    }))
    await server.stop()
    const fileBytes = bytesIn(dataFolder)
    return { rows, loadedPerSecond, startMs, get, page, getBesideScan, insert, anonymousBytes, fileBytes }
  }

  function gets(): Work {
    return { kind: 'get', rows, seed, canned: false }
  }

  /** Warms up, then measures `work`, with `company` on a connection of its own. */
  async function latencyOf(
    name: string,
    server: Server,
    count: number,
    work: () => Work,
    company?: Work,
  ): Promise<Latency> {
    let latencies = new Float64Array()
    for (const forMs of [warmMs, measureMs]) {
      progress(`${whole(rows)} rows: ${name}`)
      seed += 1
      const streams = [{ connections: count, work: work() }]
      if (company !== undefined) streams.push({ connections: 1, work: company })
      const result = await clients.run(server, [streams], forMs)
      if (result.kind === 'failed') throw new Error(`${name} at ${rows} rows: ${result.complaint}`)
      const [measured = new Float64Array(), beside] = result.latenciesMs[0] ?? []
      if (beside?.length === 0) throw new Error(`no page of the scan ended beside ${name}`)
      if (streams[0]?.work.kind === 'insert') inserted += measured.length
      latencies = measured.toSorted()
      note(server)
    }
    return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), max: quantile(latencies, 1) }
  }

  function note({ pid }: Server): void {
    anonymousBytes = Math.max(anonymousBytes, usageOf(pid)?.anonymousBytes ?? Number.NaN)
  }
}

/** What the files take on the disk: a sparse file is larger only by name. */
function bytesIn(folder: string): number {
  const blockBytes = 512
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + statSync(join(folder, name)).blocks * blockBytes,
    0,
  )
}

function tableOf(figures: readonly Figures[]): string {
  const [smallest] = figures
  if (smallest === undefined) return ''
  const row = (
    name: string,
    valueOf: (of: Figures) => number,
    show: (value: number) => string,
    compare = true,
  ): string[] => [
    name,
    ...figures.map((of) => {
      const value = valueOf(of)
      const ratio = of === smallest || !compare ? '' : ` (${times(value / valueOf(smallest))})`
      return `${show(value)}${ratio}`
    }),
  ]
  const latency = (name: string, of: (figures: Figures) => Latency): string[][] => [
    row(`${name} p50, ms`, (one) => of(one).p50, short),
    row(`${name} p99, ms`, (one) => of(one).p99, short),
    row(`${name} max, ms`, (one) => of(one).max, short, false),
  ]
  return markdown([
    ['rows', ...figures.map(({ rows }) => whole(rows))],
    row('loaded by groups, entities/s', (of) => of.loadedPerSecond, whole),
    row('start to first answer, ms', (of) => of.startMs, whole),
    ...latency('GET', ({ get }) => get),
    ...latency(`page of ${whole(rowsPerPartition)}`, ({ page }) => page),
    ...latency('INSERT', ({ insert }) => insert),
    ...latency('GET beside a scan', ({ getBesideScan }) => getBesideScan),
    row('anonymous memory, MB', (of) => of.anonymousBytes / 1e6, whole),
    row('file, MB', (of) => of.fileBytes / 1e6, whole),
  ])
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

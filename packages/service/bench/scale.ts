/**
 * Does the service stay the same as its table grows?
 *
 * One table grows from size to size. At each, the service is started anew, and then asked for rows, for pages, for
 * rows while another client scans the whole table, and to insert: few clients, so that times are those of the
 * service and not of a queue. A second service with a small table is asked the same in turn, so that a slow minute of
 * the machine is not taken for a slow table.
 *
 * Systems move what was not used for some minutes out of memory, and a large table takes minutes to load. So rows are
 * asked for twice: as things are after the start, and once all of the file has been read.
 */
import { createReadStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parsedOrExit, wholeIn } from './command-line.ts'
import { filesIn } from './disk.ts'
import { createTable, loadRows } from './fill.ts'
import { type LoadClients, openLoadClients } from './load.ts'
import { usageOf } from './processes.ts'
import { progress } from './progress.ts'
import { markdown, median, quantile, short, times, whole } from './report.ts'
import { rowsPerPartition } from './rows.ts'
import { freeBytesOf, scratchByDefault, withDataFolder } from './scratch.ts'
import { type Server, startPartita } from './targets.ts'
import type { Work } from './work.ts'

const sizes = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
const largestByDefault = 10_000_000
const rounds = 5
const roundMs = 1000
const connections = 8
/** What a row takes in the file at most, with room for the pages that a commit leaves free. */
const fileBytesPerRow = 1000

const usage = `Usage: npm run bench:scale -- [rows] [--scratch DIR]

  rows           the largest size, up to which the table grows tenfold at a time from ${sizes[0]} (${largestByDefault})
  --scratch DIR  for the data, while the benchmark runs (${scratchByDefault})
`

/** Medians of the rounds, but for `max`; `times` is the ratio of `p50` to that of the small table. */
interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly times: number
}

interface Figures {
  readonly rows: number
  readonly loadedPerSecond: number
  readonly startMs: number
  readonly firstGet: Latency
  readonly get: Latency
  readonly page: Latency
  readonly getBesideScan: Latency
  readonly insert: Latency
  /** The most that was found after loading and after each round. */
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
    const table = openTable(folder, clients)
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

/** The one table, and services that come and go. */
function openTable(folder: string, clients: LoadClients) {
  let rows = 0
  let inserted = 0
  let anonymousBytes = 0
  /** No round asks for the rows of another. */
  let lastSeed = 0
  return { growTo }

  async function growTo(size: number): Promise<Figures> {
    anonymousBytes = 0
    const dataFolder = join(folder, 'data')
    const loader = await startPartita({ dataFolder })
    if (rows === 0) await createTable(loader)
    const loadedPerSecond = await loadRows('partita', loader, { from: rows, until: size }, clients)
    rows = size
    note(loader)
    await loader.stop()

    const small = await startSmall(join(folder, `small-${size}`))
    const startMs = median(await startTimes(dataFolder))
    const server = await startPartita({ dataFolder })
    const asked: Asked = { small, grown: { server, rows, inserted } }
    const firstGet = await latencyOf('GET after the start', asked, connections, gets)
    await readFiles(dataFolder)
    const get = await latencyOf('GET', asked, connections, gets)
    const page = await latencyOf('page', asked, 1, (of, seed) => ({
      kind: 'query page',
      rows: of.rows,
      seed,
    }))
    const getBesideScan = await latencyOf('GET beside a scan', asked, connections, gets, scan)
    const insert = await latencyOf('INSERT', asked, connections, (of) => ({
      kind: 'insert',
      rows: of.rows,
      client: 0,
      from: of.inserted,
    }))
    inserted = asked.grown.inserted
    await Promise.all([small.server.stop(), server.stop()])
    const fileBytes = bytesIn(dataFolder)
    const latencies = { firstGet, get, page, getBesideScan, insert }
    return { rows, loadedPerSecond, startMs, anonymousBytes, fileBytes, ...latencies }
  }

  async function startTimes(dataFolder: string): Promise<number[]> {
    const found: number[] = []
    for (let round = 1; round <= rounds; round++) {
      const { startMs, stop } = await startPartita({ dataFolder })
      found.push(startMs)
      await stop()
    }
    return found
  }

  /** A small table, new each time, since inserting makes it grow. */
  async function startSmall(dataFolder: string): Promise<Subject> {
    const [smallest = 0] = sizes
    const server = await startPartita({ dataFolder })
    await createTable(server)
    await loadRows('a small table', server, { from: 0, until: smallest }, clients)
    return { server, rows: smallest, inserted: 0 }
  }

  /** Asks both in turn, with `company` on a connection of its own; the first round only warms up. */
  async function latencyOf(
    name: string,
    { small, grown }: Asked,
    count: number,
    work: (of: Subject, seed: number) => Work,
    company?: (of: Subject) => Work,
  ): Promise<Latency> {
    const latencies = new Map<Subject, Float64Array[]>([
      [small, []],
      [grown, []],
    ])
    for (let round = 0; round <= rounds; round++) {
      progress(`${whole(rows)} rows: ${name}, round ${round} of ${rounds}`)
      lastSeed++
      for (const [subject, latenciesOf] of latencies) {
        const streams = [{ connections: count, work: work(subject, lastSeed) }]
        if (company !== undefined) streams.push({ connections: 1, work: company(subject) })
        const result = await clients.run(subject.server, [streams], roundMs)
        if (result.kind === 'failed') throw new Error(`${name} at ${subject.rows} rows: ${result.complaint}`)
        const [measured = new Float64Array(), beside] = result.latenciesMs[0] ?? []
        if (beside?.length === 0) throw new Error(`no page of the scan ended beside ${name}`)
        if (streams[0]?.work.kind === 'insert') subject.inserted += measured.length
        if (round > 0) latenciesOf.push(measured.toSorted())
      }
      note(grown.server)
    }
    const quantiles = (of: Subject, share: number) =>
      (latencies.get(of) ?? []).map((round) => quantile(round, share))
    const p50 = median(quantiles(grown, 0.5))
    return {
      p50,
      p99: median(quantiles(grown, 0.99)),
      max: Math.max(...quantiles(grown, 1)),
      times: p50 / median(quantiles(small, 0.5)),
    }
  }

  function note({ pid }: Server): void {
    anonymousBytes = Math.max(anonymousBytes, usageOf(pid)?.anonymousBytes ?? Number.NaN)
  }
}

/** A service, and what its table holds. */
interface Subject {
  readonly server: Server
  readonly rows: number
  inserted: number
}

interface Asked {
  readonly small: Subject
  readonly grown: Subject
}

function gets({ rows }: Subject, seed: number): Work {
  return { kind: 'get', rows, seed, canned: false }
}

function scan({ rows }: Subject): Work {
  return { kind: 'query table for nothing', rows }
}

/** What the files take on the disk: a sparse file is larger only by name. */
function bytesIn(folder: string): number {
  const blockBytes = 512
  return filesIn(folder).reduce((sum, file) => sum + statSync(file).blocks * blockBytes, 0)
}

/** Brings what there is into memory. */
async function readFiles(folder: string): Promise<void> {
  progress('reading all of the file')
  for (const file of filesIn(folder)) {
    for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 })) void chunk
  }
}

function tableOf(figures: readonly Figures[]): string {
  const row = (name: string, show: (of: Figures) => string): string[] => [name, ...figures.map(show)]
  const latency = (name: string, of: (figures: Figures) => Latency): string[][] => [
    row(`${name} p50, ms`, (one) => `${short(of(one).p50)} (${times(of(one).times)})`),
    row(`${name} p99, ms`, (one) => short(of(one).p99)),
    row(`${name} max, ms`, (one) => short(of(one).max)),
  ]
  return markdown([
    row('rows', ({ rows }) => whole(rows)),
    row('loaded by groups, entities/s', ({ loadedPerSecond }) => whole(loadedPerSecond)),
    row('start to first answer, ms', ({ startMs }) => whole(startMs)),
    ...latency('GET after the start', ({ firstGet }) => firstGet),
    ...latency('GET', ({ get }) => get),
    ...latency(`page of ${whole(rowsPerPartition)}`, ({ page }) => page),
    ...latency('INSERT', ({ insert }) => insert),
    ...latency('GET beside a scan', ({ getBesideScan }) => getBesideScan),
    row('anonymous memory, MB', ({ anonymousBytes }) => whole(anonymousBytes / 1e6)),
    row('file, MB', ({ fileBytes }) => whole(fileBytes / 1e6)),
  ])
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

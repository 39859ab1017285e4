/**
 * Does latency stay the same as a table grows, and does a long scan leave other requests alone?
 * Loads a small and a large table into a Partita of its own, one after the other, and prints for each the time
 * of a point read and of a page, and of point reads while another client scans the whole table.
 *
 *   npm run bench:growth -- [rows of the large table]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, openConnection } from './connection.ts'
import { killAll } from './processes.ts'
import { quantile, whole } from './report.ts'
import { partitionQuery, type RequestWriter, requestWriter, scanQuery } from './requests.ts'
import { loadedRow, partitionName, rowJson, rowsPerGroup, rowsPerPartition } from './rows.ts'
import { type Server, targets } from './targets.ts'

const small = 10_000
const large = Number(process.argv[2] ?? 1_000_000)
const loaders = 8
const readers = 8
const measureMs = 5000
const pagesRead = 200

interface Figures {
  readonly rows: number
  readonly loadedPerSecond: number
  readonly get: Latency
  readonly page: Latency
  readonly getBesideScan: Latency
  readonly rowsScannedPerSecond: number
}

interface Latency {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

try {
  const figures = [await measure(small), await measure(large)]
  console.log(tableOf(figures))
} finally {
  killAll()
}

async function measure(rows: number): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'partita-growth-'))
  const target = targets.find(({ name }) => name === 'partita')
  if (target === undefined) throw new Error('there is no target named partita')
  const server = await target.start({ dataFolder: join(folder, 'data'), installFolder: folder })
  try {
    const loadedPerSecond = await load(server, rows)
    const get = await reads(server, rows, measureMs)
    const page = await pages(server, rows)
    const scan = { going: true, rows: 0 }
    const scanning = scanUntil(server, rows, scan)
    const getBesideScan = await reads(server, rows, measureMs)
    scan.going = false
    await scanning
    const rowsScannedPerSecond = scan.rows / (measureMs / 1000)
    return { rows, loadedPerSecond, get, page, getBesideScan, rowsScannedPerSecond }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function load(server: Server, rows: number): Promise<number> {
  const groups = rows / rowsPerGroup
  let next = 0
  const startMs = performance.now()
  await onConnections(server, 1, async (ask, write) => void (await ask(write.createTable(), 201)))
  await onConnections(server, loaders, async (ask, write) => {
    while (next < groups) {
      const from = next++ * rowsPerGroup
      const jsons = Array.from({ length: rowsPerGroup }, (_, i) => rowJson(loadedRow(from + i), from + i))
      await ask(write.group(jsons), 202)
      if (next % 1000 === 0) process.stderr.write(`loaded ${whole(next * rowsPerGroup)} of ${whole(rows)}\n`)
    }
  })
  return rows / ((performance.now() - startMs) / 1000)
}

async function reads(server: Server, rows: number, forMs: number): Promise<Latency> {
  const times: number[] = []
  const untilMs = performance.now() + forMs
  await onConnections(server, readers, async (ask, write) => {
    while (performance.now() < untilMs) {
      const request = write.get(loadedRow(Math.floor(Math.random() * rows)))
      const sentMs = performance.now()
      await ask(request, 200)
      times.push(performance.now() - sentMs)
    }
  })
  return latencyOf(times)
}

async function pages(server: Server, rows: number): Promise<Latency> {
  const times: number[] = []
  await onConnections(server, 1, async (ask, write) => {
    for (let i = 0; i < pagesRead; i++) {
      const partition = partitionName(Math.floor(Math.random() * (rows / rowsPerPartition)))
      const sentMs = performance.now()
      await ask(write.query(partitionQuery(partition)), 200)
      times.push(performance.now() - sentMs)
    }
  })
  return latencyOf(times)
}

/** Reads the whole table for a row that is not there, page by page, again and again. */
async function scanUntil(
  server: Server,
  rows: number,
  scan: { going: boolean; rows: number },
): Promise<void> {
  const query = scanQuery(rows + 1)
  await onConnections(server, 1, async (ask, write) => {
    let token = ''
    while (scan.going) {
      const head = await ask(write.query(`${query}${token}`), 200)
      const [partition, row] = ['NextPartitionKey', 'NextRowKey'].map(
        (name) => new RegExp(`x-ms-continuation-${name}: (.*)\r\n`).exec(head)?.[1],
      )
      // A page without a match ends after so many rows, or where the table does.
      scan.rows += Math.min(rows, 100_000)
      token = partition === undefined ? '' : `&NextPartitionKey=${partition}&NextRowKey=${row}`
    }
  })
}

type Ask = (request: string, status: number) => Promise<string>

/** Runs `work` on so many connections at once; an answer of another status fails the run. */
async function onConnections(
  { url }: Server,
  count: number,
  work: (ask: Ask, write: RequestWriter) => Promise<void>,
): Promise<void> {
  const write = requestWriter(new URL(url).host)
  await Promise.all(
    Array.from({ length: count }, async () => {
      let fail = (_error: Error): void => undefined
      const connection: Connection = await openConnection(url, (error) => fail(error))
      const ask: Ask = (request, status) =>
        new Promise((resolve, reject) => {
          fail = reject
          connection.send(request, (answer) => {
            if (answer.status === status) resolve(answer.head)
            else reject(new Error(`${answer.status} where ${status} was expected: ${answer.body.toString()}`))
          })
        })
      await work(ask, write)
      connection.close()
    }),
  )
}

function latencyOf(times: readonly number[]): Latency {
  const sorted = Float64Array.from(times).toSorted()
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) ?? 0 }
}

function tableOf(figures: readonly Figures[]): string {
  const columns = ['', ...figures.map(({ rows }) => `${whole(rows)} rows`)]
  const latency = (of: (figure: Figures) => Latency): string[] =>
    figures.map((figure) => {
      const { p50, p99, max } = of(figure)
      return `${p50.toFixed(2)} / ${p99.toFixed(2)} / ${max.toFixed(1)}`
    })
  const lines = [
    columns,
    ['loaded, entities/s', ...figures.map(({ loadedPerSecond }) => whole(loadedPerSecond))],
    ['GET, p50 / p99 / max ms', ...latency(({ get }) => get)],
    ['page of 1000, ms', ...latency(({ page }) => page)],
    ['GET beside a scan, ms', ...latency(({ getBesideScan }) => getBesideScan)],
    ['scanned meanwhile, rows/s', ...figures.map((figure) => whole(figure.rowsScannedPerSecond))],
  ]
  return lines.map((line) => line.map((cell, i) => cell.padEnd(i === 0 ? 28 : 26)).join('')).join('\n')
}

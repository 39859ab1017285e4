/** Gives a server its table and the rows every measurement starts from. */
import { exchange } from './connection.ts'
import type { LoadClients } from './load.ts'
import { shareOf } from './phases.ts'
import { progress } from './progress.ts'
import { whole } from './report.ts'
import { requestWriter } from './requests.ts'
import { rowsPerGroup } from './rows.ts'
import type { Server } from './targets.ts'

/** Rows handed out at a time, so that no signed date grows old. */
const sliceRows = 50_000
const loadingConnections = 8
const sliceMsMax = 600_000

export async function createTable({ url }: Server): Promise<void> {
  const created = await exchange(url, requestWriter(new URL(url).host).createTable(), 30_000)
  if (created.status === 201 || created.status === 204) return
  throw new Error(`no table was created: ${created.status} ${created.body.toString('latin1', 0, 300)}`)
}

/**
 * Loads the rows from `from` to `until` by groups; returns how many were loaded a second. The clients prepare each
 * slice before it is sent, and that time does not count.
 */
export async function loadRows(
  name: string,
  server: Server,
  { from, until }: { readonly from: number; readonly until: number },
  clients: LoadClients,
): Promise<number> {
  let elapsedMs = 0
  const rowsASecond = (next: number) => ((next - from) / elapsedMs) * 1000
  for (let next = from; next < until; next += sliceRows) {
    const rate = next === from ? '' : `, ${whole(rowsASecond(next))} a second`
    progress(`loading ${name}: ${whole(next)} of ${whole(until)} rows${rate}`)
    const end = Math.min(until, next + sliceRows)
    const result = await clients.run(server, streamsFor(next, end, clients.count), sliceMsMax)
    if (result.kind === 'failed') throw new Error(`loading ${name}: ${result.complaint}`)
    elapsedMs += result.elapsedMs
  }
  return rowsASecond(until)
}

function streamsFor(from: number, until: number, clients: number) {
  let next = from
  return Array.from({ length: clients }, (_, client) => {
    const rows = shareOf((until - from) / rowsPerGroup, client, clients) * rowsPerGroup
    const work = { kind: 'load groups' as const, from: next, until: next + rows }
    next += rows
    return [{ connections: shareOf(loadingConnections, client, clients), work }]
  })
}

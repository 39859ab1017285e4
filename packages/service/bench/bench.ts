/**
 * How fast is the service, beside the emulator it replaces and beside the least a server can do?
 *
 * All servers are started and given the same rows. Phases that only read come first, so that all of them meet just
 * the loaded rows; then those that write. Each round asks every phase of each server in turn, so that a slow minute
 * of the machine is slow for all.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chartOf } from './chart.ts'
import { parsedOrExit } from './command-line.ts'
import { probedPageBytes, isInMemory, syncFiles, syncsPerSecond } from './disk.ts'
import { createTable, loadRows } from './fill.ts'
import { type LoadClients, type LoadResult, openLoadClients } from './load.ts'
import { type BenchOptions, parseOptions, usage, writeMsToJudge } from './options.ts'
import { type Ledger, openLedger, type PhaseName, phases, streamsOf } from './phases.ts'
import { progress } from './progress.ts'
import {
  clientCpuHigh,
  comparison,
  legend,
  type Measurement,
  median,
  mixedTable,
  phaseTables,
  quantile,
  whole,
} from './report.ts'
import { rowsPerPartition } from './rows.ts'
import { withDataFolder } from './scratch.ts'
import type { Server, Target } from './targets.ts'

interface Contestant {
  readonly dataFolder: string
  readonly target: Target
  readonly server: Server
  readonly ledger: Ledger
}

const syncProbeMs = 500
/** Until the code that a phase meets has been compiled. */
const warmMsMin = 1000

await main()

async function main(): Promise<void> {
  const options = parsedOrExit(usage, () => parseOptions(process.argv.slice(2)))
  if (options === undefined) return
  await withDataFolder(options.scratchFolder, (dataFolder) => compare(options, dataFolder))
}

async function compare(options: BenchOptions, dataFolder: string): Promise<void> {
  const clients = openLoadClients(options.clients)
  const contestants: Contestant[] = []
  for (const target of options.targets) {
    contestants.push(await prepare(target, options, dataFolder, clients))
  }
  const measurements: Measurement[] = []
  const syncs: number[] = []
  for (const writes of [false, true]) {
    const names = options.phases.filter((name) => phases[name].writes === writes)
    const count = await clientsNeeded(names, contestants, options, clients)
    for (let round = 1; round <= options.rounds; round++) {
      if (writes) syncs.push(syncsPerSecond(dataFolder, syncProbeMs))
      for (const name of names) {
        for (const contestant of contestantsOf(name, contestants)) {
          progress(`round ${round} of ${options.rounds}: ${name} on ${contestant.target.name}`)
          measurements.push(...(await measure(name, round, contestant, count, options, clients)))
        }
      }
    }
  }
  progress('')
  await Promise.all([...contestants.map(({ server }) => server.stop()), clients.close()])
  print(options, dataFolder, contestants, measurements, syncs)
}

/** Starts a target and loads it. */
async function prepare(
  target: Target,
  options: BenchOptions,
  parentFolder: string,
  clients: LoadClients,
): Promise<Contestant> {
  progress(`starting ${target.name}`)
  const dataFolder = join(parentFolder, target.name)
  const installFolder = join(options.scratchFolder, target.name)
  const server = await target.start({ dataFolder, installFolder })
  const ledger = openLedger(options.rows, clients.count, target.canned === true)
  const contestant = { target, server, ledger, dataFolder }
  if (!target.canned) {
    await createTable(server)
    await loadRows(target.name, server, { from: 0, until: options.rows }, clients)
    await rest(contestant, options)
  }
  return contestant
}

/** A server that stores nothing takes part only where that does not show. */
function contestantsOf(name: PhaseName, contestants: readonly Contestant[]): Contestant[] {
  const cannable = phases[name].parts.every((part) => part.cannable)
  return contestants.filter(({ target }) => cannable || !target.canned)
}

/**
 * Runs every phase once, so that all are warm, and finds how many load clients it takes before none of them is what
 * the fastest target waits for. All targets then face the same number.
 */
async function clientsNeeded(
  names: readonly PhaseName[],
  contestants: readonly Contestant[],
  options: BenchOptions,
  clients: LoadClients,
): Promise<number> {
  const trial = {
    ...options,
    readMs: Math.max(warmMsMin, options.readMs / 2),
    writeMs: Math.max(warmMsMin, options.writeMs / 2),
  }
  let count = 1
  for (const name of names) {
    for (const contestant of contestantsOf(name, contestants)) {
      progress(`warming up: ${name} on ${contestant.target.name}`)
      await stock(name, contestant, clients.count, trial, clients)
      // Those that delete need rows of every client, so all take part until the number is known.
      const result = await runPhase(name, 0, contestant, clients.count, trial, clients)
      const busy = result.clientCpu * result.latenciesMs.length
      count = Math.max(count, Math.min(clients.count, Math.ceil(busy / clientCpuHigh)))
    }
  }
  for (const contestant of contestants) await rest(contestant, options)
  return count
}

async function measure(
  name: PhaseName,
  round: number,
  contestant: Contestant,
  clientCount: number,
  options: BenchOptions,
  clients: LoadClients,
): Promise<Measurement[]> {
  const { target, ledger } = contestant
  await stock(name, contestant, clientCount, options, clients)
  const result = await runPhase(name, round, contestant, clientCount, options, clients)
  if (phases[name].writes) await rest(contestant, options)

  const latencies = phases[name].parts.map((_, part) =>
    sortedTogether(result.latenciesMs.map((of) => of[part])),
  )
  const operationsOfAll = latencies.reduce((sum, of) => sum + of.length, 0)
  return phases[name].parts.map((part, index) => {
    const sorted = latencies[index] ?? new Float64Array()
    return {
      phase: name,
      part: part.name,
      target: target.name,
      round,
      operations: sorted.length,
      elapsedMs: result.elapsedMs,
      unitsPerSecond: ((sorted.length * part.unitsPerOperation(ledger.rows)) / result.elapsedMs) * 1000,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: quantile(sorted, 1),
      serverCpuUs: result.serverCpuMs && (result.serverCpuMs * 1000) / operationsOfAll,
      serverCpu: result.serverCpuMs && result.serverCpuMs / result.elapsedMs,
      clients: result.latenciesMs.length,
      clientCpu: result.clientCpu,
      anonymousBytes: result.anonymousBytes,
    }
  })
}

/** Runs, unmeasured, the phase this one needs, unless it is run anyway. */
async function stock(
  name: PhaseName,
  contestant: Contestant,
  clientCount: number,
  options: BenchOptions,
  clients: LoadClients,
): Promise<void> {
  const needed = phases[name].after
  if (needed === undefined || options.phases.includes(needed)) return
  await runPhase(needed, 0, contestant, clientCount, options, clients)
}

async function runPhase(
  name: PhaseName,
  round: number,
  { target, server, ledger }: Contestant,
  clientCount: number,
  options: BenchOptions,
  clients: LoadClients,
): Promise<Extract<LoadResult, { kind: 'done' }>> {
  const streams = streamsOf(phases[name], ledger, clientCount, round)
  const result = await clients.run(server, streams, phases[name].writes ? options.writeMs : options.readMs)
  if (result.kind === 'failed') throw new Error(`${name} on ${target.name}: ${result.complaint}`)
  for (const [client, of] of streams.entries()) {
    for (const [index, { work }] of of.entries()) {
      ledger.note(client, work, result.latenciesMs[client]?.[index]?.length ?? 0)
    }
  }
  return result
}

/** Lets a target finish what it does behind its answers, so that it does not disturb the next one. */
async function rest({ target, dataFolder }: Contestant, options: BenchOptions): Promise<void> {
  // With few rows there is little to finish, and a quick run should be quick.
  if (target.restMs === undefined || options.quick) return
  await pause(target.restMs)
  // What it wrote without asking for a sync, the system would write in somebody else's round.
  syncFiles(dataFolder)
}

function print(
  options: BenchOptions,
  dataFolder: string,
  contestants: readonly Contestant[],
  measurements: readonly Measurement[],
  syncs: readonly number[],
): void {
  const { rows, rounds, readMs, writeMs } = options
  const names = contestants.map(({ target }) => target.name)
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}`
  const servers = contestants.map(({ target: { name }, server: { version, startMs } }) => ({
    name,
    version,
    startMs,
  }))
  const commit = commitHere()
  console.log(`${machine}, commit ${commit}`)
  for (const { name, version, startMs } of servers) {
    console.log(`${name} ${version}, first answer after ${(startMs / 1000).toFixed(2)} s`)
  }
  console.log(
    `${whole(rows)} rows, ${rounds} rounds of ${readMs / 1000} s for reads and ${writeMs / 1000} s for writes`,
  )
  if (syncs.length > 0) console.log(diskLines(syncs))
  if (isInMemory(dataFolder)) {
    console.log(
      'BEWARE: the data lies in memory, so durable writes cost nothing here. Choose a disk with --scratch.',
    )
  }
  if (writeMs < writeMsToJudge) {
    console.log(
      `NOT JUDGED: rows of writes, whose rounds of ${writeMs / 1000} s are too short to meet the peer's saving; and with ${rounds} rounds of ${readMs / 1000} s, any max.`,
    )
  }
  console.log(legend)
  console.log(phaseTables(measurements, names))
  for (const text of [mixedTable(measurements, names), comparison(measurements, names, rows)]) {
    if (text !== '') console.log(text)
  }
  if (options.jsonFile !== undefined) {
    const settings = { rows, rowsPerPartition, rounds, readMs, writeMs }
    const run = { commit, machine, servers, settings, syncsPerSecond: syncs, measurements }
    writeFileSync(options.jsonFile, `${JSON.stringify(run, null, 2)}\n`)
  }
  if (options.svgFile !== undefined) writeFileSync(options.svgFile, chartOf(measurements, names, rows))
}

function diskLines(syncs: readonly number[]): string {
  return [
    `disk: ${whole(median(syncs))} appended pages of ${probedPageBytes} B with fdatasync a second (${syncs.map(whole).join(', ')})`,
    '  the ceiling of durable writes that each wait for a sync of their own. Partita passes it where many clients',
    '  write at once, because all commits that wait are made durable by one sync (group commit).',
  ].join('\n')
}

function commitHere(): string {
  try {
    const commit = git('rev-parse', '--short', 'HEAD')
    return git('status', '--porcelain') === '' ? commit : `${commit} with changes`
  } catch {
    return 'unknown'
  }

  function git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  }
}

function sortedTogether(parts: readonly (Float64Array | undefined)[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0))
  let at = 0
  for (const part of parts) {
    if (part === undefined) continue
    all.set(part, at)
    at += part.length
  }
  return all.toSorted()
}

/**
 * How fast is the service, beside the emulator it replaces and beside the least a server can do?
 *
 * All servers are started and given the same rows; then every phase is asked of each of them in turn, round after
 * round, so that a slow minute of the machine is slow for all.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { exchange } from './connection.ts'
import { isInMemory, syncsPerSecond } from './disk.ts'
import { type LoadClients, type LoadResult, openLoadClients } from './load.ts'
import { type BenchOptions, parseOptions, usage } from './options.ts'
import { type Ledger, openLedger, type PhaseName, phaseNames, phases, shareOf, streamsOf } from './phases.ts'
import { killAll } from './processes.ts'
import { legend, type Measurement, median, phaseTables, quantile, summary, whole } from './report.ts'
import { requestWriter } from './requests.ts'
import { rowsPerGroup, rowsPerPartition } from './rows.ts'
import type { Server, Target } from './targets.ts'
import type { Work } from './work.ts'

interface Contestant {
  readonly target: Target
  readonly server: Server
  readonly ledger: Ledger
  /** Phases it does not take part in, and why. */
  readonly absent: Map<PhaseName, string>
}

const syncProbeMs = 300
const loadMsMax = 1_200_000
/** Rows handed out at a time while loading, so that no signed date grows old. */
const loadSliceRows = 20_000

await main()

async function main(): Promise<void> {
  const options = optionsOrExit()
  if (options === undefined) return
  const dataFolder = join(options.scratchFolder, `data-${process.pid}`)
  process.once('exit', () => remove(dataFolder))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  mkdirSync(dataFolder, { recursive: true })
  try {
    await compare(options, dataFolder)
  } catch (error) {
    console.error(`The benchmark failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    killAll()
  }
}

function optionsOrExit(): BenchOptions | undefined {
  try {
    const options = parseOptions(process.argv.slice(2))
    if (options === undefined) console.log(usage)
    return options
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exitCode = 2
    return undefined
  }
}

async function compare(options: BenchOptions, dataFolder: string): Promise<void> {
  const clients = openLoadClients(options.clients)
  const contestants: Contestant[] = []
  for (const target of options.targets) {
    contestants.push(await prepare(target, options, dataFolder, clients))
  }
  const measurements: Measurement[] = []
  const syncs: number[] = []
  for (let round = 1; round <= options.rounds; round++) {
    syncs.push(syncsPerSecond(dataFolder, syncProbeMs))
    for (const name of options.phases) {
      for (const contestant of contestants) {
        if (contestant.absent.has(name)) continue
        progress(`round ${round} of ${options.rounds}: ${name} on ${contestant.target.name}`)
        measurements.push(...(await measure(name, round, contestant, options, clients)))
      }
    }
  }
  progress('')
  await Promise.all([...contestants.map(({ server }) => server.stop()), clients.close()])
  print(options, dataFolder, contestants, measurements, syncs)
}

/** Starts a target, loads it, lets it warm up, and learns which phases it answers. */
async function prepare(
  target: Target,
  options: BenchOptions,
  dataFolder: string,
  clients: LoadClients,
): Promise<Contestant> {
  progress(`starting ${target.name}`)
  const server = await target.start({
    dataFolder: join(dataFolder, target.name.replaceAll(/\W+/g, '-')),
    installFolder: join(options.scratchFolder, target.name.replaceAll(/\W+/g, '-')),
  })
  const ledger = openLedger(options.rows, clients.count, target.canned === true)
  const contestant: Contestant = { target, server, ledger, absent: new Map() }
  if (target.canned) {
    for (const name of phaseNames) if (name !== 'GET') contestant.absent.set(name, 'always sends one row')
  } else {
    await load(contestant, options, clients)
  }
  const trial = { ...options, durationMs: options.durationMs / 2 }
  for (const name of options.phases) {
    if (contestant.absent.has(name)) continue
    progress(`warming up: ${name} on ${target.name}`)
    await stock(name, contestant, trial, clients)
    const result = await runPhase(name, 0, contestant, trial, clients)
    if (result.kind === 'done') continue
    if (!phases[name].optional) throw new Error(`${name} on ${target.name}: ${result.complaint}`)
    contestant.absent.set(name, result.complaint)
  }
  await rest(target, options)
  return contestant
}

/** Creates the table and fills it, by groups where the target knows them and row by row where it does not. */
async function load(contestant: Contestant, options: BenchOptions, clients: LoadClients): Promise<void> {
  const { target, server } = contestant
  const created = await exchange(server.url, requestWriter(new URL(server.url).host).createTable(), 30_000)
  if (created.status !== 201 && created.status !== 204) {
    throw new Error(
      `${target.name} did not create a table: ${created.status} ${created.body.toString('latin1', 0, 300)}`,
    )
  }
  const deadlineMs = performance.now() + loadMsMax
  let kind: 'load groups' | 'load rows' = 'load groups'
  let from = 0
  while (from < options.rows) {
    progress(`loading ${target.name}: ${from} of ${options.rows} rows`)
    const until = Math.min(options.rows, from + loadSliceRows)
    const result = await clients.run(server, loadStreams(kind, from, until, clients.count), loadMsMax)
    if (result.kind === 'done') from = until
    else if (kind === 'load groups' && from === 0 && result.operations === 0) kind = 'load rows'
    else throw new Error(`loading ${target.name}: ${result.complaint}`)
    if (performance.now() > deadlineMs)
      throw new Error(`${target.name} took more than ${loadMsMax / 1000} s to load`)
  }
}

function loadStreams(kind: 'load groups' | 'load rows', from: number, until: number, clients: number) {
  let next = from
  return Array.from({ length: clients }, (_, client) => {
    const rows = shareOf((until - from) / rowsPerGroup, client, clients) * rowsPerGroup
    const work: Work = { kind, from: next, until: next + rows }
    next += rows
    return [{ connections: kind === 'load groups' ? 8 : 64, work }]
  })
}

async function measure(
  name: PhaseName,
  round: number,
  contestant: Contestant,
  options: BenchOptions,
  clients: LoadClients,
): Promise<Measurement[]> {
  const { target, ledger } = contestant
  await stock(name, contestant, options, clients)
  const units = phases[name].parts.map((part) => part.unitsPerOperation(ledger))
  const result = await runPhase(name, round, contestant, options, clients)
  if (result.kind === 'failed') throw new Error(`${name} on ${target.name}: ${result.complaint}`)
  if (phases[name].writes) await rest(target, options)

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
      unitsPerSecond: ((sorted.length * (units[index] ?? 1)) / result.elapsedMs) * 1000,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: quantile(sorted, 1),
      serverCpuUs: result.serverCpuMs && (result.serverCpuMs * 1000) / operationsOfAll,
      serverCpu: result.serverCpuMs && result.serverCpuMs / result.elapsedMs,
      clientCpu: result.clientCpu,
      anonymousBytes: result.anonymousBytes,
    }
  })
}

/** Runs, unmeasured, the phase this one needs, unless it is run anyway. */
async function stock(
  name: PhaseName,
  contestant: Contestant,
  options: BenchOptions,
  clients: LoadClients,
): Promise<void> {
  const needed = phases[name].after
  if (needed === undefined || options.phases.includes(needed)) return
  const result = await runPhase(needed, 0, contestant, options, clients)
  if (result.kind === 'failed') throw new Error(`${needed} on ${contestant.target.name}: ${result.complaint}`)
}

async function runPhase(
  name: PhaseName,
  round: number,
  { server, ledger }: Contestant,
  options: BenchOptions,
  clients: LoadClients,
): Promise<LoadResult> {
  const streams = streamsOf(phases[name], ledger, clients.count, round)
  const result = await clients.run(server, streams, options.durationMs)
  if (result.kind === 'done') {
    for (const [client, of] of streams.entries()) {
      for (const [index, { work }] of of.entries()) {
        ledger.note(client, work, result.latenciesMs[client]?.[index]?.length ?? 0)
      }
    }
  }
  return result
}

/** Lets a target finish what it does behind its answers, so that it does not disturb the next one. */
async function rest(target: Target, options: BenchOptions): Promise<void> {
  // With few rows there is little to finish, and a quick run should be quick.
  if (target.restMs !== undefined && !options.quick) await pause(target.restMs)
}

function print(
  options: BenchOptions,
  dataFolder: string,
  contestants: readonly Contestant[],
  measurements: readonly Measurement[],
  syncs: readonly number[],
): void {
  const names = contestants.map(({ target }) => target.name)
  const stub = contestants.find(({ target }) => target.canned)?.target.name ?? ''
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}`
  console.log(machine)
  for (const { target, server } of contestants) {
    console.log(
      `${target.name} ${server.version}, first answer after ${(server.startMs / 1000).toFixed(2)} s`,
    )
  }
  console.log(
    `${whole(options.rows)} rows, rounds: ${options.rounds} × ${options.durationMs / 1000} s, load clients: ${options.clients}`,
  )
  console.log(`disk: ${whole(median(syncs))} appends of 512 B with fdatasync a second`)
  if (isInMemory(dataFolder)) {
    console.log(
      'BEWARE: the data lies in memory, so durable writes cost nothing here. Choose a disk with --scratch.',
    )
  }
  console.log(legend)
  console.log(phaseTables(measurements, names))
  const ratios = summary(measurements, names, stub)
  if (ratios !== '') console.log(ratios)
  for (const { target, absent } of contestants) {
    if (target.canned) continue
    for (const [phase, why] of absent) console.log(`${target.name} took no part in ${phase}: ${why}`)
  }
  if (options.jsonFile !== undefined) {
    const { rows, rounds, durationMs, clients } = options
    const servers = contestants.map(({ target: { name }, server: { version, startMs } }) => ({
      name,
      version,
      startMs,
    }))
    const settings = { rows, rowsPerPartition, rounds, durationMs, clients }
    const text = JSON.stringify({ machine, servers, settings, syncsPerSecond: syncs, measurements }, null, 2)
    writeFileSync(options.jsonFile, `${text}\n`)
  }
}

function sortedTogether(parts: readonly (Float64Array | undefined)[]): Float64Array {
  return Float64Array.from(parts.flatMap((part) => [...(part ?? [])])).toSorted()
}

function remove(folder: string): void {
  // Servers that were just killed may still be letting go of their files.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

let progressWidth = 0

/** One line that overwrites itself on a terminal; elsewhere a line for each. */
function progress(text: string): void {
  if (!process.stderr.isTTY) {
    if (text !== '') process.stderr.write(`${text}\n`)
    return
  }
  process.stderr.write(`\r${text.padEnd(progressWidth)}${text === '' ? '\r' : ''}`)
  progressWidth = text.length
}

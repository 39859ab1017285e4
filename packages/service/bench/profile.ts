/**
 * Where does the time go? Runs one kind of load against a service under the runtime's CPU profiler and prints what
 * each of its threads was busy with; the profiles stay, for Chrome's developer tools.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parsedOrExit, wholeIn } from './command-line.ts'
import { createTable, loadRows } from './fill.ts'
import { openLoadClients } from './load.ts'
import { openLedger, type PhaseName, phases, streamsOf } from './phases.ts'
import { progress } from './progress.ts'
import { markdown, whole } from './report.ts'
import { remove, scratchByDefault, withDataFolder } from './scratch.ts'
import { startPartita } from './targets.ts'

const loads = {
  get: 'GET',
  insert: 'INSERT',
  merge: 'MERGE',
  delete: 'DELETE',
  group: 'GROUP',
  page: 'PAGE',
  query: 'QUERY',
  scan: 'SCAN-INT',
} as const satisfies Record<string, PhaseName>

const rows = 100_000
const functionsShown = 15
const areasShown = 12
/** What a thread does that is idle most of the time explains nothing. */
const busyShareShown = 0.05

const usage = `Usage: npm run bench:profile -- ${Object.keys(loads).join('|')} [--seconds N] [--scratch DIR]

  --seconds N    how long the load lasts (10)
  --scratch DIR  for data, while it runs, and for the profiles, which stay (${scratchByDefault})
`

await main()

async function main(): Promise<void> {
  const settings = parsedOrExit(usage, parseSettings)
  if (settings === undefined) return
  await withDataFolder(settings.scratchFolder, async (folder) => {
    const profileFolder = join(settings.scratchFolder, `profile-${settings.load}`)
    remove(profileFolder)
    mkdirSync(profileFolder, { recursive: true })
    const window = await profile(settings, join(folder, 'data'), profileFolder)
    for (const file of readdirSync(profileFolder)) report(join(profileFolder, file), window)
  })
}

interface Settings {
  readonly load: keyof typeof loads
  readonly durationMs: number
  readonly scratchFolder: string
}

/** Undefined when only help is asked for. */
function parseSettings(): Settings | undefined {
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: 'string' },
      scratch: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  if (values.help) return undefined
  const [load = ''] = positionals
  if (!Object.hasOwn(loads, load)) throw new Error(`There is no load named '${load}'.`)
  return {
    load: load as keyof typeof loads,
    durationMs: 1000 * wholeIn('--seconds', values.seconds ?? '10', 1, 600),
    scratchFolder: resolve(values.scratch ?? scratchByDefault),
  }
}

/** While the load lasted, on the clock that all processes of a machine share and profiles are stamped with. */
interface Window {
  readonly fromUs: number
  readonly untilUs: number
}

async function profile(
  { load, durationMs }: Settings,
  dataFolder: string,
  profileFolder: string,
): Promise<Window> {
  const clients = openLoadClients(1)
  const ledger = openLedger(rows, clients.count, false)
  // Loading is left out of the profile: another process does it.
  const loader = await startPartita({ dataFolder })
  await createTable(loader)
  await loadRows('partita', loader, { from: 0, until: rows }, clients)
  const phase = phases[loads[load]]
  const needed = phase.after
  if (needed !== undefined) await run(loader, needed)
  await loader.stop()

  const node = ['--cpu-prof', '--cpu-prof-dir', profileFolder]
  const server = await startPartita({ dataFolder }, { node, apart: true })
  progress(`profiling ${load}`)
  const { speed, serverCpuUs, window } = await run(server, loads[load])
  await Promise.all([server.stop(), clients.close()])
  progress('')
  console.log(
    `${load}: ${phase.title}; ${whole(speed)} operations a second under the profiler, ${whole(serverCpuUs)} µs of CPU each`,
  )
  return window

  async function run(on: typeof server, name: PhaseName) {
    const streams = streamsOf(phases[name], ledger, clients.count, 1)
    const result = await clients.run(on, streams, durationMs)
    const untilUs = Number(process.hrtime.bigint() / 1000n)
    if (result.kind === 'failed') throw new Error(`${name}: ${result.complaint}`)
    const operations = result.latenciesMs[0]?.[0]?.length ?? 0
    for (const { work } of streams[0] ?? []) ledger.note(0, work, operations)
    const serverCpuUs = ((result.serverCpuMs ?? Number.NaN) * 1000) / operations
    const window: Window = { fromUs: untilUs - result.elapsedMs * 1000, untilUs }
    return { speed: (operations / result.elapsedMs) * 1000, serverCpuUs, window }
  }
}

/** The parts of V8's format that are read here. */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly startTime: number
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

function report(file: string, { fromUs, untilUs }: Window): void {
  const { nodes, startTime, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const byFunction = new Map<string, number>()
  const byArea = new Map<string, number>()
  let idleUs = 0
  let busyUs = 0
  let atUs = startTime
  for (const [index, id] of samples.entries()) {
    const us = timeDeltas[index] ?? 0
    atUs += us
    if (atUs < fromUs || atUs > untilUs) continue
    const { functionName, url } = frames.get(id) ?? { functionName: '', url: '' }
    if (functionName === '(idle)') {
      idleUs += us
      continue
    }
    if (functionName === '(root)') continue
    busyUs += us
    const area = areaOf(functionName, url)
    add(byArea, area.folder, us)
    add(byFunction, `${functionName || '(anonymous)'}  ${area.file}`, us)
  }
  console.log(`\n${threadOf(file)}: busy for ${seconds(busyUs)} of ${seconds(busyUs + idleUs)} (${file})`)
  if (busyUs < busyShareShown * (busyUs + idleUs)) return
  console.log(`\n${sharesOf('area', byArea, busyUs, areasShown)}`)
  console.log(sharesOf('function, by self time', byFunction, busyUs, functionsShown))
}

/** Node names profiles CPU.<date>.<time>.<process>.<thread>.<sequence>.cpuprofile. */
function threadOf(file: string): string {
  return file.split('.').at(-3) === '0' ? 'Main thread' : 'Writer thread'
}

/** To which file a function belongs, and to which part of the whole. */
function areaOf(functionName: string, url: string): { folder: string; file: string } {
  const ours = /\/dist\/src\/((?:.*\/)?)([^/]+)\.js$/.exec(url)
  if (ours !== null) return { folder: `src/${ours[1]}`, file: `${ours[1]}${ours[2]}.ts` }
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  if (dependency !== undefined) return { folder: dependency, file: dependency }
  if (url.startsWith('node:'))
    return { folder: url.replace(/^(node:(?:internal\/)?[^/]+).*$/, '$1'), file: url }
  if (functionName === '(garbage collector)') return { folder: 'garbage collection', file: '' }
  if (functionName === '(program)') return { folder: 'the runtime outside of JavaScript', file: '' }
  return { folder: 'native functions, with the system calls they make', file: 'native' }
}

function sharesOf(title: string, all: ReadonlyMap<string, number>, totalUs: number, shown: number): string {
  const lines = [...all]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, shown)
    .map(([name, us]) => [name.trimEnd(), `${((us / totalUs) * 100).toFixed(1)} %`, seconds(us)])
  return markdown([[title, 'share', 'time'], ...lines])
}

function add(to: Map<string, number>, name: string, us: number): void {
  to.set(name, (to.get(name) ?? 0) + us)
}

function seconds(us: number): string {
  return `${(us / 1e6).toFixed(2)} s`
}

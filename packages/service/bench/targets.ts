/** The servers that are measured, and how each is started. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { exchange } from './connection.ts'
import { installed } from './install.ts'
import { startChild, stopChild } from './processes.ts'
import { requestWriter } from './requests.ts'

export interface Target {
  readonly name: string
  /** Answers every GET with the same row, accepts every write, and stores nothing. */
  readonly canned?: true
  /** After writes, how long it may still be busy with them when nobody asks anything. */
  readonly restMs?: number
  start(place: Place): Promise<Server>
}

export interface Place {
  /** For this target alone, and not there yet. */
  readonly dataFolder: string
  /** Kept from one run to the next. */
  readonly installFolder: string
}

export interface Server {
  readonly url: string
  readonly pid: number
  readonly version: string
  /** From the start of its process to its first answer. */
  readonly startMs: number
  /** Undefined while it runs; afterwards, how it ended. */
  ended(): string | undefined
  stop(): Promise<void>
}

export const baseName = 'azurite'
export const partitaName = 'partita'
export const twoWorkersName = 'partita-2-workers'
export const stubName = 'stub'

/** Azurite writes its whole database this often if anything has changed. */
export const azuriteSaveMs = 5000

export const targets: readonly Target[] = [
  { name: baseName, restMs: azuriteSaveMs + 500, start: startAzurite },
  { name: partitaName, start: (place) => startPartita(place) },
  { name: twoWorkersName, start: (place) => startPartita(place, { serve: ['--workers', '2'] }) },
  { name: stubName, canned: true, start: startStub },
]

const startMsMax = 60_000
const azuriteVersions = ['3.37.0', 'latest']

async function startAzurite({ dataFolder, installFolder }: Place): Promise<Server> {
  const { folder, version } = await installed(installFolder, 'azurite', azuriteVersions)
  mkdirSync(dataFolder, { recursive: true })
  const port = await freePort()
  const main = join(folder, 'dist', 'src', 'table', 'main.js')
  // biome-ignore format: an option and its value share a line
  const child = startChild(process.execPath, [
    main,
    '--location', dataFolder,
    '--tableHost', '127.0.0.1',
    '--tablePort', String(port),
    // Its connections must survive the pauses between two requests that its own saving causes.
    '--tableKeepAliveTimeout', '60',
    '--silent', '--skipApiVersionCheck', '--disableTelemetry',
  ], { cwd: dataFolder, stdio: ['ignore', 'ignore', 'inherit'] })
  return await serverOf(child, version, async () => `http://127.0.0.1:${port}`)
}

const partitaMain = fileURLToPath(new URL('../bin/partita.js', import.meta.url))
const partitaModules = fileURLToPath(new URL('../src/command/partita.js', import.meta.url))
const partitaDescription = fileURLToPath(new URL('../../package.json', import.meta.url))

export interface PartitaOptions {
  readonly serve?: readonly string[]
  /** For the runtime, before the name of the program. */
  readonly node?: readonly string[]
  /** Runs the modules one by one instead of the file they are put together in, so that a profile tells them apart. */
  readonly apart?: boolean
}

export async function startPartita(
  { dataFolder }: Pick<Place, 'dataFolder'>,
  { serve = [], node = [], apart = false }: PartitaOptions = {},
): Promise<Server> {
  const main = apart ? partitaModules : partitaMain
  if (!existsSync(main)) throw new Error(`${main} is missing: build the service first.`)
  mkdirSync(dataFolder, { recursive: true })
  const readyFile = `${dataFolder}.ready.json`
  // biome-ignore format: an option and its value share a line
  const child = startChild(process.execPath, [
    ...node,
    main, 'serve',
    '--data', dataFolder,
    '--table-port', '0',
    '--ready-file', readyFile,
    ...serve,
  ], { cwd: dataFolder, stdio: ['ignore', 'ignore', 'inherit'] })
  const { version } = JSON.parse(readFileSync(partitaDescription, 'utf8')) as { version: string }
  return await serverOf(child, version, async () => {
    const ready = existsSync(readyFile) ? readFileSync(readyFile, 'utf8') : ''
    return ready.endsWith('}') || ready.endsWith('}\n')
      ? (JSON.parse(ready) as { table: string }).table
      : undefined
  })
}

async function startStub(): Promise<Server> {
  const main = fileURLToPath(new URL('./stub-server.js', import.meta.url))
  const child = startChild(process.execPath, [main], { stdio: ['ignore', 'pipe', 'inherit'] })
  let url: string | undefined
  if (child.stdout) createInterface(child.stdout).once('line', (line) => (url = line))
  return await serverOf(child, `node ${process.versions.node}`, async () => url)
}

/** Waits until the child's address is known and somebody answers there. */
async function serverOf(
  child: ChildProcess,
  version: string,
  address: () => Promise<string | undefined>,
): Promise<Server> {
  const beganMs = performance.now()
  const deadlineMs = beganMs + startMsMax
  while (performance.now() < deadlineMs) {
    const end = ended()
    if (end !== undefined) throw new Error(`the server ended before it answered: ${end}`)
    const url = await address()
    if (url !== undefined && child.pid !== undefined && (await answers(url))) {
      const startMs = performance.now() - beganMs
      return { url, pid: child.pid, version, startMs, ended, stop: async () => await stopChild(child) }
    }
    await pause(5)
  }
  throw new Error(`the server did not answer within ${startMsMax} ms`)

  function ended(): string | undefined {
    if (child.signalCode !== null) return `killed by ${child.signalCode}`
    return child.exitCode === null ? undefined : `exit code ${child.exitCode}`
  }
}

/** Any answer will do: a row of a table that does not exist yet is refused, and that is an answer. */
async function answers(url: string): Promise<boolean> {
  try {
    await exchange(url, requestWriter(new URL(url).host).get({ partition: 'p', row: 'r' }), startMsMax)
    return true
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/**
 * A real queue, blob and table endpoint for tests: Azurite from npm, kept in a folder outside the repository
 * from one run to the next, started on free ports with nothing on disk.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

export interface Azurite {
  /** With the account's name, as all three: `http://127.0.0.1:10001/devstoreaccount1`. */
  readonly blobUrl: string
  readonly queueUrl: string
  readonly tableUrl: string
  stop(): Promise<void>
}

/** Its key is public: every emulator has it. */
export const developmentAccount = {
  name: 'devstoreaccount1',
  key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
}

const version = '3.37.0'
const installFolder = join(tmpdir(), `partita-azurite-${version}`)
const startMsMax = 60_000
const installMsMax = 300_000
const goodbyeMs = 5000

export function connectionString({ blobUrl, queueUrl, tableUrl }: Azurite): string {
  const { name, key } = developmentAccount
  return [
    'DefaultEndpointsProtocol=http',
    `AccountName=${name}`,
    `AccountKey=${key}`,
    `BlobEndpoint=${blobUrl}`,
    `QueueEndpoint=${queueUrl}`,
    `TableEndpoint=${tableUrl}`,
  ].join(';')
}

export async function startAzurite(): Promise<Azurite> {
  await install()
  const main = join(installFolder, 'node_modules', 'azurite', 'dist', 'src', 'azurite.js')
  // biome-ignore format: an option and its value share a line
  const child = spawn(process.execPath, [
    main,
    '--blobPort', '0', '--queuePort', '0', '--tablePort', '0',
    '--inMemoryPersistence', '--silent', '--skipApiVersionCheck', '--disableTelemetry',
  ], { cwd: installFolder, stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = () => child.kill('SIGKILL')
  process.on('exit', kill)
  const { Blob: blob, Queue: queue, Table: table } = await addressesOf(child)
  return {
    blobUrl: `${blob}/${developmentAccount.name}`,
    queueUrl: `${queue}/${developmentAccount.name}`,
    tableUrl: `${table}/${developmentAccount.name}`,
    async stop() {
      process.off('exit', kill)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await Promise.race([ended, pause(goodbyeMs, undefined, { ref: false })])
      child.kill('SIGKILL')
      await ended
    },
  }
}

type ServiceName = 'Blob' | 'Queue' | 'Table'

/** Azurite says on its output where each service listens, once it does. */
async function addressesOf(child: ChildProcess): Promise<Record<ServiceName, string>> {
  const found: Partial<Record<ServiceName, string>> = {}
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const complete = new Promise<Record<ServiceName, string>>((resolve, reject) => {
    lines.on('line', (line) => {
      const match = /^Azurite (Blob|Queue|Table) service is successfully listening at (\S+)/.exec(line)
      if (match === null) return
      found[match[1] as ServiceName] = match[2] as string
      const { Blob, Queue, Table } = found
      if (Blob !== undefined && Queue !== undefined && Table !== undefined) resolve({ Blob, Queue, Table })
    })
    child.once('exit', (code, signal) =>
      reject(new Error(`Azurite ended before it listened: ${signal ?? `exit code ${code}`}`)),
    )
    child.once('error', reject)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), startMsMax)
  try {
    return await complete
  } finally {
    clearTimeout(timer)
  }
}

/** Test files run side by side, so each installs apart and the first to finish gives the folder its name. */
async function install(): Promise<void> {
  if (existsSync(installFolder)) return
  await mkdir(tmpdir(), { recursive: true })
  const folder = await mkdtemp(`${installFolder}-`)
  process.stderr.write(`installing azurite@${version} into ${installFolder}\n`)
  const npm = spawn(
    'npm',
    ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', `azurite@${version}`],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: installMsMax },
  )
  const [code] = (await once(npm, 'exit')) as [number | null]
  if (code !== 0) throw new Error('Azurite could not be installed: is npm able to fetch packages?')
  try {
    await rename(folder, installFolder)
  } catch {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The service under test: the command `partita`, on a folder and a port of its own. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { clientsFolder, rootFolder } from './clients.ts'
import { type FlakyProxy, startFlakyProxy } from './flaky-proxy.ts'
import { run, start } from './processes.ts'

export interface Service {
  /** What every program is told; see `README.md`. */
  readonly environment: Readonly<Record<string, string>>
  /** Adds a table, or a row to one, so that a program finds it there. */
  post(path: string, body: object): Promise<void>
  close(): Promise<void>
}

// The development account, which every client and emulator knows.
const account = 'devstoreaccount1'
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

const command = join(rootFolder, 'packages/service/dist/src/command/partita.js')
const readyMsMax = 30_000

const folders = new Set<string>()
// After the processes that write there were ended by the same event.
process.on('exit', () => {
  for (const folder of folders) removeFolder(folder)
})

/** Every table that a program makes begins with `prefix`. */
export async function startService(prefix: string): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'partita-clients-'))
  folders.add(folder)
  const readyFile = join(folder, 'ready.json')
  const server = start(
    process.execPath,
    [command, 'serve', '--data', join(folder, 'data'), '--table-port', '0', '--ready-file', readyFile],
    { folder },
  )
  let proxy: FlakyProxy | undefined
  try {
    const address = await readyAddress()
    const sas = await fullSas(folder)
    proxy = await startFlakyProxy(address)
    const url = `${address}/${account}`
    const environment = environmentOf(url, sas, `${proxy.url}/${account}`, prefix)
    return { environment, post: (path, body) => post(`${url}/${path}?${sas}`, body), close }
  } catch (error) {
    await close()
    throw error
  }

  async function readyAddress(): Promise<string> {
    let ended: string | undefined
    void server.ended.then(({ stderr, stdout }) => (ended = stderr + stdout))
    const deadlineMs = performance.now() + readyMsMax
    while (performance.now() < deadlineMs) {
      if (ended !== undefined) throw new Error(`the service ended before it was ready: ${ended}`)
      if (existsSync(readyFile))
        return (JSON.parse(readFileSync(readyFile, 'utf8')) as { table: string }).table
      await pause(5)
    }
    throw new Error(`the service was not ready within ${readyMsMax} ms`)
  }

  async function close(): Promise<void> {
    proxy?.close()
    server.terminate()
    const late = setTimeout(server.kill, 10_000)
    await server.ended
    clearTimeout(late)
    removeFolder(folder)
  }
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  folders.delete(folder)
}

function environmentOf(url: string, sas: string, flakyUrl: string, prefix: string): Record<string, string> {
  return {
    TABLES_URL: url,
    TABLES_ACCOUNT: account,
    TABLES_KEY: key,
    TABLES_CONNECTION_STRING: `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};TableEndpoint=${url};`,
    TABLES_SAS_URL: `${url}?${sas}`,
    TABLES_FLAKY_URL: flakyUrl,
    TABLES_PREFIX: prefix,
    TABLES_VALUES: join(clientsFolder, 'values.json'),
  }
}

async function post(url: string, body: object): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
}

/** The query of an account signature with every right. */
async function fullSas(folder: string): Promise<string> {
  const { code, stdout, stderr } = await run(
    process.execPath,
    [command, 'sas', '--resource-types', 'sco', '--permissions', 'rwdlacu', '--expiry', '1d'],
    { folder },
  )
  if (code !== 0) throw new Error(`no signature could be made: ${stderr}`)
  return stdout.trim().replace(/^\?/, '')
}

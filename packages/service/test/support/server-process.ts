/** The command `partita` in processes of its own, none of which outlives this one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './temporary-folder.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandProcess {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined
  readonly exited: Promise<Exit>
  /** What it has printed so far. */
  printed(): { readonly stdout: string; readonly stderr: string }
  signal(name: NodeJS.Signals): void
  /** Asks it to end, and waits. */
  stop(): Promise<Exit>
  /** Ends it as a crash would: nothing is told to it. */
  kill(): Promise<Exit>
}

export interface ServerProcess extends CommandProcess {
  readonly url: string
}

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** The most a file may grow to, in blocks of the shell's `ulimit -f`. */
  readonly fileBlocksMax?: number
  /** The folder it runs in. */
  readonly folder?: string
}

export const commandFile = fileURLToPath(new URL('../../bin/partita.js', import.meta.url))

const readyMsMax = 20_000
const running = new Set<ChildProcess>()

// A test that failed may have left some, whose pipes would keep this process from ending.
after(killAll)
// Before all other listeners: a folder is removed more surely once nobody writes to it.
process.prependListener('exit', killAll)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/** Runs `partita` with these arguments; resolves at once. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): CommandProcess {
  const { fileBlocksMax } = options
  const command = [process.execPath, commandFile, ...args]
  const [file = '', ...rest] =
    fileBlocksMax === undefined
      ? command
      : ['sh', '-c', `ulimit -f ${fileBlocksMax}; exec "$@"`, 'sh', ...command]
  const child = spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...plainEnvironment(), ...options.environment },
    cwd: options.folder,
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, stdout, stderr })
    })
  })
  return {
    pid: child.pid,
    exited,
    printed: () => ({ stdout, stderr }),
    signal: (name) => void child.kill(name),
    stop() {
      child.kill('SIGTERM')
      return exited
    },
    kill() {
      child.kill('SIGKILL')
      return exited
    },
  }
}

/**
 * Runs `partita serve` on a free port; resolves once it says that it is ready. Where PARTITA_TEST_WORKERS is set, a
 * store that several processes can share is served by so many, unless the test says how many.
 */
export async function startServer(
  data: string,
  args: readonly string[] = [],
  options: CommandOptions = {},
): Promise<ServerProcess> {
  const readyFile = join(await temporaryFolder(), 'ready.json')
  const server = runCommand(
    [
      'serve',
      '--data',
      data,
      '--table-port',
      '0',
      '--ready-file',
      readyFile,
      ...workersFor(data, args),
      ...args,
    ],
    options,
  )
  return { ...server, url: await readyUrl(server, readyFile) }
}

export const testedWorkers = process.env['PARTITA_TEST_WORKERS']

function workersFor(data: string, args: readonly string[]): string[] {
  const shared = data !== ':memory:' && !args.includes('--workers')
  return testedWorkers !== undefined && shared ? ['--workers', testedWorkers] : []
}

/** Waits for the ready file and returns the address in it. */
export async function readyUrl(server: CommandProcess, readyFile: string): Promise<string> {
  let exit: Exit | undefined
  void server.exited.then((ended) => (exit = ended))
  const deadline = performance.now() + readyMsMax
  for (;;) {
    const text = readIfThere(readyFile)
    if (text !== undefined) return (JSON.parse(text) as { table: string }).table
    if (exit !== undefined) throw new Error(`the server ended (${exit.code}): ${exit.stderr}${exit.stdout}`)
    if (performance.now() > deadline) {
      const { stdout, stderr } = server.printed()
      await server.kill()
      throw new Error(`the server was not ready within ${readyMsMax} ms: ${stderr}${stdout}`)
    }
    await pause(5)
  }
}

/** Undefined while the file is not there. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  }
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** This process's environment without what would change the command's behaviour. */
function plainEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => !/^(?:PARTITA_|AZURITE_|NODE_)/.test(entry[0]),
  )
  return Object.fromEntries(kept)
}

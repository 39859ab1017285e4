/** Child processes in groups of their own, none of which outlives the runner. */
import { type ChildProcess, spawn } from 'node:child_process'

export interface Outcome {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly timedOut: boolean
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly ended: Promise<Outcome>
  /** Ends it and all it has started. */
  kill(): void
  terminate(): void
}

export interface ProcessOptions {
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

const running = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL')
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/** Runs a command to its end. */
export async function run(file: string, args: readonly string[], options: ProcessOptions): Promise<Outcome> {
  return await start(file, args, options).ended
}

export function start(file: string, args: readonly string[], options: ProcessOptions): Running {
  // Detached means the leader of a new group, which can be ended as a whole.
  const child = spawn(file, args, {
    cwd: options.folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...plainEnvironment(), ...options.environment },
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  let timedOut = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true
          signalGroup(child, 'SIGKILL')
        }, options.timeoutMs)
  // What the program itself started must not keep our pipes open once it has ended.
  child.once('exit', () => signalGroup(child, 'SIGKILL'))
  const ended = new Promise<Outcome>((resolve) => {
    child.once('error', (error) => settle(127, `${error.message}\n`))
    child.once('close', (code) => settle(code, ''))
    function settle(code: number | null, reason: string): void {
      clearTimeout(timer)
      running.delete(child)
      resolve({ code, timedOut, stdout, stderr: stderr + reason })
    }
  })
  return {
    ended,
    kill: () => signalGroup(child, 'SIGKILL'),
    terminate: () => signalGroup(child, 'SIGTERM'),
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // Nobody is left in the group.
  }
}

/** This process's environment without what would change the behaviour of the service or of a client. */
function plainEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:PARTITA|AZURITE|AZURE|TABLES)_/.test(name)),
  )
}

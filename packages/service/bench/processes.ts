/** Child processes: none outlives the benchmark, and what they cost is read from /proc. */
import { type ChildProcess, fork, type ForkOptions, spawn, type SpawnOptions } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const children = new Set<ChildProcess>()
process.on('exit', killAll)

/** How long a child has to end by itself once asked to. */
const goodbyeMs = 5000

export function startChild(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return remember(spawn(command, args, options))
}

export function forkChild(path: string, args: readonly string[], options: ForkOptions): ChildProcess {
  return remember(fork(path, args, options))
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  await Promise.race([ended, pause(goodbyeMs, undefined, { ref: false })])
  killTree(child)
  await ended
}

/** Ends every child, and their children, at once. */
export function killAll(): void {
  for (const child of children) killTree(child)
}

function remember(child: ChildProcess): ChildProcess {
  children.add(child)
  child.once('exit', () => children.delete(child))
  // A child that could not be started has no exit.
  child.once('error', () => children.delete(child))
  return child
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined || !children.has(child)) return
  const pids = [...processTree().of(child.pid)]
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
}

export interface Usage {
  /** Spent so far, by all threads of the process and of its children. */
  readonly cpuMs: number
  /** Memory that is neither file pages nor shared. */
  readonly anonymousBytes: number
}

/** Undefined where there is no /proc to read. */
export function usageOf(pid: number): Usage | undefined {
  const tree = processTree()
  if (!tree.known) return undefined
  let cpuMs = 0
  let anonymousBytes = 0
  for (const member of tree.of(pid)) {
    cpuMs += tree.cpuMs(member)
    anonymousBytes += anonymousBytesOf(member)
  }
  return { cpuMs, anonymousBytes }
}

// Linux reports CPU time in hundredths of a second on every architecture Node.js runs on.
const tickMs = 10

interface ProcessFact {
  readonly parent: number
  readonly cpuMs: number
}

function processTree() {
  const facts = new Map<number, ProcessFact>()
  for (const name of entriesOf('/proc')) {
    const fact = /^\d+$/.test(name) ? factOf(name) : undefined
    if (fact !== undefined) facts.set(Number(name), fact)
  }
  return {
    known: facts.size > 0,
    cpuMs: (pid: number) => facts.get(pid)?.cpuMs ?? 0,
    /** The process and all that descend from it. */
    *of(pid: number): Iterable<number> {
      const found = [pid]
      for (const next of found) {
        yield next
        for (const [child, { parent }] of facts) if (parent === next) found.push(child)
      }
    },
  }
}

function factOf(pid: string): ProcessFact | undefined {
  const stat = textOf(`/proc/${pid}/stat`)
  // The second field is the command's name in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 13) return undefined
  return { parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs }
}

function anonymousBytesOf(pid: number): number {
  const kibibytes = /^RssAnon:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1]
  return Number(kibibytes ?? 0) * 1024
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

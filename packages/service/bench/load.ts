/** The load clients, seen from the parent: one job is given to all of them and measured as one. */
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FromClient, FromParent, Stream } from './client.ts'
import { forkChild, stopChild, usageOf } from './processes.ts'
import type { Server } from './targets.ts'

export interface LoadClients {
  readonly count: number
  /** `streams` holds, for each client that takes part, what it does; all of them have as many streams. */
  run(server: Server, streams: readonly (readonly Stream[])[], durationMs: number): Promise<LoadResult>
  close(): Promise<void>
}

export type LoadResult =
  | {
      readonly kind: 'done'
      readonly elapsedMs: number
      /** For each client and each stream, the latency of every operation. */
      readonly latenciesMs: readonly (readonly Float64Array[])[]
      /** The share of one core that the busiest client used. */
      readonly clientCpu: number
      readonly serverCpuMs: number | undefined
      readonly anonymousBytes: number | undefined
    }
  | { readonly kind: 'failed'; readonly complaint: string; readonly operations: number }

/** A server may stall, but not for longer than this after the last request was sent. */
const lastAnswerMs = 60_000
const prepareMs = 60_000

type Report = Exclude<FromClient, { kind: 'ready' }>

export function openLoadClients(count: number): LoadClients {
  const path = fileURLToPath(new URL('./client.js', import.meta.url))
  const clients = Array.from({ length: count }, () => forkChild(path, [], { serialization: 'advanced' }))
  return { count, run, close }

  async function run(
    server: Server,
    streams: readonly (readonly Stream[])[],
    durationMs: number,
  ): Promise<LoadResult> {
    const busy = clients.slice(0, streams.length)
    for (const [index, client] of busy.entries()) {
      tell(client, { kind: 'job', job: { url: server.url, streams: streams[index] ?? [], durationMs } })
    }
    const prepared = await Promise.all(busy.map((client) => messageOf(client, prepareMs)))
    for (const message of prepared) if (message.kind === 'failed') return failed(server, message)

    const before = usageOf(server.pid)
    for (const client of busy) tell(client, { kind: 'go' })
    const reports = await Promise.all(busy.map((client) => messageOf(client, durationMs + lastAnswerMs)))
    const after = usageOf(server.pid)
    return resultOf(server, reports as Report[], before, after)
  }

  async function close(): Promise<void> {
    await Promise.all(clients.map(stopChild))
  }
}

type UsageFound = ReturnType<typeof usageOf>

function resultOf(
  server: Server,
  reports: readonly Report[],
  before: UsageFound,
  after: UsageFound,
): LoadResult {
  const done = []
  for (const report of reports) {
    if (report.kind === 'failed') return failed(server, report)
    done.push(report)
  }
  return {
    kind: 'done',
    elapsedMs: Math.max(...done.map(({ elapsedMs }) => elapsedMs)),
    latenciesMs: done.map(({ streams }) => streams.map(({ latenciesMs }) => latenciesMs)),
    clientCpu: Math.max(...done.map(({ cpuMs, elapsedMs }) => cpuMs / elapsedMs)),
    serverCpuMs: before && after ? after.cpuMs - before.cpuMs : undefined,
    anonymousBytes: after?.anonymousBytes,
  }
}

function failed(server: Server, report: Extract<FromClient, { kind: 'failed' }>): LoadResult {
  const end = server.ended()
  return end === undefined ? report : { ...report, complaint: `${report.complaint} (the server: ${end})` }
}

function tell(client: ChildProcess, message: FromParent): void {
  client.send(message)
}

async function messageOf(client: ChildProcess, timeoutMs: number): Promise<FromClient> {
  return await new Promise<FromClient>((resolve, reject) => {
    const timer = setTimeout(() => end(new Error(`no word from a load client in ${timeoutMs} ms`)), timeoutMs)
    client.once('message', onMessage)
    client.once('exit', onExit)

    function onMessage(message: unknown): void {
      end(undefined)
      resolve(message as FromClient)
    }
    function onExit(): void {
      end(new Error('a load client ended by itself'))
    }
    function end(error: Error | undefined): void {
      clearTimeout(timer)
      client.off('message', onMessage)
      client.off('exit', onExit)
      if (error !== undefined) reject(error)
    }
  })
}

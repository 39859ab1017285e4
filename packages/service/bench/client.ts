/**
 * A load client: a process of its own that keeps its connections busy with one job, then reports.
 * The parent sends a job, waits for `ready`, says `go`, and receives `done` or `failed`.
 */
import { type Connection, openConnection } from './connection.ts'
import { requestWriter } from './requests.ts'
import { type Operation, type Operations, operationsOf, type Work } from './work.ts'

export interface Stream {
  readonly connections: number
  readonly work: Work
}

export interface Job {
  readonly url: string
  readonly streams: readonly Stream[]
  /** No operation begins after this long. */
  readonly durationMs: number
}

export interface StreamResult {
  /** Of every operation, in the order they ended. */
  readonly latenciesMs: Float64Array
}

export type FromParent = { readonly kind: 'job'; readonly job: Job } | { readonly kind: 'go' }

export type FromClient =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'done'
      readonly streams: readonly StreamResult[]
      /** From the first request to the last answer. */
      readonly elapsedMs: number
      readonly cpuMs: number
    }
  | { readonly kind: 'failed'; readonly complaint: string; readonly operations: number }

interface Running {
  readonly connections: readonly Connection[]
  readonly operations: Operations
  readonly latenciesMs: number[]
}

let begin: (() => void) | undefined

process.on('message', (message: FromParent) => {
  if (message.kind === 'go') return begin?.()
  prepare(message.job).catch((error: unknown) =>
    tell({ kind: 'failed', complaint: String(error), operations: 0 }),
  )
})
// Without a parent there is nobody to report to.
process.on('disconnect', () => process.exit())

async function prepare(job: Job): Promise<void> {
  const write = requestWriter(new URL(job.url).host)
  let running: ReturnType<typeof run> | undefined
  let failure: Error | undefined
  const streams: Running[] = []
  for (const { connections, work } of job.streams) {
    const operations = operationsOf(work, write)
    const opened: Connection[] = []
    for (let index = 0; index < connections; index++) {
      opened.push(await openConnection(job.url, fail))
    }
    streams.push({ connections: opened, operations, latenciesMs: [] })
  }
  begin = () => {
    begin = undefined
    running = run(streams, job.durationMs)
    if (failure !== undefined) running.fail(failure.message)
  }
  tell({ kind: 'ready' })

  function fail(error: Error): void {
    failure ??= error
    running?.fail(error.message)
  }
}

function run(streams: readonly Running[], durationMs: number) {
  const cpuBefore = process.cpuUsage()
  const beganMs = performance.now()
  const deadlineMs = beganMs + durationMs
  let busy = streams.reduce((sum, stream) => sum + stream.connections.length, 0)
  let over = false
  for (const stream of streams) {
    for (const connection of stream.connections) next(stream, connection)
  }
  return { fail }

  function next(stream: Running, connection: Connection): void {
    const nowMs = performance.now()
    const operation = nowMs < deadlineMs ? stream.operations() : undefined
    if (operation !== undefined) return perform(stream, connection, operation, nowMs)
    busy -= 1
    if (busy === 0) finish()
  }

  function perform(stream: Running, connection: Connection, operation: Operation, sinceMs: number): void {
    connection.send(operation.request, (answer) => {
      const complaint = operation.complaint(answer)
      if (complaint !== undefined) return fail(complaint)
      const rest = operation.rest?.(answer)
      if (rest !== undefined) return perform(stream, connection, rest, sinceMs)
      stream.latenciesMs.push(performance.now() - sinceMs)
      next(stream, connection)
    })
  }

  function finish(): void {
    const elapsedMs = performance.now() - beganMs
    const cpu = process.cpuUsage(cpuBefore)
    close()
    tell({
      kind: 'done',
      streams: streams.map(({ latenciesMs }) => ({ latenciesMs: Float64Array.from(latenciesMs) })),
      elapsedMs,
      cpuMs: (cpu.user + cpu.system) / 1000,
    })
  }

  function fail(complaint: string): void {
    if (over) return
    close()
    tell({
      kind: 'failed',
      complaint,
      operations: streams.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0),
    })
  }

  function close(): void {
    over = true
    for (const { connections } of streams) for (const connection of connections) connection.close()
  }
}

function tell(message: FromClient): void {
  process.send?.(message)
}

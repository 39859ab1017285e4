/**
 * Several processes over one store and one port. The first holds the port and hands connections out; all
 * that they share is in the store, so none of them knows of the others.
 */
import cluster, { type Worker } from 'node:cluster'
import type { RunningService } from '../service.ts'

type Address = Omit<RunningService, 'close'>

const closeRequest = 'close'
/** A worker that dies sooner than this after its start would only die again. */
const restartAfterMs = 1000

/** Whether this process is one of several that another has started. */
export const isWorker: boolean = cluster.isWorker

/** Starts the processes, each by the command line of this one, and keeps their number. */
export async function startWorkers(count: number): Promise<RunningService> {
  let closing = false
  const first = await startAll(count)
  cluster.on('exit', (worker, code) => {
    if (closing) return
    console.error(`partita: worker ${worker.process.pid} ended with ${code}; another takes its place`)
    setTimeout(() => {
      if (!closing) startWorker().catch((error: Error) => console.error(`partita: ${error.message}`))
    }, restartAfterMs)
  })
  return { ...first, close }

  async function close(): Promise<void> {
    closing = true
    await Promise.all(workers().map(closeWorker))
  }
}

/** One that cannot start keeps the others from serving. */
async function startAll(count: number): Promise<Address> {
  try {
    const addresses = await Promise.all(Array.from({ length: count }, startWorker))
    return addresses[0] as Address
  } catch (error) {
    for (const worker of workers()) worker.kill('SIGKILL')
    throw error
  }
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

const serving = new WeakSet<Worker>()

function startWorker(): Promise<Address> {
  const worker = cluster.fork()
  return new Promise((resolve, reject) => {
    worker.once('message', (address: Address) => {
      serving.add(worker)
      resolve(address)
    })
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code} before it served`)))
  })
}

function closeWorker(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    // One that does not serve yet would not hear the request, and has nothing to finish.
    if (serving.has(worker)) worker.send(closeRequest)
    else worker.kill('SIGKILL')
  })
}

/** In a worker: resolves when it shall serve no longer, or nobody is left to say so. */
export function closeAsked(): Promise<void> {
  // A terminal signals all processes at once; only the first of them decides.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message === closeRequest) resolve()
    })
    process.on('disconnect', resolve)
  })
}

/** In a worker: tells the first process that this one serves. */
export function tellServing({ url, connectionString, authority }: RunningService): void {
  process.send?.({ url, connectionString, authority } satisfies Address)
}

/** In a worker: lets go of the first process, so that this one can end. */
export function leave(): void {
  if (process.connected) process.disconnect()
}

/** Takes messages from queues and does the steps of their sagas. */
import { setTimeout as pause } from 'node:timers/promises'
import type { DequeuedMessageItem, QueueClient } from '@azure/storage-queue'
import { describeError } from '../refusal.ts'
import { holdMessage, type Lease } from './lease.ts'
import {
  decodeMessage,
  encodeMessage,
  encodeUnreadable,
  type Failure,
  type Message,
  noExpiry,
  type PoisonMessage,
} from './message.ts'
import type { Saga } from './saga.ts'

export interface WorkQueue {
  readonly queue: Pick<QueueClient, 'name' | 'receiveMessages' | 'updateMessage' | 'deleteMessage'>
  /** Where messages end that fail too often or cannot be read. */
  readonly poison: Pick<QueueClient, 'sendMessage'>
}

export interface WorkerOptions {
  /** Each is served by a loop of its own. */
  readonly queues: readonly WorkQueue[]
  /** Messages of other sagas are left for other workers, until they have been tried too often. */
  readonly sagas: readonly Saga<never>[]
  /** Messages of one queue that are worked on at a time; 4 when left out. */
  readonly concurrency?: number
  /** How long a message stays hidden when its worker dies; renewed while a step runs. 30 when left out. */
  readonly visibilitySeconds?: number
  /** A message that was taken so often and not finished goes to the poison queue; 5 when left out. */
  readonly attemptsMax?: number
  /** How long a message rests after its n-th failure; 2, 4, 8 … 300 seconds when left out. */
  readonly retrySeconds?: (attempt: number) => number
  /** How long to wait at most before looking into an empty queue again; 5000 when left out. */
  readonly idleMsMax?: number
  readonly observe?: (event: SagaEvent) => void
  readonly measure?: (measurement: Measurement) => void
}

export type SagaEvent =
  | ({ readonly kind: 'taken'; readonly attempt: number } & OfMessage)
  | ({ readonly kind: 'step-started'; readonly step: string } & OfMessage)
  | ({ readonly kind: 'step-finished'; readonly step: string; readonly ms: number } & OfMessage)
  | ({ readonly kind: 'done'; readonly ms: number } & OfMessage)
  | ({ readonly kind: 'failed'; readonly failure: Failure; readonly retrySeconds: number } & OfMessage)
  | ({ readonly kind: 'poisoned'; readonly reason: string } & OfMessage)
  /** Somebody else may have the message now; the work is done again. */
  | ({ readonly kind: 'lost'; readonly error: unknown } & OfMessage)
  /** Given back unfinished, because the worker had to stop. */
  | ({ readonly kind: 'returned' } & OfMessage)
  /** A queue did not answer as it should. The worker goes on. */
  | { readonly kind: 'trouble'; readonly queue: string; readonly error: unknown }

interface OfMessage {
  readonly queue: string
  readonly id: string
  /** Undefined when the message could not be read. */
  readonly saga: string | undefined
}

export type Measurement =
  /** From taking a message to its end. */
  | {
      readonly name: 'saga.message.ms'
      readonly value: number
      readonly labels: Labels & { outcome: Outcome }
    }
  | { readonly name: 'saga.step.ms'; readonly value: number; readonly labels: Labels & { step: string } }
  /** From putting a message on the queue to taking it. */
  | { readonly name: 'saga.wait.ms'; readonly value: number; readonly labels: Labels }
  /** Messages in hand. */
  | { readonly name: 'saga.busy'; readonly value: number; readonly labels: { readonly queue: string } }

interface Labels {
  readonly queue: string
  readonly saga: string
}

export type Outcome = 'done' | 'failed' | 'poisoned' | 'lost' | 'returned' | 'trouble'

export interface Worker {
  /** Takes nothing more and finishes what it has; what is unfinished after `withinMs` is given back. */
  stop(options?: { readonly withinMs?: number }): Promise<void>
}

const messagesMax = 32
const idleMsMin = 50

export function startWorker(options: WorkerOptions): Worker {
  const stopping = new AbortController()
  const leaving = new AbortController()
  const loops = Promise.all(
    options.queues.map(async (line) => await serve(line, options, { stopping, leaving, until: 'stopped' })),
  )
  return { stop }

  async function stop({ withinMs = Number.POSITIVE_INFINITY } = {}): Promise<void> {
    stopping.abort()
    const timer = Number.isFinite(withinMs)
      ? setTimeout(() => leaving.abort(stopReason), withinMs)
      : undefined
    await loops
    clearTimeout(timer)
  }
}

/**
 * Works until no queue has a visible message, for a job that is started now and then.
 * Throws when a queue does not answer.
 */
export async function drain(options: WorkerOptions): Promise<void> {
  const never = { stopping: new AbortController(), leaving: new AbortController() }
  await Promise.all(
    options.queues.map(async (line) => await serve(line, options, { ...never, until: 'empty' })),
  )
}

const stopReason = new Error('the worker stops')

interface Course {
  /** Nothing more is taken. */
  readonly stopping: AbortController
  /** What is in hand is given up. */
  readonly leaving: AbortController
  readonly until: 'stopped' | 'empty'
}

async function serve(line: WorkQueue, options: WorkerOptions, course: Course): Promise<void> {
  const { concurrency = 4, visibilitySeconds = 30, idleMsMax = 5000, observe, measure } = options
  const { queue } = line
  const { signal } = course.stopping
  const busy = new Set<Promise<void>>()
  let idleMs = idleMsMin
  try {
    while (!signal.aborted) {
      if (busy.size >= concurrency) {
        await Promise.race(busy)
        continue
      }
      const taken = await take(Math.min(concurrency - busy.size, messagesMax))
      for (const message of taken) begin(message)
      if (taken.length > 0) {
        idleMs = idleMsMin
      } else if (course.until === 'empty') {
        if (busy.size === 0) return
        await Promise.race(busy)
      } else {
        await pause(idleMs, undefined, { signal }).catch(() => undefined)
        idleMs = Math.min(idleMs * 2, idleMsMax)
      }
    }
  } finally {
    await Promise.all(busy)
  }

  async function take(numberOfMessages: number): Promise<readonly DequeuedMessageItem[]> {
    try {
      const answer = await queue.receiveMessages({ numberOfMessages, visibilityTimeout: visibilitySeconds })
      return answer.receivedMessageItems
    } catch (error) {
      observe?.({ kind: 'trouble', queue: queue.name, error })
      if (course.until === 'empty') throw error
      return []
    }
  }

  function begin(message: DequeuedMessageItem): void {
    const lease = holdMessage(queue, { ...message, receivedMs: performance.now() }, visibilitySeconds)
    const work = treat(line, options, { message, lease, leaving: course.leaving.signal }).finally(() => {
      busy.delete(work)
      measure?.({ name: 'saga.busy', value: busy.size, labels: { queue: queue.name } })
    })
    busy.add(work)
    measure?.({ name: 'saga.busy', value: busy.size, labels: { queue: queue.name } })
  }
}

interface InHand {
  readonly message: DequeuedMessageItem
  readonly lease: Lease
  readonly leaving: AbortSignal
}

/** From a message to its end, whichever that is. Never throws. */
async function treat(
  { queue, poison }: WorkQueue,
  options: WorkerOptions,
  { message, lease, leaving }: InHand,
): Promise<void> {
  const { sagas, attemptsMax = 5, retrySeconds = restAfter, observe, measure } = options
  const { messageId: id, messageText, dequeueCount: attempt } = message
  const beganMs = performance.now()
  const read = decodeMessage(messageText)
  const about: OfMessage = { queue: queue.name, id, saga: read?.saga }
  const labels: Labels = { queue: queue.name, saga: read?.saga ?? '' }
  let step: string | undefined
  observe?.({ kind: 'taken', attempt, ...about })
  measure?.({ name: 'saga.wait.ms', value: Date.now() - message.insertedOn.getTime(), labels })
  let outcome: Outcome
  try {
    outcome = await settle()
  } catch (error) {
    observe?.({ kind: 'trouble', queue: queue.name, error })
    outcome = 'trouble'
  } finally {
    await lease.end()
  }
  measure?.({ name: 'saga.message.ms', value: performance.now() - beganMs, labels: { ...labels, outcome } })

  async function settle(): Promise<Outcome> {
    if (read === undefined) return await giveUp('the message is not one of a saga')
    if (attempt > attemptsMax) return await giveUp(read.failure?.error ?? noAnswer(attempt - 1))
    try {
      await perform(read)
    } catch (error) {
      return await fail(read, error)
    }
    await queue.deleteMessage(id, await lease.end())
    observe?.({ kind: 'done', ms: performance.now() - beganMs, ...about })
    return 'done'
  }

  async function perform({ saga: name, input }: Message): Promise<void> {
    const saga = sagas.find((candidate) => candidate.name === name)
    if (saga === undefined) throw new Error(`this worker knows no saga ${name}`)
    const signal = AbortSignal.any([lease.signal, leaving])
    await saga.perform(
      input,
      { attempt, signal },
      {
        started(name) {
          step = name
          observe?.({ kind: 'step-started', step: name, ...about })
        },
        finished(name, ms) {
          step = undefined
          observe?.({ kind: 'step-finished', step: name, ms, ...about })
          measure?.({ name: 'saga.step.ms', value: ms, labels: { ...labels, step: name } })
        },
      },
    )
  }

  async function fail(read: Message, error: unknown): Promise<Outcome> {
    if (lease.signal.aborted) {
      observe?.({ kind: 'lost', error: lease.signal.reason, ...about })
      return 'lost'
    }
    if (leaving.aborted) {
      await queue.updateMessage(id, await lease.end(), undefined, 0)
      observe?.({ kind: 'returned', ...about })
      return 'returned'
    }
    const failure: Failure = {
      ...(step === undefined ? {} : { step }),
      error: describeError(error),
      attempt,
      at: new Date().toISOString(),
    }
    if (attempt >= attemptsMax) return await giveUp(failure.error)
    const seconds = retrySeconds(attempt)
    await queue.updateMessage(id, await lease.end(), encodeMessage({ ...read, failure }), seconds)
    observe?.({ kind: 'failed', failure, retrySeconds: seconds, ...about })
    return 'failed'
  }

  /** Into the poison queue first: a death between the two leaves it there twice, and never nowhere. */
  async function giveUp(reason: string): Promise<Outcome> {
    const at = new Date().toISOString()
    const failedStep = step ?? read?.failure?.step
    const why: PoisonMessage['poison'] = {
      queue: queue.name,
      id,
      attempts: Math.min(attempt, attemptsMax),
      reason,
      ...(failedStep === undefined ? {} : { step: failedStep }),
      at,
    }
    const text =
      read === undefined
        ? encodeUnreadable(messageText, why)
        : encodeMessage({ saga: read.saga, input: read.input, poison: why })
    await poison.sendMessage(text, { messageTimeToLive: noExpiry })
    await queue.deleteMessage(id, await lease.end())
    observe?.({ kind: 'poisoned', reason, ...about })
    return 'poisoned'
  }
}

function noAnswer(attempts: number): string {
  return `taken ${attempts} times and neither finished nor failed: its worker ended or was cut off each time`
}

function restAfter(attempt: number): number {
  return Math.min(2 ** attempt, 300)
}

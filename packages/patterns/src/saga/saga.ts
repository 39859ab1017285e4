/**
 * Eventually consistent transactions (queue and worker): a change that spans partitions, tables or systems.
 *
 * A message on a queue says what is to be done. A worker takes it, does the steps in order, and deletes the
 * message last. Each step can be done again without harm, so a worker may die anywhere: the message reappears
 * and the steps are done again, from the first.
 *
 * | kept in       | what                                                                            |
 * | ------------- | ------------------------------------------------------------------------------- |
 * | queue         | one message for each piece of work, hidden while a worker has it                 |
 * | poison queue  | messages that failed too often or cannot be read, each with its reason           |
 *
 * Guarantee   eventual: every message ends in all steps done, or in the poison queue. At least once, in no order.
 * Given up    isolation: readers see the state between any two steps, and for as long as a worker is down.
 */
import type { QueueClient } from '@azure/storage-queue'
import { PatternsError } from '../patterns-error.ts'
import { decodePoison, encodeInput, noExpiry } from './message.ts'

export { archive, type EntityKey, type Found, readEntity, removeEntity, writeEntity } from './entity-steps.ts'
export { decodePoison, type PoisonMessage } from './message.ts'
export { drain, startWorker } from './worker.ts'
export type { Measurement, SagaEvent, Worker, WorkerOptions, WorkQueue } from './worker.ts'

export interface Saga<in Input> {
  readonly guarantee: 'eventual'
  readonly name: string
  /** What a worker does with a message; throws whatever a step throws, or the refusal of the input. */
  perform(input: unknown, attempt: Attempt, progress: StepProgress): Promise<void>
  /** Only a type: what `enqueue` accepts. */
  readonly accepts?: (input: Input) => void
}

/** One delivery of a message. */
export interface Attempt {
  /** 1 is the first. */
  readonly attempt: number
  /** Aborted when the worker has lost the message or must stop: whatever the step does next may be done twice. */
  readonly signal: AbortSignal
}

export interface StepContext<Input, Known> extends Attempt {
  readonly input: Input
  /** What earlier steps of this attempt have returned. */
  readonly known: Readonly<Partial<Known>>
}

/**
 * REQUIRES: `run` can be done any number of times, also by two workers at once, with the effect of once.
 * Insert-or-replace and delete-if-exists are made for that.
 */
export interface Step<Input, Known = unknown> {
  readonly name: string
  /** What it returns is added to `known` for the steps behind it, in this attempt only. */
  run(context: StepContext<Input, Known>): Promise<Partial<Known> | undefined | void>
}

export interface StepProgress {
  started(step: string): void
  finished(step: string, ms: number): void
}

/** Values that JSON gives back as they were. */
export type Sendable<T> = T extends string | number | boolean | null
  ? T
  : T extends Date | bigint | symbol | undefined | Uint8Array | ((...values: never[]) => unknown)
    ? never
    : { [K in keyof T]: Sendable<Exclude<T[K], undefined>> | Extract<T[K], undefined> }

export interface SagaOptions<Input> {
  /** Checks what came from the queue, which other versions of the program may have written; throws to refuse it. */
  readonly parse?: (input: unknown) => Input
}

export function saga<Input, Known = unknown>(
  name: string,
  steps: readonly Step<Input, Known>[],
  { parse = (input) => input as Input }: SagaOptions<Input> = {},
): Saga<Input> {
  if (name === '') throw new PatternsError('InvalidDefinition', 'a saga needs a name')
  if (steps.length === 0) throw new PatternsError('InvalidDefinition', `saga ${name} has no steps`)
  const names = new Set(steps.map((step) => step.name))
  if (names.size !== steps.length)
    throw new PatternsError('InvalidDefinition', `saga ${name} has two steps of one name`)
  return { guarantee: 'eventual', name, perform }

  async function perform(raw: unknown, attempt: Attempt, progress: StepProgress): Promise<void> {
    const input = parse(raw)
    let known: Partial<Known> = {}
    for (const step of steps) {
      attempt.signal.throwIfAborted()
      progress.started(step.name)
      const beganMs = performance.now()
      known = { ...known, ...(await step.run({ ...attempt, input, known })) }
      progress.finished(step.name, performance.now() - beganMs)
    }
    attempt.signal.throwIfAborted()
  }
}

/** Puts the work on the queue. When its answer is lost it may be there twice, which the steps allow. */
export async function enqueue<Input>(
  queue: Pick<QueueClient, 'sendMessage'>,
  { name }: Saga<Input>,
  input: Input & Sendable<Input>,
  options: { readonly delaySeconds?: number } = {},
): Promise<void> {
  const text = encodeInput(name, input)
  const { delaySeconds: visibilityTimeout } = options
  await queue.sendMessage(text, {
    messageTimeToLive: noExpiry,
    ...(visibilityTimeout === undefined ? {} : { visibilityTimeout }),
  })
}

export interface Pending {
  /** As the service counts them: hidden ones too, approximately. */
  readonly messages: number
  /** When the oldest message that nobody has was put there. */
  readonly oldest: Date | undefined
}

/** What is still to be done. */
export async function pending(queue: Pick<QueueClient, 'getProperties' | 'peekMessages'>): Promise<Pending> {
  const { approximateMessagesCount: messages = 0 } = await queue.getProperties()
  const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 1 })
  return { messages, oldest: peekedMessageItems[0]?.insertedOn }
}

/** Gives the messages of a poison queue another chance, once the cause is gone. Unreadable ones stay. */
export async function revive(
  poison: Pick<QueueClient, 'receiveMessages' | 'deleteMessage'>,
  queue: Pick<QueueClient, 'sendMessage'>,
): Promise<number> {
  let revived = 0
  for (;;) {
    const { receivedMessageItems } = await poison.receiveMessages({ numberOfMessages: 32 })
    if (receivedMessageItems.length === 0) return revived
    for (const { messageId, popReceipt, messageText } of receivedMessageItems) {
      const { saga, input } = decodePoison(messageText) ?? {}
      if (saga === undefined) continue
      await queue.sendMessage(encodeInput(saga, input), { messageTimeToLive: noExpiry })
      await poison.deleteMessage(messageId, popReceipt)
      revived += 1
    }
  }
}

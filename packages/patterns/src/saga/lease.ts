/** Keeps a received message hidden from others for as long as it is worked on. */
import type { QueueClient } from '@azure/storage-queue'
import { codeOf } from '../refusal.ts'

export interface Lease {
  /** Aborted once the message may be in other hands. */
  readonly signal: AbortSignal
  /** Stops renewing. Gives the receipt by which the message can be changed or deleted now. */
  end(): Promise<string>
}

export class MessageLost extends Error {
  override readonly name = 'MessageLost'
}

export interface Held {
  readonly messageId: string
  readonly popReceipt: string
  /** When its answer came, at the latest. */
  readonly receivedMs: number
}

/** Renews at a third of the time, so that two renewals may fail before the message is lost. */
export function holdMessage(
  queue: Pick<QueueClient, 'updateMessage'>,
  held: Held,
  visibilitySeconds: number,
): Lease {
  const lost = new AbortController()
  let { popReceipt } = held
  let visibleMs = held.receivedMs + visibilitySeconds * 1000
  let renewal: Promise<void> = Promise.resolve()
  const timer = setInterval(
    () => {
      renewal = renewal.then(renew)
    },
    (visibilitySeconds * 1000) / 3,
  )
  return { signal: lost.signal, end }

  async function renew(): Promise<void> {
    const askedMs = performance.now()
    try {
      const answer = await queue.updateMessage(held.messageId, popReceipt, undefined, visibilitySeconds)
      popReceipt = answer.popReceipt ?? popReceipt
      visibleMs = askedMs + visibilitySeconds * 1000
    } catch (error) {
      const code = codeOf(error)
      const taken = code === 'PopReceiptMismatch' || code === 'MessageNotFound'
      if (!taken && performance.now() < visibleMs) return
      clearInterval(timer)
      lost.abort(new MessageLost('the message became visible to others', { cause: error }))
    }
  }

  async function end(): Promise<string> {
    clearInterval(timer)
    await renewal
    return popReceipt
  }
}

/**
 * What travels on the queues, as JSON text:
 *
 *   message  {"saga": name, "input": …, "failure"?: {"step", "error", "attempt", "at"}}
 *   poison   {"saga"?: name, "input"?: …, "text"?: …, "poison": {"queue", "id", "attempts", "reason", "step"?, "at"}}
 *
 * `failure` is the last one, so that the reason survives the worker that met it. `text` stands in a poison
 * message instead of saga and input when the original could not be read.
 */
import { PatternsError } from '../patterns-error.ts'

export interface Message {
  readonly saga: string
  readonly input: unknown
  readonly failure?: Failure
}

export interface Failure {
  /** Left out when no step was under way. */
  readonly step?: string
  readonly error: string
  /** 1 is the first. */
  readonly attempt: number
  readonly at: string
}

export interface PoisonMessage {
  readonly saga?: string
  readonly input?: unknown
  /** The original, when it could not be read; cut when the whole would be too long for a message. */
  readonly text?: string
  readonly poison: {
    readonly queue: string
    /** Of the original message. */
    readonly id: string
    readonly attempts: number
    readonly reason: string
    readonly step?: string
    readonly at: string
  }
}

/** Time to live: without it the service would drop unfinished work after seven days. */
export const noExpiry = -1

/** The service's limit for the text of a message. */
const messageBytesMax = 65_536
/** Room for a failure or the reason for giving up, so that a message which could be sent can be kept. */
const inputBytesMax = messageBytesMax - 8192

/** Throws before anything is sent when there would be no room left for what a worker may have to add. */
export function encodeInput(saga: string, input: unknown): string {
  const text = encodeMessage({ saga, input })
  const bytes = Buffer.byteLength(text)
  if (bytes > inputBytesMax)
    throw new PatternsError(
      'LimitExceeded',
      `the input of saga ${saga} takes ${bytes} bytes of at most ${inputBytesMax}: keep large values elsewhere and send their address`,
    )
  return text
}

export function encodeMessage(message: Message | PoisonMessage): string {
  return xmlSafe(JSON.stringify(message))
}

/** Undefined for text that is no message of ours. */
export function decodeMessage(text: string): Message | undefined {
  const value = parsed(text)
  return typeof value?.['saga'] === 'string' && 'input' in value ? (value as unknown as Message) : undefined
}

/** Undefined for text that is no poison message of ours. */
export function decodePoison(text: string): PoisonMessage | undefined {
  const value = parsed(text)
  return typeof value?.['poison'] === 'object' ? (value as unknown as PoisonMessage) : undefined
}

export function encodeUnreadable(text: string, poison: PoisonMessage['poison']): string {
  let kept = text
  let encoded = encodeMessage({ text: kept, poison })
  while (Buffer.byteLength(encoded) > messageBytesMax) {
    kept = kept.slice(0, kept.length / 2)
    encoded = encodeMessage({ text: kept, poison })
  }
  return encoded
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Messages travel inside XML, which has no place for these two characters even when they are escaped there. */
function xmlSafe(json: string): string {
  return json.replaceAll(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
}

/** A request as it came off the wire: nothing decoded, nothing trusted. */
import { Fault } from '../model/faults.ts'
import type { Soon } from '../model/soon.ts'

export interface HttpRequest {
  readonly method: string
  /** The target of the request line, byte for byte: what clients sign. */
  readonly target: string
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[]
  readonly secure: boolean
  /** The address at the other end of the connection. */
  readonly peer: () => string | undefined
  /** Reads the body, once and up to the limit; empty where the method has none. */
  body(): Soon<Buffer>
  /** Whether the client is gone, so that nobody waits for the answer. */
  hungUp(): boolean
}

/** Given twice, these would let the checked value differ from the used one. */
const atMostOnce = new Set([
  'accept',
  'authorization',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'host',
  'if-match',
  'if-none-match',
  'origin',
  'prefer',
  'x-http-method',
  'x-ms-date',
  'x-ms-version',
])

/** By lower-case name. */
export function readHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase()
    const value = raw[i + 1] as string
    const earlier = headers.get(name)
    if (earlier === undefined) {
      headers.set(name, value)
    } else {
      if (name === 'x-http-method') throw new Fault('XMethodIncorrectCount')
      if (atMostOnce.has(name)) throw new Fault('InvalidHeaderValue')
      headers.set(name, `${earlier}, ${value}`)
    }
  }
  return headers
}

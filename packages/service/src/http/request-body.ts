/** The body of a request as it arrives: its framing taken off, its bytes kept up to the limit. */
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'
import type { Soon } from '../model/soon.ts'
import { BadHttp, type Framing } from './request-head.ts'

export interface RequestBody {
  /** Takes what belongs to the body and returns how many bytes that was. Throws BadHttp. */
  take(bytes: Buffer): number
  /** Whether its end has been seen. */
  isComplete(): boolean
  /** The bytes once they are complete; refuses those beyond the limit. */
  whole(): Soon<Buffer>
  /** Keeps nothing from now on; resolves at its end, or when more was thrown away than is worth reading. */
  discarded(): Promise<void>
  /** No more will come. */
  fail(error: Error): void
}

/** A body over the limit is read and thrown away up to here, so that its client gets to see the refusal. */
const discardedBytesMax = 16 * limits.requestBodyBytesMax

export function receiveBody(framing: Framing): RequestBody {
  return framing.kind === 'none' ? noBody : receiveFramed(framing)
}

function receiveFramed(framing: Exclude<Framing, { kind: 'none' }>): RequestBody {
  const unframe = framing.kind === 'chunked' ? chunkReader() : measuredReader(framing.bytes)
  /** What is kept so far, at the front of a buffer that grows. A body in one piece is never copied. */
  let buffer: Buffer = noBytes
  let received = 0
  let keeping = true
  let complete = framing.kind === 'measured' && framing.bytes === 0
  let failure: Error | undefined
  let settled: (() => void)[] = []
  return { take, isComplete: () => complete, whole, discarded, fail }

  function take(bytes: Buffer): number {
    if (complete) return 0
    const taken = unframe.take(bytes, keep)
    complete = unframe.isDone()
    if (complete || received > discardedBytesMax) settle()
    return taken
  }

  function keep(bytes: Buffer): void {
    const before = received
    received += bytes.length
    keeping &&= received <= limits.requestBodyBytesMax
    if (!keeping) buffer = noBytes
    else if (before === 0) buffer = bytes
    else append(bytes, before)
  }

  function append(bytes: Buffer, at: number): void {
    if (received > buffer.length) {
      const expected = framing.kind === 'measured' ? framing.bytes : 2 * received
      const grown = Buffer.allocUnsafe(Math.min(expected, limits.requestBodyBytesMax))
      buffer.copy(grown, 0, 0, at)
      buffer = grown
    }
    bytes.copy(buffer, at)
  }

  function whole(): Soon<Buffer> {
    return complete ? gathered() : untilSettled().then(gathered)
  }

  function gathered(): Buffer {
    if (failure !== undefined) throw failure
    if (received > limits.requestBodyBytesMax) throw new Fault('RequestBodyTooLarge')
    return received === buffer.length ? buffer : buffer.subarray(0, received)
  }

  async function discarded(): Promise<void> {
    keeping = false
    buffer = noBytes
    if (!complete && failure === undefined && received <= discardedBytesMax) await untilSettled()
  }

  function fail(error: Error): void {
    failure ??= error
    settle()
  }

  function untilSettled(): Promise<void> {
    if (failure !== undefined) return Promise.resolve()
    return new Promise((resolve) => settled.push(resolve))
  }

  function settle(): void {
    const waiting = settled
    settled = []
    for (const resolve of waiting) resolve()
  }
}

const noBytes = Buffer.alloc(0)
const noBody: RequestBody = {
  take: () => 0,
  isComplete: () => true,
  whole: () => noBytes,
  discarded: async () => undefined,
  fail: () => undefined,
}

/** Finds the bytes of the body in those that arrive, hands them on, and says how many were used up. */
interface Unframe {
  take(bytes: Buffer, keep: (bytes: Buffer) => void): number
  isDone(): boolean
}

function measuredReader(bodyBytes: number): Unframe {
  let left = bodyBytes
  return { take, isDone: () => left === 0 }

  function take(bytes: Buffer, keep: (bytes: Buffer) => void): number {
    const taken = Math.min(left, bytes.length)
    left -= taken
    keep(taken === bytes.length ? bytes : bytes.subarray(0, taken))
    return taken
  }
}

/**
 *   chunked = *( size CRLF bytes CRLF ) `0` CRLF *( trailer CRLF ) CRLF
 *   size    = 1 to 8 hexadecimal digits, and perhaps `;` and an extension
 *
 * Extensions and trailers are read over, up to the size of a head.
 */
function chunkReader(): Unframe {
  let state: ChunkState = 'size'
  let digits = ''
  let left = 0
  let ignored = 0
  return { take, isDone: () => state === 'done' }

  function take(bytes: Buffer, keep: (bytes: Buffer) => void): number {
    let at = 0
    while (at < bytes.length && state !== 'done') {
      if (state === 'bytes') {
        const taken = Math.min(left, bytes.length - at)
        keep(bytes.subarray(at, at + taken))
        at += taken
        left -= taken
        if (left === 0) state = 'bytes CR'
      } else {
        state = after(bytes[at++] as number)
      }
    }
    return at
  }

  function after(byte: number): ChunkState {
    const character = String.fromCharCode(byte)
    switch (state) {
      case 'size':
        if (/[0-9A-Fa-f]/.test(character) && digits.length < 8) {
          digits += character
          return 'size'
        }
        if (digits === '') throw new BadHttp(400)
        if (character === ';') return 'extension'
        return expected(character, '\r', 'size LF')
      case 'extension':
        if (character === '\r') return 'size LF'
        return ignore(character, 'extension')
      case 'size LF':
        left = Number.parseInt(digits, 16)
        digits = ''
        return expected(character, '\n', left === 0 ? 'trailer' : 'bytes')
      case 'bytes CR':
        return expected(character, '\r', 'bytes LF')
      case 'bytes LF':
        return expected(character, '\n', 'size')
      case 'trailer':
        if (character === '\r') return 'last LF'
        return ignore(character, 'in trailer')
      case 'in trailer':
        if (character === '\r') return 'trailer LF'
        return ignore(character, 'in trailer')
      case 'trailer LF':
        return expected(character, '\n', 'trailer')
      case 'last LF':
        return expected(character, '\n', 'done')
      case 'bytes':
      case 'done':
        return state
      default:
        throw new BadHttp(400)
    }
  }

  function ignore(character: string, next: ChunkState): ChunkState {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(character) || ++ignored > limits.headerBytesMax) throw new BadHttp(400)
    return next
  }
}

type ChunkState =
  | 'size'
  | 'extension'
  | 'size LF'
  | 'bytes'
  | 'bytes CR'
  | 'bytes LF'
  | 'trailer'
  | 'in trailer'
  | 'trailer LF'
  | 'last LF'
  | 'done'

function expected(character: string, wanted: string, next: ChunkState): ChunkState {
  if (character !== wanted) throw new BadHttp(400)
  return next
}

/** Collects an answer as bytes in one growing buffer. Long ones are used again once their bytes have been sent. */
import { spareBuffers } from '../model/spare-buffers.ts'

export interface ByteSink {
  /** ASCII only. */
  write(text: string): void
  copy(source: Buffer, from: number, until: number): void
  /** What was collected. The sink takes no more. */
  take(): Buffer
}

export function byteSink(initialBytes: number): ByteSink {
  let buffer = newBuffer(initialBytes)
  let end = 0
  return { write, copy, take }

  function write(text: string): void {
    makeRoom(text.length)
    end += buffer.write(text, end, 'latin1')
  }

  function copy(source: Buffer, from: number, until: number): void {
    makeRoom(until - from)
    end += source.copy(buffer, end, from, until)
  }

  function makeRoom(bytes: number): void {
    if (end + bytes <= buffer.length) return
    const larger = newBuffer(Math.max(buffer.length * 2, end + bytes))
    buffer.copy(larger, 0, 0, end)
    if (isLong(buffer.length)) spare.keep(buffer)
    buffer = larger
  }

  function take(): Buffer {
    const taken = buffer.subarray(0, end)
    if (isLong(buffer.length)) lent.set(taken, buffer)
    return taken
  }
}

/** To be called when what a sink collected has been sent and nobody will look at it again. Others' bytes stay theirs. */
export function giveBack(taken: Buffer): void {
  const buffer = lent.get(taken)
  lent.delete(taken)
  if (buffer !== undefined) spare.keep(buffer)
}

const spare = spareBuffers(8)

/** By what was taken. What is never given back is garbage like any other. */
const lent = new WeakMap<Buffer, Buffer<ArrayBuffer>>()

function newBuffer(bytes: number): Buffer<ArrayBuffer> {
  return isLong(bytes) ? spare.take(bytes) : Buffer.allocUnsafe(bytes)
}

/** Short ones lie together in memory that Node has at hand. */
function isLong(bytes: number): boolean {
  return bytes >= longBytesMin
}

const longBytesMin = 65_536

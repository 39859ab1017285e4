/**
 * Collects an answer as bytes in one growing buffer. Long buffers are used again once their bytes have been sent:
 * memory that is new costs as much as filling it, and has to be collected as garbage.
 */

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
    keep(buffer)
    buffer = larger
  }

  function take(): Buffer {
    const taken = buffer.subarray(0, end)
    if (isKept(buffer)) lent.set(taken, buffer)
    return taken
  }
}

/** To be called when what a sink collected has been sent and nobody will look at it again. Others' bytes stay theirs. */
export function giveBack(taken: Buffer): void {
  const buffer = lent.get(taken)
  lent.delete(taken)
  if (buffer !== undefined) keep(buffer)
}

/** What is kept for later: as many pages as are on their way at once, and nothing for the longest of all. */
const spare: Buffer[] = []
const spareMax = 8
const spareBytesMin = 65_536
const spareBytesMax = 1_048_576

/** By what was taken. What is never given back is garbage like any other. */
const lent = new WeakMap<Buffer, Buffer>()

function newBuffer(bytes: number): Buffer {
  if (bytes < spareBytesMin) return Buffer.allocUnsafe(bytes)
  const found = spare.findIndex(({ length }) => length >= bytes)
  if (found >= 0) return spare.splice(found, 1)[0] as Buffer
  // In whole steps, so that answers of about the same length use the same buffers.
  return Buffer.allocUnsafeSlow(Math.ceil(bytes / spareBytesMin) * spareBytesMin)
}

function keep(buffer: Buffer): void {
  if (!isKept(buffer)) return
  if (spare.length === spareMax) spare.shift()
  spare.push(buffer)
}

function isKept({ length }: Buffer): boolean {
  return length >= spareBytesMin && length <= spareBytesMax
}

/** Long buffers to use again: new memory costs as much as filling it, and has to be collected as garbage. */

export interface SpareBuffers {
  /** At least this long, alone in its memory, and with anything in it. */
  take(bytes: number): Buffer<ArrayBuffer>
  /** REQUIRES: nobody else will look at it again. */
  keep(buffer: Buffer<ArrayBuffer>): void
}

/** Lengths are multiples of this, so that what is about as long uses the same buffers. */
const stepBytes = 65_536
/** What only the longest need is not kept. */
const keptBytesMax = 1_048_576

/** `countMax` are kept: as many as are on their way at once. */
export function spareBuffers(countMax: number): SpareBuffers {
  const spare: Buffer<ArrayBuffer>[] = []
  return { take, keep }

  function take(bytes: number): Buffer<ArrayBuffer> {
    const found = spare.findIndex(({ length }) => length >= bytes)
    if (found >= 0) return spare.splice(found, 1)[0] as Buffer<ArrayBuffer>
    return Buffer.allocUnsafeSlow(Math.ceil(bytes / stepBytes) * stepBytes)
  }

  function keep(buffer: Buffer<ArrayBuffer>): void {
    if (buffer.length > keptBytesMax) return
    if (spare.length === countMax) spare.shift()
    spare.push(buffer)
  }
}

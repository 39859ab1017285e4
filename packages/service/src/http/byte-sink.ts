/** Collects an answer as bytes in one growing buffer. */

export interface ByteSink {
  /** ASCII only. */
  write(text: string): void
  copy(source: Buffer, from: number, until: number): void
  /** What was collected. */
  take(): Buffer
}

export function byteSink(initialBytes: number): ByteSink {
  let buffer = Buffer.allocUnsafe(initialBytes)
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
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end + bytes))
    buffer.copy(larger, 0, 0, end)
    buffer = larger
  }

  function take(): Buffer {
    return buffer.subarray(0, end)
  }
}

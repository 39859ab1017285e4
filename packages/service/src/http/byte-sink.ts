/** Collects the bytes of an answer in one growing buffer. */

export interface ByteSink {
  /** ASCII only. */
  write(text: string): void
  copy(source: Buffer, from: number, until: number): void
  readonly bytes: number
  /** What was collected, valid until the next write; the sink starts over. */
  take(): Buffer
}

export function byteSink(initialBytes: number): ByteSink {
  let buffer = Buffer.allocUnsafe(initialBytes)
  let end = 0
  return {
    write(text) {
      reserve(text.length)
      end += buffer.write(text, end, 'latin1')
    },
    copy(source, from, until) {
      reserve(until - from)
      end += source.copy(buffer, end, from, until)
    },
    get bytes() {
      return end
    },
    take() {
      const taken = buffer.subarray(0, end)
      end = 0
      return taken
    },
  }

  function reserve(bytes: number): void {
    if (end + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end + bytes))
    buffer.copy(larger, 0, 0, end)
    buffer = larger
  }
}

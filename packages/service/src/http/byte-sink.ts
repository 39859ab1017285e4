/** Collects the text of an answer as bytes in one growing buffer. */

export interface ByteSink {
  /** ASCII only. */
  write(text: string): void
  /** What was collected. */
  take(): Buffer
}

export function byteSink(initialBytes: number): ByteSink {
  let buffer = Buffer.allocUnsafe(initialBytes)
  let end = 0
  return { write, take }

  function write(text: string): void {
    if (end + text.length > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, end + text.length))
      buffer.copy(larger, 0, 0, end)
      buffer = larger
    }
    end += buffer.write(text, end, 'latin1')
  }

  function take(): Buffer {
    return buffer.subarray(0, end)
  }
}

/** Big endian numbers and short runs of bytes, where a call into the runtime would cost more than the work. */

export function writeU32(target: Buffer, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

export function u16(bytes: Buffer, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
}

export function u32(bytes: Buffer, at: number): number {
  return ((u16(bytes, at) << 16) | u16(bytes, at + 2)) >>> 0
}

/** Returns where the copy ends. A call into the runtime costs more than it saves where there is little to copy. */
export function copyBytes(source: Buffer, from: number, until: number, target: Buffer, at: number): number {
  if (until - from > loopBytesMax) return at + source.copy(target, at, from, until)
  for (let i = from; i < until; i++) target[at + i - from] = source[i] as number
  return at + until - from
}

const loopBytesMax = 64

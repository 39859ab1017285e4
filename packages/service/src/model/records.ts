/** Records as a scan meets them: many, in place, and asked for little. */
import { u32 } from './bytes.ts'
import { jsonString } from './json-text.ts'
import type { EntityRecord } from './record.ts'
import {
  annotationBytes,
  backslash,
  entryBytes,
  headerBytes,
  keysFromOf,
  nameHash,
  quote,
  stampedBytes,
} from './record-layout.ts'
import { edmTypes } from './values.ts'

/**
 * Records that a scan meets together, so that what is asked of each is asked in one loop: they begin in `bytes` at the
 * first `count` of `starts`. Invariant: at most recordsMax, in the order of their keys.
 */
export interface Records {
  readonly bytes: Buffer
  /** The same bytes: a view reads several of them at once. */
  readonly view: DataView
  readonly starts: Int32Array
  readonly count: number
  /**
   * Where they lie and what wrote them there. Whatever has the same place, the same writer and the same count in one
   * store is the same for ever. The place is 0 if that is not so, as when they are only a part of what lies there.
   */
  readonly place: number
  readonly written: number
  /** How far into a record its visitor looked last: whoever hands out records can have that part of others fetched. */
  reach: number
}

export const recordsMax = 64

/** One record, alone in its buffer. */
export function recordAlone(record: EntityRecord): Records {
  const starts = new Int32Array(1)
  return { bytes: record, view: viewOf(record), starts, count: 1, place: 0, written: 0, reach: 0 }
}

export function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Where a value's text stands. Filled by a finder, so that finding allocates nothing. */
export interface Place {
  /** Index into edmTypes. */
  type: number
  from: number
  until: number
}

/** Finds one property's value in the one of the records that begins at `at`; false if it has none. */
export type Finder = (records: Records, at: number, place: Place) => boolean

/** A finder for `name`. It looks first where it last found the name: neighbours are often alike. */
export function propertyFinder(name: string): Finder {
  const quoted = jsonString(name)
  const nameBytes = quoted.length - 2
  const hashAndBytes = (nameHash(quoted.slice(1, -1)) << 16) | nameBytes
  const stands = textAt(`${quoted}:`)
  const annotations = Int32Array.from(edmTypes, (_, type) => annotationBytes(type, nameBytes))
  let lastEntry = 0
  return (records, at, place) => {
    const { view } = records
    const count = view.getUint16(at + 2)
    let entry = lastEntry < count ? lastEntry : 0
    for (let left = count; left > 0; left--) {
      const entryAt = at + headerBytes + entry * entryBytes
      if (view.getInt32(entryAt) === hashAndBytes) {
        const etagFrom = at + headerBytes + count * entryBytes
        const membersFrom = etagFrom + stampedBytes + 2 * view.getUint8(at + 1) + view.getInt32(at + 16)
        const kindAndFrom = view.getInt32(entryAt + 4)
        const type = (kindAndFrom >>> 24) & 0x7f
        const annotation = kindAndFrom < 0 ? (annotations[type] as number) : 0
        const nameFrom = membersFrom + (kindAndFrom & 0xff_ffff) + annotation
        if (stands(view, nameFrom)) {
          lastEntry = entry
          place.type = type
          place.from = nameFrom + nameBytes + 3
          records.reach = place.from - at
          place.until =
            entry + 1 < count
              ? membersFrom + (view.getInt32(entryAt + entryBytes + 4) & 0xff_ffff) - 1
              : at + view.getInt32(at + 4)
          return true
        }
      }
      if (++entry === count) entry = 0
    }
    return false
  }
}

/** Whether `text` stands somewhere, compared four bytes at a time. */
export function textAt(text: string): (view: DataView, from: number) => boolean {
  const wanted = Buffer.from(text, 'latin1')
  const words = Int32Array.from({ length: wanted.length >>> 2 }, (_, i) => wanted.readInt32BE(4 * i))
  return (view, from) => {
    for (let i = 0; i < words.length; i++) if (view.getInt32(from + 4 * i) !== words[i]) return false
    for (let i = 4 * words.length; i < wanted.length; i++)
      if (view.getUint8(from + i) !== wanted[i]) return false
    return true
  }
}

/** The opening quote of the PartitionKey's JSON string. */
export function partitionKeyFrom(bytes: Buffer, at: number): number {
  return keysFromOf(bytes, at) + partitionHeadBytes
}

/** The opening quote of the RowKey's JSON string. */
export function rowKeyFrom(bytes: Buffer, at: number): number {
  for (let i = partitionKeyFrom(bytes, at) + 1; ; ) {
    const byte = bytes[i]
    if (byte === quote) return i + 1 + rowHeadBytes
    i += byte === backslash ? 2 : 1
  }
}

/** The upper and the lower 32 bits of the version: comparing them allocates no bigint. */
export function versionHighOf(bytes: Buffer, at: number): number {
  return u32(bytes, at + 8)
}

export function versionLowOf(bytes: Buffer, at: number): number {
  return u32(bytes, at + 12)
}

const partitionHeadBytes = '"PartitionKey":'.length
const rowHeadBytes = ',"RowKey":'.length

/** One entity's record: made of content at a version, and read (record-layout.ts). */
import { strict as assert } from 'node:assert'
import { unreachable } from './brand.ts'
import { u16, u32, writeU32 } from './bytes.ts'
import { contentCountOf, type Property } from './content.ts'
import type { EntityKey } from './keys.ts'
import {
  annotationBytes,
  contentHeaderBytes,
  entryBytes,
  etagHead,
  etagTail,
  headerBytes,
  keysFromOf,
  membersFromOf,
  quote,
  recordFormat,
  stampedBytes,
  timestampHead,
} from './record-layout.ts'
import { formatTicks, parseTicks, type Ticks, ticksPerSecond } from './ticks.ts'
import { type EdmType, edmTypes, type Value } from './values.ts'
import { escapeColons, type Version } from './version.ts'

/** Encoded bytes of an entity. Whoever hands one out says how long it stays valid. */
export type EntityRecord = Buffer

/** One row of a record's property table. Offsets are into the record. */
export interface Member {
  readonly name: string
  readonly type: EdmType
  /** Where the annotation begins, or the name if there is none. */
  readonly from: number
  readonly nameFrom: number
  readonly valueFrom: number
  readonly until: number
}

/** The record of an entity at a version. */
export function encodeRecord(keys: string, content: Buffer, version: Version): EntityRecord {
  const record = Buffer.allocUnsafe(recordBytesMax(keys, content))
  return record.subarray(0, writeRecord(record, keys, content, version))
}

/** What writeRecord takes, or up to a stamp's fraction more. */
export function recordBytesMax(keys: string, content: Buffer): number {
  return headerBytes + stampedBytes + 2 * stampBytesMax + keys.length + content.length - contentHeaderBytes
}

/** As encodeRecord, at the beginning of `target`. Returns how many bytes it wrote. */
export function writeRecord(target: Buffer, keys: string, content: Buffer, version: Version): number {
  if (version < second.from || version >= second.until) second = secondOf(version)
  const fraction = Number(version - second.from)
  const entriesUntil = contentHeaderBytes + contentCountOf(content) * entryBytes
  content.copy(target, headerBytes, contentHeaderBytes, entriesUntil)
  let end = headerBytes + entriesUntil - contentHeaderBytes
  target.set(second.etagLead, end)
  end += second.etagLead.length
  const fractionBytes = writeFraction(target, end, fraction)
  end += fractionBytes
  target.set(etagTailBytes, end)
  end += etagTailBytes.length
  end += target.write(keys, end, 'latin1')
  target.set(second.timestampLead, end)
  end += second.timestampLead.length
  end += writeFraction(target, end, fraction)
  target[end++] = quote
  content.copy(target, end, entriesUntil)
  end += content.length - entriesUntil
  target[0] = recordFormat
  target[1] = secondBytes + fractionBytes
  target[2] = content[0] as number
  target[3] = content[1] as number
  writeU32(target, 4, end)
  versionBox[0] = version
  writeU32(target, 8, versionHalves[high] as number)
  writeU32(target, 12, versionHalves[low] as number)
  writeU32(target, 16, keys.length)
  return end
}

/** What the stamps of one second share, as bytes: versions of a busy moment differ in their fraction only. */
interface Second {
  readonly from: bigint
  readonly until: bigint
  readonly etagLead: Buffer
  readonly timestampLead: Buffer
}

const secondBytes = 'yyyy-MM-ddTHH:mm:ss'.length
const stampBytesMax = secondBytes + '.fffffffZ'.length
let second = secondOf(0n as Version)

function secondOf(version: Version): Second {
  const from = version - (version % ticksPerSecond)
  const text = formatTicks(from as Ticks).slice(0, secondBytes)
  return {
    from,
    until: from + ticksPerSecond,
    etagLead: Buffer.from(etagHead + escapeColons(text)),
    timestampLead: Buffer.from(timestampHead + text),
  }
}

/** What formatTicks writes after the second. Returns how many bytes it wrote. */
function writeFraction(target: Buffer, at: number, fraction: number): number {
  if (fraction === 0) {
    target[at] = letterZ
    return 1
  }
  let rest = fraction
  let digits = 7
  for (; rest % 10 === 0; digits--) rest /= 10
  target[at] = dot
  for (let i = digits; i > 0; i--) {
    target[at + i] = digit0 + (rest % 10)
    rest = Math.trunc(rest / 10)
  }
  target[at + digits + 1] = letterZ
  return digits + 2
}

const etagTailBytes = Buffer.from(etagTail)
const dot = 0x2e
const digit0 = 0x30
const letterZ = 0x5a

/** A version's two halves without further bigints, in the order of this machine's bytes. */
const versionBox = new BigUint64Array(1)
const versionHalves = new Uint32Array(versionBox.buffer)
versionBox[0] = 1n
const low = versionHalves[0] === 1 ? 0 : 1
const high = 1 - low

export function recordBytes(bytes: Buffer, at = 0): number {
  return u32(bytes, at + 4)
}

/** The record that begins at `at`, without copying it. */
export function recordAt(bytes: Buffer, at: number): EntityRecord {
  return bytes.subarray(at, at + recordBytes(bytes, at))
}

export function versionOf(record: EntityRecord): Version {
  return record.readBigUInt64BE(8) as Version
}

export function propertyCountOf(record: EntityRecord): number {
  return record.readUInt16BE(2)
}

/** Where the parts of a record's text begin; the text ends with the record. */
export interface TextLayout {
  readonly etagFrom: number
  readonly keysFrom: number
  readonly timestampFrom: number
  readonly membersFrom: number
  readonly until: number
}

export function layoutOf(record: EntityRecord): TextLayout {
  if (record[0] !== recordFormat) throw new Error(`unknown record format ${record[0]}`)
  const keysFrom = keysFromOf(record)
  return {
    etagFrom: headerBytes + propertyCountOf(record) * entryBytes,
    keysFrom,
    timestampFrom: keysFrom + record.readUInt32BE(16) + 1,
    membersFrom: membersFromOf(record),
    until: recordBytes(record),
  }
}

/** The entity's ETag, as etagOf writes it. */
export function etagOfRecord(record: EntityRecord): string {
  const { etagFrom, keysFrom } = layoutOf(record)
  const stamp = record.toString('latin1', etagFrom + etagHead.length, keysFrom - etagTail.length)
  return `W/"datetime'${stamp}'"`
}

/** Every property's place in the record, in stored order. */
export function membersOf(record: EntityRecord): Member[] {
  const { membersFrom, until } = layoutOf(record)
  return readMembers(record, headerBytes, propertyCountOf(record), membersFrom, until)
}

export function keyOf(record: EntityRecord): EntityKey {
  const { keysFrom, timestampFrom } = layoutOf(record)
  const object = JSON.parse(`{${record.toString('latin1', keysFrom, timestampFrom - 1)}}`) as {
    PartitionKey: EntityKey['partition']
    RowKey: EntityKey['row']
  }
  return { partition: object.PartitionKey, row: object.RowKey }
}

/** Exact inverse of encodeContent, from a record. */
export function propertiesOf(record: EntityRecord): Property[] {
  return membersOf(record).map((member) => ({ name: member.name, value: readValue(record, member) }))
}

/** Spans with their names read. */
function readMembers(
  source: Buffer,
  entriesFrom: number,
  count: number,
  membersFrom: number,
  sourceUntil: number,
): Member[] {
  return spansOf(source, entriesFrom, count, membersFrom, sourceUntil).map(
    ({ entryAt, from, until, nameFrom, nameUntil }) => {
      const type = edmTypes[(source[entryAt + 4] as number) & 0x7f]
      assert(type !== undefined, 'unknown property type in a record')
      const name = readName(source, nameFrom, nameUntil)
      // A member begins behind its comma and its name with a quote; the value stands behind `":`.
      return { name, type, from: from + 1, nameFrom: nameFrom - 1, valueFrom: nameUntil + 2, until }
    },
  )
}

export function readName(source: Buffer, from: number, until: number): string {
  const text = source.toString('latin1', from, until)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

function readValue(source: Buffer, member: Member): Value {
  const json: unknown = JSON.parse(source.toString('latin1', member.valueFrom, member.until))
  const { type } = member
  switch (type) {
    case 'Edm.Binary':
      return { type, value: Buffer.from(json as string, 'base64') }
    case 'Edm.Boolean':
      return { type, value: json as boolean }
    case 'Edm.DateTime':
      return { type, value: parseTicks(json as string) as Ticks }
    case 'Edm.Double':
      return { type, value: Number(json) }
    case 'Edm.Int32':
      return { type, value: json as number }
    case 'Edm.Int64':
      return { type, value: BigInt(json as string) }
    case 'Edm.Guid':
    case 'Edm.String':
      return { type, value: json as string }
    default:
      return unreachable(type)
  }
}

/** A member as bytes, with its row of the property table. */
export interface Span {
  readonly source: Buffer
  readonly entryAt: number
  /** Where the comma stands before the member. */
  readonly from: number
  readonly until: number
  readonly nameFrom: number
  readonly nameUntil: number
}

export function spansOf(
  source: Buffer,
  entriesFrom: number,
  count: number,
  membersFrom: number,
  sourceUntil: number,
): Span[] {
  const spans: Span[] = []
  let until = sourceUntil
  for (let i = count - 1; i >= 0; i--) {
    const entryAt = entriesFrom + i * entryBytes
    const nameBytes = u16(source, entryAt + 2)
    const kindAndFrom = u32(source, entryAt + 4)
    const from = membersFrom + (kindAndFrom & 0xff_ffff) - 1
    const type = (kindAndFrom >>> 24) & 0x7f
    const annotation = kindAndFrom >>> 31 === 1 ? annotationBytes(type, nameBytes) : 0
    const nameFrom = from + annotation + 2
    spans[i] = { source, entryAt, from, until, nameFrom, nameUntil: nameFrom + nameBytes }
    until = from
  }
  return spans
}

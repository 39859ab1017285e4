/**
 * An entity as stores keep it: its JSON is ready, so that reading copies bytes and never serialises.
 *
 *   record   = format:u8 · stampBytes:u8 · count:u16 · bytes:u32 · version:u64 · keysBytes:u32 · entry* · text
 *   entry    = nameHash:u16 · nameBytes:u16 · (annotated:1 type:7):u8 · memberFrom:u24
 *   text     = etag `,` keys `,"Timestamp":"` stamp `"` members
 *   etag     = `"odata.etag":"W/\"datetime'` stamp with `:` as `%3A` `'\""`
 *   keys     = `"PartitionKey":` string `,"RowKey":` string
 *   members  = ( `,` [annotation `,`] `"name":` value )*
 *   content  = count:u16 · entry* · members                       (an entity that has no version yet)
 *
 * Numbers are big endian. `bytes` counts the whole record, so a buffer may be longer than its record. What a
 * scan asks of every row takes the buffer and where in it the record begins.
 * `memberFrom` counts from the start of members and points behind the comma. The text is the entity at
 * minimal metadata without its braces; names and values in it are ASCII.
 */
import { strict as assert } from 'node:assert'
import { unreachable } from './brand.ts'
import type { EntityKey } from './keys.ts'
import { jsonString } from './json-text.ts'
import { nameFacts } from './name-facts.ts'
import { formatTicks, parseTicks, type Ticks, ticksPerSecond } from './ticks.ts'
import {
  type EdmType,
  edmTypes,
  isAnnotated,
  textOf,
  typeCodes,
  type Value,
  type ValueText,
} from './values.ts'
import { escapeColons, type Version } from './version.ts'

/** Encoded bytes of an entity. Whoever hands one out says how long it stays valid. */
export type EntityRecord = Buffer

/** A property with its value, as clients name it. */
export interface Property {
  readonly name: string
  readonly value: Value
}

/** A property as its record will hold it. */
export interface PropertyText extends ValueText {
  readonly name: string
}

export function propertyText({ name, value }: Property): PropertyText {
  return { name, ...textOf(value) }
}

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

const recordFormat = 1
const headerBytes = 20
const entryBytes = 8
const contentHeaderBytes = 2

const etagHead = `"odata.etag":"W/\\"datetime'`
const etagTail = `'\\"",`
const etagTailBytes = Buffer.from(etagTail)
const timestampHead = `,"Timestamp":"`
const annotationTail = '@odata.type":"'

/** The keys' members, as they stand in the text. */
export function keysText(key: EntityKey): string {
  return `"PartitionKey":${jsonString(key.partition)},"RowKey":${jsonString(key.row)}`
}

/** In which order content has the properties: that of the body, or by name. */
export type PropertyOrder = 'given' | 'by name'

/** Encodes properties in the order given. */
export function encodeContent(properties: readonly Property[]): Buffer {
  return encodeTexts(properties.map(propertyText))
}

/** As encodeContent, for properties whose text is there already. */
export function encodeTexts(properties: readonly PropertyText[]): Buffer {
  let text = ''
  const entries: Entry[] = []
  for (const property of properties) {
    const name = nameOf(property.name)
    const type = typeCodes[property.type]
    const annotated = isAnnotated(property)
    entries.push({ name, type, annotated, memberFrom: text.length + 1 })
    // Plain concatenation: the engine joins the pieces when the text is written, faster than we could copy them.
    if (!property.quoted) text += name.lead + property.text
    else if (annotated) text += `${annotatedLead(name, type)}${property.text}"`
    else text += `${name.quotedLead}${property.text}"`
  }
  return writeContent(entries, text)
}

/** A property whose values are copied from bodies that are written alike. */
export interface CopiedProperty {
  readonly name: string
  readonly type: EdmType
  readonly quoted: boolean
  /** Which of the values in a body is its own. */
  readonly place: number
  /** What stands before the value in a body. */
  readonly lead: string
}

/** Where the values of a body stand, quotes included, and the codes of their types. */
export interface ValuePlaces {
  readonly from: Int32Array
  readonly until: Int32Array
  readonly type: Uint8Array
  /** One for a time that ends here, but for the `Z"` that its record has in place of what follows. */
  readonly cut: Uint8Array
}

/**
 * Makes content of these properties, from bodies in which their values stand as they will in the record. Where a
 * body has the record's text between two values as well, all is copied as one run: mostly the whole entity.
 */
export function contentCopier(
  properties: readonly CopiedProperty[],
): (body: Buffer, places: ValuePlaces) => Buffer {
  const members = properties.map(copiedMember)
  const runs = runsOf(members)
  const head = writeContent(members, '')
  return (body, { from, until, type, cut }) => {
    let bytes = head.length
    for (const { place, lead } of members) bytes += lead.length + valueBytes(place)
    const content = Buffer.allocUnsafe(bytes)
    let at = copyBytes(head, 0, head.length, content, 0)
    for (const { lead, leadBytes, first, last } of runs) {
      at = copyBytes(lead, 0, lead.length, content, at)
      at = copyBytes(body, (from[first] as number) - leadBytes, until[last] as number, content, at)
      if (cut[last] === 1) at = copyBytes(timeEnd, 0, timeEnd.length, content, at)
    }
    at = contentHeaderBytes
    let memberFrom = 1
    for (const { place, lead, annotated } of members) {
      const kind = (annotated ? 0x80 : 0) | (type[place] as number)
      writeU32(content, at + 4, (kind << 24) | memberFrom)
      memberFrom += lead.length + valueBytes(place)
      at += entryBytes
    }
    return content

    function valueBytes(place: number): number {
      return (until[place] as number) - (from[place] as number) + (cut[place] === 1 ? timeEnd.length : 0)
    }
  }
}

const timeEnd = Buffer.from('Z"')

interface CopiedMember extends Entry {
  readonly place: number
  /** What stands before the value in a record, and whether it stands there in a body, too. */
  readonly lead: string
  readonly alike: boolean
  /** Whether its value may be cut, so that what follows it in a body is not what follows it in a record. */
  readonly mayBeCut: boolean
}

function copiedMember(property: CopiedProperty): CopiedMember {
  const name = nameOf(property.name)
  const type = typeCodes[property.type]
  const annotated = isAnnotated(property)
  const lead = annotated ? annotatedLead(name, type).slice(0, -1) : name.lead
  const { place } = property
  const mayBeCut = property.type === 'Edm.DateTime'
  return { name, type, annotated, memberFrom: 0, place, lead, alike: lead === property.lead, mayBeCut }
}

/** Values from `first` to `last`, copied together. */
interface Run {
  /** What is written before them, or else how much is copied before them. */
  readonly lead: Buffer
  readonly leadBytes: number
  readonly first: number
  last: number
}

function runsOf(members: readonly CopiedMember[]): Run[] {
  const runs: Run[] = []
  let open: Run | undefined
  for (const { place, lead, alike, mayBeCut } of members) {
    if (alike && open?.last === place - 1) {
      open.last = place
    } else {
      const leadBytes = alike ? lead.length : 0
      open = { lead: Buffer.from(alike ? '' : lead), leadBytes, first: place, last: place }
      runs.push(open)
    }
    if (mayBeCut) open = undefined
  }
  return runs
}

/** Returns where the copy ends. A call into the runtime costs more than it saves where there is little to copy. */
function copyBytes(source: Buffer, from: number, until: number, target: Buffer, at: number): number {
  if (until - from > loopBytesMax) return at + source.copy(target, at, from, until)
  for (let i = from; i < until; i++) target[at + i - from] = source[i] as number
  return at + until - from
}

const loopBytesMax = 64

/** What the encoding of a property takes from its name alone. */
interface EncodedName {
  /** As it stands in the text, without quotes. */
  readonly text: string
  readonly hash: number
  /** What stands before a value, and before one in quotes. */
  readonly lead: string
  readonly quotedLead: string
  /** What stands before an annotated value in quotes, by the code of its type; made when it is needed. */
  readonly annotatedLeads: string[]
}

const nameOf = nameFacts((name): EncodedName => {
  const text = jsonString(name).slice(1, -1)
  const lead = `,"${text}":`
  return { text, hash: nameHash(text), lead, quotedLead: `${lead}"`, annotatedLeads: [] }
})

function annotatedLead(name: EncodedName, type: number): string {
  name.annotatedLeads[type] ??= `,"${name.text}${annotationTail}${edmTypes[type]}"${name.quotedLead}`
  return name.annotatedLeads[type]
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

export function contentCountOf(content: Buffer): number {
  return content.readUInt16BE(0)
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

/**
 * The properties of `record` with those of `content` put over them, as content, sorted by name: what a
 * merge leaves. Members are copied as bytes, and neither names nor values are read.
 */
export function mergeContent(record: EntityRecord, content: Buffer): Buffer {
  const { membersFrom, until } = layoutOf(record)
  const stored = spansOf(record, headerBytes, propertyCountOf(record), membersFrom, until)
  const count = contentCountOf(content)
  const contentMembersFrom = contentHeaderBytes + count * entryBytes
  const brought = spansOf(content, contentHeaderBytes, count, contentMembersFrom, content.length)
  // Sorting is stable: of two of one name, what is brought stands behind what is stored, and stays.
  const sorted = [...stored, ...brought].toSorted(bySpanName)
  return joinSpans(
    sorted.filter((span, i) => i + 1 === sorted.length || bySpanName(span, sorted[i + 1] as Span) !== 0),
  )
}

/** A member as bytes, with its row of the property table. */
interface Span {
  readonly source: Buffer
  readonly entryAt: number
  /** Where the comma stands before the member. */
  readonly from: number
  readonly until: number
  readonly nameFrom: number
  readonly nameUntil: number
}

function spansOf(
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

function bySpanName(a: Span, b: Span): number {
  const length = Math.min(a.nameUntil - a.nameFrom, b.nameUntil - b.nameFrom)
  for (let i = 0; i < length; i++) {
    const one = a.source[a.nameFrom + i] as number
    const other = b.source[b.nameFrom + i] as number
    // An escape stands for another place in the order than its own bytes have.
    if (one === backslash || other === backslash) return byName(namedOf(a), namedOf(b))
    if (one !== other) return one - other
  }
  return a.nameUntil - a.nameFrom - (b.nameUntil - b.nameFrom)
}

function namedOf({ source, nameFrom, nameUntil }: Span): { name: string } {
  return { name: readName(source, nameFrom, nameUntil) }
}

function joinSpans(spans: readonly Span[]): Buffer {
  const membersFrom = contentHeaderBytes + spans.length * entryBytes
  const bytes = spans.reduce((sum, { from, until }) => sum + until - from, membersFrom)
  const content = Buffer.allocUnsafe(bytes)
  content.writeUInt16BE(spans.length, 0)
  let at = contentHeaderBytes
  let end = membersFrom
  for (const { source, entryAt, from, until } of spans) {
    const kind = source[entryAt + 4] as number
    for (let i = 0; i < 4; i++) content[at + i] = source[entryAt + i] as number
    writeU32(content, at + 4, (kind << 24) | (end + 1 - membersFrom))
    at += entryBytes
    source.copy(content, end, from, until)
    end += until - from
  }
  return content
}

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}

interface Entry {
  readonly name: EncodedName
  readonly type: number
  readonly annotated: boolean
  readonly memberFrom: number
}

function writeContent(entries: readonly Entry[], text: string): Buffer {
  const membersFrom = contentHeaderBytes + entries.length * entryBytes
  const content = Buffer.allocUnsafe(membersFrom + text.length)
  content.writeUInt16BE(entries.length, 0)
  let at = contentHeaderBytes
  for (const { name, type, annotated, memberFrom } of entries) {
    content.writeUInt16BE(name.hash, at)
    content.writeUInt16BE(name.text.length, at + 2)
    content.writeUInt32BE((((annotated ? 0x80 : 0) | type) * 0x1000000 + memberFrom) >>> 0, at + 4)
    at += entryBytes
  }
  content.write(text, membersFrom, 'latin1')
  return content
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

function readName(source: Buffer, from: number, until: number): string {
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

const quote = 0x22
const dot = 0x2e
const digit0 = 0x30
const letterZ = 0x5a
const backslash = 0x5c
const partitionHeadBytes = '"PartitionKey":'.length
const rowHeadBytes = ',"RowKey":'.length

function keysFromOf(bytes: Buffer, at = 0): number {
  const etagFrom = at + headerBytes + u16(bytes, at + 2) * entryBytes
  // Two colons of the stamp are written as three characters each.
  return etagFrom + etagHead.length + (bytes[at + 1] as number) + 4 + etagTail.length
}

/** What stands between the entries and the members, without the keys and the two stamps. */
const stampedBytes = etagHead.length + 4 + etagTail.length + timestampHead.length + 1

function membersFromOf(bytes: Buffer, at = 0): number {
  const etagFrom = at + headerBytes + u16(bytes, at + 2) * entryBytes
  return etagFrom + stampedBytes + 2 * (bytes[at + 1] as number) + u32(bytes, at + 16)
}

/** `"name@odata.type":"type",` */
function annotationBytes(type: number, nameBytes: number): number {
  return 1 + nameBytes + annotationTail.length + (edmTypes[type] as EdmType).length + 2
}

function writeU32(target: Buffer, at: number, value: number): void {
  target[at] = value >>> 24
  target[at + 1] = value >>> 16
  target[at + 2] = value >>> 8
  target[at + 3] = value
}

function u16(bytes: Buffer, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number)
}

function u32(bytes: Buffer, at: number): number {
  return ((u16(bytes, at) << 16) | u16(bytes, at + 2)) >>> 0
}

/** Sixteen bits of FNV-1a: lets a search pass over a property without comparing its name. */
export function nameHash(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & 0xffff
}

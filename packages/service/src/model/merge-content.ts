/** What a merge leaves. */
import { writeU32 } from './bytes.ts'
import { byName, contentCountOf } from './content.ts'
import { type EntityRecord, layoutOf, propertyCountOf, readName, type Span, spansOf } from './record.ts'
import { backslash, contentHeaderBytes, entryBytes, headerBytes } from './record-layout.ts'

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

/** Content made of the bytes of bodies. */
import { copyBytes, writeU32 } from './bytes.ts'
import { annotatedLead, type Entry, nameOf, writeContent } from './content.ts'
import { contentHeaderBytes, entryBytes } from './record-layout.ts'
import { type EdmType, isAnnotated, typeCodes } from './values.ts'

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

/**
 * Reads an entity from a JSON body. JSON.parse will not do: it keeps the last of two equal members, and
 * turns `5.0` and `5` into one number although they are different types here.
 */
import { unreachable } from '../model/brand.ts'
import { Fault, inputTexts } from '../model/faults.ts'
import type { PropertyOrder, PropertyText } from '../model/content.ts'
import { type Outline, readOutline, type Slot, valuesBy } from './entity-outline.ts'
import { type JsonScalar, openJson } from './json-reader.ts'
import { readValue } from './read-value.ts'
import { type Transcript, transcriptOf } from './transcribe-entity.ts'

/** What a body says, before any rule about entities is applied to it. */
export interface EntityBody {
  readonly partition: string | undefined
  readonly row: string | undefined
  /** Nulls are left out, as they mean "absent". Texts are in the body's order, content in the order asked for. */
  readonly properties: readonly PropertyText[] | Buffer
}

export function readEntity(body: Buffer, order: PropertyOrder): EntityBody {
  for (let i = 0; i < knownOutlines.length; i++) {
    const entity = (knownOutlines[i] as KnownOutline).transcripts[order]?.(body)
    if (entity !== undefined) {
      moveUp(i)
      return entity
    }
  }
  return readEntityText(body, order)
}

/** The reader that all others must agree with. A transcript in `order` is made of an outline met again. */
export function readEntityText(body: Buffer, order?: PropertyOrder): EntityBody {
  const cursor = openJson(body)
  for (const [i, { outline, transcripts }] of knownOutlines.entries()) {
    const values = valuesBy(outline, cursor)
    if (values !== undefined) {
      // Making one takes longer than reading, so an outline met once has none.
      if (order !== undefined && !(order in transcripts)) transcripts[order] = transcriptOf(outline, order)
      moveUp(i)
      return entityBy(outline, values)
    }
    cursor.at = 0
  }
  const { outline, values } = readOutline(cursor)
  if (body.length <= outlinedBytesMax) remember(outline)
  return entityBy(outline, values)
}

interface KnownOutline {
  readonly outline: Outline
  readonly transcripts: Partial<Record<PropertyOrder, Transcript | undefined>>
}

/**
 * Those met often come first: each moves up when it is met, and a new one takes the last place. A body that has
 * none of them is read as a whole, so few are enough.
 */
const knownOutlines: KnownOutline[] = []
const outlinesMax = 4
/** An outline keeps the text it was cut out of in memory. */
const outlinedBytesMax = 65_536

function remember(outline: Outline): void {
  if (knownOutlines.length === outlinesMax) knownOutlines.pop()
  knownOutlines.push({ outline, transcripts: {} })
}

function moveUp(i: number): void {
  if (i === 0) return
  const [above, met] = knownOutlines.slice(i - 1, i + 1) as [KnownOutline, KnownOutline]
  knownOutlines[i - 1] = met
  knownOutlines[i] = above
}

function entityBy({ slots }: Outline, values: readonly JsonScalar[]): EntityBody {
  let partition: string | undefined
  let row: string | undefined
  const properties: PropertyText[] = []
  for (const [i, slot] of slots.entries()) {
    const value = values[i] as JsonScalar
    switch (slot.role) {
      case 'nothing':
        break
      case 'repetition':
        throw new Fault('DuplicatePropertiesSpecified')
      case 'PartitionKey':
        partition = keyText(value, slot.type)
        break
      case 'RowKey':
        row = keyText(value, slot.type)
        break
      case 'property':
        properties.push(readProperty(slot, value))
        break
      default:
        unreachable(slot.role)
    }
  }
  return { partition, row, properties }
}

function readProperty({ name, type }: Slot, value: JsonScalar): PropertyText {
  const property = readValue(name, value, type)
  if (property === undefined) throw conversionFault()
  return property
}

function keyText({ kind, text }: JsonScalar, type: string | undefined): string {
  if (kind !== 'string' || (type !== undefined && type !== 'Edm.String')) throw conversionFault()
  return text
}

function conversionFault(): Fault {
  return new Fault('InvalidInput', { text: inputTexts.conversion })
}

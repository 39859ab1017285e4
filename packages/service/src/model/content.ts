/** An entity's properties as its record will hold them, before it has a version (record-layout.ts). */
import type { EntityKey } from './keys.ts'
import { jsonString } from './json-text.ts'
import { nameFacts } from './name-facts.ts'
import { annotationTail, contentHeaderBytes, entryBytes, nameHash } from './record-layout.ts'
import { edmTypes, isAnnotated, textOf, typeCodes, type Value, type ValueText } from './values.ts'

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

export interface Entry {
  readonly name: EncodedName
  readonly type: number
  readonly annotated: boolean
  readonly memberFrom: number
}

export function writeContent(entries: readonly Entry[], text: string): Buffer {
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

export function contentCountOf(content: Buffer): number {
  return content.readUInt16BE(0)
}

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  if (a.name === b.name) return 0
  return a.name < b.name ? -1 : 1
}

/** What the encoding of a property takes from its name alone. */
export interface EncodedName {
  /** As it stands in the text, without quotes. */
  readonly text: string
  readonly hash: number
  /** What stands before a value, and before one in quotes. */
  readonly lead: string
  readonly quotedLead: string
  /** What stands before an annotated value in quotes, by the code of its type; made when it is needed. */
  readonly annotatedLeads: string[]
}

export const nameOf = nameFacts((name): EncodedName => {
  const text = jsonString(name).slice(1, -1)
  const lead = `,"${text}":`
  return { text, hash: nameHash(text), lead, quotedLead: `${lead}"`, annotatedLeads: [] }
})

export function annotatedLead(name: EncodedName, type: number): string {
  name.annotatedLeads[type] ??= `,"${name.text}${annotationTail}${edmTypes[type]}"${name.quotedLead}`
  return name.annotatedLeads[type]
}

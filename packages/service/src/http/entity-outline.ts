/**
 * All of an entity's JSON but its values. Clients write entities of a table alike, so the next body mostly has
 * the outline of one before: then only its values are read, and nothing is asked again about names,
 * annotations and repetitions.
 */
import { Fault, inputTexts } from '../model/faults.ts'
import {
  isBlank,
  type JsonCursor,
  type JsonMember,
  type JsonScalar,
  readMembers,
  readScalar,
} from './json-reader.ts'

export interface Outline {
  readonly slots: readonly Slot[]
  /** What follows the last value. */
  readonly tail: string
}

/** A member whose value may differ from one entity to the next. */
export interface Slot {
  /** Everything between the value before and this one. */
  readonly lead: string
  readonly kind: JsonScalar['kind']
  readonly name: string
  readonly role: 'property' | 'PartitionKey' | 'RowKey' | 'nothing' | 'repetition'
  /** As an annotation gives it, which may stand before or after. */
  readonly type: string | undefined
}

/** The values of a body that has this outline, in the order of its slots; undefined if it has another. */
export function valuesBy({ slots, tail }: Outline, cursor: JsonCursor): JsonScalar[] | undefined {
  const values: JsonScalar[] = []
  for (const { lead, kind } of slots) {
    if (!passes(cursor, lead) || isBlank(cursor)) return undefined
    // Up to here the body is like one that was read before, so a value must stand here: what cannot be read as
    // one is malformed whatever follows.
    const value = readScalar(cursor)
    if (value.kind !== kind) return undefined
    values.push(value)
  }
  return passes(cursor, tail) && cursor.at === cursor.text.length ? values : undefined
}

function passes(cursor: JsonCursor, expected: string): boolean {
  const until = cursor.at + expected.length
  if (cursor.text.slice(cursor.at, until) !== expected) return false
  cursor.at = until
  return true
}

/** Reads a whole body, for its outline and its values. */
export function readOutline(cursor: JsonCursor): { outline: Outline; values: JsonScalar[] } {
  const members = readMembers(cursor)
  const types = readTypes(members)
  const names = new Set<string>()
  const slots: Slot[] = []
  const values: JsonScalar[] = []
  let until = 0
  for (const member of members) {
    const { name, value } = member
    // The types that annotations give are part of the outline, so they stand in a lead.
    if (typedProperty(name) !== undefined) continue
    slots.push({
      lead: cursor.text.slice(until, member.from),
      kind: value.kind,
      name: detached(name),
      role: roleOf(member, names),
      type: types.get(name),
    })
    values.push(value)
    until = member.until
  }
  return { outline: { slots, tail: cursor.text.slice(until) }, values }
}

/** Notes the name among those of the entity. */
function roleOf({ name, value }: JsonMember, names: Set<string>): Slot['role'] {
  if (isAnnotation(name)) return 'nothing'
  if (names.size === names.add(name).size) return 'repetition'
  if (name === 'Timestamp' || value.kind === 'null') return 'nothing'
  return name === 'PartitionKey' || name === 'RowKey' ? name : 'property'
}

function isAnnotation(name: string): boolean {
  return (
    name.startsWith('odata.') || (name.includes('@') && (name.startsWith('@') || name.includes('@odata.')))
  )
}

/** By property. Other annotations, and those of properties that are not there, say nothing. */
function readTypes(members: readonly JsonMember[]): Map<string, string> {
  const types = new Map<string, string>()
  for (const { name, value } of members) {
    const property = typedProperty(name)
    if (property === undefined) continue
    if (value.kind !== 'string') throw new Fault('InvalidInput', { text: inputTexts.conversion })
    types.set(property, value.text)
  }
  return types
}

const typeAnnotation = '@odata.type'

/** The property whose type a member of this name gives, if it gives one. */
function typedProperty(name: string): string | undefined {
  if (!name.endsWith(typeAnnotation)) return undefined
  const property = name.slice(0, -typeAnnotation.length)
  return property === '' || property.includes('@') ? undefined : property
}

/**
 * A name in memory of its own. Names are remembered elsewhere too, and a mere slice of a body keeps all of it
 * from being freed; a slice of a new string keeps only that.
 */
function detached(name: string): string {
  return `"${name}`.slice(1)
}

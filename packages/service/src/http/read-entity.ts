/**
 * Reads an entity from a JSON body. JSON.parse will not do: it keeps the last of two equal members, and
 * turns `5.0` and `5` into one number although they are different types here. Values are not made: what a
 * client writes is mostly what a record holds, and is only checked.
 */
import { unreachable } from '../model/brand.ts'
import { normalDoubleText } from '../model/double-text.ts'
import { Fault, inputTexts } from '../model/faults.ts'
import { jsonString } from '../model/json-text.ts'
import { nameFacts } from '../model/name-facts.ts'
import type { PropertyText } from '../model/record.ts'
import { normalTimeText } from '../model/ticks.ts'
import type { EdmType } from '../model/values.ts'
import { type JsonMember, readJsonObject } from './json-reader.ts'

/** What a body says, before any rule about entities is applied to it. */
export interface EntityBody {
  readonly partition: string | undefined
  readonly row: string | undefined
  /** In the body's order; nulls are left out, as they mean "absent". */
  readonly properties: readonly PropertyText[]
}

const typeAnnotation = '@odata.type'
const guidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const integerPattern = /^-?\d+$/
/** As String would write it, and too short to be out of range. */
const normalInt64Pattern = /^(?:0|-?[1-9]\d{0,17})$/
const decimalPattern = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const int32Min = -0x8000_0000
const int32Max = 0x7fff_ffff

export function readEntity(body: Buffer): EntityBody {
  const members = readJsonObject(body)
  const types = readTypes(members)
  const names = new Set<string>()
  let partition: string | undefined
  let row: string | undefined
  const properties: PropertyText[] = []
  for (const member of members) {
    const { name } = member
    const { role } = meaningOf(name)
    if (role === 'annotation') continue
    if (names.size === names.add(name).size) throw new Fault('DuplicatePropertiesSpecified')
    if (role === 'Timestamp' || member.kind === 'null') continue
    const type = types?.get(name)
    if (role === 'PartitionKey') partition = keyText(member, type)
    else if (role === 'RowKey') row = keyText(member, type)
    else properties.push(type === undefined ? inferred(member, member.kind) : converted(member, type))
  }
  return { partition, row, properties }
}

/** What the name of a member says about it. */
interface Meaning {
  readonly role: 'property' | 'PartitionKey' | 'RowKey' | 'Timestamp' | 'annotation'
  /** The property whose type it gives, if it gives one. */
  readonly typeOf: string | undefined
}

const meaningOf = nameFacts((name): Meaning => {
  if (name === 'PartitionKey' || name === 'RowKey' || name === 'Timestamp') {
    return { role: name, typeOf: undefined }
  }
  const annotates =
    name.startsWith('odata.') || (name.includes('@') && (name.startsWith('@') || name.includes('@odata.')))
  const property = name.endsWith(typeAnnotation) ? name.slice(0, -typeAnnotation.length) : ''
  const typeOf = property === '' || property.includes('@') ? undefined : property
  return { role: annotates ? 'annotation' : 'property', typeOf }
})

/**
 * The types given by annotations, which may stand before or after their properties. Other annotations, and
 * those of properties that are not there, say nothing.
 */
function readTypes(members: readonly JsonMember[]): Map<string, string> | undefined {
  let types: Map<string, string> | undefined
  for (const { name, kind, text } of members) {
    const { typeOf } = meaningOf(name)
    if (typeOf === undefined) continue
    if (kind !== 'string') throw conversionFault()
    types ??= new Map()
    types.set(typeOf, text)
  }
  return types
}

function keyText({ kind, text }: JsonMember, type: string | undefined): string {
  if (kind !== 'string' || (type !== undefined && type !== 'Edm.String')) throw conversionFault()
  return text
}

/** A property whose type the shape of its value tells. */
function inferred(member: JsonMember, kind: Exclude<JsonMember['kind'], 'null'>): PropertyText {
  const { text } = member
  switch (kind) {
    case 'string':
      return stringProperty(member)
    case 'boolean':
      return property(member, 'Edm.Boolean', text, false)
    case 'number': {
      if (integerPattern.test(text)) {
        const value = Number(text)
        // An integer has no negative zero.
        if (value === 0) return property(member, 'Edm.Int32', '0', false)
        if (value >= int32Min && value <= int32Max) return property(member, 'Edm.Int32', text, false)
      }
      return doubleProperty(member)
    }
    default:
      return unreachable(kind)
  }
}

/** A property of the type its annotation gives. */
function converted(member: JsonMember, type: string): PropertyText {
  const { kind, text } = member
  switch (type) {
    case 'Edm.String':
      if (kind !== 'string') break
      return stringProperty(member)
    case 'Edm.Binary':
      if (kind !== 'string' || !base64Pattern.test(text)) break
      return binaryProperty(member)
    case 'Edm.Boolean': {
      const lower = text.toLowerCase()
      if (kind === 'number' || (lower !== 'true' && lower !== 'false')) break
      return property(member, type, lower, false)
    }
    case 'Edm.DateTime': {
      const time = kind === 'string' ? normalTimeText(text) : undefined
      if (time === undefined) break
      return property(member, type, time, true)
    }
    case 'Edm.Double':
      if (kind === 'boolean') break
      if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') {
        return property(member, type, text, true)
      }
      if (!decimalPattern.test(text)) break
      return doubleProperty(member)
    case 'Edm.Guid':
      if (kind !== 'string' || !guidPattern.test(text)) break
      return property(member, type, text.toLowerCase(), true)
    case 'Edm.Int32': {
      const value = Number(text)
      if (kind === 'boolean' || !integerPattern.test(text)) break
      if (value < int32Min || value > int32Max) break
      return property(member, type, String(value + 0), false)
    }
    case 'Edm.Int64': {
      // A bare number would have lost digits on its way through most clients.
      if (kind !== 'string') break
      if (normalInt64Pattern.test(text)) return property(member, type, text, true)
      if (!integerPattern.test(text) || text.length > 20) break
      const value = BigInt(text)
      if (BigInt.asIntN(64, value) !== value) break
      return property(member, type, String(value), true)
    }
    default:
      break
  }
  throw conversionFault()
}

function property({ name }: JsonMember, type: EdmType, text: string, quoted: boolean): PropertyText {
  return { name, type, text, quoted, units: 0 }
}

function stringProperty({ name, text, plain }: JsonMember): PropertyText {
  const json = plain ? text : jsonString(text).slice(1, -1)
  return { name, type: 'Edm.String', text: json, quoted: true, units: text.length }
}

/** REQUIRES: base64. What lies in the bits behind the last byte is not kept. */
function binaryProperty({ name, text }: JsonMember): PropertyText {
  const value = Buffer.from(text, 'base64')
  return { name, type: 'Edm.Binary', text: value.toString('base64'), quoted: true, units: value.length }
}

/** REQUIRES: a decimal. */
function doubleProperty(member: JsonMember): PropertyText {
  if (!Number.isFinite(Number(member.text))) throw conversionFault()
  return property(member, 'Edm.Double', normalDoubleText(member.text), false)
}

function conversionFault(): Fault {
  return new Fault('InvalidInput', { text: inputTexts.conversion })
}

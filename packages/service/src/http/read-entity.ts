/**
 * Reads an entity from a JSON body. JSON.parse will not do: it keeps the last of two equal members, and
 * turns `5.0` and `5` into one number although they are different types here.
 */
import { unreachable } from '../model/brand.ts'
import { Fault, inputTexts } from '../model/faults.ts'
import type { Property } from '../model/record.ts'
import { parseTicks } from '../model/ticks.ts'
import type { Value } from '../model/values.ts'
import { type JsonScalar, type JsonValue, readJsonObject } from './json-reader.ts'

/** What a body says, before any rule about entities is applied to it. */
export interface EntityBody {
  readonly partition: string | undefined
  readonly row: string | undefined
  /** In the body's order; nulls are left out, as they mean "absent". */
  readonly properties: readonly Property[]
}

const typeAnnotation = '@odata.type'
const guidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const integerPattern = /^-?\d+$/
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
  const properties: Property[] = []
  for (const [name, scalar] of members) {
    if (isAnnotation(name)) continue
    if (names.size === names.add(name).size) throw new Fault('DuplicatePropertiesSpecified')
    if (name === 'Timestamp') continue
    const value = convert(scalar, types?.get(name))
    if (value === undefined) continue
    if (name === 'PartitionKey') partition = keyText(value)
    else if (name === 'RowKey') row = keyText(value)
    else properties.push({ name, value })
  }
  return { partition, row, properties }
}

function isAnnotation(name: string): boolean {
  return (
    name.startsWith('odata.') || (name.includes('@') && (name.startsWith('@') || name.includes('@odata.')))
  )
}

/**
 * The types given by annotations, which may stand before or after their properties. Other annotations, and
 * those of properties that are not there, say nothing.
 */
function readTypes(members: readonly (readonly [string, JsonScalar])[]): Map<string, string> | undefined {
  let types: Map<string, string> | undefined
  for (const [name, value] of members) {
    if (!name.endsWith(typeAnnotation)) continue
    const property = name.slice(0, -typeAnnotation.length)
    if (property === '' || property.includes('@')) continue
    if (value.kind !== 'string') throw conversionFault()
    types ??= new Map()
    types.set(property, value.text)
  }
  return types
}

function keyText(value: Value): string {
  if (value.type !== 'Edm.String') throw conversionFault()
  return value.value
}

/** The value a member has, given its annotation; undefined for null. */
function convert(scalar: JsonScalar, type: string | undefined): Value | undefined {
  if (scalar.kind === 'null') return undefined
  switch (type) {
    case undefined:
      return inferred(scalar)
    case 'Edm.String':
      if (scalar.kind !== 'string') break
      return { type, value: scalar.text }
    case 'Edm.Binary':
      if (scalar.kind !== 'string' || !base64Pattern.test(scalar.text)) break
      return { type, value: Buffer.from(scalar.text, 'base64') }
    case 'Edm.Boolean': {
      const text = scalar.text.toLowerCase()
      if (scalar.kind === 'number' || (text !== 'true' && text !== 'false')) break
      return { type, value: text === 'true' }
    }
    case 'Edm.DateTime': {
      const value = scalar.kind === 'string' ? parseTicks(scalar.text) : undefined
      if (value === undefined) break
      return { type, value }
    }
    case 'Edm.Double': {
      const value = scalar.kind === 'boolean' ? undefined : parseDouble(scalar.text)
      if (value === undefined) break
      return { type, value }
    }
    case 'Edm.Guid':
      if (scalar.kind !== 'string' || !guidPattern.test(scalar.text)) break
      return { type, value: scalar.text.toLowerCase() }
    case 'Edm.Int32': {
      const value = Number(scalar.text)
      if (scalar.kind === 'boolean' || !integerPattern.test(scalar.text)) break
      if (value < int32Min || value > int32Max) break
      // An integer has no negative zero.
      return { type, value: value + 0 }
    }
    case 'Edm.Int64': {
      // A bare number would have lost digits on its way through most clients.
      if (scalar.kind !== 'string' || !integerPattern.test(scalar.text) || scalar.text.length > 20) break
      const value = BigInt(scalar.text)
      if (BigInt.asIntN(64, value) !== value) break
      return { type, value }
    }
    default:
      break
  }
  throw conversionFault()
}

function inferred(scalar: JsonValue): Value {
  switch (scalar.kind) {
    case 'string':
      return { type: 'Edm.String', value: scalar.text }
    case 'boolean':
      return { type: 'Edm.Boolean', value: scalar.text === 'true' }
    case 'number': {
      const value = Number(scalar.text)
      if (integerPattern.test(scalar.text) && value >= int32Min && value <= int32Max) {
        return { type: 'Edm.Int32', value: value + 0 }
      }
      if (!Number.isFinite(value)) throw conversionFault()
      return { type: 'Edm.Double', value }
    }
    default:
      return unreachable(scalar.kind)
  }
}

function parseDouble(text: string): number | undefined {
  if (text === 'NaN') return Number.NaN
  if (text === 'Infinity') return Number.POSITIVE_INFINITY
  if (text === '-Infinity') return Number.NEGATIVE_INFINITY
  if (!decimalPattern.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

function conversionFault(): Fault {
  return new Fault('InvalidInput', { text: inputTexts.conversion })
}

/**
 * The value of a property, from JSON. It is not made: what a client writes is mostly what a record holds, and is
 * only checked.
 */
import { unreachable } from '../model/brand.ts'
import { normalDoubleText } from '../model/double-text.ts'
import { jsonString } from '../model/json-text.ts'
import type { PropertyText } from '../model/content.ts'
import { normalTimeText } from '../model/ticks.ts'
import type { EdmType } from '../model/values.ts'
import type { JsonScalar } from './json-reader.ts'

const guidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const integerPattern = /^-?\d+$/
/** As String would write it, and too short to be out of range. */
const normalInt64Pattern = /^(?:0|-?[1-9]\d{0,17})$/
const decimalPattern = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const int32Min = -0x8000_0000
const int32Max = 0x7fff_ffff

/** The property as a record will hold it; undefined if the value is none of its type. REQUIRES: no null. */
export function readValue(
  name: string,
  value: JsonScalar,
  type: string | undefined,
): PropertyText | undefined {
  return type === undefined ? inferred(name, value) : converted(name, value, type)
}

/** A property whose type its value tells. */
function inferred(name: string, value: JsonScalar): PropertyText | undefined {
  const { kind, text } = value
  switch (kind) {
    case 'string':
      return stringProperty(name, value)
    case 'boolean':
      return property(name, 'Edm.Boolean', text, false)
    case 'number': {
      if (integerPattern.test(text)) {
        const number = Number(text)
        // An integer has no negative zero.
        if (number === 0) return property(name, 'Edm.Int32', '0', false)
        if (number >= int32Min && number <= int32Max) return property(name, 'Edm.Int32', text, false)
      }
      return doubleProperty(name, text)
    }
    case 'null':
      throw new Error('null is no value')
    default:
      return unreachable(kind)
  }
}

/** A property of the type its annotation gives. */
function converted(name: string, value: JsonScalar, type: string): PropertyText | undefined {
  const { kind, text } = value
  switch (type) {
    case 'Edm.String':
      if (kind !== 'string') break
      return stringProperty(name, value)
    case 'Edm.Binary':
      if (kind !== 'string' || !base64Pattern.test(text)) break
      return binaryProperty(name, text)
    case 'Edm.Boolean': {
      const lower = text.toLowerCase()
      if (kind === 'number' || (lower !== 'true' && lower !== 'false')) break
      return property(name, type, lower, false)
    }
    case 'Edm.DateTime': {
      const time = kind === 'string' ? normalTimeText(text) : undefined
      if (time === undefined) break
      return property(name, type, time, true)
    }
    case 'Edm.Double':
      if (kind === 'boolean') break
      if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') {
        return property(name, type, text, true)
      }
      if (!decimalPattern.test(text)) break
      return doubleProperty(name, text)
    case 'Edm.Guid':
      if (kind !== 'string' || !guidPattern.test(text)) break
      return property(name, type, text.toLowerCase(), true)
    case 'Edm.Int32': {
      const number = Number(text)
      if (kind === 'boolean' || !integerPattern.test(text)) break
      if (number < int32Min || number > int32Max) break
      return property(name, type, String(number + 0), false)
    }
    case 'Edm.Int64': {
      // A bare number would have lost digits on its way through most clients.
      if (kind !== 'string') break
      if (normalInt64Pattern.test(text)) return property(name, type, text, true)
      if (!integerPattern.test(text) || text.length > 20) break
      const number = BigInt(text)
      if (BigInt.asIntN(64, number) !== number) break
      return property(name, type, String(number), true)
    }
    default:
      break
  }
  return undefined
}

function property(name: string, type: EdmType, text: string, quoted: boolean): PropertyText {
  return { name, type, text, quoted, units: 0 }
}

function stringProperty(name: string, { text, plain }: JsonScalar): PropertyText {
  const json = plain ? text : jsonString(text).slice(1, -1)
  return { name, type: 'Edm.String', text: json, quoted: true, units: text.length }
}

/** REQUIRES: base64. What lies in the bits behind the last byte is not kept. */
function binaryProperty(name: string, text: string): PropertyText {
  const value = Buffer.from(text, 'base64')
  return { name, type: 'Edm.Binary', text: value.toString('base64'), quoted: true, units: value.length }
}

/** REQUIRES: a decimal. */
function doubleProperty(name: string, text: string): PropertyText | undefined {
  if (!Number.isFinite(Number(text))) return undefined
  return property(name, 'Edm.Double', normalDoubleText(text), false)
}

/** The eight types a property can have, their JSON text, and their size by the protocol's formula. */
import { unreachable } from './brand.ts'
import { formatDouble } from './double-text.ts'
import { jsonString } from './json-text.ts'
import { formatTicks, type Ticks } from './ticks.ts'

export type Value =
  | { readonly type: 'Edm.Binary'; readonly value: Uint8Array }
  | { readonly type: 'Edm.Boolean'; readonly value: boolean }
  | { readonly type: 'Edm.DateTime'; readonly value: Ticks }
  | { readonly type: 'Edm.Double'; readonly value: number }
  /** Lower case with hyphens. */
  | { readonly type: 'Edm.Guid'; readonly value: string }
  | { readonly type: 'Edm.Int32'; readonly value: number }
  | { readonly type: 'Edm.Int64'; readonly value: bigint }
  | { readonly type: 'Edm.String'; readonly value: string }

export type EdmType = Value['type']

/** In the order in which values of different types compare; a type's index is its code in records. */
export const edmTypes = [
  'Edm.Binary',
  'Edm.Boolean',
  'Edm.DateTime',
  'Edm.Double',
  'Edm.Guid',
  'Edm.Int32',
  'Edm.Int64',
  'Edm.String',
] as const satisfies readonly EdmType[]

/** The JSON text of a value, and whether a reader needs its type beside it. */
export function valueText(value: Value): string {
  switch (value.type) {
    case 'Edm.Binary':
      return `"${Buffer.from(value.value.buffer, value.value.byteOffset, value.value.byteLength).toString('base64')}"`
    case 'Edm.Boolean':
      return value.value ? 'true' : 'false'
    case 'Edm.DateTime':
      return `"${formatTicks(value.value)}"`
    case 'Edm.Double':
      if (Number.isFinite(value.value)) return formatDouble(value.value)
      if (Number.isNaN(value.value)) return '"NaN"'
      return value.value > 0 ? '"Infinity"' : '"-Infinity"'
    case 'Edm.Guid':
    case 'Edm.Int64':
      return `"${value.value}"`
    case 'Edm.Int32':
      return value.value.toString()
    case 'Edm.String':
      return jsonString(value.value)
    default:
      return unreachable(value)
  }
}

/** Strings, booleans, Int32 and finite doubles are recognised without their type. */
export function isAnnotated(value: Value): boolean {
  switch (value.type) {
    case 'Edm.Boolean':
    case 'Edm.Int32':
    case 'Edm.String':
      return false
    case 'Edm.Double':
      return !Number.isFinite(value.value)
    case 'Edm.Binary':
    case 'Edm.DateTime':
    case 'Edm.Guid':
    case 'Edm.Int64':
      return true
    default:
      return unreachable(value)
  }
}

/** What a value counts towards the entity's 1 MiB. */
export function sizeOfValue(value: Value): number {
  switch (value.type) {
    case 'Edm.Binary':
      return value.value.length + 4
    case 'Edm.Boolean':
      return 1
    case 'Edm.DateTime':
    case 'Edm.Double':
    case 'Edm.Int64':
      return 8
    case 'Edm.Guid':
      return 16
    case 'Edm.Int32':
      return 4
    case 'Edm.String':
      return 2 * value.value.length + 4
    default:
      return unreachable(value)
  }
}

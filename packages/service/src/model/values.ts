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

export const typeCodes = Object.fromEntries(edmTypes.map((type, code) => [type, code])) as Readonly<
  Record<EdmType, number>
>

/**
 * A value as records and answers hold it. Who reads one from JSON often finds this text there and need not
 * make the value first.
 */
export interface ValueText {
  readonly type: EdmType
  /** The value's JSON, in the one form the service writes, without quotes around it. */
  readonly text: string
  readonly quoted: boolean
  /** UTF-16 units of a string, bytes of a binary; of no meaning for other types. */
  readonly units: number
}

export function textOf(value: Value): ValueText {
  const { type } = value
  switch (type) {
    case 'Edm.Binary': {
      const { buffer, byteOffset, byteLength } = value.value
      const text = Buffer.from(buffer, byteOffset, byteLength).toString('base64')
      return { type, text, quoted: true, units: byteLength }
    }
    case 'Edm.Boolean':
      return { type, text: value.value ? 'true' : 'false', quoted: false, units: 0 }
    case 'Edm.DateTime':
      return { type, text: formatTicks(value.value), quoted: true, units: 0 }
    case 'Edm.Double': {
      const finite = Number.isFinite(value.value)
      const text = finite ? formatDouble(value.value) : String(value.value)
      return { type, text, quoted: !finite, units: 0 }
    }
    case 'Edm.Guid':
      return { type, text: value.value, quoted: true, units: 0 }
    case 'Edm.Int32':
      return { type, text: String(value.value), quoted: false, units: 0 }
    case 'Edm.Int64':
      return { type, text: String(value.value), quoted: true, units: 0 }
    case 'Edm.String':
      return { type, text: jsonString(value.value).slice(1, -1), quoted: true, units: value.value.length }
    default:
      return unreachable(value)
  }
}

/** The JSON text of a value. */
export function valueText(value: Value): string {
  const { text, quoted } = textOf(value)
  return quoted ? `"${text}"` : text
}

/** Whether a reader needs the type beside the value: strings, booleans, Int32 and finite doubles show theirs. */
export function isAnnotated({ type, quoted }: Pick<ValueText, 'type' | 'quoted'>): boolean {
  return quoted && type !== 'Edm.String'
}

/** What a value counts towards the entity's 1 MiB. */
export function sizeOfValue({ type, units }: ValueText): number {
  switch (type) {
    case 'Edm.Binary':
      return units + 4
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
      return 2 * units + 4
    default:
      return unreachable(type)
  }
}

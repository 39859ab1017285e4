/** Properties as plain values: one of the eight types of the protocol, and what is said about it. */
import type { Instant } from './instant.ts'

export type EdmType = 'String' | 'Boolean' | 'Int32' | 'Int64' | 'Double' | 'DateTime' | 'Guid' | 'Binary'

/** What a read gives for each type. */
export interface ReadAs {
  readonly String: string
  readonly Boolean: boolean
  readonly Int32: number
  readonly Int64: bigint
  readonly Double: number
  readonly DateTime: Instant
  readonly Guid: string
  readonly Binary: Uint8Array
}

/** What a write takes for each type. */
export interface WriteAs extends Omit<ReadAs, 'DateTime'> {
  readonly DateTime: Instant | Date
}

export type Value = ReadAs[EdmType]

export type Flag =
  /** May be left out. */
  | 'optional'
  /** Made by the library where a write leaves it out: a random guid, or the time of the write. */
  | 'fresh'
  /** Unreadable to the service: neither filtered nor merged. */
  | 'encrypted'
  /** Kept in a blob. */
  | 'large'

export interface Property<E extends EdmType = EdmType, F extends Flag = Flag> {
  readonly edm: E
  readonly flags: readonly F[]
  optional(): Property<E, F | 'optional'>
  fresh(this: Property<'Guid' | 'DateTime'>): Property<E, F | 'fresh'>
  encrypted(this: Property<'String' | 'Binary'>): Property<E, F | 'encrypted'>
  large(this: Property<'String' | 'Binary'>): Property<E, F | 'large'>
}

export type PropertyMap = Readonly<Record<string, Property>>

export const string = (): Property<'String', never> => property('String', [])
export const boolean = (): Property<'Boolean', never> => property('Boolean', [])
export const int32 = (): Property<'Int32', never> => property('Int32', [])
export const int64 = (): Property<'Int64', never> => property('Int64', [])
export const double = (): Property<'Double', never> => property('Double', [])
export const dateTime = (): Property<'DateTime', never> => property('DateTime', [])
export const guid = (): Property<'Guid', never> => property('Guid', [])
export const binary = (): Property<'Binary', never> => property('Binary', [])

export function hasFlag(property: Property, flag: Flag): boolean {
  return property.flags.includes(flag)
}

function property<E extends EdmType, F extends Flag>(edm: E, flags: readonly F[]): Property<E, F> {
  return Object.freeze({
    edm,
    flags: Object.freeze(flags),
    optional: () => property(edm, [...flags, 'optional' as const]),
    fresh: () => property(edm, [...flags, 'fresh' as const]),
    encrypted: () => property(edm, [...flags, 'encrypted' as const]),
    large: () => property(edm, [...flags, 'large' as const]),
  })
}

/** A row as it travels: cells by name, each with its type, in the form the client of the service takes. */
import type { Instant } from '../definition/instant.ts'
import type { EdmType } from '../definition/properties.ts'

export type Cell =
  | { readonly type: 'String' | 'Int64' | 'DateTime' | 'Guid' | 'Binary'; readonly value: string }
  | { readonly type: 'Boolean'; readonly value: boolean }
  | { readonly type: 'Int32'; readonly value: number }
  /** NaN and the infinities are texts. */
  | { readonly type: 'Double'; readonly value: number | string }

export type Row = Readonly<Record<string, Cell>>

export interface StoredRow {
  readonly partitionKey: string
  readonly rowKey: string
  readonly etag: string
  readonly timestamp: Instant
  readonly cells: Row
}

/** The row as one of the service's clients gave it, typed values unconverted. */
export type ClientEntity = Readonly<Record<string, unknown>>

export interface TypedValue {
  readonly type: EdmType
  readonly value: unknown
}

/**
 * One pattern's part in a write. The entity's own row is a facet, each index is one; a write's steps are what all
 * facets of its definition say together, and they are sent as one transaction.
 *
 * Facets are pure: what they want to know of the table they ask for as data, and are given it with the change.
 */
import type { Definition } from '../definition/entity.ts'
import type { Instant } from '../definition/instant.ts'
import type { Values } from '../definition/key-template.ts'
import type { Filter } from '../filter/filter.ts'
import type { Row, StoredRow } from '../row/row.ts'
import type { Step } from './step.ts'

export interface Facet {
  /** Whether its steps follow from the entity as it is stored now; `change` brings it along in any case. */
  needsBefore(wanted: Wanted): boolean
  /** Rows to read besides, in the partition of the change. */
  needs?(change: Change): readonly Need[]
  /** Puts into the entity what follows from other rows, before any facet plans its steps. */
  fill?(after: Values, change: Change, found: readonly (readonly StoredRow[])[]): Values
  /** `found` holds one list of rows for each need. */
  steps(change: Change, found: readonly (readonly StoredRow[])[]): readonly Step[]
}

/** Rows of the change's partition: one by its key, or all that a filter lets through. */
export type Need = { readonly rowKey: string } | { readonly where: Filter }

/** An intent whose values are checked and complete. */
export type Wanted = { readonly definition: Definition; readonly stamp: Stamp } & (
  | { readonly kind: 'insert' | 'upsert' | 'upsertMerge'; readonly values: Values }
  | { readonly kind: 'replace'; readonly values: Values; readonly etag: string }
  | { readonly kind: 'patch'; readonly key: Values; readonly changes: Values; readonly etag: string }
  | { readonly kind: 'remove'; readonly key: Values; readonly etag: string }
  | { readonly kind: 'change'; readonly before: Known; readonly values: Values | undefined }
)

/** Made once for a write, and kept when it is planned again: for rows that a facet must name or date by itself. */
export interface Stamp {
  readonly at: Instant
  readonly id: string
}

export interface Known {
  readonly values: Values
  readonly etag: string
  /** Cells of its row that the definition does not know. */
  readonly foreign?: Row | undefined
}

export interface Change {
  readonly wanted: Wanted
  /** The entity as it is stored; `unread` if no facet asked for it. */
  readonly before: Known | 'absent' | 'unread'
  /** The entity as it will be stored, where that is known: undefined after a removal, and for a blind patch. */
  readonly after: Values | undefined
}

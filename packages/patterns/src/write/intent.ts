/** What a caller wants written, as plain values; nothing happens until a table is given them. */
import type { Definition, KeyOf, Patch, Stored, Write } from '../definition/entity.ts'
import type { Row } from '../row/row.ts'

export type Intent<D extends Definition = Definition> =
  | { readonly kind: 'insert' | 'upsert' | 'upsertMerge'; readonly definition: D; readonly entity: object }
  | { readonly kind: 'replace'; readonly definition: D; readonly entity: object; readonly etag: string }
  | {
      readonly kind: 'patch'
      readonly definition: D
      readonly key: object
      readonly patch: object
      readonly etag: string
    }
  | { readonly kind: 'remove'; readonly definition: D; readonly key: object; readonly etag: string }
  /** From an entity that was read, under its ETag, to another or to none. */
  | {
      readonly kind: 'change'
      readonly definition: D
      readonly before: object & { readonly etag: string }
      readonly entity: object | undefined
      /** Cells of the row that the definition does not know, to be kept. */
      readonly foreign?: Row
    }

/** `*` writes over whatever is there. */
export interface Condition {
  readonly etag: string
}

export const insert = <D extends Definition>(definition: D, entity: Write<D>): Intent<D> => ({
  kind: 'insert',
  definition,
  entity,
})

/** Drops what is not given. Fails if absent. */
export const replace = <D extends Definition>(
  definition: D,
  entity: Write<D>,
  { etag }: Condition,
): Intent<D> => ({
  kind: 'replace',
  definition,
  entity,
  etag,
})

/** Changes only what is given, without a read. Fails if absent. */
export const patch = <D extends Definition>(
  definition: D,
  key: KeyOf<D>,
  changes: Patch<D>,
  { etag }: Condition = { etag: '*' },
): Intent<D> => ({ kind: 'patch', definition, key, patch: changes, etag })

/** Insert or replace. */
export const upsert = <D extends Definition>(definition: D, entity: Write<D>): Intent<D> => ({
  kind: 'upsert',
  definition,
  entity,
})

/** Insert or merge: optional properties that are left out stay as they are. */
export const upsertMerge = <D extends Definition>(definition: D, entity: Write<D>): Intent<D> => ({
  kind: 'upsertMerge',
  definition,
  entity,
})

export const remove = <D extends Definition>(
  definition: D,
  key: KeyOf<D>,
  { etag }: Condition = { etag: '*' },
): Intent<D> => ({ kind: 'remove', definition, key, etag })

/** From what was read to something else, under its ETag; undefined removes it. */
export const change = <D extends Definition>(
  definition: D,
  before: Stored<D>,
  entity: Write<D> | undefined,
): Intent<D> => ({ kind: 'change', definition, before, entity })

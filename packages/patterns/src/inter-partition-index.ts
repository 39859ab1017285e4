/**
 * Inter-partition secondary index: the other order spans partitions, or one partition would be too hot for both.
 * Eventual: the copies follow the entity a moment later, kept by the outbox and its relay.
 *
 *   PartitionKey       RowKey                    holds
 *   Sales              empid_000223              the entity
 *   Sales              ~outbox_entry_…           until the relay was there: which copies are stale
 *   email_contoso.com  email_jonesj@contoso.com  a copy of it, or of some of its properties; perhaps in another table
 *
 * Until the relay was there a reader may miss an entity, or meet one under a value it no longer has. `verify` reads the
 * entity behind each hit and gives that, leaving out those that have moved on.
 *
 * Given up: values are not checked to be unique. If two entities have the same key in the index, the copy is of the one
 * that was seen to last. Let the key end in the entity's own id where that may happen.
 */
import type { Rows } from './client/rows.ts'
import type { Definition } from './definition/entity.ts'
import { formatKey } from './definition/key-template.ts'
import type { Claim, Elsewhere, EntityPlace, Place } from './outbox/elsewhere.ts'
import { goneRow, isGone } from './outbox/gone.ts'
import { decodeEntity, encodeEntity, indexLayout, indexOf, ownLayout } from './row/codec.ts'
import type { StoredRow } from './row/row.ts'
import { type EntityReader, openEntityReader, type ReaderContext } from './table/entity-reader.ts'
import type { Step } from './write/step.ts'

export function interPartitionIndex(definition: Definition, label: string): Elsewhere {
  const { table } = indexOf(definition, label)
  const layout = indexLayout(definition, label)
  return {
    kind: 'settles',
    label,
    destination: { table },
    feeds: layout.names,
    shown: (values) => [{ label, ...encodeEntity(definition, layout, values) }],
    needs: ({ rowKey }) => ({ rowKey }),
    steps: (place, [found], claims) => [
      copyStep({ of: `${definition.name}.${label}`, ...place }, found, claims, isCopyOf),
    ],
  }

  /** Copies always hold the keys of the entity they are of. */
  function isCopyOf(row: StoredRow, { partitionKey, rowKey }: EntityPlace): boolean {
    const own = entityPlaceOf(definition, label, row)
    return own.partitionKey === partitionKey && own.rowKey === rowKey
  }
}

/** Whoever shows something there has it; what none of them shows is gone; what is another's stays, under a new ETag. */
export function copyStep(
  { of, partitionKey, rowKey }: Place & { readonly of: string },
  found: StoredRow | undefined,
  claims: readonly Claim[],
  isCopyOf: (row: StoredRow, entity: EntityPlace) => boolean,
): Step {
  const place = { of, partitionKey, rowKey }
  const shown = claims.findLast((claim) => claim.shown !== undefined)?.shown
  if (found === undefined) return { kind: 'insert', ...place, row: shown?.row ?? goneRow }
  const { etag } = found
  if (shown !== undefined) return { kind: 'replace', ...place, row: shown.row, etag }
  const isOurs = isGone(found) || claims.some(({ entity }) => isCopyOf(found, entity))
  return isOurs
    ? { kind: 'replace', ...place, row: goneRow, etag }
    : { kind: 'merge', ...place, row: {}, etag }
}

/** Which entity a copy is of. */
function entityPlaceOf(definition: Definition, label: string, copy: StoredRow): EntityPlace {
  const { partition, row, properties } = definition
  const names = [...partition.names, ...row.names]
  const values = decodeEntity(definition, indexLayout(definition, label), copy, names)
  return {
    partitionKey: formatKey(partition, properties, values),
    rowKey: formatKey(row, properties, values),
  }
}

export interface InterPartitionReaders {
  /** The copies as they are. */
  readonly copies: EntityReader
  /** The entities behind them. */
  readonly verified: EntityReader
}

/** `copies` is where the index lives. */
export function openInterPartitionReaders(
  context: ReaderContext,
  copies: Rows,
  definition: Definition,
  label: string,
): InterPartitionReaders {
  const layout = indexLayout(definition, label)
  const own = openEntityReader(context, definition, ownLayout(definition))
  const there = { ...context, rows: copies }
  return {
    copies: openEntityReader(there, definition, layout),
    verified: openEntityReader(there, definition, layout, entityBehind),
  }

  async function entityBehind(copy: StoredRow): Promise<object | undefined> {
    const { partitionKey, rowKey } = entityPlaceOf(definition, label, copy)
    const row = await context.rows.get(partitionKey, rowKey)
    const entity = row && (await own.decode(row))
    if (entity === undefined) return undefined
    const { properties } = definition
    const stands =
      formatKey(layout.partition, properties, entity as never) === copy.partitionKey &&
      formatKey(layout.row, properties, entity as never) === copy.rowKey
    return stands ? entity : undefined
  }
}

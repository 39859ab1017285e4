/** The facet every definition has: the entity's own row. */
import { formatKey, type Values } from '../definition/key-template.ts'
import type { Definition } from '../definition/entity.ts'
import { PatternsError, unreachable } from '../patterns-error.ts'
import { encodeCells, encodeEntity, ownLayout, type PlacedRow } from '../row/codec.ts'
import type { Row } from '../row/row.ts'
import type { Change, Facet, Known, Wanted } from './facet.ts'
import type { Step } from './step.ts'

export const ownRow: Facet = {
  needsBefore: isNoPlainMerge,
  steps({ wanted, before, after }) {
    const { definition } = wanted
    switch (wanted.kind) {
      case 'insert':
        return [{ kind: 'insert', ...placed(definition, after as Values) }]
      case 'upsert':
      case 'upsertMerge': {
        if (before === 'unread') {
          const kind = wanted.kind === 'upsert' ? 'replace' : 'merge'
          return [{ kind, ...placed(definition, after as Values), etag: undefined }]
        }
        const foreign = wanted.kind === 'upsertMerge' && before !== 'absent' ? before.foreign : {}
        const row = placed(definition, after as Values, foreign)
        if (before === 'absent') return [{ kind: 'insert', ...row, again: true }]
        return [{ kind: 'replace', ...row, etag: before.etag, again: true }]
      }
      case 'replace':
        return [{ kind: 'replace', ...placed(definition, after as Values), ...under(wanted, before) }]
      case 'patch': {
        const row = encodeCells(definition, wanted.changes)
        return [{ kind: 'merge', ...keyed(definition, wanted.key), row, ...under(wanted, before) }]
      }
      case 'remove':
        return [{ kind: 'delete', ...keyed(definition, wanted.key), ...under(wanted, before) }]
      case 'change':
        return changed(definition, wanted.before, after)
      default:
        return unreachable(wanted)
    }
  },
}

/** Where an entity stands, and what its own row holds. */
function placed(definition: Definition, values: Values, foreign: Row = {}): PlacedRow & Pick<Step, 'of'> {
  const { row, ...place } = encodeEntity(definition, ownLayout(definition), values)
  return { of: definition.name, ...place, row: { ...foreign, ...row } }
}

export function keyed(definition: Definition, key: Values): Pick<Step, 'of' | 'partitionKey' | 'rowKey'> {
  const { properties, partition, row } = definition
  return {
    of: definition.name,
    partitionKey: formatKey(partition, properties, key),
    rowKey: formatKey(row, properties, key),
  }
}

/** The caller's ETag, or for `*` that of the entity if it was read: then a conflict is the library's to solve. */
function under(
  wanted: Wanted & { readonly etag: string },
  before: Change['before'],
): { readonly etag: string; readonly again?: true } {
  if (before === 'unread') return { etag: wanted.etag }
  const name = wanted.definition.name
  if (before === 'absent') throw new PatternsError('NotFound', `${name}: there is no such entity`)
  if (wanted.etag === '*') return { etag: before.etag, again: true }
  if (wanted.etag !== before.etag) throw new PatternsError('Changed', `${name}: the entity has changed since`)
  return { etag: wanted.etag }
}

function changed(definition: Definition, before: Known, values: Values | undefined): readonly Step[] {
  const old = { kind: 'delete', ...keyed(definition, before.values), etag: before.etag } as const
  if (values === undefined) return [old]
  const row = placed(definition, values, before.foreign)
  if (row.partitionKey !== old.partitionKey) {
    throw new PatternsError(
      'InvalidValue',
      `${definition.name}: a change cannot move an entity to another partition`,
    )
  }
  if (row.rowKey === old.rowKey) return [{ kind: 'replace', ...row, etag: before.etag }]
  return [old, { kind: 'insert', ...row }]
}

/**
 * A merge that may also insert cannot know which fresh values to make, and would mix values that were sealed at different
 * times: it is planned from what is stored.
 */
function isNoPlainMerge({ kind, definition, ...wanted }: Wanted): boolean {
  if (kind !== 'upsertMerge' || !('values' in wanted)) return false
  return Object.entries(definition.properties).some(
    ([name, { flags }]) =>
      flags.includes('encrypted') ||
      flags.includes('large') ||
      (flags.includes('fresh') && wanted.values?.[name] === undefined),
  )
}

/**
 * Intra-partition secondary index: look an entity up, and list entities, by another value than their key. Atomic.
 *
 *   PartitionKey  RowKey                    holds
 *   Sales         empid_000223              the entity
 *   Sales         email_jonesj@contoso.com  a copy of it, or of some of its properties
 *
 * Every write of the entity writes its copies in the same transaction, and a changed value moves the copy. Values are
 * unique in an index; let the key end in the entity's own id where they are not.
 *
 * Given up: each copy counts against the 100 steps of a transaction and the load of the partition, and writes other
 * than inserts read the entity first, because the old value says where the old copy is.
 */
import type { Definition } from './definition/entity.ts'
import type { Values } from './definition/key-template.ts'
import { encodeEntity, indexLayout, type PlacedRow } from './row/codec.ts'
import type { Row } from './row/row.ts'
import type { Facet } from './write/facet.ts'
import type { Step } from './write/step.ts'

export function intraPartitionIndex(definition: Definition, label: string): Facet {
  const layout = indexLayout(definition, label)
  const of = `${definition.name}.${label}`
  return {
    needsBefore: ({ kind }) => kind !== 'insert' && kind !== 'patch',
    steps({ wanted, before, after }) {
      // The compiler keeps a patch from what feeds an index, so no copy holds what it changes.
      if (wanted.kind === 'patch') return []
      const old = typeof before === 'object' ? copyOf(before.values) : undefined
      return copySteps(old, after && copyOf(after))
    },
  }

  function copyOf(values: Values): PlacedRow {
    return encodeEntity(definition, layout, values)
  }

  function copySteps(old: PlacedRow | undefined, next: PlacedRow | undefined): readonly Step[] {
    if (old !== undefined && next !== undefined && old.rowKey === next.rowKey) {
      return isSame(old.row, next.row) ? [] : [{ kind: 'replace', of, ...next, etag: '*' }]
    }
    const steps: Step[] = []
    if (old !== undefined) {
      const { partitionKey, rowKey } = old
      steps.push({ kind: 'delete', of, partitionKey, rowKey, etag: '*' })
    }
    if (next !== undefined) steps.push({ kind: 'insert', of, ...next })
    return steps
  }
}

function isSame(one: Row, other: Row): boolean {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => one[name]?.value === other[name]?.value)
  )
}

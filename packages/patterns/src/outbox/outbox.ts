/**
 * The outbox: what a write changes outside its partition is written down inside it, in the same transaction. Eventual:
 * after any crash the entry is there exactly if the write is, and stays until a relay has seen to it.
 *
 *   cell              holds
 *   outboxDefinition  whose entities they are
 *   outboxEntities    RowKeys of the entities that were written, as JSON
 *   outboxPlaces      [label, PartitionKey, RowKey] of each place that was right before or must be now, as JSON
 */
import type { Definition } from '../definition/entity.ts'
import { formatKey, type Values } from '../definition/key-template.ts'
import { PatternsError } from '../patterns-error.ts'
import type { Row, StoredRow } from '../row/row.ts'
import { holdsExactly } from '../row/same-cells.ts'
import type { Change, Facet } from '../write/facet.ts'
import type { Step } from '../write/step.ts'
import type { Elsewhere, Place, Shown } from './elsewhere.ts'
import { entryPrefix, timedKey } from './keys.ts'

/** The outbox as a facet: REQUIRES at least one part. */
export function outboxFacet(definition: Definition, parts: readonly Elsewhere[]): Facet {
  const feeds = new Set(parts.flatMap((part) => part.feeds))
  return {
    needsBefore: (wanted) =>
      wanted.kind === 'patch'
        ? Object.keys(wanted.changes).some((name) => feeds.has(name))
        : wanted.kind !== 'insert',
    steps(change) {
      const { old, next } = statesOf(change)
      const places = parts.flatMap((part) => stalePlaces(part, old, next))
      const [known] = [old, next].filter((values) => values !== undefined)
      if (places.length === 0 || known === undefined) return []
      const { at, id } = change.wanted.stamp
      const entities = [old, next].flatMap((values) => (values ? [rowKeyOf(values)] : []))
      const step: Step = {
        kind: 'insert',
        of: `${definition.name}.outbox`,
        partitionKey: formatKey(definition.partition, definition.properties, known),
        rowKey: timedKey(entryPrefix, at, id),
        row: entryRow({ definition: definition.name, entities: [...new Set(entities)], places }),
      }
      return [step]
    },
  }

  function rowKeyOf(values: Values): string {
    return formatKey(definition.row, definition.properties, values)
  }
}

export interface Entry {
  readonly definition: string
  readonly entities: readonly string[]
  readonly places: readonly Place[]
}

export function entryRow({ definition, entities, places }: Entry): Row {
  const listed = places.map(({ label, partitionKey, rowKey }) => [label, partitionKey, rowKey])
  return {
    outboxDefinition: { type: 'String', value: definition },
    outboxEntities: { type: 'String', value: JSON.stringify(entities) },
    outboxPlaces: { type: 'String', value: JSON.stringify(listed) },
  }
}

export function readEntry({ partitionKey, rowKey, cells }: StoredRow): Entry {
  try {
    const places = JSON.parse(String(cells['outboxPlaces']?.value)) as readonly [string, string, string][]
    return {
      definition: String(cells['outboxDefinition']?.value),
      entities: JSON.parse(String(cells['outboxEntities']?.value)) as readonly string[],
      places: places.map(([label, ...keys]) => ({ label, partitionKey: keys[0], rowKey: keys[1] })),
    }
  } catch (cause) {
    throw new PatternsError('UnreadableRow', `no entry of an outbox at (${partitionKey}, ${rowKey})`, {
      cause,
    })
  }
}

/** A patch that nothing here depends on reads nothing, and leaves both unknown. */
function statesOf({ wanted, before, after }: Change): {
  readonly old: Values | undefined
  readonly next: Values | undefined
} {
  const old = typeof before === 'object' ? before.values : undefined
  return { old, next: wanted.kind === 'patch' ? old && { ...old, ...wanted.changes } : after }
}

/** Where old and new state differ in what they show. */
function stalePlaces(part: Elsewhere, old: Values | undefined, next: Values | undefined): readonly Place[] {
  const [before, now] = [old ? part.shown(old) : [], next ? part.shown(next) : []]
  const left = before.filter((each) => !now.some((other) => isSamePlace(each, other)))
  const changed = now.filter(
    (each) => !before.some((other) => isSamePlace(each, other) && isSameShown(each, other)),
  )
  return [...left, ...changed].map(({ label, partitionKey, rowKey }) => ({ label, partitionKey, rowKey }))
}

export function isSamePlace(one: Place, other: Place): boolean {
  return one.label === other.label && one.partitionKey === other.partitionKey && one.rowKey === other.rowKey
}

function isSameShown(one: Shown, other: Shown): boolean {
  return holdsExactly(one.row, other.row)
}

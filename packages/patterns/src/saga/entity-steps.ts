/** Ready-made steps: move an entity between tables. */
import type { TableClient } from '@azure/data-tables'
import { type ExactRow, readExactly } from '../exact-row.ts'
import { codeOf, statusOf } from '../refusal.ts'
import type { Step } from './saga.ts'

export interface EntityKey {
  readonly partitionKey: string
  readonly rowKey: string
}

export interface Found {
  /** Absent when the entity was not there: an earlier attempt has got further than this one. */
  readonly entity: ExactRow | undefined
}

/**
 * Copies an entity from one table to another, then deletes it from the first: the guide's archive.
 * At every moment it is in one of the two, or for a while in both.
 */
export function archive<Input = EntityKey>(tables: {
  readonly from: TableClient
  readonly to: TableClient
  readonly keyOf?: (input: Input) => EntityKey
}): readonly Step<Input, Found>[] {
  const { from, to, keyOf } = tables
  const key = keyOf === undefined ? {} : { keyOf }
  return [
    readEntity<Input>({ table: from, ...key }),
    writeEntity<Input>({ table: to }),
    removeEntity<Input>({ table: from, ...key }),
  ]
}

interface Place<Input> {
  readonly table: TableClient
  /** The input itself when left out. */
  readonly keyOf?: (input: Input) => EntityKey
  /** What the step is called; after its table when left out. */
  readonly name?: string
}

export function readEntity<Input = EntityKey>(place: Place<Input>): Step<Input, Found> {
  const { table, name = `read from ${table.tableName}`, keyOf = inputAsKey } = place
  return {
    name,
    run: async ({ input, signal }) => ({ entity: await readExactly(table, keyOf(input), signal) }),
  }
}

/** Insert-or-replace of the entity that was read; nothing when there was none. */
export function writeEntity<Input>(place: Omit<Place<Input>, 'keyOf'>): Step<Input, Found> {
  const { table, name = `write to ${table.tableName}` } = place
  return {
    name,
    async run({ known: { entity }, signal: abortSignal }) {
      if (entity !== undefined) await table.upsertEntity(entity.row, 'Replace', { abortSignal })
    },
  }
}

/**
 * Delete-if-exists, under the ETag of what was read: a change made meanwhile fails the attempt, and the next one
 * takes the change along.
 */
export function removeEntity<Input = EntityKey>(place: Place<Input>): Step<Input, Found> {
  const { table, name = `remove from ${table.tableName}`, keyOf = inputAsKey } = place
  return {
    name,
    async run({ input, known: { entity }, signal: abortSignal }) {
      if (entity === undefined) return
      const { partitionKey, rowKey } = keyOf(input)
      try {
        await table.deleteEntity(partitionKey, rowKey, { etag: entity.etag, abortSignal })
      } catch (error) {
        if (statusOf(error) !== 404 || codeOf(error) === 'TableNotFound') throw error
      }
    },
  }
}

function inputAsKey(input: unknown): EntityKey {
  return input as EntityKey
}

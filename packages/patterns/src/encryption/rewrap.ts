/**
 * Key rotation: walks a table and wraps each content key anew by the current key. Values are not touched, so any
 * reader that knows both keys reads on throughout.
 *
 * Guarantee   eventual: each entity is rewrapped in one merge under its ETag. After a death, run it again: it goes on
 *             with those that still need it.
 */
import type { TableClient } from '@azure/data-tables'
import { statusOf } from '../refusal.ts'
import {
  binary,
  type Cell,
  type Cells,
  envelopeProperties,
  keyIdProperty,
  keyProperty,
  type RowKeys,
  unwrap,
} from './encryption.ts'
import type { KeyRing } from './key-ring.ts'

export interface RewrapOptions {
  /** Entities at a time; 8 when left out. */
  readonly concurrency?: number
  readonly signal?: AbortSignal
  readonly observe?: (progress: Rewrapped) => void
}

export interface Rewrapped {
  readonly rewrapped: number
}

/** When it resolves, every entity that was there when it began is wrapped by the current key. */
export async function rewrap(
  table: Pick<TableClient, 'listEntities' | 'getEntity' | 'updateEntity'>,
  keys: KeyRing,
  { concurrency = 8, signal, observe }: RewrapOptions = {},
): Promise<Rewrapped> {
  const { current } = keys
  const abort = signal === undefined ? {} : { abortSignal: signal }
  const select = ['partitionKey', 'rowKey', ...envelopeProperties]
  let rewrapped = 0
  const outdated = table.listEntities({
    ...abort,
    disableTypeConversion: true,
    queryOptions: { select, filter: `${keyIdProperty} ne '${current.id.replaceAll("'", "''")}'` },
  })
  const rows = outdated[Symbol.asyncIterator]()
  await Promise.all(Array.from({ length: concurrency }, take))
  return { rewrapped }

  async function take(): Promise<void> {
    for (let next = await rows.next(); !next.done; next = await rows.next()) {
      signal?.throwIfAborted()
      if (await rewrapRow(next.value as unknown as Found)) rewrapped += 1
      observe?.({ rewrapped })
    }
  }

  async function rewrapRow(found: Found): Promise<boolean> {
    const key = { partitionKey: found.partitionKey, rowKey: found.rowKey }
    let row: Found | undefined = found
    for (;;) {
      const envelope = row && (await newEnvelope(key, row))
      if (row === undefined || envelope === undefined) return false
      try {
        await table.updateEntity({ ...key, ...envelope }, 'Merge', { ...abort, etag: row.etag })
        return true
      } catch (error) {
        if (statusOf(error) === 404) return false
        if (statusOf(error) !== 412) throw error
        row = await read(key)
      }
    }
  }

  /** Undefined when there is nothing to do. */
  async function newEnvelope(key: RowKeys, row: Found): Promise<Cells | undefined> {
    const [wrapped, id] = [row[keyProperty], row[keyIdProperty]]
    if (wrapped === undefined || id === undefined || id.value === current.id) return undefined
    const contentKey = await unwrap(keys, key, wrapped, id)
    return {
      [keyProperty]: binary(await current.wrap(contentKey)),
      [keyIdProperty]: { type: 'String', value: current.id },
    }
  }

  async function read({ partitionKey, rowKey }: RowKeys): Promise<Found | undefined> {
    try {
      const options = { ...abort, disableTypeConversion: true, queryOptions: { select } }
      return (await table.getEntity(partitionKey, rowKey, options)) as unknown as Found
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }
}

interface Found extends RowKeys {
  readonly etag: string
  readonly [keyProperty]?: Cell
  readonly [keyIdProperty]?: Cell
}

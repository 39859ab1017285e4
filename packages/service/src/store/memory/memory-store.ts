/** The least code that keeps the contract: the oracle for the other stores, and `:memory:` for tests. */
import {
  clip,
  type EntityKey,
  firstPosition,
  type KeyRange,
  type PartitionKey,
  slotOf,
} from '../../model/keys.ts'
import { applyMutation, type Mutation } from '../../model/mutation.ts'
import { encodeRecord, type EntityRecord } from '../../model/record.ts'
import { recordAlone } from '../../model/records.ts'
import {
  type AccountName,
  catalogue,
  deletions,
  firstTableId,
  serviceSettings,
  type TableId,
  type TableName,
} from '../../model/table.ts'
import type { Clock } from '../../model/ticks.ts'
import { nextVersion, type Version } from '../../model/version.ts'
import { catalogueEntryOf, catalogueKey, newCatalogueEntry } from '../catalogue.ts'
import type { CommitOutcome, Store, Visit } from '../store.ts'

/** Records by slot, and the slots in order. */
interface Rows {
  readonly records: Map<string, EntityRecord>
  readonly slots: string[]
}

export function openMemoryStore({ clock }: { readonly clock: Clock }): Store {
  const tables = new Map<TableId, Rows>([
    [catalogue, emptyRows()],
    [deletions, emptyRows()],
    [serviceSettings, emptyRows()],
  ])
  let nextId: number = firstTableId
  let last = 0n as Version
  return { get, scan, commit, create, drop, close }

  async function get(table: TableId, key: EntityKey): Promise<EntityRecord | undefined> {
    return tables.get(table)?.records.get(slotOf(key))
  }

  async function scan(table: TableId, ranges: readonly KeyRange[], visit: Visit): Promise<void> {
    const rows = tables.get(table)
    if (rows === undefined) return
    let position = firstPosition
    for (const range of ranges) {
      const until = range.until === undefined ? undefined : slotOf(range.until)
      let at = indexOf(rows.slots, slotOf(clip(range, position)?.from ?? position))
      for (;;) {
        const slot = rows.slots[at]
        if (slot === undefined || (until !== undefined && slot >= until)) break
        const goOn = visit(recordAlone(rows.records.get(slot) as EntityRecord))
        if (goOn === 'stop') return
        if (goOn !== 'next') position = goOn
        at = goOn === 'next' ? at + 1 : indexOf(rows.slots, slotOf(goOn))
      }
    }
  }

  async function commit(
    table: TableId,
    partition: PartitionKey,
    mutations: readonly Mutation[],
  ): Promise<CommitOutcome> {
    await ownTurn
    return apply(table, partition, mutations)
  }

  async function create(account: AccountName, name: TableName): Promise<TableId | undefined> {
    await ownTurn
    const id = nextId as TableId
    const { partition, row } = catalogueKey(account, name)
    const outcome = apply(catalogue, partition, [{ ...newCatalogueEntry(account, name, id), row }])
    if (outcome.kind !== 'committed') return undefined
    nextId++
    tables.set(id, emptyRows())
    return id
  }

  async function drop(account: AccountName, name: TableName): Promise<boolean> {
    await ownTurn
    const entries = tables.get(catalogue)
    const slot = slotOf(catalogueKey(account, name))
    const entry = entries?.records.get(slot)
    if (entries === undefined || entry === undefined) return false
    // Not a mutation: nothing is left that could bear a version, so none is spent, as on disk.
    write(entries, slot, undefined)
    tables.delete(catalogueEntryOf(entry).id)
    return true
  }

  function apply(table: TableId, partition: PartitionKey, mutations: readonly Mutation[]): CommitOutcome {
    const rows = tables.get(table)
    if (rows === undefined) return { kind: 'no table' }
    const versions: Version[] = []
    const writes: [slot: string, record: EntityRecord | undefined][] = []
    for (const [index, mutation] of mutations.entries()) {
      const slot = slotOf({ partition, row: mutation.row })
      last = nextVersion(last, clock())
      versions.push(last)
      const applied = applyMutation(rows.records.get(slot), mutation)
      if (applied.kind === 'refuse') return { kind: 'refused', index, reason: applied.reason }
      writes.push([
        slot,
        applied.kind === 'write' ? encodeRecord(applied.keys, applied.content, last) : undefined,
      ])
    }
    for (const [slot, record] of writes) write(rows, slot, record)
    return { kind: 'committed', versions }
  }

  async function close(): Promise<void> {
    tables.clear()
  }
}

/** Changes wait for a turn of their own: a scan visits one moment, also when its visitor makes changes. */
const ownTurn = Promise.resolve()

function emptyRows(): Rows {
  return { records: new Map(), slots: [] }
}

function write(rows: Rows, slot: string, record: EntityRecord | undefined): void {
  const known = rows.records.has(slot)
  if (record === undefined) {
    if (!known) return
    rows.records.delete(slot)
    rows.slots.splice(indexOf(rows.slots, slot), 1)
  } else {
    rows.records.set(slot, record)
    if (!known) rows.slots.splice(indexOf(rows.slots, slot), 0, slot)
  }
}

/** Index of the first slot not below `slot`. */
function indexOf(slots: readonly string[], slot: string): number {
  let low = 0
  let high = slots.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((slots[middle] as string) < slot) low = middle + 1
    else high = middle
  }
  return low
}

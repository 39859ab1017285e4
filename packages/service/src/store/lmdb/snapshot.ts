/** Rows as they were at one moment: for as long as a scan takes, or for a single look. */
import { recordAlone, viewOf } from '../../model/records.ts'
import { type Environment, type ReadTransaction, versionFact } from './environment.ts'
import { findMap, type MappedFile } from './mapped-file.ts'
import { findLockFile, type LockFile } from './lock-file.ts'
import { findRow, latestTxn, type Root, type Row, type Rows, rootsOf, treeRows } from './tree.ts'

export interface Snapshots {
  /** The rows of the latest commit. Whoever opens them closes them. */
  open(): Rows
  /** One row of the latest commit, valid until the caller gives way. */
  find(key: Uint8Array): Row | undefined
  /** The latest commit: the same object until there is another. Undefined if it cannot be told. */
  moment(): Root | undefined
  close(): void
}

/**
 * How often it is looked whether single rows are still asked for. While they are, and nothing is committed, they are
 * found in one snapshot: opening it takes longer than finding a row. A snapshot nobody uses would only keep the writer
 * from using pages again.
 */
const lookMs = 10

export function snapshots(environment: Environment, path: string): Snapshots {
  let map: MappedFile | undefined
  let lock: LockFile | undefined
  let held: { readonly transaction: ReadTransaction; readonly root: Root } | undefined
  let used = false
  let looking: NodeJS.Timeout | undefined
  return { open, find, moment: latestRoot, close }

  function open(): Rows {
    return inTransaction((transaction, seen) => {
      const inPlace = seen === undefined ? undefined : rowsInPlace(environment, transaction, seen)
      return inPlace ?? rowsByCursor(environment, transaction)
    })
  }

  function find(key: Uint8Array): Row | undefined {
    const root = latestRoot()
    if (map !== undefined && root !== undefined) return findRow(map, root.page, key)
    environment.resetReadTxn()
    const bytes = environment.get(key)
    return bytes === undefined ? undefined : { bytes, at: 0 }
  }

  function latestRoot(): Root | undefined {
    used = true
    if (held !== undefined && map !== undefined && latestOf(map) === held.root.txn) return held.root
    letGo()
    return inTransaction((transaction, seen) => {
      const root = seen === undefined ? undefined : rootOf(environment, transaction, seen)
      if (root === undefined) transaction.done()
      else hold(transaction, root)
      return root
    })
  }

  function latestOf(file: MappedFile): number {
    return lock === undefined ? latestTxn(file) : lock.committed()
  }

  function hold(transaction: ReadTransaction, root: Root): void {
    held = { transaction, root }
    looking ??= setInterval(() => {
      if (!used) close()
      used = false
    }, lookMs).unref()
  }

  function letGo(): void {
    held?.transaction.done()
    held = undefined
  }

  function close(): void {
    clearInterval(looking)
    looking = undefined
    letGo()
  }

  /** Begins a transaction, which is for `use` to end, and finds the map if it was not found before. */
  function inTransaction<Result>(
    use: (transaction: ReadTransaction, seen: MappedFile | undefined) => Result,
  ): Result {
    // One may be left from an earlier read; a new one sees what was acknowledged since.
    environment.resetReadTxn()
    const transaction = environment.useReadTransaction() as ReadTransaction
    try {
      if (map === undefined) {
        map = findMap(environment, transaction, path)
        lock = map === undefined ? undefined : findLockFile(path)
      }
      return use(transaction, map)
    } catch (error) {
      transaction.done()
      throw error
    }
  }
}

/** The transaction's rows, read from the map; undefined if they cannot be told from others. */
export function rowsInPlace(
  environment: Environment,
  transaction: ReadTransaction,
  map: MappedFile,
): Rows | undefined {
  const root = rootOf(environment, transaction, map)
  if (root === undefined) return undefined
  return Object.assign(treeRows(map, root.page), { close: () => transaction.done() })
}

/**
 * The tree a transaction sees. lmdb-js does not tell which of the file's two metas a transaction
 * began with: it is the one in whose tree the last version handed out is the one the transaction sees. A meta may
 * be in the file while it is still being synced, and must not be read before it counts as committed.
 *
 * Commits that hand out no version only take away: a table's rows after the table itself. Seen a moment early,
 * they show nothing that was not to be seen.
 *
 * Undefined if neither meta is the one, as when two commits ended since the transaction began.
 */
function rootOf(environment: Environment, transaction: ReadTransaction, map: MappedFile): Root | undefined {
  const version = environment.get(versionFact, { transaction })
  if (version === undefined) return undefined
  return rootsOf(map).find(({ page }) => {
    const row = findRow(map, page, versionFact)
    return (
      row !== undefined && version.compare(row.bytes, row.at, row.at + versionBytes, 0, versionBytes) === 0
    )
  })
}

const versionBytes = 8

/** The same rows by lmdb-js's own cursor: several times slower, and always possible. */
export function rowsByCursor(environment: Environment, transaction: ReadTransaction): Rows {
  let iterator: Iterator<{ value: Buffer }> | undefined
  const rows: Rows = { ...recordAlone(Buffer.alloc(0)), seek, next, open, following: () => [], close }
  return rows

  function seek(from: Uint8Array, until: Uint8Array): void {
    iterator?.return?.()
    iterator = environment.getRange({ start: from, end: until, transaction })[Symbol.iterator]()
  }

  function next(): boolean {
    const step = iterator?.next()
    if (step === undefined || step.done === true) return false
    const bytes = step.value.value
    if (bytes !== rows.bytes) Object.assign(rows, { bytes, view: viewOf(bytes) })
    return true
  }

  function open(): void {}

  function close(): void {
    iterator?.return?.()
    transaction.done()
  }
}

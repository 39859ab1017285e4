/** Rows as they were at one moment: for as long as a scan takes, or for a single look. */
import { recordAlone, viewOf } from '../../model/records.ts'
import { type Environment, type ReadTransaction, versionFact } from './environment.ts'
import { findMap, type MappedFile } from './mapped-file.ts'
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
  let held: (Seen & { readonly transaction: ReadTransaction }) | undefined
  let used = false
  let looking: NodeJS.Timeout | undefined
  return { open, find, moment: latestRoot, close }

  function open(): Rows {
    return inTransaction((transaction, file) => {
      const inPlace = file === undefined ? undefined : rowsInPlace(environment, transaction, file)
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
    if (held !== undefined && map !== undefined) {
      if (latestTxn(map) === held.root.txn) return held.root
      // The latest may still be on its way to the disk, and many a read comes meanwhile.
      environment.resetReadTxn()
      const version = environment.get(versionFact)
      if (version !== undefined && isVersion(version, 0, held.version)) return held.root
    }
    letGo()
    return inTransaction((transaction, file) => {
      const seen = file === undefined ? undefined : whatIsSeen(environment, transaction, file)
      if (seen === undefined) transaction.done()
      else hold(transaction, seen)
      return seen?.root
    })
  }

  function hold(transaction: ReadTransaction, { root, version }: Seen): void {
    held = { transaction, root, version }
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
    use: (transaction: ReadTransaction, file: MappedFile | undefined) => Result,
  ): Result {
    // One may be left from an earlier read; a new one sees what was acknowledged since.
    environment.resetReadTxn()
    const transaction = environment.useReadTransaction() as ReadTransaction
    try {
      map ??= findMap(environment, transaction, path)
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
  const seen = whatIsSeen(environment, transaction, map)
  if (seen === undefined) return undefined
  return Object.assign(treeRows(map, seen.root.page), { close: () => transaction.done() })
}

/** What a transaction sees: a tree, and the last version handed out in it. */
interface Seen {
  readonly root: Root
  readonly version: Buffer
}

/**
 * lmdb-js does not tell which of the file's two metas a transaction began with: it is the one in whose tree the last
 * version handed out is the one the transaction sees. A meta may be in the file while it is still being synced, and
 * must not be read before it counts as committed. Every commit that changes anything hands out a version.
 *
 * Undefined if neither meta is the one, as when two commits ended since the transaction began.
 */
function whatIsSeen(
  environment: Environment,
  transaction: ReadTransaction,
  map: MappedFile,
): Seen | undefined {
  const found = environment.get(versionFact, { transaction })
  if (found === undefined) return undefined
  const version = Buffer.from(found.subarray(0, versionBytes))
  const root = rootsOf(map).find(({ page }) => {
    const row = findRow(map, page, versionFact)
    return row !== undefined && isVersion(row.bytes, row.at, version)
  })
  return root === undefined ? undefined : { root, version }
}

const versionBytes = 8

function isVersion(bytes: Buffer, at: number, version: Buffer): boolean {
  return version.compare(bytes, at, at + versionBytes) === 0
}

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

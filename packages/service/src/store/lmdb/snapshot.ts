/** Rows as they were at one moment, for as long as a scan takes. */
import { type Environment, type ReadTransaction, versionFact } from './environment.ts'
import { findMap, type MappedFile } from './mapped-file.ts'
import { type Rows, rootsOf, treeRows } from './tree.ts'

/** Opens snapshots of the latest commit. Whoever opens one closes it. */
export function snapshots(environment: Environment, path: string): () => Rows {
  let map: MappedFile | undefined
  return () => {
    // A read transaction may be left from an earlier read; a new one sees what was acknowledged since.
    environment.resetReadTxn()
    const transaction = environment.useReadTransaction() as ReadTransaction
    try {
      map ??= findMap(environment, transaction, path)
      const inPlace = map === undefined ? undefined : rowsInPlace(environment, transaction, map)
      return inPlace ?? rowsByCursor(environment, transaction)
    } catch (error) {
      transaction.done()
      throw error
    }
  }
}

/**
 * The transaction's rows, read from the map. lmdb-js does not tell which of the file's two metas a transaction
 * began with: it is the one in whose tree the last version handed out is the one the transaction sees. A meta may
 * be in the file while it is still being synced, and must not be read before it counts as committed.
 *
 * Commits that hand out no version only take away: a table's rows after the table itself. Seen a moment early,
 * they show nothing that was not to be seen.
 *
 * Undefined if neither meta is the one, as when two commits ended since the transaction began.
 */
export function rowsInPlace(
  environment: Environment,
  transaction: ReadTransaction,
  map: MappedFile,
): Rows | undefined {
  const version = environment.get(versionFact, { transaction })
  if (version === undefined) return undefined
  for (const root of rootsOf(map)) {
    const rows = treeRows(map, root)
    rows.seek(versionFact, afterVersionFact)
    if (rows.next() && version.compare(rows.bytes, rows.at, rows.at + versionBytes, 0, versionBytes) === 0)
      return Object.assign(rows, { close: () => transaction.done() })
  }
  return undefined
}

const versionBytes = 8
const afterVersionFact = Buffer.concat([versionFact, Buffer.from([0])])

/** The same rows by lmdb-js's own cursor: several times slower, and always possible. */
export function rowsByCursor(environment: Environment, transaction: ReadTransaction): Rows {
  let iterator: Iterator<{ value: Buffer }> | undefined
  const rows: Rows = { bytes: Buffer.alloc(0), at: 0, seek, next, close }
  return rows

  function seek(from: Uint8Array, until: Uint8Array): void {
    iterator?.return?.()
    iterator = environment.getRange({ start: from, end: until, transaction })[Symbol.iterator]()
  }

  function next(): boolean {
    const step = iterator?.next()
    if (step === undefined || step.done === true) return false
    rows.bytes = step.value.value
    return true
  }

  function close(): void {
    iterator?.return?.()
    transaction.done()
  }
}

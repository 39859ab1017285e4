/**
 * LMDB's lock file, as it has it in memory. It tells which transaction counts as committed: the one that whoever begins
 * to read now will see. The metas tell of one more, while that is still being synced.
 *
 *   lock = magic:u32 · format:u32 · txn:u64 · …
 *
 * Source: mdb.c of LMDB 0.9.90 as in lmdb-js.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { bufferAt } from './mapped-file.ts'
import { magic, u32, u64 } from './tree.ts'

export interface LockFile {
  /** The latest transaction that counts as committed, by any process. */
  committed(): number
}

const lockBytes = 16

/**
 * REQUIRES: LMDB has the file open, for as long as the result is used. Undefined where the system does not tell what lies
 * where in memory, as only Linux does. To open the file ourselves is out of the question: LMDB would lose its locks when
 * we close it.
 */
export function findLockFile(path: string): LockFile | undefined {
  const address = addressOf(join(realpathSync(path), 'lock.mdb'))
  const bytes = address === undefined ? undefined : bufferAt(address, lockBytes)
  if (bytes === undefined || u32(bytes, 0) !== magic) return undefined
  return { committed: () => u64(bytes, 8) }
}

function addressOf(file: string): number | undefined {
  let maps: string
  try {
    maps = readFileSync('/proc/self/maps', 'latin1')
  } catch {
    return undefined
  }
  const line = maps.split('\n').find((each) => each.endsWith(` ${Buffer.from(file).toString('latin1')}`))
  return line === undefined ? undefined : Number.parseInt(line, 16)
}

/**
 * The memory map that LMDB reads the file through, as Buffers over the same memory.
 *
 * Invariants. A page of the map may be read only while a read transaction is open in whose snapshot it lies:
 * afterwards the writer may reuse it. The map stays where it is until the environment is closed, because its
 * size is fixed when it is opened. Pages behind the end of the file must not be touched at all.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import * as lmdb from 'lmdb'
import { type Environment, pageBytes, type ReadTransaction } from './environment.ts'

export interface MappedFile {
  /** The memory that holds a page, and all of a value that begins on it. */
  windowOf(page: number): Buffer
  /** Where a page begins in its window. */
  offsetOf(page: number): number
}

/** What a Buffer can span and an offset in it stay a small integer. */
const windowBytes = 2 ** 30
const windowPages = windowBytes / pageBytes
const windowPagesLog2 = Math.log2(windowPages)
/** A value longer than a page lies on pages that follow each other, perhaps across the end of a window. */
const overlapBytes = 16 * 2 ** 20
/** Every system's pages are a multiple of this, and maps begin where one does. */
const systemPageBytes = 4096

/**
 * Finds the map of an environment; undefined if there is nothing in the file yet, or if this build of lmdb-js
 * does not let us. lmdb-js tells the address of a value, and a page bears its own number. That both were
 * understood is proved by reading that page from the file and comparing.
 */
export function findMap(
  environment: Environment,
  transaction: ReadTransaction,
  path: string,
): MappedFile | undefined {
  if (native?.getCurrentShared === undefined || native.createBufferForAddress === undefined) return undefined
  const { db, env } = environment as unknown as LmdbInternals
  const cursor = new native.Cursor(db, transaction.address)
  try {
    if (native.position(cursor.address, 0, 0, 0, 0) <= 0) return undefined
    const value = native.getBufferAddress(native.getCurrentShared(cursor.address))
    const nearest = value - (value % systemPageBytes)
    for (let page = nearest; page > value - pageBytes; page -= systemPageBytes) {
      const start = native.createBufferForAddress(page, systemPageBytes)
      const number = Number(start.readBigUInt64LE(0))
      if (number > env.info().lastPageNumber || !start.equals(readPage(path, number))) continue
      return windowsFrom(page - number * pageBytes, native)
    }
    return undefined
  } finally {
    cursor.close()
  }
}

/** Memory that somebody else has mapped; undefined if this build of lmdb-js does not let us. */
export function bufferAt(address: number, bytes: number): Buffer | undefined {
  return native?.createBufferForAddress?.(address, bytes)
}

/** The beginning of a page. LMDB keeps its locks on another file, so closing this one loses none. */
function readPage(path: string, number: number): Buffer {
  const file = openSync(join(path, 'data.mdb'), 'r')
  try {
    const page = Buffer.alloc(systemPageBytes)
    readSync(file, page, 0, systemPageBytes, number * pageBytes)
    return page
  } finally {
    closeSync(file)
  }
}

function windowsFrom(base: number, native: NativeAddon): MappedFile {
  const windows: Buffer[] = []
  return { windowOf, offsetOf }

  function windowOf(page: number): Buffer {
    const index = page >>> windowPagesLog2
    windows[index] ??= native.createBufferForAddress(base + index * windowBytes, windowBytes + overlapBytes)
    return windows[index]
  }

  function offsetOf(page: number): number {
    return (page & (windowPages - 1)) * pageBytes
  }
}

/** What we use of lmdb-js's binding, which its types leave out. */
interface NativeAddon {
  readonly Cursor: new (db: object, transaction: number) => { readonly address: number; close(): void }
  /** With no key, stands on the first entry; more than 0 if there is one. */
  position(cursor: number, flags: number, offset: number, keyBytes: number, endKey: number): number
  getCurrentShared(cursor: number): Buffer
  getBufferAddress(buffer: Buffer): number
  createBufferForAddress(address: number, bytes: number): Buffer
}

const { nativeAddon: native } = lmdb as { readonly nativeAddon?: NativeAddon }

interface LmdbInternals {
  readonly db: object
  readonly env: { info(): { readonly lastPageNumber: number } }
}

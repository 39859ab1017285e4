/**
 * The LMDB file and how its keys and values are written. Opened once by the thread that reads and once by
 * the thread that writes; other processes may have it open too.
 *
 *   key            = table · slot                 an entity (key-bytes.ts)
 *                  | table                        present while the table lives
 *                  | FFFFFFFF · name              the store's own facts
 *   fact "version" = u64                          the last version handed out
 *   fact "table"   = u32                          the next table id
 *   fact "dropped" · table                        rows of this table wait to be reclaimed
 */
import { open, type RootDatabase } from 'lmdb'
import { copyBytes } from '../../model/bytes.ts'
import { boundBytesMax, encodeKey, encodeTable, tableBytes } from '../../model/key-bytes.ts'
import type { KeyPosition } from '../../model/keys.ts'
import { firstTableId, type TableId } from '../../model/table.ts'

export type Environment = RootDatabase<Buffer, Uint8Array>

/** A snapshot that stays until `done`. The address is lmdb-js's own, left out of its types. */
export type ReadTransaction = ReturnType<Environment['useReadTransaction']> & { readonly address: number }

export const pageBytes = 8192
/** Address space, not memory or disk: the file grows as needed up to this. */
const mapBytes = 2 ** 40
/** Scans under way at once, in all processes together. */
const readersMax = 4096

/**
 * Values come out as a view of LMDB's shared buffer, valid until the next read of the thread; keys come
 * out only where `keys` asks for them. Both save an allocation for each row.
 */
export function openEnvironment(path: string, { keys }: { readonly keys: boolean }): Environment {
  let view = Buffer.alloc(0)
  return open<Buffer, Uint8Array>({
    path,
    pageSize: pageBytes,
    mapSize: mapBytes,
    maxDbs: 1,
    maxReaders: readersMax,
    cache: false,
    ...leftOutOfTypes,
    // The writer syncs each group before it answers; a second, overlapping sync would gain nothing.
    overlappingSync: false,
    keyEncoder: {
      writeKey(key: Uint8Array, target: Buffer, start: number): number {
        target.set(key, start)
        return start + key.length
      },
      readKey(source: Buffer, start: number, end: number): Uint8Array {
        return keys ? Uint8Array.prototype.slice.call(source, start, end) : noKey
      },
    },
    encoder: {
      encode: (value: Buffer) => value,
      // lmdb-js overwrites `length` of the buffer it shares, which breaks Buffer's own methods.
      decode(shared: Buffer): Buffer {
        if (view.buffer !== shared.buffer) {
          view = Buffer.from(shared.buffer as ArrayBuffer, shared.byteOffset, shared.byteLength)
        }
        return view
      },
    },
  })
}

// Or each row that is not in memory would have the system read up to megabytes around it.
const leftOutOfTypes = { noReadAhead: true }

const noKey = new Uint8Array(0)

/** The key of an entity, or of a place between two. */
export function entityKey(table: TableId, position: KeyPosition): Uint8Array {
  const bytes = encodeKey(scratch, 0, table, position)
  // Not by `slice`, which first asks for the class of the copy.
  const key = Buffer.allocUnsafe(bytes)
  copyBytes(scratch, 0, bytes, key, 0)
  return key
}

const scratch = Buffer.alloc(boundBytesMax + 2)

/** Present while the table lives; sorts before all its rows. */
export function liveKey(table: TableId): Uint8Array {
  const key = new Uint8Array(tableBytes)
  encodeTable(key, 0, table)
  return key
}

/** Tables of our own exist without being created. */
export function isOurs(table: TableId): boolean {
  return table < firstTableId
}

const facts = 0xff_ff_ff_ff as TableId

export const versionFact = factKey('version')
export const tableFact = factKey('table')
export const firstDropped = droppedKey(0 as TableId)
export const afterDropped = factKey('dropped.')

export function droppedKey(table: TableId): Uint8Array {
  return Buffer.concat([factKey('dropped'), liveKey(table)])
}

/** Exact inverse of droppedKey. */
export function tableOfDropped(key: Uint8Array): TableId {
  return Buffer.from(key).readUInt32BE(key.length - tableBytes) as TableId
}

function factKey(name: string): Uint8Array {
  return Buffer.concat([liveKey(facts), Buffer.from(name)])
}

/**
 * What the reading thread and the writer thread say to each other. Commits travel packed in one
 * transferred buffer: cloning them as objects costs more than applying them.
 *
 *   commits   = commit*
 *   commit    = id:u32 · table:u32 · count:u16 · mutation*
 *   mutation  = kind:u8 · condition:u8 · version:u64 · key:u16+bytes · keys:u16+text · content:u32+bytes
 */
import { boundBytesMax, encodeKey } from '../../model/key-bytes.ts'
import type { PartitionKey } from '../../model/keys.ts'
import type { Change, Condition, Mutation } from '../../model/mutation.ts'
import { spareBuffers } from '../../model/spare-buffers.ts'
import type { AccountName, TableId, TableName } from '../../model/table.ts'
import type { Ticks } from '../../model/ticks.ts'
import type { CommitOutcome } from '../store.ts'

/** `now` is the sender's clock: the writer has none of its own, so that a test can own it. */
export type WriterRequest =
  | { readonly kind: 'commits'; readonly now: Ticks; readonly bytes: Uint8Array<ArrayBuffer> }
  | {
      readonly kind: 'create' | 'drop'
      readonly now: Ticks
      readonly id: number
      readonly account: AccountName
      readonly name: TableName
    }
  | { readonly kind: 'close' }

export type WriterAnswer =
  | { readonly id: number; readonly outcome: Exclude<CommitOutcome, { kind: 'committed' }> }
  | { readonly id: number; readonly created: TableId | undefined }
  | { readonly id: number; readonly dropped: boolean }
  | { readonly id: number; readonly error: string }

export interface WriterReport {
  /** What the commits came in, for the next ones. */
  readonly buffers: readonly ArrayBuffer[]
  /** Of each commit that was made, its id and its first version: those of one commit follow each other. */
  readonly committed: BigUint64Array
  /** To all other requests. */
  readonly answers: readonly WriterAnswer[]
}

export interface PackedCommit {
  readonly id: number
  readonly table: TableId
  readonly mutations: readonly PackedMutation[]
}

export interface PackedMutation {
  readonly key: Uint8Array
  readonly change: Change
}

const kinds = ['put', 'merge', 'remove'] as const
const conditions = ['any', 'absent', 'present', 'version'] as const
const commitHeaderBytes = 10
const mutationHeaderBytes = 18

/** Collects commits until they are taken. */
export interface CommitPacker {
  add(id: number, table: TableId, partition: PartitionKey, mutations: readonly Mutation[]): void
  /** The bytes collected; their buffer is the taker's to give away. */
  take(): Uint8Array<ArrayBuffer>
  /** Takes buffers back to use them again. */
  reuse(buffers: readonly ArrayBuffer[]): void
}

export function commitPacker(): CommitPacker {
  const spare = spareBuffers(buffersMax)
  let buffer = spare.take(initialBytes)
  let end = 0
  return { add, take, reuse }

  function add(id: number, table: TableId, partition: PartitionKey, mutations: readonly Mutation[]): void {
    reserve(commitHeaderBytes)
    end = buffer.writeUInt32BE(id, end)
    end = buffer.writeUInt32BE(table, end)
    end = buffer.writeUInt16BE(mutations.length, end)
    for (const mutation of mutations) addMutation(table, partition, mutation)
  }

  function addMutation(table: TableId, partition: PartitionKey, mutation: Mutation): void {
    const keys = mutation.kind === 'remove' ? '' : mutation.keys
    const content = mutation.kind === 'remove' ? undefined : mutation.content
    const contentBytes = content?.length ?? 0
    reserve(mutationHeaderBytes + boundBytesMax + 2 + keys.length + contentBytes)
    buffer[end] = kinds.indexOf(mutation.kind)
    buffer[end + 1] = conditions.indexOf(mutation.when.kind)
    if (mutation.when.kind === 'version') buffer.writeBigUInt64BE(mutation.when.version, end + 2)
    const keyFrom = end + 12
    const keyUntil = encodeKey(buffer, keyFrom, table, { partition, row: mutation.row })
    buffer.writeUInt16BE(keyUntil - keyFrom, end + 10)
    end = buffer.writeUInt16BE(keys.length, keyUntil)
    end += buffer.write(keys, end, 'latin1')
    end = buffer.writeUInt32BE(contentBytes, end)
    if (content !== undefined) end += content.copy(buffer, end)
  }

  function take(): Uint8Array<ArrayBuffer> {
    const taken = buffer.subarray(0, end)
    // The next message is mostly about as long as this one.
    buffer = spare.take(Math.max(initialBytes, end + (end >>> 2)))
    end = 0
    return taken
  }

  function reuse(buffers: readonly ArrayBuffer[]): void {
    for (const each of buffers) spare.keep(Buffer.from(each))
  }

  function reserve(bytes: number): void {
    if (end + bytes <= buffer.length) return
    const larger = spare.take(Math.max(buffer.length * 2, end + bytes))
    buffer.copy(larger, 0, 0, end)
    spare.keep(buffer)
    buffer = larger
  }
}

const initialBytes = 16_384
/** One being written, one waiting, one being filled. */
const buffersMax = 3

export function* unpackCommits(packed: Uint8Array): Generator<PackedCommit> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  let at = 0
  while (at < bytes.length) {
    const id = bytes.readUInt32BE(at)
    const table = bytes.readUInt32BE(at + 4) as TableId
    const count = bytes.readUInt16BE(at + 8)
    at += commitHeaderBytes
    const mutations: PackedMutation[] = []
    for (let i = 0; i < count; i++) {
      const kind = kinds[bytes[at] as 0 | 1 | 2]
      const when = unpackCondition(bytes, at + 1)
      const keyFrom = at + 12
      const keyUntil = keyFrom + bytes.readUInt16BE(at + 10)
      const keysFrom = keyUntil + 2
      const keysUntil = keysFrom + bytes.readUInt16BE(keyUntil)
      const contentFrom = keysUntil + 4
      at = contentFrom + bytes.readUInt32BE(keysUntil)
      mutations.push({
        key: bytes.subarray(keyFrom, keyUntil),
        change:
          kind === 'remove'
            ? { kind, when }
            : {
                kind,
                when,
                keys: bytes.toString('latin1', keysFrom, keysUntil),
                content: bytes.subarray(contentFrom, at),
              },
      })
    }
    yield { id, table, mutations }
  }
}

function unpackCondition(bytes: Buffer, at: number): Condition {
  const kind = conditions[bytes[at] as 0 | 1 | 2 | 3]
  if (kind !== 'version') return { kind }
  return { kind, version: bytes.readBigUInt64BE(at + 1) as (Condition & { kind: 'version' })['version'] }
}

/**
 * Collects commits and decides when the writer gets them. A transaction costs two syncs whatever it holds, so commits
 * should go together; but if all went together, the thread that reads requests and the one that writes would take
 * turns instead of working at once. So a third of those who write at once go together: while one third is
 * written, another is read, and the last is on its way to its clients and back.
 */
import type { PartitionKey } from '../../model/keys.ts'
import type { Mutation } from '../../model/mutation.ts'
import type { TableId } from '../../model/table.ts'
import { commitPacker } from './writer-message.ts'

export interface CommitQueue {
  add(id: number, table: TableId, partition: PartitionKey, mutations: readonly Mutation[]): void
  /** To be called when commits were answered, with what they were posted in; `left` have no answer yet. */
  answered(left: number, buffers: readonly ArrayBuffer[]): void
  /** Posts what was collected, without waiting for company. */
  flush(): void
}

/** How many messages the writer has served; wraps around. Shared memory: seen while this thread is in its turn. */
export type ServedCount = Int32Array

export function newServedCount(): ServedCount {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** Messages under way: one being written, and one ready for when that is done. */
const underWayMax = 2
/** The share of the crowd that goes together. */
const companyShare = 1 / 3
/** What is remembered of the crowd after a message, so that one that has gone is forgotten. */
const crowdKept = 0.9

export function openCommitQueue(
  served: ServedCount,
  post: (packed: Uint8Array<ArrayBuffer>) => void,
): CommitQueue {
  const packer = commitPacker()
  let posted = Atomics.load(served, 0)
  let collected = 0
  let collectedBefore = 0
  let unanswered = 0
  /** The most commits without an answer at once, of late. */
  let crowd = 0
  let looking = false
  return { add, answered, flush }

  function add(id: number, table: TableId, partition: PartitionKey, mutations: readonly Mutation[]): void {
    packer.add(id, table, partition, mutations)
    collected++
    unanswered++
    crowd = Math.max(crowd, unanswered)
    // A turn of the event loop may read many requests: the writer need not be idle until it ends.
    if (isCompany() && underWay() === 0) flush()
    else lookSoon()
  }

  function answered(left: number, buffers: readonly ArrayBuffer[]): void {
    packer.reuse(buffers)
    unanswered = left
    if (collected > 0) lookSoon()
  }

  function lookSoon(): void {
    if (looking) return
    looking = true
    setImmediate(look)
  }

  function look(): void {
    looking = false
    if (isCompany()) {
      if (underWay() < underWayMax) flush()
    } else if (underWay() === 0) {
      // Who was answered together comes back within a few turns: as long as each turn brings someone, wait.
      if (collected === collectedBefore) return flush()
      collectedBefore = collected
      lookSoon()
    }
  }

  function flush(): void {
    if (collected === 0) return
    collected = 0
    collectedBefore = 0
    crowd = Math.floor(crowd * crowdKept)
    posted++
    post(packer.take())
  }

  function isCompany(): boolean {
    return collected >= crowd * companyShare
  }

  function underWay(): number {
    return (posted - Atomics.load(served, 0)) | 0
  }
}

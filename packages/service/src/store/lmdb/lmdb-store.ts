/**
 * The embedded store: one LMDB file, larger than memory, open in any number of processes.
 * Reads happen here, on the calling thread, straight from the map; writes go to the writer thread.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import {
  clip,
  type EntityKey,
  firstPosition,
  type KeyPosition,
  type KeyRange,
  type PartitionKey,
  slotOf,
} from '../../model/keys.ts'
import type { Mutation } from '../../model/mutation.ts'
import { type EntityRecord, recordBytes } from '../../model/record.ts'
import { type AccountName, catalogue, type TableId, type TableName } from '../../model/table.ts'
import type { Clock } from '../../model/ticks.ts'
import type { Version } from '../../model/version.ts'
import type { CommitOutcome, Passes, Store, Visit } from '../store.ts'
import { newServedCount, openCommitQueue } from './commit-queue.ts'
import { openDataFolder } from './data-folder.ts'
import { entityKey, liveKey, openEnvironment } from './environment.ts'
import { openExitGate, removeExitGate } from './exit-gate.ts'
import { newPace, openReadAhead } from './read-ahead.ts'
import { snapshots } from './snapshot.ts'
import type { Rows } from './tree.ts'
import type { WriterOptions } from './writer.ts'
import type { WriterAnswer, WriterReport, WriterRequest } from './writer-message.ts'

/** When a change is acknowledged: on disk; a second before that at most; when the system likes. */
export type Durability = 'sync' | 'interval' | 'memory'

export interface LmdbStoreOptions {
  readonly path: string
  readonly clock: Clock
  readonly durability?: Durability
  /** How much of the disk is left free: below it only deletions are accepted. */
  readonly reserveBytes?: number
}

const reserveBytesDefault = 32 * 1024 * 1024

/** How long a scan keeps the thread before it lets other requests run, and how often it looks. */
const sliceMs = 4
const sliceRows = 128

interface Waiting {
  resolve(answer: WriterAnswer | Version): void
  reject(error: Error): void
}

export async function openLmdbStore(options: LmdbStoreOptions): Promise<Store> {
  const { clock, durability = 'sync', reserveBytes = reserveBytesDefault } = options
  const path = openDataFolder(options.path)
  const environment = openEnvironment(path, { keys: false })
  const latest = snapshots(environment, path)
  const ahead = openReadAhead(path)
  const tables = rememberedRows(latest.moment, (key) => find(catalogue, key))
  const gate = openExitGate()
  const served = newServedCount()
  const worker = new Worker(new URL('./writer.js', import.meta.url), {
    workerData: { path, durability, reserveBytes, gate, served } satisfies WriterOptions,
  })
  const waiting = new Map<number, Waiting>()
  const queue = openCommitQueue(served, postCommits)
  let lastId = 0
  let broken: Error | undefined
  let closing = false
  const scans = new Set<Promise<void>>()
  // Nobody waits for the thread to start: reads need none of it, and commits are queued for it.
  worker.on('message', settle)
  worker.on('error', (error: Error) => stop(error))
  worker.on('exit', () => {
    removeExitGate(gate)
    stop(closedError())
  })
  return { get, scan, commit, create, drop, close }

  function get(table: TableId, key: EntityKey): EntityRecord | undefined {
    return table === catalogue ? tables.get(key) : find(table, key)
  }

  function find(table: TableId, key: EntityKey): EntityRecord | undefined {
    const row = latest.find(entityKey(table, key))
    if (row === undefined) return undefined
    const record = Buffer.allocUnsafe(recordBytes(row.bytes, row.at))
    row.bytes.copy(record, 0, row.at, row.at + record.length)
    return record
  }

  async function scan(
    table: TableId,
    ranges: readonly KeyRange[],
    visit: Visit,
    passes: Passes = none,
  ): Promise<void> {
    if (closing) throw closedError()
    const scanning = visitRows(table, ranges, visit, passes)
    scans.add(scanning)
    try {
      await scanning
    } finally {
      scans.delete(scanning)
    }
  }

  async function visitRows(
    table: TableId,
    ranges: readonly KeyRange[],
    visit: Visit,
    passes: Passes,
  ): Promise<void> {
    const rows = latest.open()
    const pace = newPace(ahead.fetch)
    let sliceUntilMs = performance.now() + sliceMs
    let position = firstPosition
    try {
      for (const range of ranges) {
        let rest = clip(range, position)
        while (rest !== undefined) {
          rows.seek(entityKey(table, rest.from), endKey(table, rest))
          const goOn = await visitOn()
          if (goOn === 'stop') return
          if (goOn === 'end') break
          position = goOn
          rest = clip(range, position)
        }
      }
    } finally {
      rows.close()
    }

    /** Visits until there is no row or the visitor wants to go elsewhere, and lets others run in between. */
    async function visitOn(): Promise<KeyPosition | 'stop' | 'end'> {
      for (;;) {
        const { goOn, leaves } = visitSlice(rows, visit, passes, sliceUntilMs, pace.leavesMax)
        if (goOn === 'next') await pace.rest(leaves, rows.following)
        else if (performance.now() > sliceUntilMs) await nextTurn()
        else return goOn
        if (closing) throw closedError()
        sliceUntilMs = performance.now() + sliceMs
        if (goOn !== 'next') return goOn
      }
    }
  }

  /** By `then`: a function that awaits keeps its arguments, and the mutations are on their way to the writer. */
  function commit(
    table: TableId,
    partition: PartitionKey,
    mutations: readonly Mutation[],
  ): Promise<CommitOutcome> {
    // `ask` would throw it.
    if (broken !== undefined) return Promise.reject(broken)
    const { length } = mutations
    const { id, answered } = ask()
    queue.add(id, table, partition, mutations)
    return answered.then((answer) => {
      if (typeof answer !== 'bigint') return (answer as { outcome: CommitOutcome }).outcome
      return { kind: 'committed', versions: versionsFrom(answer, length) }
    })
  }

  async function create(account: AccountName, name: TableName): Promise<TableId | undefined> {
    const { id, answered } = ask()
    post({ kind: 'create', now: clock(), id, account, name })
    return ((await answered) as { created: TableId | undefined }).created
  }

  async function drop(account: AccountName, name: TableName): Promise<boolean> {
    const { id, answered } = ask()
    post({ kind: 'drop', now: clock(), id, account, name })
    return ((await answered) as { dropped: boolean }).dropped
  }

  async function close(): Promise<void> {
    closing = true
    // The map must stay until the last scan has let go of it.
    await Promise.allSettled(scans)
    if (broken === undefined) {
      const exited = new Promise((resolve) => worker.once('exit', resolve))
      queue.flush()
      post({ kind: 'close' })
      await exited
    }
    latest.close()
    await ahead.close()
    await environment.close()
  }

  /** The id of a request that is about to be sent, and its answer. */
  function ask(): { id: number; answered: Promise<WriterAnswer | Version> } {
    if (broken !== undefined) throw broken
    lastId = (lastId + 1) >>> 0
    const id = lastId
    const answered = new Promise<WriterAnswer | Version>((resolve, reject) => {
      waiting.set(id, { resolve, reject })
    })
    return { id, answered }
  }

  function postCommits(bytes: Uint8Array<ArrayBuffer>): void {
    const request: WriterRequest = { kind: 'commits', now: clock(), bytes }
    worker.postMessage(request, [bytes.buffer])
  }

  function post(request: WriterRequest): void {
    worker.postMessage(request)
  }

  function settle({ committed, answers, buffers }: WriterReport): void {
    for (let i = 0; i < committed.length; i += 2) {
      asked(Number(committed[i]))?.resolve(committed[i + 1] as Version)
    }
    for (const answer of answers) {
      if ('error' in answer) asked(answer.id)?.reject(new Error(answer.error))
      else asked(answer.id)?.resolve(answer)
    }
    queue.answered(waiting.size, buffers)
  }

  function asked(id: number): Waiting | undefined {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }

  function stop(reason: Error): void {
    broken ??= reason
    for (const { reject } of waiting.values()) reject(broken)
    waiting.clear()
  }
}

/** Rows that are asked for by every request, found once for each moment. */
function rememberedRows(
  moment: () => object | undefined,
  find: (key: EntityKey) => EntityRecord | undefined,
): { get(key: EntityKey): EntityRecord | undefined } {
  const known = new Map<string, EntityRecord | undefined>()
  let knownAt: object | undefined
  return { get }

  function get(key: EntityKey): EntityRecord | undefined {
    const now = moment()
    if (now === undefined) return find(key)
    if (now !== knownAt || known.size === rememberedMax) known.clear()
    knownAt = now
    const slot = slotOf(key)
    let record = known.get(slot)
    if (record === undefined && !known.has(slot)) {
      record = find(key)
      known.set(slot, record)
    }
    return record
  }
}

const rememberedMax = 1000

/** What was visited at a stretch: with `next`, the time has passed or the leaves are used up. */
interface Slice {
  readonly goOn: ReturnType<Visit> | 'end'
  /** One that is met in several steps, because its rows are many or long, counts as several. */
  readonly leaves: number
}

function visitSlice(rows: Rows, visit: Visit, passes: Passes, untilMs: number, leavesMax: number): Slice {
  let leaves = 0
  for (let visited = 0; rows.next(); ) {
    leaves++
    visited += rows.count
    if (rows.place === 0 || !passes(rows)) {
      rows.open()
      const goOn = visit(rows)
      if (goOn !== 'next') return { goOn, leaves }
    }
    if (leaves >= leavesMax) return { goOn: 'next', leaves }
    if (visited < sliceRows) continue
    if (performance.now() > untilMs) return { goOn: 'next', leaves }
    visited = 0
  }
  return { goOn: 'end', leaves }
}

function none(): boolean {
  return false
}

function endKey(table: TableId, { until }: KeyRange): Uint8Array {
  return until === undefined ? liveKey((table + 1) as TableId) : entityKey(table, until)
}

/** Those of one commit follow each other. */
function versionsFrom(first: Version, count: number): Version[] {
  const versions = [first]
  let last: bigint = first
  while (versions.length < count) versions.push(++last as Version)
  return versions
}

function closedError(): Error {
  return new Error('the store is closed')
}

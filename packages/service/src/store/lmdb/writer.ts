/**
 * The thread that writes. All requests waiting when it looks become one LMDB transaction and one sync,
 * then all are answered: a sync costs the same for one commit as for a hundred.
 */
import { strict as assert } from 'node:assert'
import { statfsSync } from 'node:fs'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { TransactionFlags } from 'lmdb'
import { type Applied, applyMutation } from '../../model/mutation.ts'
import { type EntityRecord, recordBytesMax, writeRecord } from '../../model/record.ts'
import { catalogue, firstTableId, type TableId } from '../../model/table.ts'
import type { Ticks } from '../../model/ticks.ts'
import { nextVersion, type Version } from '../../model/version.ts'
import { catalogueEntryOf, catalogueKey, newCatalogueEntry } from '../catalogue.ts'
import type { CommitOutcome } from '../store.ts'
import type { ServedCount } from './commit-queue.ts'
import {
  afterDropped,
  droppedKey,
  entityKey,
  firstDropped,
  isOurs,
  liveKey,
  openEnvironment,
  tableFact,
  tableOfDropped,
  versionFact,
} from './environment.ts'
import { type ExitGate, passGate } from './exit-gate.ts'
import { fillingOrder } from './filling-order.ts'
import {
  type PackedCommit,
  type PackedMutation,
  unpackCommits,
  type WriterAnswer,
  type WriterReport,
  type WriterRequest,
} from './writer-message.ts'
import type { Durability } from './lmdb-store.ts'

export interface WriterOptions {
  readonly path: string
  readonly durability: Durability
  readonly reserveBytes: number
  readonly gate: ExitGate
  readonly served: ServedCount
}

/** Rows removed between two looks at the queue: a few milliseconds of work. */
const reclaimRows = 256
const intervalMs = 1000
/** How long work in the background waits after it failed, as on a full disk. */
const retryMs = 1000
const unsynced: TransactionFlags = TransactionFlags.SYNCHRONOUS_COMMIT | TransactionFlags.NO_SYNC_FLUSH

const { path, durability, reserveBytes, gate, served } = workerData as WriterOptions
assert(parentPort !== null, 'the writer runs as a thread')
const port = parentPort
// Opening is a transaction too.
const environment = passGate(gate, () => openEnvironment(path, { keys: true }))

let recordSpace = Buffer.allocUnsafeSlow(65_536)
let reclaiming = false
let lastSyncMs = 0
let syncTimer: NodeJS.Timeout | undefined
let reclaimTimer: NodeJS.Timeout | undefined
let closing = false

port.on('message', serve)
reclaimSoon()

function serve(request: WriterRequest): void {
  if (request.kind === 'close') {
    void close()
    return
  }
  const requests: Work[] = [request]
  const answered = answerAll(requests)
  const buffers = requests.flatMap((each) => (each.kind === 'commits' ? [each.bytes.buffer] : []))
  Atomics.add(served, 0, buffers.length)
  const report: WriterReport = { ...answered, buffers }
  port.postMessage(report, buffers)
}

type Work = Exclude<WriterRequest, { kind: 'close' }>

/** Answers requests in one transaction, and adds to them those that come before it begins. */
function answerAll(requests: Work[]): Omit<WriterReport, 'buffers'> {
  const committed: bigint[] = []
  const answers: WriterAnswer[] = []
  try {
    transact(() => {
      // Another process may have held the engine's lock until now, and more may have come meanwhile.
      addWaiting(requests)
      const room = hasRoom(requests)
      const session = beginSession()
      for (const request of requests) {
        if (request.kind === 'commits') {
          for (const commit of unpackCommits(request.bytes)) {
            const { id } = commit
            if (!room && !onlyRemoves(commit)) {
              answers.push({ id, error: noRoom })
              continue
            }
            const outcome = session.commit(commit, request.now)
            if (outcome.kind === 'committed') committed.push(BigInt(id), outcome.first)
            else answers.push({ id, outcome })
          }
        } else if (request.kind === 'create') {
          if (!room) answers.push({ id: request.id, error: noRoom })
          else answers.push({ id: request.id, created: session.create(request) })
        } else {
          answers.push({ id: request.id, dropped: session.drop(request) })
        }
      }
      session.end()
    })
    return { committed: BigUint64Array.from(committed), answers }
  } catch (error) {
    return { committed: noCommits, answers: idsOf(requests).map((id) => ({ id, error: String(error) })) }
  }
}

function addWaiting(requests: Work[]): void {
  for (;;) {
    const next = receiveMessageOnPort(port)?.message as WriterRequest | undefined
    if (next === undefined) return
    if (next.kind === 'close') {
      // The last request of all: those before it are answered first.
      setImmediate(() => void close())
      return
    }
    requests.push(next)
  }
}

const noCommits = new BigUint64Array(0)
const noRoom = `less than ${reserveBytes} bytes are free at ${path}: only deletions are accepted`

/**
 * Whether the disk takes these requests and keeps its reserve. The engine must not meet a full disk: it
 * overruns a buffer while it says so. The reserve is also what deletions need, to make room.
 */
function hasRoom(requests: readonly Work[]): boolean {
  const { bavail, blocks, bsize } = statfsSync(path)
  const sizes = requests.map((request) => (request.kind === 'commits' ? request.bytes.length : 0))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  // Some file systems do not tell. An entity may take a page where it needed half of one.
  return blocks === 0 || bavail * bsize >= reserveBytes + 2 * bytes
}

function onlyRemoves({ mutations }: PackedCommit): boolean {
  return mutations.every(({ change }) => change.kind === 'remove')
}

function transact(work: () => void): void {
  const nowMs = Date.now()
  const sync = durability === 'sync' || (durability === 'interval' && nowMs - lastSyncMs >= intervalMs)
  passGate(gate, () => environment.transactionSync(work, sync ? undefined : unsynced))
  if (sync) lastSyncMs = nowMs
  else if (durability === 'interval') syncSoon()
}

/** The last commits before a pause are synced too, not only those followed by others. */
function syncSoon(): void {
  syncTimer ??= setTimeout(() => {
    syncTimer = undefined
    try {
      syncNow()
    } catch {
      syncSoon()
    }
  }, intervalMs)
}

function syncNow(): void {
  passGate(gate, () => environment.transactionSync(() => put(versionFact, u64(readVersion()))))
  lastSyncMs = Date.now()
}

type Outcome =
  | { readonly kind: 'committed'; readonly first: Version }
  | Exclude<CommitOutcome, { kind: 'committed' }>

/** What the requests of one transaction share. */
function beginSession() {
  const lastBefore = readVersion()
  const living = new Set<TableId>()
  let last = lastBefore
  return { commit, create, drop, end }

  /** Applies all or nothing. REQUIRES: rows are distinct. */
  function commit({ table, mutations }: PackedCommit, now: Ticks): Outcome {
    if (!isLiving(table)) return { kind: 'no table' }
    const first = nextVersion(last, now)
    last = (first + BigInt(mutations.length - 1)) as Version
    const inserted: Uint8Array[] = []
    const writes: [key: Uint8Array, applied: Exclude<Applied, { kind: 'refuse' }>, version: Version][] = []
    for (const index of fillingOrder(mutations)) {
      const { key, change } = mutations[index] as PackedMutation
      const version = (first + BigInt(index)) as Version
      if (change.kind === 'put' && change.when.kind === 'absent') {
        // The engine judges this condition itself: one way down the tree instead of two.
        if (!insert(key, recordOf(change.keys, change.content, version))) return refuse()
        inserted.push(key)
      } else {
        const applied = applyMutation(environment.get(key), change)
        if (applied.kind === 'refuse') return refuse()
        writes.push([key, applied, version])
      }
    }
    // All conditions hold: only now is anything overwritten, so that a refusal leaves nothing behind.
    for (const [key, applied, version] of writes) {
      if (applied.kind === 'remove') remove(key)
      else put(key, recordOf(applied.keys, applied.content, version))
    }
    return { kind: 'committed', first }

    function refuse(): Outcome {
      for (const key of inserted) remove(key)
      return firstRefused(mutations)
    }
  }

  function create({ account, name, now }: Work & { kind: 'create' | 'drop' }): TableId | undefined {
    const key = entityKey(catalogue, catalogueKey(account, name))
    const id = (environment.get(tableFact)?.readUInt32BE(0) ?? firstTableId) as TableId
    last = nextVersion(last, now)
    const applied = applyMutation(environment.get(key), newCatalogueEntry(account, name, id))
    if (applied.kind !== 'write') return undefined
    put(key, recordOf(applied.keys, applied.content, last))
    put(liveKey(id), Buffer.from([1]))
    put(tableFact, u32(id + 1))
    return id
  }

  function drop({ account, name }: Work & { kind: 'create' | 'drop' }): boolean {
    const key = entityKey(catalogue, catalogueKey(account, name))
    const entry = environment.get(key)
    if (entry === undefined) return false
    const { id } = catalogueEntryOf(entry)
    remove(key)
    remove(liveKey(id))
    put(droppedKey(id), Buffer.from([1]))
    living.delete(id)
    reclaimSoon()
    return true
  }

  function end(): void {
    if (last > lastBefore) put(versionFact, u64(last))
  }

  function isLiving(table: TableId): boolean {
    if (isOurs(table) || living.has(table)) return true
    if (environment.get(liveKey(table)) === undefined) return false
    living.add(table)
    return true
  }
}

/** The outcome of a commit that was refused somewhere. */
function firstRefused(mutations: readonly PackedMutation[]): Outcome {
  for (const [index, { key, change }] of mutations.entries()) {
    const applied = applyMutation(environment.get(key), change)
    if (applied.kind === 'refuse') return { kind: 'refused', index, reason: applied.reason }
  }
  throw new Error('a commit was refused of which nothing is refused')
}

function reclaimSoon(): void {
  if (reclaiming) return
  reclaiming = true
  setImmediate(reclaim)
}

function reclaim(): void {
  reclaiming = false
  if (closing) return
  try {
    if (reclaimSlice()) reclaimSoon()
  } catch {
    // Nobody waits for it: it may fail and be tried again, but must not end the thread.
    clearTimeout(reclaimTimer)
    reclaimTimer = setTimeout(reclaimSoon, retryMs)
  }
}

/**
 * Removes a slice of the rows of dropped tables; true if there may be more. Safe to be cut short, and in
 * several processes at once.
 */
function reclaimSlice(): boolean {
  let more = false
  const [first] = environment.getKeys({ start: firstDropped, end: afterDropped, limit: 1 })
  if (first === undefined) return false
  transact(() => {
    const [dropped] = environment.getKeys({ start: firstDropped, end: afterDropped, limit: 1 })
    if (dropped === undefined) return
    const table = tableOfDropped(dropped)
    const next = liveKey((table + 1) as TableId)
    const keys = [...environment.getKeys({ start: liveKey(table), end: next, limit: reclaimRows })]
    for (const key of keys) remove(key)
    if (keys.length < reclaimRows) remove(dropped)
    more = true
  })
  return more
}

async function close(): Promise<void> {
  closing = true
  clearTimeout(syncTimer)
  clearTimeout(reclaimTimer)
  try {
    if (durability !== 'sync') syncNow()
  } finally {
    port.close()
    await environment.close()
  }
}

function readVersion(): Version {
  return (environment.get(versionFact)?.readBigUInt64BE(0) ?? 0n) as Version
}

// Inside a transaction lmdb-js writes at once and throws on failure; its promises say nothing more.
function put(key: Uint8Array, value: Buffer): void {
  environment.putSync(key, value)
}

/** False, and nothing changed, if the key is there already. */
function insert(key: Uint8Array, value: Buffer): boolean {
  // lmdb-js returns whether it wrote; its types leave that out.
  return environment.putSync(key, value, unlessThere) as unknown as boolean
}

const unlessThere = { noOverwrite: true }

function remove(key: Uint8Array): void {
  environment.removeSync(key)
}

/** Valid until the next call: the engine copies what it is given at once. */
function recordOf(keys: string, content: Buffer, version: Version): EntityRecord {
  const bytesMax = recordBytesMax(keys, content)
  if (bytesMax > recordSpace.length) recordSpace = Buffer.allocUnsafeSlow(2 * bytesMax)
  return recordSpace.subarray(0, writeRecord(recordSpace, keys, content, version))
}

function idsOf(requests: readonly Work[]): number[] {
  return requests.flatMap((request) =>
    request.kind === 'commits' ? [...unpackCommits(request.bytes)].map((commit) => commit.id) : [request.id],
  )
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}

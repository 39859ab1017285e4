/**
 * LMDB's tree, read in place. A step of lmdb-js's own cursor calls into the binding and copies the record;
 * a step here looks up where the record stands.
 *
 *   page    = number:u64 · txn:u64 · pad:u16 · flags:u16 · lower:u16 · upper:u16 · offset:u16* · free · node*
 *   branch  = a page of nodes  page:u32 · pageHigh:u16 · keyBytes:u16 · key
 *   leaf    = a page of nodes  valueBytes:u32 · flags:u16 · keyBytes:u16 · key · value
 *   value   = the record, or, when too long, where it stands behind a page's header  page:u64 · …
 *   meta    = number … upper · magic:u32 · format:u32 · address:u64 · mapBytes:u64 · db · db · last:u64 · txn:u64
 *   db      = pad:u32 · flags:u16 · depth:u16 · branches:u64 · leaves:u64 · long:u64 · entries:u64 · root:u64
 *
 * Numbers are little endian. `lower` is twice the count of nodes, `offset` counts from the end of the header,
 * nodes are in the order of their keys, and the first key of a branch is not to be looked at. Pages 0 and 1
 * are metas, written in turn; their second db is ours, and the first holds the size of pages in `pad`.
 * Source: mdb.c of LMDB 0.9.90 as in lmdb-js, file format 2.
 */
import { type Records, recordsMax, viewOf } from '../../model/records.ts'
import { pageBytes } from './environment.ts'
import type { MappedFile } from './mapped-file.ts'

/** A cursor over the rows of one snapshot. It stands on some rows that follow each other, until the next step. */
export interface Rows extends Records {
  /** Goes before the first row at or behind `from`; rows end before `until`. */
  seek(from: Uint8Array, until: Uint8Array): void
  /** Stands on the next rows, one or more; false if there is none. Where they begin is not known yet. */
  next(): boolean
  /** Looks where they begin. They may turn out to be fewer. */
  open(): void
  /** The pages of the leaves behind this one, as far as they are known without looking for them. */
  following(): readonly number[]
  close(): void
}

export const pageHeaderBytes = 24
export const nodeHeaderBytes = 8
/** What a page finds one of its nodes by. */
export const offsetBytes = 2
const branchFlag = 1
const longFlag = 1

/** What memory is fetched by. */
const lineBytes = 64

/** What all of LMDB's files are known by. */
export const magic = 0xbeefc0de
const fileFormat = 2
const metaFrom = pageHeaderBytes
const mainFrom = metaFrom + 72
const rootFrom = mainFrom + 40
const metaTxnFrom = metaFrom + 128

/** A tree of the file, and the transaction that left it. */
export interface Root {
  readonly page: number
  readonly txn: number
}

/**
 * The roots that the file's metas name, newest first; none that is being written just now. The trees of both are
 * whole, because after a crash LMDB may have to begin with either.
 */
export function rootsOf(map: MappedFile): Root[] {
  const metas = map.windowOf(0)
  const found: Root[] = []
  for (const at of [0, pageBytes]) {
    if (!isUnderstood(metas, at)) continue
    const txn = u64(metas, at + metaTxnFrom)
    const page = u32(metas, at + rootFrom)
    // A meta half written has its root before its transaction, so the root's page is younger than the meta.
    if (isPage(map, page) && u64(map.windowOf(page), map.offsetOf(page) + 8) <= txn) found.push({ page, txn })
  }
  return found.toSorted((a, b) => b.txn - a.txn)
}

/** The latest transaction that the file knows of, perhaps before it counts as committed. */
export function latestTxn(map: MappedFile): number {
  const metas = map.windowOf(0)
  return Math.max(u64(metas, metaTxnFrom), u64(metas, pageBytes + metaTxnFrom))
}

/** Also that the tree is plain: no duplicates, and keys by their bytes. */
function isUnderstood(metas: Buffer, at: number): boolean {
  return (
    u32(metas, at + metaFrom) === magic &&
    u32(metas, at + metaFrom + 4) === fileFormat &&
    u32(metas, at + metaFrom + 24) === pageBytes &&
    u16(metas, at + mainFrom + 4) === 0
  )
}

/** An empty tree has the root 2^64 − 1. */
function isPage(map: MappedFile, page: number): boolean {
  return page !== 0xffff_ffff && u32(map.windowOf(page), map.offsetOf(page)) === page
}

/** Where a record begins. */
export interface Row {
  readonly bytes: Buffer
  readonly at: number
}

/** The row of `key` in the tree at `root`. REQUIRES: a transaction keeps its snapshot while the row is used. */
export function findRow(map: MappedFile, root: number, key: Uint8Array): Row | undefined {
  for (let page = root; ; ) {
    const bytes = map.windowOf(page)
    const pageFrom = map.offsetOf(page)
    if (!isBranch(bytes, pageFrom)) {
      const index = lowerBound(bytes, pageFrom, 0, countOf(bytes, pageFrom), key)
      return index < countOf(bytes, pageFrom)
        ? rowAt(map, bytes, nodeFrom(bytes, pageFrom, index), key)
        : undefined
    }
    page = u32(bytes, nodeFrom(bytes, pageFrom, childOf(bytes, pageFrom, key)))
  }
}

/** The row of a leaf's node, if that has this key. */
function rowAt(map: MappedFile, bytes: Buffer, node: number, key: Uint8Array): Row | undefined {
  if (compareKeyAt(bytes, node, key) !== 0) return undefined
  const at = node + nodeHeaderBytes + key.length
  if (!isLong(bytes, node)) return { bytes, at }
  const page = u32(bytes, at)
  return { bytes: map.windowOf(page), at: map.offsetOf(page) + pageHeaderBytes }
}

/** Rows of the tree at `root`. REQUIRES: a transaction keeps its snapshot while this is used. */
export function treeRows(map: MappedFile, root: number): Omit<Rows, 'close'> {
  // The branches from the root to the leaf: each one's page, and which of its nodes leads on.
  const pages: number[] = []
  const indexes: number[] = []
  let depth = 0
  let leaf: Buffer = Buffer.alloc(0)
  let leafFrom = 0
  let index = 0
  let end = 0
  let isLast = true
  let until: Uint8Array = leaf
  // What stood before the last record, which is likely to be as much before the next.
  let keyedBytes = nodeHeaderBytes
  const starts = new Int32Array(recordsMax)
  const rows = {
    bytes: leaf,
    view: viewOf(leaf),
    starts,
    count: 0,
    place: 0,
    written: 0,
    reach: 0,
    fetched: 0,
    seek,
    next,
    open,
    following,
  }
  return rows

  function seek(from: Uint8Array, newUntil: Uint8Array): void {
    until = newUntil
    depth = 0
    rows.count = 0
    descend(root, from, false)
  }

  function next(): boolean {
    index += rows.count
    rows.count = 0
    // No leaf is empty, so one without rows is behind the end.
    if (index >= end && (isLast || !nextLeaf() || index >= end)) return false
    rows.count = Math.min(end - index, recordsMax)
    rows.place = rows.count === countOf(leaf, leafFrom) ? u32(leaf, leafFrom) : 0
    rows.written = u64(leaf, leafFrom + 8)
    return true
  }

  function open(): void {
    if (rows.bytes !== leaf) standIn(leaf)
    const { view, count } = rows
    rows.fetched = fetch(view, leafFrom, index, count, starts, keyedBytes + rows.reach)
    for (let i = 0; i < count; i++) {
      const node = starts[i] as number
      const flagsAndKeyBytes = view.getInt32(node + 4, true)
      if ((flagsAndKeyBytes & longFlag) !== 0) return i === 0 ? openLong(node) : shorten(i)
      keyedBytes = nodeHeaderBytes + (flagsAndKeyBytes >>> 16)
      starts[i] = node + keyedBytes
    }
  }

  /** A long row is met by itself: it lies elsewhere, perhaps in another window. */
  function openLong(node: number): void {
    const page = u32(leaf, node + nodeHeaderBytes + u16(leaf, node + 6))
    standIn(map.windowOf(page))
    starts[0] = map.offsetOf(page) + pageHeaderBytes
    shorten(1)
  }

  function shorten(count: number): void {
    rows.count = count
    rows.place = 0
  }

  function standIn(bytes: Buffer): void {
    rows.bytes = bytes
    rows.view = viewOf(bytes)
  }

  function nextLeaf(): boolean {
    while (depth > 0) {
      const page = pages[depth - 1] as number
      const bytes = map.windowOf(page)
      const pageFrom = map.offsetOf(page)
      const following = (indexes[depth - 1] as number) + 1
      if (following < countOf(bytes, pageFrom)) {
        indexes[depth - 1] = following
        // What leads to the next leaf tells that this one ends before it, without a look at this one.
        const behind = following + 1
        const isInside =
          behind < countOf(bytes, pageFrom) &&
          compareKeyAt(bytes, nodeFrom(bytes, pageFrom, behind), until) <= 0
        descend(u32(bytes, nodeFrom(bytes, pageFrom, following)), undefined, isInside)
        return true
      }
      depth--
    }
    return false
  }

  function following(): number[] {
    if (isLast || depth === 0) return []
    const page = pages[depth - 1] as number
    const bytes = map.windowOf(page)
    const pageFrom = map.offsetOf(page)
    const first = (indexes[depth - 1] as number) + 1
    const found: number[] = []
    for (let i = first; i < countOf(bytes, pageFrom); i++) {
      const node = nodeFrom(bytes, pageFrom, i)
      if (compareKeyAt(bytes, node, until) >= 0) break
      found.push(u32(bytes, node))
    }
    return found
  }

  /** To the leaf where `key` belongs, or to the first one. If all rows below are `isInside`, none is behind the end. */
  function descend(top: number, key: Uint8Array | undefined, isInside: boolean): void {
    for (let page = top; ; ) {
      const bytes = map.windowOf(page)
      const pageFrom = map.offsetOf(page)
      if (!isBranch(bytes, pageFrom)) return enter(bytes, pageFrom, key, isInside)
      const child = key === undefined ? 0 : childOf(bytes, pageFrom, key)
      pages[depth] = page
      indexes[depth] = child
      depth++
      page = u32(bytes, nodeFrom(bytes, pageFrom, child))
    }
  }

  /** Keys are compared once for a leaf, not for each row. */
  function enter(bytes: Buffer, pageFrom: number, key: Uint8Array | undefined, isInside: boolean): void {
    const count = countOf(bytes, pageFrom)
    leaf = bytes
    leafFrom = pageFrom
    isLast = !isInside && count > 0 && compareKeyAt(bytes, nodeFrom(bytes, pageFrom, count - 1), until) >= 0
    end = isLast ? lowerBound(bytes, pageFrom, 0, count, until) : count
    index = key === undefined ? 0 : lowerBound(bytes, pageFrom, 0, end, key)
  }
}

/**
 * Fills `nodes` with where nodes of a leaf stand. A scan waits for memory more than for anything else: looking at
 * all of them before any is visited, where they begin and where the last record was looked into, has memory fetch
 * them at once, where visiting would fetch them one after the other. The sum keeps these looks alive.
 */
function fetch(
  view: DataView,
  pageFrom: number,
  first: number,
  count: number,
  nodes: Int32Array,
  reach: number,
): number {
  const nodesFrom = pageFrom + pageHeaderBytes
  const last = pageFrom + pageBytes - 1
  let sum = 0
  for (let i = 0; i < count; i++) {
    const node = nodesFrom + view.getUint16(nodesFrom + 2 * (first + i), true)
    nodes[i] = node
    sum += view.getInt8(node)
    sum += view.getInt8(Math.min(node + lineBytes, last))
    sum += view.getInt8(Math.min(node + reach, last))
  }
  return sum
}

/** The node whose subtree `key` belongs to. */
function childOf(bytes: Buffer, pageFrom: number, key: Uint8Array): number {
  const notBelow = lowerBound(bytes, pageFrom, 1, countOf(bytes, pageFrom), key)
  const isExact =
    notBelow < countOf(bytes, pageFrom) && compareKeyAt(bytes, nodeFrom(bytes, pageFrom, notBelow), key) === 0
  return isExact ? notBelow : notBelow - 1
}

/** The first of the nodes `from` to `until` whose key is not below `key`. */
function lowerBound(bytes: Buffer, pageFrom: number, from: number, until: number, key: Uint8Array): number {
  let [low, high] = [from, until]
  // How many bytes `key` shares with the keys around those in question: as many as it shares with each of them.
  let [sharedBelow, sharedAbove] = [0, 0]
  while (low < high) {
    const middle = (low + high) >>> 1
    const node = nodeFrom(bytes, pageFrom, middle)
    const keyFrom = node + nodeHeaderBytes
    const count = u16(bytes, node + 6)
    const most = Math.min(count, key.length)
    let shared = Math.min(sharedBelow, sharedAbove)
    while (shared < most && bytes[keyFrom + shared] === key[shared]) shared++
    const isBelow =
      shared < most ? (bytes[keyFrom + shared] as number) < (key[shared] as number) : count < key.length
    if (isBelow) {
      low = middle + 1
      sharedBelow = shared
    } else {
      high = middle
      sharedAbove = shared
    }
  }
  return low
}

/** Negative if the node's key is below `key`. */
function compareKeyAt(bytes: Buffer, node: number, key: Uint8Array): number {
  const from = node + nodeHeaderBytes
  const count = u16(bytes, node + 6)
  const shared = Math.min(count, key.length)
  for (let i = 0; i < shared; i++) {
    const difference = (bytes[from + i] as number) - (key[i] as number)
    if (difference !== 0) return difference
  }
  return count - key.length
}

function countOf(bytes: Buffer, pageFrom: number): number {
  return u16(bytes, pageFrom + 20) >>> 1
}

function nodeFrom(bytes: Buffer, pageFrom: number, index: number): number {
  const nodesFrom = pageFrom + pageHeaderBytes
  return nodesFrom + u16(bytes, nodesFrom + 2 * index)
}

function isBranch(bytes: Buffer, pageFrom: number): boolean {
  return (u16(bytes, pageFrom + 18) & branchFlag) !== 0
}

function isLong(bytes: Buffer, node: number): boolean {
  return ((bytes[node + 4] as number) & longFlag) !== 0
}

function u16(bytes: Buffer, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
}

export function u32(bytes: Buffer, at: number): number {
  return (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0
}

/** Of numbers that stay below 2^53, as those of transactions do. */
export function u64(bytes: Buffer, at: number): number {
  return u32(bytes, at) + u32(bytes, at + 4) * 2 ** 32
}

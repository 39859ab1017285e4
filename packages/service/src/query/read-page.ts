/**
 * Reads one page of a plan: rows in key order, up to `top`, within budgets of time, rows and bytes.
 *
 * A full page is not the end: reading goes on to the next row that matches, so that a token is given only
 * when more is to come, or when a budget ended the search. Every page gets at least one row further.
 */
import { compareKeys, type EntityKey, type KeyPosition, successor } from '../model/keys.ts'
import { type EntityRecord, keyOf, recordAt, recordBytes } from '../model/record.ts'
import { partitionKeyFrom, recordAlone, type Records, rowKeyFrom } from '../model/records.ts'
import type { TableId } from '../model/table.ts'
import type { Store } from '../store/store.ts'
import { below, compareUnits, equal, type NumericComparison, unitsOf } from './compare-in-place.ts'
import { compileFilter, type Predicate } from './compile-filter.ts'
import type { Continuation } from './continuation.ts'
import type { Filter } from './filter.ts'
import { keyOfPoint, type Plan, type PlanRange, resumePlan } from './plan-filter.ts'
import { type Memory, openMemory, type Sieve, sieveOf } from './sieve.ts'
import { cutsNotAbove, type TextSet } from './regions.ts'

export interface PageRequest {
  readonly table: TableId
  readonly plan: Plan
  /** Where an earlier page ended. */
  readonly from?: KeyPosition | undefined
  /** 1 to limits.pageRowsMax. */
  readonly top: number
  /** Reads a clock that only goes forward. */
  readonly nowMs: () => number
  readonly budgets?: Partial<PageBudgets>
  /** Whether the client has gone. */
  readonly hungUp?: () => boolean
  readonly realism?: Realism | undefined
  readonly numbers?: NumericComparison
  /** Counts bytes and partitions too, for which each row must be looked at. */
  readonly countsDetails?: boolean
}

export interface PageBudgets {
  readonly scanMs: number
  readonly scanRowsMax: number
  readonly bytesMax: number
  /** A seek costs about as much as this many rows, so after as many in vain it is worth one. */
  readonly missesBeforeSeek: number
}

export const pageBudgets: PageBudgets = {
  scanMs: 5000,
  scanRowsMax: 100_000,
  bytesMax: 16 * 1024 * 1024,
  missesBeforeSeek: 8,
}

/** Ends pages where the cloud might, so that clients meet short and empty pages and sparse tokens. */
export interface Realism {
  /** At least 0, below 1. */
  readonly random: () => number
}

/** Uses a matching row, valid during the call only, and tells how many bytes came of it. */
export type Take = (record: EntityRecord) => number

export type Stop = 'exhausted' | 'top' | 'time' | 'scanBudget' | 'bytes' | 'injected' | 'aborted'

export interface Page {
  readonly stop: Stop
  /** Undefined when the plan is exhausted. */
  readonly next: Continuation | undefined
  readonly counters: PageCounters
}

export interface PageCounters {
  readonly seeks: number
  /** Rows met, before their residual was asked. */
  readonly scanned: number
  /** May be one more than returned: the row that showed that more is to come. */
  readonly matched: number
  readonly returned: number
  readonly bytesTaken: number
  /** These two only if the request counts them. */
  readonly bytesRead: number | undefined
  readonly partitions: number | undefined
}

/** Rows between two looks at the clock. */
const rowsBetweenLooks = 64

export async function readPage(store: Store, request: PageRequest, take: Take): Promise<Page> {
  const { table, from, top, nowMs, hungUp, realism } = request
  const { scanMs, scanRowsMax, bytesMax, missesBeforeSeek } = { ...pageBudgets, ...request.budgets }
  const { ranges } = from === undefined ? request.plan : resumePlan(request.plan, from)
  const inUse = rangesInUse(ranges, predicates(request.numbers), sieves(store))
  let range = inUse.current()
  const injectedCut = realism === undefined ? undefined : injectCut(realism, from, top)
  const details = request.countsDetails ? detailCounter() : undefined
  const startMs = nowMs()
  let stop: Stop = 'exhausted'
  let stoppedAt: EntityKey | undefined
  let next: Continuation | undefined
  let [seeks, scanned, matched, returned, bytesTaken, misses] = [0, 0, 0, 0, 0, 0]
  const visitsSingly = injectedCut !== undefined || details !== undefined
  // How many rows may be met before the budgets are looked at.
  let lookAt = Math.min(rowsBetweenLooks, scanRowsMax)

  const [first] = ranges
  const point = ranges.length === 1 && first !== undefined ? keyOfPoint(first) : undefined
  if (hungUp?.()) {
    stop = 'aborted'
  } else if (point !== undefined) {
    const record = await store.get(table, point)
    if (record !== undefined) visit(recordAlone(record))
    seeks = 1
  } else if (ranges.length > 0) {
    await store.scan(table, ranges, visit, passes)
    seeks += rangesBegun()
  }
  const counters = {
    seeks,
    scanned,
    matched,
    returned,
    bytesTaken,
    bytesRead: details?.bytesRead(),
    partitions: details?.partitions(),
  }
  return { stop, next, counters }

  /** Counts rows that cannot match without meeting them. */
  function passes(records: Records): boolean {
    if (visitsSingly || scanned + records.count > scanRowsMax) return false
    if (!range.sieve()?.excludes(records)) return false
    // A page ends at a row, so who finds a budget spent has to look at one.
    if (scanned >= lookAt && spentBudget() !== undefined) {
      lookAt = scanned
      return false
    }
    scanned += records.count
    return true
  }

  function visit(records: Records): 'next' | 'stop' | KeyPosition {
    const { bytes, starts, count } = records
    if (records.place !== 0) range.sieve()?.learn(records)
    for (let index = 0; index < count; ) {
      const at = starts[index] as number
      if (scanned >= lookAt) {
        const spent = spentBudget()
        if (spent !== undefined) return end(spent, recordAt(bytes, at))
      }
      let until = Math.min(count, index + lookAt - scanned)
      if (visitsSingly || range.visitsSingly) {
        const injected = injectedCut?.(recordAt(bytes, at))
        if (injected !== undefined) return end('injected', recordAt(bytes, at), injected)
        details?.meet(bytes, at)
        if (range.isPast?.(bytes, at)) range = inUse.after(bytes, at)
        if (range.skip?.isIn(bytes, at) === false) {
          scanned++
          index++
          if (++misses < missesBeforeSeek) continue
          misses = 0
          seeks++
          return range.skip.after(keyOf(recordAt(bytes, at)))
        }
        misses = 0
        until = index + 1
      }
      const reached = takeMatches(records, index, until)
      if (reached === 'stop') return 'stop'
      index = reached
    }
    return 'next'
  }

  /** Meets the rows `from` to `until`, or as many as the page has room for; returns which one is next. */
  function takeMatches(records: Records, from: number, until: number): number | 'stop' {
    const { matches } = range
    const scannedBefore = scanned - from
    for (
      let index = firstMatch(records, from, until, matches);
      index < until;
      index = firstMatch(records, index + 1, until, matches)
    ) {
      const record = recordAt(records.bytes, records.starts[index] as number)
      scanned = scannedBefore + index + 1
      matched++
      if (returned === top) return end('top', record)
      returned++
      bytesTaken += take(record)
      if (bytesTaken >= bytesMax) {
        lookAt = scanned
        return index + 1
      }
    }
    scanned = scannedBefore + until
    return until
  }

  function spentBudget(): Stop | undefined {
    if (scanned >= scanRowsMax) return 'scanBudget'
    if (bytesTaken >= bytesMax) return 'bytes'
    lookAt = Math.min(scanned + rowsBetweenLooks, scanRowsMax)
    if (hungUp?.()) return 'aborted'
    return nowMs() - startMs >= scanMs ? 'time' : undefined
  }

  function end(reason: Stop, record: EntityRecord, at?: Continuation): 'stop' {
    stop = reason
    stoppedAt = keyOf(record)
    next = at ?? stoppedAt
    return 'stop'
  }

  function rangesBegun(): number {
    const last = stoppedAt
    if (last === undefined) return ranges.length
    return ranges.filter((range) => compareKeys(range.from, last) <= 0).length
  }
}

/** The first of the rows `from` to `until` that matches; `until` if none does. */
function firstMatch(records: Records, from: number, until: number, matches: Predicate): number {
  const { starts } = records
  for (let index = from; index < until; index++) if (matches(records, starts[index] as number)) return index
  return until
}

/** One predicate for each residual met: many ranges of a plan may share it. */
function predicates(numbers: NumericComparison | undefined): (residual: Filter | undefined) => Predicate {
  const known = new Map<Filter, Predicate>()
  return (residual) => {
    if (residual === undefined) return everyRow
    const predicate = known.get(residual) ?? compileFilter(residual, { numbers: numbers ?? 'strict' })
    known.set(residual, predicate)
    return predicate
  }
}

function everyRow(): boolean {
  return true
}

/** What is learnt of a store's rows is kept for as long as the store. */
const memories = new WeakMap<Store, Memory>()

function sieves(store: Store): (residual: Filter | undefined) => Sieve | undefined {
  return (residual) => {
    if (residual === undefined) return undefined
    const memory = memories.get(store) ?? openMemory()
    memories.set(store, memory)
    return sieveOf(residual, memory)
  }
}

/** Makes it when it is first asked for. */
function onceMade<Made>(make: () => Made): () => Made {
  let made: { readonly it: Made } | undefined
  return () => {
    made ??= { it: make() }
    return made.it
  }
}

interface RangeInUse {
  readonly skip: SkipSet | undefined
  readonly matches: Predicate
  /** Tells of rows that lie together, for which they need not be visited. Made when the first such rows are met. */
  readonly sieve: () => Sieve | undefined
  /** Whether a row lies behind the range; undefined when it would not matter, as nothing changes there. */
  readonly isPast: ((bytes: Buffer, at: number) => boolean) | undefined
  /** Whether either must be asked of every row before the next one is met. */
  readonly visitsSingly: boolean
}

/** The ranges in turn. REQUIRES: rows come in order, each in one of the ranges. */
function rangesInUse(
  ranges: readonly PlanRange[],
  predicateOf: (residual: Filter | undefined) => Predicate,
  sieveFor: (residual: Filter | undefined) => Sieve | undefined,
): { current(): RangeInUse; after(bytes: Buffer, at: number): RangeInUse } {
  const [first] = ranges
  const areAlike = ranges.every(({ rows, residual }) => rows === first?.rows && residual === first?.residual)
  let index = 0
  return { current, after }

  function current(): RangeInUse {
    const range = ranges[index]
    const visitsSingly = range?.rows !== undefined || !areAlike
    return {
      skip: range?.rows === undefined ? undefined : skipSet(range.rows),
      matches: predicateOf(range?.residual),
      sieve: visitsSingly ? () => undefined : onceMade(() => sieveFor(range?.residual)),
      isPast: areAlike ? undefined : pastEnd(range),
      visitsSingly,
    }
  }

  /** The range of a row that lies behind the current one. */
  function after(bytes: Buffer, at: number): RangeInUse {
    for (;;) {
      const isPast = pastEnd(ranges[++index])
      if (!isPast(bytes, at)) return current()
    }
  }
}

/** Whether a row lies behind the range. */
function pastEnd(range: PlanRange | undefined): (bytes: Buffer, at: number) => boolean {
  const until = range?.until
  if (until === undefined) return () => false
  const [partition, row] = [unitsOf(until.partition), unitsOf(until.row)]
  return (bytes, at) => {
    const relation = compareUnits(bytes, partitionKeyFrom(bytes, at), partition)
    if (relation !== equal) return relation !== below
    return compareUnits(bytes, rowKeyFrom(bytes, at), row) !== below
  }
}

interface SkipSet {
  isIn(bytes: Buffer, at: number): boolean
  /** Where the set goes on behind a key outside it. */
  after(key: EntityKey): KeyPosition
}

function skipSet(rows: TextSet): SkipSet {
  const cuts = rows.map(unitsOf)
  return { isIn, after }

  function isIn(bytes: Buffer, at: number): boolean {
    const from = rowKeyFrom(bytes, at)
    let [low, high] = [0, cuts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareUnits(bytes, from, cuts[middle] as Uint16Array) === below) high = middle
      else low = middle + 1
    }
    return low % 2 === 1
  }

  function after({ partition, row }: EntityKey): KeyPosition {
    const nextRow = rows[cutsNotAbove(rows, row)]
    if (nextRow !== undefined) return { partition, row: nextRow }
    return { partition: successor(partition), row: rows[0] ?? '' }
  }
}

function detailCounter() {
  let [bytesRead, partitions] = [0, 0]
  let last: Uint16Array | undefined
  return {
    bytesRead: () => bytesRead,
    partitions: () => partitions,
    meet(bytes: Buffer, at: number): void {
      bytesRead += recordBytes(bytes, at)
      if (last !== undefined && compareUnits(bytes, partitionKeyFrom(bytes, at), last) === equal) return
      partitions++
      last = unitsOf(keyOf(recordAt(bytes, at)).partition)
    },
  }
}

/**
 * Decides before each row whether the page ends there, and at which of the positions that mean the same:
 * just behind the last row, at the start of the row's partition, or at the row.
 */
function injectCut(realism: Realism, from: KeyPosition | undefined, top: number) {
  const { random } = realism
  const rowsMax = random() < 0.5 ? Math.floor(random() * Math.min(top, 20)) : Number.POSITIVE_INFINITY
  let rows = 0
  let last: EntityKey | undefined
  return (record: EntityRecord): Continuation | undefined => {
    const key = keyOf(record)
    const isPartitionEnd = last !== undefined && last.partition !== key.partition
    const ends = rows >= rowsMax || (isPartitionEnd && random() < 0.5)
    const cut = ends ? positions(key).find((position) => isProgress(position)) : undefined
    rows++
    last = key
    return cut
  }

  function positions(key: EntityKey): Continuation[] {
    const behind = last === undefined ? [] : [{ partition: last.partition, row: successor(last.row) }]
    const start = last?.partition === key.partition ? [] : [{ partition: key.partition, row: undefined }]
    const all: Continuation[] = [...behind, ...start, key]
    return all.slice(Math.floor(random() * all.length))
  }

  /** A token must lead further than the one it answers, or a client could be sent round for ever. */
  function isProgress({ partition, row = '' }: Continuation): boolean {
    return from === undefined || compareKeys({ partition, row }, from) > 0
  }
}

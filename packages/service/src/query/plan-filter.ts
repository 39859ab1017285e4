/**
 * Filter to Plan: which keys to read, in order, and what is left to ask of each row.
 *
 * Every node of a filter has two regions of keys: the upper, where it may be true, and the lower, where it
 * is true whatever the other properties hold. Both follow from those of its terms; `not` swaps them. The
 * upper region of the root is what must be read; where the lower covers it, nothing is left to ask.
 */
import { unreachable } from '../model/brand.ts'
import { compareKeys, type EntityKey, type KeyPosition, type KeyRange, successor } from '../model/keys.ts'
import { type AccountName, partitionOfAccount } from '../model/table.ts'
import { always, type Comparison, type Filter, foldGroup, foldNot, never } from './filter.ts'
import {
  areDisjoint,
  combineAll,
  combineRegions,
  complement,
  complementRegion,
  containsRegion,
  everyKey,
  everyText,
  isEvery,
  noKey,
  type Region,
  regionOf,
  regionOfRange,
  type TextSet,
  textsBetween,
  textsWhere,
} from './regions.ts'

/** From the cheapest to the dearest. */
export type QueryClass =
  | 'empty'
  | 'point'
  | 'multi-point'
  | 'row-range'
  | 'partition-scan'
  | 'partition-range-scan'
  | 'table-scan'

export interface Plan {
  readonly class: QueryClass
  /** Invariant: each begins before it ends, and ends no later than the next begins. */
  readonly ranges: readonly PlanRange[]
}

export interface PlanRange extends KeyRange {
  /** The range's rows: those in this set, or all of them. */
  readonly rows: TextSet | undefined
  /** What the filter still asks of a row of this range; nothing if undefined. */
  readonly residual: Filter | undefined
  /** Spans keys that the filter does not want, because the list of ranges would be too long otherwise. */
  readonly hull: boolean
}

export const planRangesMax = 1000

export function planFilter(filter: Filter, rangesMax: number = planRangesMax): Plan {
  const { upper, lower } = boundsOf(filter)
  const spans = spansOf(upper, rangesMax)
  const inexact = spans.filter((span) => !containsRegion(lower, regionOfSpan(span)))
  const residuals = residualsOf(filter, inexact)
  const ranges = spans.map((span): PlanRange => ({ ...span, residual: residuals.get(span) }))
  return { class: classOf(ranges), ranges }
}

/** A filter over table names reads one partition of the catalogue, whose rows are names in lower case. */
export function planTables(filter: Filter, account: AccountName, rangesMax: number = planRangesMax): Plan {
  const ofAccount: Comparison = {
    kind: 'comparison',
    property: 'PartitionKey',
    operator: 'eq',
    literal: { type: 'Edm.String', value: partitionOfAccount(account) },
  }
  return planFilter(foldGroup('and', [ofAccount, overRows(filter)]), rangesMax)
}

/** The part of a plan that lies in `range`: what a grant allows, or what an earlier page has left. */
export function clipPlan(plan: Plan, range: KeyRange): Plan {
  const ranges: PlanRange[] = []
  for (const planned of plan.ranges) {
    const from = compareKeys(planned.from, range.from) < 0 ? range.from : planned.from
    const until = compareEnds(planned.until, range.until) > 0 ? range.until : planned.until
    if (until === undefined || compareKeys(from, until) < 0) ranges.push({ ...planned, from, until })
  }
  return { class: classOf(ranges), ranges }
}

/** The plan from `position` on; `position` need not lie in any range. */
export function resumePlan(plan: Plan, position: KeyPosition): Plan {
  return clipPlan(plan, { from: position, until: undefined })
}

/** The one key of a range that holds no more than one. */
export function keyOfPoint(range: KeyRange): EntityKey | undefined {
  const { from, until } = range
  if (until?.partition !== from.partition || until.row !== successor(from.row)) return undefined
  // Of the key's shape; whether it is a legal key is for the store to find out by not finding it.
  return from as EntityKey
}

/** Whether all keys of the range are in one partition. */
export function isInPartition({ from, until }: KeyRange): boolean {
  if (until === undefined) return false
  if (until.partition === from.partition) return true
  return until.row === '' && until.partition === successor(from.partition)
}

/** Whether a range in one partition is all of it. */
export function isWholePartition({ from, until }: KeyRange): boolean {
  return from.row === '' && until?.partition === successor(from.partition)
}

/** PartitionKey and RowKey, compared with what they can hold. */
export function isKeyComparison(filter: Filter): filter is KeyComparison {
  if (filter.kind !== 'comparison' || filter.literal.type !== 'Edm.String') return false
  return filter.property === 'PartitionKey' || filter.property === 'RowKey'
}

type KeyComparison = Comparison & {
  readonly property: 'PartitionKey' | 'RowKey'
  readonly literal: { readonly type: 'Edm.String'; readonly value: string }
}

// ---------------------------------------------------------------- regions

interface Bounds {
  readonly upper: Region
  readonly lower: Region
}

function boundsOf(filter: Filter): Bounds {
  switch (filter.kind) {
    case 'constant':
      return exactly(filter.value ? everyKey : noKey)
    case 'comparison':
      return isKeyComparison(filter) ? exactly(regionOfKey(filter)) : { upper: everyKey, lower: noKey }
    case 'and':
    case 'or': {
      const terms = filter.terms.map(boundsOf)
      const upper = combineAll(
        filter.kind,
        terms.map((term) => term.upper),
      )
      if (terms.every((term) => term.upper === term.lower)) return exactly(upper)
      return {
        upper,
        lower: combineAll(
          filter.kind,
          terms.map((term) => term.lower),
        ),
      }
    }
    case 'not': {
      const { upper, lower } = boundsOf(filter.term)
      if (upper === lower) return exactly(complementRegion(upper))
      return { upper: complementRegion(lower), lower: complementRegion(upper) }
    }
    default:
      return unreachable(filter)
  }
}

function exactly(region: Region): Bounds {
  return { upper: region, lower: region }
}

function regionOfKey({ property, operator, literal }: KeyComparison): Region {
  const texts = textsWhere(operator, literal.value)
  return property === 'PartitionKey' ? regionOf(texts, everyText) : regionOf(everyText, texts)
}

// ---------------------------------------------------------------- regions to ranges

/** A range before it is known what is left to ask. */
type Span = Omit<PlanRange, 'residual'>

function spansOf(region: Region, rangesMax: number): Span[] {
  const intervalsMax = intervalsFitting(region, rangesMax)
  const spans: Span[] = []
  for (const [index, { from, rows }] of region.entries()) {
    const until = region[index + 1]?.from
    if (until === successor(from))
      for (const span of spansInPartition(from, rows, intervalsMax)) append(spans, span)
    else if (isEvery(rows)) append(spans, { ...partitionsBetween(from, until), rows: undefined, hull: false })
    else if (rows.length > 0) append(spans, skipping(from, until, rows))
  }
  return spans.length > rangesMax ? hullsOf(spans, rangesMax) : spans
}

function append(spans: Span[], span: Span): void {
  const last = spans.at(-1)
  const touches = last?.until !== undefined && compareKeys(last.until, span.from) === 0
  if (touches && last.rows === undefined && span.rows === undefined) {
    spans[spans.length - 1] = { ...last, until: span.until, hull: last.hull || span.hull }
  } else {
    spans.push(span)
  }
}

function partitionsBetween(from: string, until: string | undefined): KeyRange {
  return {
    from: { partition: from, row: '' },
    until: until === undefined ? undefined : { partition: until, row: '' },
  }
}

function skipping(from: string, until: string | undefined, rows: TextSet): Span {
  const lastRow = rows.length % 2 === 0 ? rows.at(-1) : undefined
  const start = { partition: from, row: rows[0] ?? '' }
  const span = { from: start, rows, hull: false }
  // When the last partition is known, so is its last row.
  if (until?.endsWith('\u0000') && lastRow !== undefined) {
    return { ...span, until: { partition: until.slice(0, -1), row: lastRow } }
  }
  return { ...span, until: partitionsBetween(from, until).until }
}

/** One span for each interval of rows, or for neighbouring intervals where there are too many. */
function* spansInPartition(partition: string, rows: TextSet, intervalsMax: number): Generator<Span> {
  const intervals = (rows.length + 1) >>> 1
  const count = Math.min(intervals, intervalsMax)
  for (let i = 0; i < count; i++) {
    const first = Math.floor((i * intervals) / count)
    const after = Math.floor(((i + 1) * intervals) / count)
    const until = rows[2 * after - 1]
    yield {
      from: { partition, row: rows[2 * first] ?? '' },
      until: until === undefined ? { partition: successor(partition), row: '' } : { partition, row: until },
      rows: undefined,
      hull: after - first > 1,
    }
  }
}

/**
 * The most intervals that each partition may have so that all together fit in `rangesMax`; at least one.
 * Counted before touching spans are joined, which can only make them fewer.
 */
function intervalsFitting(region: Region, rangesMax: number): number {
  const counts: number[] = []
  for (const [index, { from, rows }] of region.entries()) {
    const isPartition = region[index + 1]?.from === successor(from)
    if (rows.length > 0) counts.push(isPartition ? (rows.length + 1) >>> 1 : 1)
  }
  let [low, high] = [1, counts.reduce((most, count) => Math.max(most, count), 1) + 1]
  while (low + 1 < high) {
    const middle = (low + high) >>> 1
    if (sumCapped(counts, middle) <= rangesMax) low = middle
    else high = middle
  }
  return low
}

function sumCapped(counts: readonly number[], cap: number): number {
  return counts.reduce((sum, count) => sum + Math.min(count, cap), 0)
}

/** Neighbours under one span, as many as needed, across partitions. */
function hullsOf(spans: readonly Span[], rangesMax: number): Span[] {
  return Array.from({ length: rangesMax }, (_, index) => {
    const group = spans.slice(
      Math.floor((index * spans.length) / rangesMax),
      Math.floor(((index + 1) * spans.length) / rangesMax),
    )
    const [first, last] = [group[0] as Span, group.at(-1) as Span]
    return group.length === 1 ? first : { from: first.from, until: last.until, rows: undefined, hull: true }
  })
}

function regionOfSpan(span: Span): Region {
  if (span.rows === undefined) return regionOfRange(span)
  return combineRegions('and', regionOfRange(span), regionOf(everyText, span.rows))
}

// ---------------------------------------------------------------- residuals

/** The texts that partition and row of a key in a span can be. */
interface Box {
  readonly PartitionKey: TextSet
  readonly RowKey: TextSet
}

/**
 * The filter, simplified for each span. Halving the list and simplifying for each half first keeps the
 * usual long filter, one clause for each range, from being walked once for each range.
 */
function residualsOf(filter: Filter, spans: readonly Span[]): Map<Span, Filter> {
  const residuals = new Map<Span, Filter>()
  const simplify = simplifier()
  if (spans.length > 0) halve(filter, 0, spans.length)
  return residuals

  function halve(simpler: Filter, from: number, until: number): void {
    const [first, last] = [spans[from] as Span, spans[until - 1] as Span]
    if (first === last) {
      residuals.set(first, simplify(simpler, boxOf(first)))
    } else {
      const hull = boxOf({ from: first.from, until: last.until, rows: undefined, hull: true })
      const forBoth = simplify(simpler, hull)
      const middle = (from + until) >>> 1
      halve(forBoth, from, middle)
      halve(forBoth, middle, until)
    }
  }
}

function boxOf({ from, until, rows }: Span): Box {
  const end = until === undefined || until.row === '' ? until?.partition : successor(until.partition)
  const partitions = textsBetween(from.partition, end)
  if (!isInPartition({ from, until })) return { PartitionKey: partitions, RowKey: rows ?? everyText }
  const rowUntil = until?.partition === from.partition ? until.row : undefined
  return { PartitionKey: partitions, RowKey: rows ?? textsBetween(from.row, rowUntil) }
}

/**
 * A filter made to be slow to plan gets no further than this: what is not simplified is asked of every row,
 * which is always right.
 */
const simplifyingTestsMax = 200_000

/** Puts constants for the key comparisons that a box decides. REQUIRES: boxes are not empty. */
function simplifier(): (filter: Filter, box: Box) => Filter {
  const known = new Map<Comparison, { readonly texts: TextSet; readonly others: TextSet }>()
  let testsLeft = simplifyingTestsMax
  return simplify

  function simplify(filter: Filter, box: Box): Filter {
    if (testsLeft <= 0) return filter
    switch (filter.kind) {
      case 'constant':
        return filter
      case 'comparison': {
        if (!isKeyComparison(filter)) return filter
        testsLeft--
        const { texts, others } = textsOf(filter)
        if (areDisjoint(texts, box[filter.property])) return never
        return areDisjoint(others, box[filter.property]) ? always : filter
      }
      case 'and':
      case 'or': {
        const terms = filter.terms.map((term) => simplify(term, box))
        // The same object where nothing changed, so that ranges share their residual.
        if (terms.every((term, index) => term === filter.terms[index])) return filter
        return foldGroup(filter.kind, terms)
      }
      case 'not': {
        const term = simplify(filter.term, box)
        return term === filter.term ? filter : foldNot(term)
      }
      default:
        return unreachable(filter)
    }
  }

  function textsOf(comparison: KeyComparison) {
    let sets = known.get(comparison)
    if (sets === undefined) {
      const texts = textsWhere(comparison.operator, comparison.literal.value)
      sets = { texts, others: complement(texts) }
      known.set(comparison, sets)
    }
    return sets
  }
}

// ---------------------------------------------------------------- class

function classOf(ranges: readonly PlanRange[]): QueryClass {
  if (ranges.length === 0) return 'empty'
  const spanning = ranges.filter((range) => !isInPartition(range))
  if (spanning.length > 0) {
    const startsFirst = spanning.some((range) => range.from.partition === '')
    const endsLast = spanning.some((range) => range.until === undefined)
    return startsFirst && endsLast ? 'table-scan' : 'partition-range-scan'
  }
  if (ranges.every((range) => keyOfPoint(range) !== undefined)) {
    return ranges.length === 1 ? 'point' : 'multi-point'
  }
  return ranges.some((range, index) => startsUnbounded(range) && endsUnbounded(ranges, index))
    ? 'partition-scan'
    : 'row-range'
}

function startsUnbounded({ from }: KeyRange): boolean {
  return from.row === ''
}

/** Whether the last range in the same partition as `ranges[index]` reaches the partition's end. */
function endsUnbounded(ranges: readonly KeyRange[], index: number): boolean {
  const partition = ranges[index]?.from.partition
  let last = index
  while (ranges[last + 1]?.from.partition === partition) last++
  return ranges[last]?.until?.partition !== partition
}

function compareEnds(a: KeyPosition | undefined, b: KeyPosition | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  return compareKeys(a, b)
}

/** TableName becomes RowKey, and its constants lower case: names differ by more than case or not at all. */
function overRows(filter: Filter): Filter {
  switch (filter.kind) {
    case 'constant':
      return filter
    case 'comparison': {
      const { literal } = filter
      if (filter.property !== 'TableName' || literal.type !== 'Edm.String') return filter
      const value = literal.value.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
      return { ...filter, property: 'RowKey', literal: { type: 'Edm.String', value } }
    }
    case 'and':
    case 'or':
      return { ...filter, terms: filter.terms.map(overRows) }
    case 'not':
      return { kind: 'not', term: overRows(filter.term) }
    default:
      return unreachable(filter)
  }
}

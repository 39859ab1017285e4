/** What a query asked for, how it was planned, what it cost, and how to make it cheaper. */
import { unreachable } from '../model/brand.ts'
import type { KeyPosition } from '../model/keys.ts'
import type { Continuation } from './continuation.ts'
import { type Comparison, comparisonsOf, type Filter, foldGroup, formatFilter } from './filter.ts'
import {
  isInPartition,
  isKeyComparison,
  isWholePartition,
  keyOfPoint,
  type Plan,
  planFilter,
  type PlanRange,
  type QueryClass,
} from './plan-filter.ts'
import type { Page, Stop } from './read-page.ts'

export interface ExplainedQuery {
  readonly filter: Filter
  readonly plan: Plan
  /** Whether the answer has only some of the properties. */
  readonly selects?: boolean
}

/** What running it showed; left out when the query was only planned. */
export interface ExplainedRun {
  readonly page: Page
  readonly bytesSent: number
  readonly timeMs: Readonly<Record<'parse' | 'plan' | 'execute' | 'serialise', number>>
}

export interface Explanation {
  readonly filter: {
    readonly text: string
    readonly comparisons: number
    readonly warnings: readonly string[]
  }
  readonly class: QueryClass
  /** The class in the words of the service's design guide. */
  readonly guideClass: string
  /** The class the original service would read it by. */
  readonly serviceEquivalent: QueryClass
  readonly ranges: { readonly count: number; readonly first: readonly ExplainedRange[] }
  /** No range leaves anything to ask of its rows. */
  readonly exact: boolean
  /** Known before the run for plans inside named partitions. */
  readonly partitionsTouched: number | undefined
  readonly run?: ExplainedCost
  readonly advice: readonly AdviceCode[]
}

export interface ExplainedRange {
  readonly lo: readonly [partition: string, row: string]
  /** Null is the end of the table. */
  readonly hi: readonly [partition: string, row: string] | null
  /** Intervals of row keys; null is no upper end. */
  readonly skip?: readonly (readonly [from: string, until: string | null])[]
  readonly residual: string | null
  readonly flags: readonly ('point' | 'fullPartition' | 'multiPartition' | 'hull')[]
}

export interface ExplainedCost {
  readonly seeks: number
  readonly scanned: number
  readonly matched: number
  readonly returned: number
  readonly bytesRead: number
  readonly bytesSent: number
  /** Matched of scanned; null when nothing was scanned. */
  readonly selectivity: number | null
  readonly timeMs: ExplainedRun['timeMs']
  readonly stop: Stop
  readonly continuation: Continuation | null
}

export type AdviceCode = keyof typeof advice

/**
 * Q01, Q02, Q04 to Q09 and Q16 follow from filter and plan; Q03, Q11 and Q15 need the counters of a run.
 * Not decided here: Q10, Q12 and Q13 need the keys and the types of the rows seen, and Q14 (descending
 * order) is known to the client alone.
 */
export const advice = {
  Q01: 'Reading the entity by its address answers 404 when it is absent, instead of an empty list.',
  Q02: 'More than 100 keys: consider several queries. The original service reads a partition or the table.',
  Q03: 'Few rows of the partition match: put the property into the row key, or keep a second copy under another row key in the same partition.',
  Q04: 'The whole table is read for a property: keep an index, as entities in other partitions or as lists of keys.',
  Q05: 'A row key alone is no index: name the partition.',
  Q06: 'A range of partitions is read: fine for partitions by time; name the partitions if they are few.',
  Q07: 'An `or` joins a key condition with a condition on another property: ask two queries.',
  Q08: '`ne` and `not` on a key leave nearly everything: write the ranges that are wanted.',
  Q09: 'Timestamp is no index: for the newest entities use row keys that count down.',
  Q11: 'Large rows: name the properties needed in $select.',
  Q15: 'The page ended early or empty, which is to be expected: follow its token.',
  Q16: 'More than 15 comparisons: outside the documented contract of the original service.',
} as const satisfies Record<string, string>

const rangesShownMax = 20
const headerBytesMax = 4096
const comparisonsDocumentedMax = 15
const pointsMax = 100
const [scannedFew, selectivityLow] = [1000, 0.1]
const [returnedMany, rowBytesLarge] = [100, 4096]

export function explain(query: ExplainedQuery, run?: ExplainedRun): Explanation {
  const { filter, plan } = query
  const comparisons = [...comparisonsOf(filter)]
  const inPartitions = plan.ranges.every(isInPartition)
  return {
    filter: {
      text: formatFilter(filter),
      comparisons: comparisons.length,
      warnings: warningsOf(comparisons),
    },
    class: plan.class,
    guideClass: guideClasses[plan.class],
    serviceEquivalent: serviceClassOf(filter),
    ranges: { count: plan.ranges.length, first: plan.ranges.slice(0, rangesShownMax).map(explainRange) },
    exact: plan.ranges.every((range) => range.residual === undefined),
    partitionsTouched: inPartitions
      ? new Set(plan.ranges.map((range) => range.from.partition)).size
      : run?.page.counters.partitions,
    ...(run === undefined ? {} : { run: costOf(run) }),
    advice: adviceOn(query, comparisons, run),
  }
}

/** The explanation as ASCII JSON of at most 4 KiB: ranges, then the filter's text, are cut to fit. */
export function formatExplanation(explanation: Explanation): string {
  let { ranges, filter } = explanation
  for (;;) {
    const text = asciiJson({ ...explanation, filter, ranges })
    if (text.length <= headerBytesMax) return text
    if (ranges.first.length > 0) {
      ranges = { ...ranges, first: ranges.first.slice(0, ranges.first.length >>> 1) }
    } else if (filter.warnings.length > 0) {
      filter = { ...filter, warnings: [] }
    } else if (filter.text !== '') {
      filter = { ...filter, text: filter.text.slice(0, filter.text.length >>> 1) }
    } else {
      // Only a position of two long keys is left that can be this large.
      return asciiJson({ class: explanation.class, advice: explanation.advice })
    }
  }
}

const guideClasses = {
  empty: 'nothing to read',
  point: 'point query',
  'multi-point': 'several point queries',
  'row-range': 'range query',
  'partition-scan': 'partition scan',
  'partition-range-scan': 'table scan, limited to a range of partitions',
  'table-scan': 'table scan',
} as const satisfies Record<QueryClass, string>

/** Visible characters only: a header takes no others, not even U+007F. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function warningsOf(comparisons: readonly Comparison[]): string[] {
  const warnings = new Set<string>()
  for (const { property } of comparisons) {
    const meant = ['PartitionKey', 'RowKey', 'Timestamp'].find(
      (name) => name !== property && name.toLowerCase() === property.toLowerCase(),
    )
    if (meant !== undefined) warnings.add(`${property} is not ${meant}: names are case-sensitive`)
  }
  return [...warnings]
}

/**
 * The original service is documented to bound its reads by key conditions joined with `and`, and by no
 * others: what it would read is what those alone would plan.
 */
function serviceClassOf(filter: Filter): QueryClass {
  const terms = filter.kind === 'and' ? filter.terms : [filter]
  const bounding = terms.filter((term) => isKeyComparison(term) && term.operator !== 'ne')
  return planFilter(foldGroup('and', bounding)).class
}

function explainRange(range: PlanRange): ExplainedRange {
  const { from, until, rows, residual, hull } = range
  const flags: ExplainedRange['flags'][number][] = []
  if (keyOfPoint(range) !== undefined) flags.push('point')
  if (isWholePartition(range)) flags.push('fullPartition')
  if (!isInPartition(range)) flags.push('multiPartition')
  if (hull) flags.push('hull')
  const skip: [string, string | null][] = []
  for (let i = 0; i < (rows?.length ?? 0); i += 2) skip.push([rows?.[i] ?? '', rows?.[i + 1] ?? null])
  return {
    lo: pair(from),
    hi: until === undefined ? null : pair(until),
    ...(rows === undefined ? {} : { skip }),
    residual: residual === undefined ? null : formatFilter(residual),
    flags,
  }
}

function pair({ partition, row }: KeyPosition): [string, string] {
  return [partition, row]
}

function costOf({ page, bytesSent, timeMs }: ExplainedRun): ExplainedCost {
  const { seeks, scanned, matched, returned, bytesRead = 0 } = page.counters
  const selectivity = scanned === 0 ? null : matched / scanned
  const continuation = page.next ?? null
  return {
    seeks,
    scanned,
    matched,
    returned,
    bytesRead,
    bytesSent,
    selectivity,
    timeMs,
    stop: page.stop,
    continuation,
  }
}

function adviceOn(
  { filter, plan, selects = false }: ExplainedQuery,
  comparisons: readonly Comparison[],
  run: ExplainedRun | undefined,
): AdviceCode[] {
  const isScan = plan.class === 'table-scan'
  const counters = run?.page.counters
  const uses = (name: string) => comparisons.some((comparison) => comparison.property === name)
  const usesOther = comparisons.some(({ property }) => !systemNames.has(property))
  const applies: Record<AdviceCode, boolean> = {
    Q01: plan.class === 'point',
    Q02: plan.class === 'multi-point' && plan.ranges.length > pointsMax,
    Q03:
      plan.class === 'partition-scan' &&
      counters !== undefined &&
      counters.scanned > scannedFew &&
      counters.matched < counters.scanned * selectivityLow,
    Q04: isScan && usesOther,
    Q05: isScan && uses('RowKey') && comparisons.every(({ property }) => property === 'RowKey'),
    Q06: plan.class === 'partition-range-scan',
    Q07: mixesInOr(filter),
    Q08: excludesKeys(filter, false),
    Q09: isScan && uses('Timestamp'),
    Q11:
      !selects &&
      counters !== undefined &&
      counters.returned >= returnedMany &&
      (counters.bytesRead ?? 0) > counters.scanned * rowBytesLarge,
    Q15:
      run !== undefined &&
      run.page.next !== undefined &&
      (run.page.stop !== 'top' || run.page.counters.returned === 0),
    Q16: comparisons.length > comparisonsDocumentedMax,
  }
  return (Object.keys(applies) as AdviceCode[]).filter((code) => applies[code])
}

const systemNames: ReadonlySet<string> = new Set(['PartitionKey', 'RowKey', 'Timestamp'])

/** Some `or` has one term that speaks of keys, and another that does not and so needs every row. */
function mixesInOr(filter: Filter): boolean {
  switch (filter.kind) {
    case 'constant':
    case 'comparison':
      return false
    case 'not':
      return mixesInOr(filter.term)
    case 'and':
      return filter.terms.some(mixesInOr)
    case 'or': {
      const asked = filter.terms.map((term) => [...comparisonsOf(term)]).filter((terms) => terms.length > 0)
      const keyed = asked.filter((terms) => terms.some(isKeyComparison))
      const mixed = keyed.length > 0 && keyed.length < asked.length
      return mixed || filter.terms.some(mixesInOr)
    }
    default:
      return unreachable(filter)
  }
}

/** A key compared by `ne`, or inside a `not`. */
function excludesKeys(filter: Filter, isNegated: boolean): boolean {
  switch (filter.kind) {
    case 'constant':
      return false
    case 'comparison':
      return isKeyComparison(filter) && (isNegated || filter.operator === 'ne')
    case 'not':
      return excludesKeys(filter.term, true)
    case 'and':
    case 'or':
      return filter.terms.some((term) => excludesKeys(term, isNegated))
    default:
      return unreachable(filter)
  }
}

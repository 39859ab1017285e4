/** A Filter as a function of the encoded record, wherever it stands. On the usual paths it allocates nothing. */
import { unreachable } from '../model/brand.ts'
import { partitionKeyFrom, type Place, propertyFinder, type Records, rowKeyFrom } from '../model/records.ts'
import {
  accepted,
  comparersOf,
  compareUnits,
  compareVersion,
  type NumericComparison,
  type Relation,
  relationOf,
  unitsOf,
} from './compare-in-place.ts'
import type { Comparison, Filter, Operator } from './filter.ts'

/** Whether the one of the records that begins at `at` matches. */
export type Predicate = (records: Records, at: number) => boolean

export interface CompileOptions {
  readonly numbers?: NumericComparison
}

/** The predicate remembers where it found properties, so each scan should have its own. */
export function compileFilter(filter: Filter, options: CompileOptions = {}): Predicate {
  switch (filter.kind) {
    case 'constant':
      return filter.value ? yes : no
    case 'comparison':
      return compileComparisons(filter.property, [filter], options)
    case 'and':
      return every(compileTerms(filter.terms, options))
    case 'or':
      return some(filter.terms.map((term) => compileFilter(term, options)))
    case 'not': {
      const term = compileFilter(filter.term, options)
      return (records, at) => !term(records, at)
    }
    default:
      return unreachable(filter)
  }
}

function yes(): boolean {
  return true
}

function no(): boolean {
  return false
}

function every(terms: readonly Predicate[]): Predicate {
  const [first = yes, second = yes] = terms
  if (terms.length <= 2) return (records, at) => first(records, at) && second(records, at)
  return (records, at) => {
    for (const term of terms) if (!term(records, at)) return false
    return true
  }
}

function some(terms: readonly Predicate[]): Predicate {
  const [first = no, second = no] = terms
  if (terms.length <= 2) return (records, at) => first(records, at) || second(records, at)
  return (records, at) => {
    for (const term of terms) if (term(records, at)) return true
    return false
  }
}

/** Comparisons of one property, as the two ends of a range, look for it once. */
function compileTerms(terms: readonly Filter[], options: CompileOptions): Predicate[] {
  const comparisons = new Map<string, Comparison[]>()
  const others: Filter[] = []
  for (const term of terms) {
    if (term.kind !== 'comparison') others.push(term)
    else comparisons.set(term.property, [...(comparisons.get(term.property) ?? []), term])
  }
  return [
    ...[...comparisons].map(([property, group]) => compileComparisons(property, group, options)),
    ...others.map((term) => compileFilter(term, options)),
  ]
}

/** Whether all of the comparisons hold. */
function compileComparisons(
  property: string,
  comparisons: readonly Comparison[],
  { numbers = 'strict' }: CompileOptions,
): Predicate {
  switch (property) {
    case 'PartitionKey':
    case 'RowKey':
      return every(comparisons.map(compileKey))
    case 'Timestamp':
      return every(comparisons.map(compileTimestamp))
    default:
      return compileProperty(property, comparisons, numbers)
  }
}

function compileKey({ property, operator, literal }: Comparison): Predicate {
  if (literal.type !== 'Edm.String') return always(relationOf('Edm.String', literal.type), operator)
  const accepts = accepted[operator]
  const keyFrom = property === 'RowKey' ? rowKeyFrom : partitionKeyFrom
  const units = unitsOf(literal.value)
  return ({ bytes }, at) => (compareUnits(bytes, keyFrom(bytes, at), units) & accepts) !== 0
}

function compileTimestamp({ operator, literal }: Comparison): Predicate {
  if (literal.type !== 'Edm.DateTime') return always(relationOf('Edm.DateTime', literal.type), operator)
  const accepts = accepted[operator]
  const compare = compareVersion(literal.value)
  return ({ bytes }, at) => (compare(bytes, at) & accepts) !== 0
}

function always(relation: Relation, operator: Operator): Predicate {
  return (relation & accepted[operator]) === 0 ? no : yes
}

/** An absent property satisfies no comparison, not even `ne`. */
function compileProperty(
  property: string,
  comparisons: readonly Comparison[],
  numbers: NumericComparison,
): Predicate {
  const find = propertyFinder(property)
  const place: Place = { type: 0, from: 0, until: 0 }
  const tests = comparisons.map(({ literal, operator }) => {
    const comparers = comparersOf(literal, operator, numbers)
    const accepts = accepted[operator]
    return (records: Records) =>
      ((comparers[place.type]?.(records, place.from, place.until) ?? 0) & accepts) !== 0
  })
  return (records, at) => {
    if (!find(records, at, place)) return false
    for (const holds of tests) if (!holds(records)) return false
    return true
  }
}

/** A Filter as a function of the encoded record, wherever it stands. On the usual paths it allocates nothing. */
import { unreachable } from '../model/brand.ts'
import { partitionKeyFrom, type Place, propertyFinder, rowKeyFrom } from '../model/record.ts'
import { type EdmType, edmTypes } from '../model/values.ts'
import {
  above,
  accepted,
  below,
  compareVersion,
  comparersOf,
  type NumericComparison,
} from './compare-in-place.ts'
import type { Comparison, Filter } from './filter.ts'

/** Whether the record that begins at `at` matches. */
export type Predicate = (bytes: Buffer, at: number) => boolean

export interface CompileOptions {
  readonly numbers?: NumericComparison
}

/** The predicate remembers where it found properties, so each scan should have its own. */
export function compileFilter(filter: Filter, options: CompileOptions = {}): Predicate {
  switch (filter.kind) {
    case 'constant':
      return filter.value ? yes : no
    case 'comparison':
      return compileComparison(filter, options.numbers ?? 'strict')
    case 'and':
      return every(filter.terms.map((term) => compileFilter(term, options)))
    case 'or':
      return some(filter.terms.map((term) => compileFilter(term, options)))
    case 'not': {
      const term = compileFilter(filter.term, options)
      return (bytes, at) => !term(bytes, at)
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
  if (terms.length <= 2) return (bytes, at) => first(bytes, at) && second(bytes, at)
  return (bytes, at) => {
    for (const term of terms) if (!term(bytes, at)) return false
    return true
  }
}

function some(terms: readonly Predicate[]): Predicate {
  const [first = no, second = no] = terms
  if (terms.length <= 2) return (bytes, at) => first(bytes, at) || second(bytes, at)
  return (bytes, at) => {
    for (const term of terms) if (term(bytes, at)) return true
    return false
  }
}

function compileComparison(comparison: Comparison, numbers: NumericComparison): Predicate {
  const { property, operator, literal } = comparison
  const accepts = accepted[operator]
  const comparers = comparersOf(literal, operator, numbers)
  switch (property) {
    case 'PartitionKey':
    case 'RowKey': {
      const keyFrom = property === 'RowKey' ? rowKeyFrom : partitionKeyFrom
      const compare = comparers[codeOf('Edm.String')]
      // The end of a string is its closing quote, so its comparer needs no `until`.
      return (bytes, at) => ((compare?.(bytes, keyFrom(bytes, at), 0) ?? 0) & accepts) !== 0
    }
    case 'Timestamp': {
      if (literal.type === 'Edm.DateTime') {
        const compare = compareVersion(literal.value)
        return (bytes, at) => (compare(bytes, at) & accepts) !== 0
      }
      const relation = codeOf('Edm.DateTime') < codeOf(literal.type) ? below : above
      return (relation & accepts) !== 0 ? yes : no
    }
    default: {
      const find = propertyFinder(property)
      const place: Place = { type: 0, from: 0, until: 0 }
      // An absent property satisfies no comparison, not even `ne`.
      return (bytes, at) => {
        if (!find(bytes, at, place)) return false
        const compare = comparers[place.type]
        return ((compare?.(bytes, place.from, place.until) ?? 0) & accepts) !== 0
      }
    }
  }
}

function codeOf(type: EdmType): number {
  return edmTypes.indexOf(type)
}

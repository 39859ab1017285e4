/**
 * What a `$filter` asks for, once parsed: a tree over comparisons of one property with one constant.
 * Two-valued: every comparison is true or false, and `not` is ordinary negation.
 */
import { unreachable } from '../model/brand.ts'
import { formatDouble } from '../model/double-text.ts'
import { formatTicks } from '../model/ticks.ts'
import type { Value } from '../model/values.ts'

export type Filter = Constant | Comparison | Group | Negation

export interface Constant {
  readonly kind: 'constant'
  readonly value: boolean
}

/** The property stands on the left, whichever side its client wrote it on. */
export interface Comparison {
  readonly kind: 'comparison'
  readonly property: string
  readonly operator: Operator
  readonly literal: Value
}

/** Two terms or more, none of them a group of the same kind. */
export interface Group {
  readonly kind: 'and' | 'or'
  readonly terms: readonly Filter[]
}

export interface Negation {
  readonly kind: 'not'
  readonly term: Filter
}

export type Operator = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

/** Each operator as seen from the other side of the comparison. */
export const flipped = {
  eq: 'eq',
  ne: 'ne',
  lt: 'gt',
  le: 'ge',
  gt: 'lt',
  ge: 'le',
} as const satisfies Record<Operator, Operator>

export const always: Constant = { kind: 'constant', value: true }
export const never: Constant = { kind: 'constant', value: false }

/** Joins terms; terms that are groups of the same kind are opened. */
export function group(kind: Group['kind'], terms: readonly Filter[]): Filter {
  const [only] = terms
  if (terms.length === 1 && only !== undefined) return only
  if (!terms.some((term) => term.kind === kind)) return { kind, terms }
  return { kind, terms: terms.flatMap((term) => (term.kind === kind ? term.terms : [term])) }
}

/** As group, with constants taken out. */
export function foldGroup(kind: Group['kind'], terms: readonly Filter[]): Filter {
  const decides = kind === 'or'
  const open: Filter[] = []
  for (const term of terms) {
    if (term.kind !== 'constant') open.push(term)
    else if (term.value === decides) return term
  }
  if (open.length === 0) return decides ? never : always
  return group(kind, open)
}

export function foldNot(term: Filter): Filter {
  if (term.kind === 'constant') return term.value ? never : always
  return { kind: 'not', term }
}

/** All comparisons, from left to right. */
export function* comparisonsOf(filter: Filter): Generator<Comparison> {
  switch (filter.kind) {
    case 'constant':
      return
    case 'comparison':
      yield filter
      return
    case 'and':
    case 'or':
      for (const term of filter.terms) yield* comparisonsOf(term)
      return
    case 'not':
      yield* comparisonsOf(filter.term)
      return
    default:
      unreachable(filter)
  }
}

/** The filter as text that parses to the same tree, fully parenthesised. */
export function formatFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'constant':
      return filter.value ? 'true' : 'false'
    case 'comparison':
      return `(${filter.property} ${filter.operator} ${formatLiteral(filter.literal)})`
    case 'and':
    case 'or':
      return `(${filter.terms.map(formatFilter).join(` ${filter.kind} `)})`
    case 'not':
      return `not ${formatFilter(filter.term)}`
    default:
      return unreachable(filter)
  }
}

export function formatLiteral(literal: Value): string {
  switch (literal.type) {
    case 'Edm.Binary':
      return `X'${Buffer.from(literal.value).toString('hex')}'`
    case 'Edm.Boolean':
      return literal.value ? 'true' : 'false'
    case 'Edm.DateTime':
      return `datetime'${formatTicks(literal.value)}'`
    case 'Edm.Double':
      if (Number.isFinite(literal.value)) return formatDouble(literal.value)
      if (Number.isNaN(literal.value)) return 'NaN'
      return literal.value > 0 ? 'INF' : '-INF'
    case 'Edm.Guid':
      return `guid'${literal.value}'`
    case 'Edm.Int32':
      return literal.value.toString()
    case 'Edm.Int64':
      return `${literal.value}L`
    case 'Edm.String':
      return `'${literal.value.replaceAll("'", "''")}'`
    default:
      return unreachable(literal)
  }
}

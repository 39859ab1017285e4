/** What a query asks of rows: a tree of comparisons as data, and its text in the service's filter language. */
import { afterPrefix } from '../definition/key-text.ts'
import type { Cell } from '../row/row.ts'
import { unreachable } from '../patterns-error.ts'

export type Operator = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

export type Filter =
  | {
      readonly kind: 'comparison'
      readonly property: string
      readonly operator: Operator
      readonly cell: Cell
    }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly [Filter, Filter, ...Filter[]] }
  | { readonly kind: 'not'; readonly term: Filter }

export const and = (first: Filter, ...rest: readonly Filter[]): Filter => join('and', first, rest)
export const or = (first: Filter, ...rest: readonly Filter[]): Filter => join('or', first, rest)
export const not = (term: Filter): Filter => ({ kind: 'not', term })

export function compare(property: string, operator: Operator, cell: Cell): Filter {
  return { kind: 'comparison', property, operator, cell }
}

/** Texts that begin so, as a half-open range; undefined for the empty prefix, which all texts have. */
export function beginsWith(property: string, prefix: string): Filter | undefined {
  if (prefix === '') return undefined
  const from = compare(property, 'ge', { type: 'String', value: prefix })
  const until = afterPrefix(prefix)
  return until === undefined ? from : and(from, compare(property, 'lt', { type: 'String', value: until }))
}

/** All that are given; undefined if none is. */
export function allOf(filters: readonly (Filter | undefined)[]): Filter | undefined {
  const [first, ...rest] = filters.filter((filter) => filter !== undefined)
  return first && and(first, ...rest)
}

export function formatFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'comparison':
      return `${filter.property} ${filter.operator} ${formatLiteral(filter.cell)}`
    case 'and':
    case 'or':
      return filter.terms.map(formatTerm).join(` ${filter.kind} `)
    case 'not':
      return `not (${formatFilter(filter.term)})`
    default:
      return unreachable(filter)
  }
}

function formatTerm(filter: Filter): string {
  return filter.kind === 'comparison' ? formatFilter(filter) : `(${formatFilter(filter)})`
}

function formatLiteral(cell: Cell): string {
  switch (cell.type) {
    case 'String':
      return `'${cell.value.replaceAll("'", "''")}'`
    case 'Boolean':
      return String(cell.value)
    case 'Int32':
      return String(cell.value)
    case 'Int64':
      return `${cell.value}L`
    case 'Double':
      return formatDouble(cell.value)
    case 'DateTime':
      return `datetime'${cell.value}'`
    case 'Guid':
      return `guid'${cell.value}'`
    case 'Binary':
      return `X'${Buffer.from(cell.value, 'base64').toString('hex')}'`
    default:
      return unreachable(cell)
  }
}

/** With a dot or an exponent, or it would be an Int32, which compares with nothing stored as a double. */
function formatDouble(value: number | string): string {
  if (typeof value === 'string') return value === 'NaN' ? value : value.replace('Infinity', 'INF')
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** Groups inside groups of their kind are opened: the text gets shorter, and its meaning stays. */
function join(kind: 'and' | 'or', first: Filter, rest: readonly Filter[]): Filter {
  const [one, two, ...more] = [first, ...rest].flatMap((term) => (term.kind === kind ? term.terms : [term]))
  return two === undefined ? first : { kind, terms: [one as Filter, two, ...more] }
}

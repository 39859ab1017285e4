/**
 * `$filter` text to Filter.
 *
 *   or    = and { "or" and }                cmp   = sum { ("eq"|"ne"|"gt"|"ge"|"lt"|"le") sum }
 *   and   = cmp { "and" cmp }               sum   = product { ("add"|"sub") product }
 *   unary = ("not" | "-") unary | primary   product = unary { ("mul"|"div"|"mod") unary }
 *   primary = "(" or ")" | literal | identifier [ "(" [ or { "," or } ] ")" ]
 *
 * Refusals come in three waves, as they do from the service: syntax, in reading order; then types, from
 * the leaves up; then what is well formed but not served. So an expression is read to a tree of words
 * first and given its meaning afterwards.
 */
import { unreachable } from '../model/brand.ts'
import { Fault } from '../model/faults.ts'
import type { EdmType, Value } from '../model/values.ts'
import { always, type Filter, flipped, group, type Operator } from './filter.ts'
import { faultAt, readLiteral, readToken, type Token } from './filter-tokens.ts'

/** The names a filter may use. */
export interface FilterSchema {
  readonly declared: ReadonlyMap<string, EdmType>
  /** Whether other names are properties too, of any type. */
  readonly open: boolean
}

export const entitySchema: FilterSchema = {
  declared: new Map([
    ['PartitionKey', 'Edm.String'],
    ['RowKey', 'Edm.String'],
    ['Timestamp', 'Edm.DateTime'],
  ]),
  open: true,
}

export const tableSchema: FilterSchema = {
  declared: new Map([['TableName', 'Edm.String']]),
  open: false,
}

export const filterNodesMax = 5000

/** Absent and blank filters let everything through. */
export function parseFilter(text: string | undefined, schema: FilterSchema): Filter {
  if (text === undefined || readToken(text, 0).kind === 'end') return always
  return giveMeaning(readExpression(text), schema)
}

// ---------------------------------------------------------------- words to tree

type Syntax =
  /** Undefined is null, or a value of a type that no property has. */
  | { readonly kind: 'literal'; readonly value: Value | undefined }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly operands: readonly Syntax[] }
  | { readonly kind: 'unary'; readonly operator: 'not' | '-'; readonly operand: Syntax }
  /** Left associative: operand, then operator and operand for each of `rest`. */
  | { readonly kind: 'chain'; readonly first: Syntax; readonly rest: readonly Link[] }

interface Link {
  readonly operator: BinaryOperator
  readonly operand: Syntax
}

/** From the loosest binding to the tightest; each with the kind its messages name. */
const levels = [
  { or: 'Or' },
  { and: 'And' },
  {
    eq: 'Equal',
    ne: 'NotEqual',
    gt: 'GreaterThan',
    ge: 'GreaterThanOrEqual',
    lt: 'LessThan',
    le: 'LessThanOrEqual',
  },
  { add: 'Add', sub: 'Subtract' },
  { mul: 'Multiply', div: 'Divide', mod: 'Modulo' },
] as const

type KeysOfUnion<T> = T extends unknown ? keyof T : never
type BinaryOperator = KeysOfUnion<(typeof levels)[number]>

const levelMaps = levels.map((level) => new Map(Object.entries(level)))
const operatorKinds = new Map(levelMaps.flatMap((level) => [...level]))

/** The library behind the service counts calls: seven for a pair of parentheses, one for each `not`. */
const depthMax = 800
const depthOfParentheses = 7

function readExpression(text: string): Syntax {
  let token = readToken(text, 0)
  let depth = 0
  const whole = readLevel(0)
  if (token.kind !== 'end') throw faultAt('Syntax error', token.until, text)
  return whole

  function readLevel(level: number): Syntax {
    const operators = levelMaps[level]
    if (operators === undefined) return readUnary()
    const first = readLevel(level + 1)
    const rest: Link[] = []
    while (token.kind === 'identifier' && operators.has(token.name)) {
      const operator = token.name as BinaryOperator
      advance()
      rest.push({ operator, operand: readLevel(level + 1) })
    }
    return rest.length === 0 ? first : { kind: 'chain', first, rest }
  }

  function readUnary(): Syntax {
    if (token.kind === '-' || (token.kind === 'identifier' && token.name === 'not')) {
      const operator = token.kind === '-' ? '-' : 'not'
      advance()
      return deeper(1, () => ({ kind: 'unary', operator, operand: readUnary() }))
    }
    return readPrimary()
  }

  function readPrimary(): Syntax {
    switch (token.kind) {
      case '(':
        return deeper(depthOfParentheses, readParentheses)
      case 'literal': {
        const value = readLiteral(text, token)
        advance()
        return { kind: 'literal', value }
      }
      case 'identifier': {
        const { name } = token
        advance()
        // Read through a function: the compiler does not see that advance changed the token.
        if (!standsAt('(')) return { kind: 'name', name }
        return { kind: 'call', name, operands: deeper(depthOfParentheses, readOperands) }
      }
      case 'end':
      case ')':
      case ',':
      case '-':
      case 'mark':
        throw faultAt('Expression expected', token.from, text)
      default:
        return unreachable(token)
    }
  }

  function readParentheses(): Syntax {
    advance()
    const inner = readLevel(0)
    expectClose("')' or operator expected")
    return inner
  }

  function readOperands(): Syntax[] {
    const operands: Syntax[] = []
    do {
      advance()
      if (operands.length === 0 && standsAt(')')) break
      operands.push(readLevel(0))
    } while (standsAt(','))
    expectClose("')' or ',' expected")
    return operands
  }

  function expectClose(what: string): void {
    if (!standsAt(')')) throw faultAt(what, token.from, text)
    advance()
  }

  function advance(): void {
    token = readToken(text, token.until)
  }

  function standsAt(kind: Token['kind']): boolean {
    return token.kind === kind
  }

  function deeper<Result>(levels: number, read: () => Result): Result {
    depth += levels
    if (depth > depthMax) {
      throw new Fault('InvalidInput', { text: 'Recursion depth exceeded allowed limit.' })
    }
    const result = read()
    depth -= levels
    return result
  }
}

// ---------------------------------------------------------------- tree to meaning

type Meaning =
  /** Something true or false. */
  | { readonly kind: 'filter'; readonly filter: Filter }
  /** Without a type it may hold any. */
  | { readonly kind: 'property'; readonly name: string; readonly type: EdmType | undefined }
  | { readonly kind: 'literal'; readonly value: Value }
  /** Well formed, but refused in the end. */
  | { readonly kind: 'refused' }

const knownFunctions: ReadonlySet<string> = new Set(
  (
    'startswith endswith substringof indexof length tolower toupper trim concat replace substring ' +
    'year month day hour minute second round floor ceiling isof cast'
  ).split(' '),
)

const numeric: ReadonlySet<EdmType | undefined> = new Set<EdmType>(['Edm.Int32', 'Edm.Int64', 'Edm.Double'])

function giveMeaning(expression: Syntax, schema: FilterSchema): Filter {
  let refusal: Fault | undefined
  let nodes = 0
  const whole = toFilter(meaningOf(expression))
  if (whole === 'not boolean') {
    throw new Fault('InvalidInput', {
      text: 'The $filter expression must evaluate to a single boolean value.',
    })
  }
  if (refusal !== undefined) throw refusal
  return whole

  function meaningOf(syntax: Syntax): Meaning {
    switch (syntax.kind) {
      case 'literal':
        if (syntax.value === undefined) return refuse('InvalidInput')
        return { kind: 'literal', value: syntax.value }
      case 'name': {
        const type = schema.declared.get(syntax.name)
        if (type === undefined && !schema.open) return refuse('InvalidInput')
        return { kind: 'property', name: syntax.name, type }
      }
      case 'call':
        for (const operand of syntax.operands) meaningOf(operand)
        if (knownFunctions.has(syntax.name)) return refuse('NotImplemented')
        throw new Fault('InvalidInput', {
          text:
            `An unknown function with name '${syntax.name}' was found. ` +
            'This may also be a key lookup on a navigation property, which is not allowed.',
        })
      case 'unary':
        return unary(syntax.operator, meaningOf(syntax.operand))
      case 'chain':
        return chain(syntax.first, syntax.rest)
      default:
        return unreachable(syntax)
    }
  }

  function chain(first: Syntax, rest: readonly Link[]): Meaning {
    let left = meaningOf(first)
    const terms: Filter[] = []
    for (const { operator, operand } of rest) {
      const right = meaningOf(operand)
      if (operator === 'and' || operator === 'or') {
        // A chain holds operators of one level, so all its terms belong to one group.
        const [before, after] = [toFilter(left), toFilter(right)]
        if (before === 'not boolean' || after === 'not boolean') throw incompatible(left, right, operator)
        if (terms.length === 0) terms.push(before)
        terms.push(after)
        left = { kind: 'filter', filter: after }
      } else if (isComparison(operator)) {
        left = comparison(left, operator, right)
      } else {
        left = arithmetic(left, operator, right)
      }
    }
    const [link] = rest
    if (link?.operator !== 'and' && link?.operator !== 'or') return left
    return { kind: 'filter', filter: counted(group(link.operator, terms)) }
  }

  function comparison(left: Meaning, operator: Operator, right: Meaning): Meaning {
    const [leftType, rightType] = [typeOf(left), typeOf(right)]
    const alike =
      leftType === undefined ||
      rightType === undefined ||
      leftType === rightType ||
      (numeric.has(leftType) && numeric.has(rightType))
    if (!alike) throw incompatible(left, right, operator)
    if (left.kind === 'property' && right.kind === 'literal') {
      return compared(left.name, operator, right.value)
    }
    if (left.kind === 'literal' && right.kind === 'property') {
      return compared(right.name, flipped[operator], left.value)
    }
    return left.kind === 'refused' || right.kind === 'refused' ? { kind: 'refused' } : refuse('InvalidInput')
  }

  function compared(property: string, operator: Operator, literal: Value): Meaning {
    return { kind: 'filter', filter: counted({ kind: 'comparison', property, operator, literal }) }
  }

  function arithmetic(left: Meaning, operator: BinaryOperator, right: Meaning): Meaning {
    for (const type of [typeOf(left), typeOf(right)]) {
      if (type !== undefined && !numeric.has(type)) throw incompatible(left, right, operator)
    }
    return refuse('NotImplemented')
  }

  function unary(operator: 'not' | '-', operand: Meaning): Meaning {
    const type = typeOf(operand)
    if (operator === '-') {
      if (type !== undefined && !numeric.has(type)) throw incompatibleUnary(type, 'Negate')
      return refuse('NotImplemented')
    }
    const filter = toFilter(operand)
    if (filter === 'not boolean') throw incompatibleUnary(type, 'Not')
    return { kind: 'filter', filter: counted({ kind: 'not', term: filter }) }
  }

  function toFilter(meaning: Meaning): Filter | 'not boolean' {
    switch (meaning.kind) {
      case 'filter':
        return meaning.filter
      case 'literal':
        if (meaning.value.type !== 'Edm.Boolean') return 'not boolean'
        return counted({ kind: 'constant', value: meaning.value.value })
      case 'property':
        if (meaning.type !== undefined) return 'not boolean'
        return counted({
          kind: 'comparison',
          property: meaning.name,
          operator: 'eq',
          literal: { type: 'Edm.Boolean', value: true },
        })
      case 'refused':
        return always
      default:
        return unreachable(meaning)
    }
  }

  function counted(filter: Filter): Filter {
    if (++nodes > filterNodesMax) throw new Fault('InvalidInput')
    return filter
  }

  /** Remembers the first refusal: errors of syntax and type further on come before it. */
  function refuse(code: 'InvalidInput' | 'NotImplemented'): Meaning {
    refusal ??= new Fault(code)
    return { kind: 'refused' }
  }
}

function isComparison(operator: BinaryOperator): operator is Operator {
  return operator in flipped
}

function typeOf(meaning: Meaning): EdmType | undefined {
  switch (meaning.kind) {
    case 'filter':
      return 'Edm.Boolean'
    case 'property':
      return meaning.type
    case 'literal':
      return meaning.value.type
    case 'refused':
      return undefined
    default:
      return unreachable(meaning)
  }
}

function incompatible(left: Meaning, right: Meaning, operator: BinaryOperator): Fault {
  const [leftType, rightType] = [typeOf(left) ?? '<null>', typeOf(right) ?? '<null>']
  return new Fault('InvalidInput', {
    text:
      'A binary operator with incompatible types was detected. ' +
      `Found operand types '${leftType}' and '${rightType}' for operator kind '${operatorKinds.get(operator)}'.`,
  })
}

function incompatibleUnary(type: EdmType | undefined, kind: 'Negate' | 'Not'): Fault {
  return new Fault('InvalidInput', {
    text:
      'A unary operator with an incompatible type was detected. ' +
      `Found operand type '${type}' for operator kind '${kind}'.`,
  })
}

/** The builder's text means, to the service's own parser, the tree it was built from. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { and, type Filter, formatFilter, Instant, not, or } from '../../src/index.ts'
import { ticksMax } from '../../src/definition/instant.ts'
import { columnsOf } from '../../src/filter/columns.ts'
import { beginsWith } from '../../src/filter/filter.ts'
import { indexLayout, ownLayout } from '../../src/row/codec.ts'
import type { Cell } from '../../src/row/row.ts'
import { AllTypes, Employee } from '../support/company.ts'
import { runs } from '../support/runs.ts'
import { serviceParser, type Parsed, type Value } from '../support/service-parser.ts'

const { parseFilter, entitySchema } = await serviceParser()

const is = columnsOf(AllTypes, ownLayout(AllTypes))
const operator = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge')
const word = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.constantFrom('', "o'k", "''", 'é', '😀', '\u0000', 'a and b', ') or ('),
)

const comparison: fc.Arbitrary<Filter> = fc.oneof(
  fc.tuple(operator, word).map(([o, value]) => is.text[o](value)),
  fc.tuple(fc.constantFrom('eq', 'ne'), fc.boolean()).map(([o, value]) => is.flag[o](value)),
  fc.tuple(operator, fc.integer()).map(([o, value]) => is.small[o](value)),
  fc
    .tuple(operator, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
    .map(([o, value]) => is.large[o](value)),
  fc
    .tuple(operator, fc.oneof(fc.double(), fc.constantFrom(5, -0, 1e21, 1e-7, NaN, Infinity, -Infinity)))
    .map(([o, value]) => is.real[o](value)),
  fc
    .tuple(operator, fc.bigInt({ min: 504_911_232_000_000_000n, max: ticksMax }))
    .map(([o, ticks]) => is.at[o](Instant.ofTicks(ticks))),
  fc
    .tuple(
      operator,
      fc.date({ min: new Date('1601-01-01'), noInvalidDate: true, max: new Date('9999-12-31') }),
    )
    .map(([o, value]) => is.at[o](value)),
  fc.tuple(operator, fc.uuid()).map(([o, value]) => is.guid[o](value)),
  fc.tuple(operator, fc.uint8Array({ maxLength: 5 })).map(([o, value]) => is.bytes[o](value)),
  word.map((prefix) => is.text.startsWith(prefix)),
)
const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    comparison,
    fc
      .array(tie('tree'), { minLength: 1, maxLength: 4 })
      .map(([first, ...rest]) => and(first as Filter, ...rest)),
    fc
      .array(tie('tree'), { minLength: 1, maxLength: 4 })
      .map(([first, ...rest]) => or(first as Filter, ...rest)),
    tie('tree').map(not),
  ),
}))

describe('a filter', () => {
  it('parses to the tree it was built from', () => {
    fc.assert(
      fc.property(tree, (filter) => {
        const parsed = parseFilter(formatFilter(filter), entitySchema)
        assert.deepEqual(flat(fromService(parsed)), flat(filter), formatFilter(filter))
      }),
      { numRuns: runs(3000) },
    )
  })

  it('is written with the literals of each type', () => {
    const cases: readonly (readonly [Filter, string])[] = [
      [is.text.eq("o'k"), "text eq 'o''k'"],
      [is.flag.ne(true), 'flag ne true'],
      [is.small.lt(-5), 'small lt -5'],
      [is.large.ge(5n), 'large ge 5L'],
      [is.real.gt(5), 'real gt 5.0'],
      [is.real.gt(-Infinity), 'real gt -INF'],
      [is.at.le(new Date('2026-11-15T12:00:00.5Z')), "at le datetime'2026-11-15T12:00:00.5000000Z'"],
      [
        is.guid.eq('0F0E0D0C-0000-4000-8000-000000000001'),
        "guid eq guid'0f0e0d0c-0000-4000-8000-000000000001'",
      ],
      [is.bytes.eq(Uint8Array.from([0, 255])), "bytes eq X'00ff'"],
      [is.text.startsWith('jo'), "text ge 'jo' and text lt 'jp'"],
      [
        and(is.small.gt(1), or(is.small.lt(5), not(is.flag.eq(true)))),
        'small gt 1 and (small lt 5 or (not (flag eq true)))',
      ],
    ]
    for (const [filter, expected] of cases) assert.equal(formatFilter(filter), expected)
  })

  it('of a prefix lets through exactly the texts that begin so', () => {
    const near = fc.string({
      unit: fc.constantFrom('a', 'b', '/', '\ud7ff', '😀', '\ue000', '\uffff'),
      maxLength: 4,
    })
    fc.assert(
      fc.property(near, near, (prefix, value) => {
        const filter = beginsWith('text', prefix)
        assert.equal(filter === undefined || holds(filter, value), value.startsWith(prefix))
      }),
      { numRuns: runs(2000) },
    )
  })

  it('refuses values of another type', () => {
    assert.throws(() => is.small.eq(0.5), {
      code: 'InvalidValue',
      message: /AllTypes\.small 0\.5 is no Int32/,
    })
    assert.throws(() => is.small.eq(undefined as never), { code: 'InvalidValue' })
  })

  it('knows only what a row of the order in question holds', () => {
    assert.deepEqual(Object.keys(columnsOf(Employee, ownLayout(Employee))), [
      'email',
      'name',
      'age',
      'salary',
    ])
    assert.deepEqual(Object.keys(columnsOf(Employee, indexLayout(Employee, 'byName'))), ['email'])
  })
})

function holds(filter: Filter, value: string): boolean {
  if (filter.kind === 'and') return filter.terms.every((term) => holds(term, value))
  assert(filter.kind === 'comparison')
  return filter.operator === 'ge'
    ? value >= (filter.cell.value as string)
    : value < (filter.cell.value as string)
}

/** The service opens groups inside groups of their kind: the same meaning, another shape. */
function flat(filter: Filter): Filter {
  switch (filter.kind) {
    case 'comparison':
      return { ...filter, cell: canonical(filter.cell) }
    case 'not':
      return { kind: 'not', term: flat(filter.term) }
    case 'and':
    case 'or': {
      const terms = filter.terms
        .map(flat)
        .flatMap((term) => (term.kind === filter.kind ? term.terms : [term]))
      return { kind: filter.kind, terms: terms as [Filter, Filter] }
    }
  }
}

function canonical(cell: Cell): Cell {
  return cell.type === 'DateTime' ? { ...cell, value: Instant.parse(cell.value).toString() } : cell
}

function fromService(filter: Parsed): Filter {
  switch (filter.kind) {
    case 'constant':
      throw new Error('no constant was written')
    case 'comparison':
      return {
        kind: 'comparison',
        property: filter.property,
        operator: filter.operator,
        cell: cellOf(filter.literal),
      }
    case 'and':
    case 'or':
      return { kind: filter.kind, terms: filter.terms.map(fromService) as [Filter, Filter] }
    case 'not':
      return { kind: 'not', term: fromService(filter.term) }
  }
}

function cellOf(value: Value): Cell {
  switch (value.type) {
    case 'Edm.Binary':
      return { type: 'Binary', value: Buffer.from(value.value).toString('base64') }
    case 'Edm.DateTime':
      return { type: 'DateTime', value: Instant.ofTicks(value.value).toString() }
    case 'Edm.Double':
      return { type: 'Double', value: Number.isFinite(value.value) ? value.value : String(value.value) }
    case 'Edm.Int64':
      return { type: 'Int64', value: String(value.value) }
    case 'Edm.String':
      return { type: 'String', value: value.value }
    case 'Edm.Guid':
      return { type: 'Guid', value: value.value }
    case 'Edm.Boolean':
      return { type: 'Boolean', value: value.value }
    case 'Edm.Int32':
      return { type: 'Int32', value: value.value }
  }
}

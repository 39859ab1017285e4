import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { compareKeys, type EntityKey, type KeyPosition, type KeyRange, slotOf } from '../../src/model/keys.ts'
import type { AccountName } from '../../src/model/table.ts'
import { comparisonsOf, type Filter, formatFilter, group } from '../../src/query/filter.ts'
import { entitySchema, parseFilter, tableSchema } from '../../src/query/parse-filter.ts'
import {
  clipPlan,
  isKeyComparison,
  keyOfPoint,
  type Plan,
  planFilter,
  type PlanRange,
  planRangesMax,
  planTables,
  resumePlan,
} from '../../src/query/plan-filter.ts'
import { cutsNotAbove } from '../../src/query/regions.ts'
import * as arbitrary from './arbitraries.ts'
import { satisfies } from './naive-filter.ts'

const entities = fc.array(arbitrary.entity, { minLength: 1, maxLength: 20 })
const rangesMax = fc.oneof(fc.constant(planRangesMax), fc.integer({ min: 1, max: 4 }))

describe('a plan', () => {
  it('a plan covers what matches, asks what is left, and ascends', () => {
    fc.assert(
      fc.property(arbitrary.filter, entities, rangesMax, (filter, rows, most) => {
        const plan = planFilter(filter, most)
        assertAscends(plan)
        assert(plan.ranges.length <= most)
        for (const entity of rows) {
          const range = plan.ranges.find((range) => holds(range, entity.key))
          const found = range !== undefined && satisfies(entity, range.residual ?? always)
          assert.equal(found, satisfies(entity, filter), shown(filter, entity.key))
        }
      }),
      { numRuns: arbitrary.runs(5_000) },
    )
  })

  it('a filter on keys alone leaves nothing to ask, unless ranges were joined', () => {
    const onKeys = arbitrary.filter.filter((filter) => [...comparisonsOf(filter)].every(isKeyComparison))
    fc.assert(
      fc.property(onKeys, (filter) => {
        for (const range of planFilter(filter).ranges) assert.equal(range.residual, undefined)
      }),
      { numRuns: arbitrary.runs(500) },
    )
  })

  it('a clipped plan holds the keys that both hold', () => {
    const position = fc.record({ partition: arbitrary.keyText, row: arbitrary.keyText })
    const until = fc.option(position, { nil: undefined })
    fc.assert(
      fc.property(arbitrary.filter, position, until, fc.array(arbitrary.key), (filter, from, until, keys) => {
        const range: KeyRange = { from, until }
        const [plan, clipped] = [planFilter(filter), clipPlan(planFilter(filter), range)]
        assertAscends(clipped)
        for (const key of keys) {
          const inBoth = plan.ranges.some((planned) => holds(planned, key)) && isBetween(range, key)
          assert.equal(
            clipped.ranges.some((planned) => holds(planned, key)),
            inBoth,
            shown(filter, key),
          )
        }
      }),
      { numRuns: arbitrary.runs(1_000) },
    )
  })

  it('a plan resumes at a position outside its ranges', () => {
    const plan = planFilter(parseFilter("PartitionKey eq 'a' or PartitionKey eq 'c'", entitySchema))
    const resumed = resumePlan(plan, { partition: 'b', row: 'x' })
    assert.deepEqual(resumed.ranges, plan.ranges.slice(1))
    assert.equal(resumePlan(plan, { partition: 'c\u0000', row: '' }).class, 'empty')
    assert.deepEqual(resumePlan(plan, { partition: 'c', row: 'x' }).ranges[0]?.from, {
      partition: 'c',
      row: 'x',
    })
  })

  it('thousands of equalities are planned quickly, in hulls where they are too many', () => {
    const [inP, isV] = [equal('PartitionKey', 'p'), equal('V', 'v')]
    const points = group(
      'or',
      many(5000, (i) => equal('RowKey', `${i}`)),
    )
    const pairs = group(
      'or',
      many(2500, (i) => group('and', [equal('RowKey', `${i}`), equal('V', `${i}`)])),
    )
    const partitions = group(
      'or',
      many(1600, (i) => equal('PartitionKey', `${i}`)),
    )
    const rows = group(
      'or',
      many(1600, (i) => equal('RowKey', `${i}`)),
    )
    const diagonal = many(800, (i) => group('and', [equal('PartitionKey', `${i}`), equal('RowKey', `x${i}`)]))
    const filters: Readonly<Record<string, Filter>> = {
      points: group('and', [inP, points]),
      pairs: group('and', [inP, pairs]),
      'pairs anywhere': pairs,
      grid: group('and', [partitions, rows]),
      'grid and diagonal': group('or', [group('and', [partitions, rows, isV]), ...diagonal]),
      'all but points': { kind: 'not', term: points },
    }
    for (const [name, filter] of Object.entries(filters)) {
      const startMs = performance.now()
      const plan = planFilter(filter)
      const tookMs = performance.now() - startMs
      assertAscends(plan)
      assert(plan.ranges.length <= planRangesMax, name)
      assert(tookMs < 2000, `${Math.round(tookMs)} ms for ${name}`)
    }
  })

  it('hulls stay in their partition while they can, and ask again', () => {
    const partitions = group('or', [equal('PartitionKey', 'a'), equal('PartitionKey', 'b')])
    const rows = group(
      'or',
      many(6, (i) => equal('RowKey', `${i}`)),
    )
    const plan = planFilter(group('and', [partitions, rows]), 4)
    assert.deepEqual(
      plan.ranges.map(({ from, until, hull }) => [from.partition, from.row, until?.row, hull]),
      [
        ['a', '0', '2\u0000', true],
        ['a', '3', '5\u0000', true],
        ['b', '0', '2\u0000', true],
        ['b', '3', '5\u0000', true],
      ],
    )
    assert(plan.ranges.every((range) => range.residual !== undefined))
    const across = planFilter(
      group(
        'or',
        many(9, (i) => equal('PartitionKey', `${i}`)),
      ),
      2,
    )
    assert.deepEqual(
      across.ranges.map(({ from, until }) => [from.partition, until?.partition]),
      [
        ['0', '3\u0000'],
        ['4', '8\u0000'],
      ],
    )
  })

  it('table names are planned as rows of the account, whatever their case', () => {
    const account = 'devstoreaccount1' as AccountName
    const point = planTables(parseFilter("TableName eq 'MyTable'", tableSchema), account)
    assert.equal(point.class, 'point')
    assert.deepEqual(keyOfPoint(point.ranges[0] as PlanRange), { partition: account, row: 'mytable' })
    const prefix = planTables(parseFilter("TableName ge 'Pre' and TableName lt 'Pre{'", tableSchema), account)
    assert.deepEqual(prefix.ranges, [
      {
        from: { partition: account, row: 'pre' },
        until: { partition: account, row: 'pre{' },
        rows: undefined,
        residual: undefined,
        hull: false,
      },
    ])
    assert.equal(planTables(parseFilter(undefined, tableSchema), account).class, 'partition-scan')
    assert.equal(planTables(parseFilter('false', tableSchema), account).class, 'empty')
    const not = planTables(parseFilter("not (TableName eq 'B')", tableSchema), account)
    assert.deepEqual(
      not.ranges.map((range) => range.until),
      [
        { partition: account, row: 'b' },
        { partition: `${account}\u0000`, row: '' },
      ],
    )
  })
})

const always: Filter = { kind: 'constant', value: true }

function assertAscends({ ranges }: Plan): void {
  for (const [index, { from, until }] of ranges.entries()) {
    const next = ranges[index + 1]
    if (until !== undefined) assert(compareKeys(from, until) < 0)
    if (next !== undefined) assert(until !== undefined && compareKeys(until, next.from) <= 0)
  }
}

function holds(range: PlanRange, key: EntityKey): boolean {
  if (!isBetween(range, key)) return false
  return range.rows === undefined || cutsNotAbove(range.rows, key.row) % 2 === 1
}

/** By slots, as stores do: positions that no key can take must not matter. */
function isBetween({ from, until }: KeyRange, key: KeyPosition): boolean {
  return slotOf(key) >= slotOf(from) && (until === undefined || slotOf(key) < slotOf(until))
}

function shown(filter: Filter, key: KeyPosition): string {
  return `${formatFilter(filter)} at ${JSON.stringify(key)}`
}

function many<Item>(count: number, item: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => item(index))
}

function equal(property: string, value: string): Filter {
  return { kind: 'comparison', property, operator: 'eq', literal: { type: 'Edm.String', value } }
}

import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { PartitionKey, RowKey } from '../../src/model/keys.ts'
import type { EntityRecord } from '../../src/model/record.ts'
import { parseTicks, type Ticks } from '../../src/model/ticks.ts'
import type { Version } from '../../src/model/version.ts'
import { compileFilter, type Predicate } from '../../src/query/compile-filter.ts'
import { formatFilter } from '../../src/query/filter.ts'
import { entitySchema, parseFilter } from '../../src/query/parse-filter.ts'
import { recordsTogether } from '../support/entities.ts'
import * as arbitrary from './arbitraries.ts'
import { type PlainEntity, recordOf, satisfies } from './naive-filter.ts'

const vectorEntity: PlainEntity = {
  key: { partition: 'p' as PartitionKey, row: 'r' as RowKey },
  version: parseTicks('2021-02-03T04:05:06.7Z') as Version,
  properties: [
    { name: 's', value: { type: 'Edm.String', value: 'abc' } },
    { name: 'e', value: { type: 'Edm.String', value: '' } },
    { name: 'i', value: { type: 'Edm.Int32', value: 5 } },
    { name: 'l', value: { type: 'Edm.Int64', value: 5n } },
    { name: 'd', value: { type: 'Edm.Double', value: 5.5 } },
    { name: 'b', value: { type: 'Edm.Boolean', value: true } },
    {
      name: 't',
      value: { type: 'Edm.DateTime', value: parseTicks('2020-01-01T00:00:00.0000001Z') as Ticks },
    },
    { name: 'g', value: { type: 'Edm.Guid', value: '00000000-0000-0000-0000-000000000001' } },
    { name: 'x', value: { type: 'Edm.Binary', value: Uint8Array.of(1, 2) } },
  ],
}

// biome-ignore format: a table reads in columns
const vectors: readonly (readonly [filter: string, expected: boolean])[] = [
  ["s eq 'abc'", true],             ["s eq 'ABC'", false],
  ["s gt 'abb'", true],             ["s lt 'B'", false],
  ["e eq ''", true],                ["e ne ''", false],
  ["z eq ''", false],               ["z ne ''", false],
  ["not (z eq '')", true],          ["not (z ne '')", true],
  ['i eq 5', true],                 ['i eq 5L', false],
  ['i ne 5L', true],                ['l eq 5', true],
  ['l eq 5L', true],                ['l ge 6', false],
  ['d gt 5', true],                 ['d gt 5L', false],
  ['d eq 5.5', true],               ["d ne ''", true],
  ["d lt ''", true],                ["d gt ''", false],
  ['b', true],                      ['not b', false],
  ['b eq true', true],              ["b eq 'true'", false],
  ["t eq datetime'2020-01-01T00:00:00Z'", false],
  ["t gt datetime'2020-01-01T00:00:00Z'", true],
  ["x ge X'0102'", true],           ["x gt X'01'", true],
  ['s', false],                     ['z or b', true],
  ["'abc' le s", true],             ['5 lt d', true],
  ["g eq guid'00000000-0000-0000-0000-000000000001'", true],
  ["g eq '00000000-0000-0000-0000-000000000001'", false],
  ["not (s eq '' or s ne '')", false], ["not (z eq '' or z ne '')", true],
  ["Timestamp eq datetime'2021-02-03T04:05:06.7000000Z'", true],
  ["Timestamp lt datetime'2021-02-03T04:05:06.7000001Z'", true],
  ["PartitionKey eq 'p' and RowKey ge 'r' and RowKey lt 's'", true],
]

describe('a compiled filter', () => {
  it('evaluation vectors', () => {
    const record = recordOf(vectorEntity)
    for (const [text, expected] of vectors) {
      const filter = parseFilter(text, entitySchema)
      assert.deepEqual(matchesOf(compileFilter(filter), [record]), [expected], text)
      assert.equal(satisfies(vectorEntity, filter), expected, `${text}, naively`)
    }
  })

  it('each type compares with each, by each operator, as the naive evaluator says', () => {
    const stored = fc.option(arbitrary.value, { nil: undefined, freq: 20 })
    fc.assert(
      fc.property(stored, arbitrary.value, fc.nat(3), fc.boolean(), fc.boolean(), (...drawn) => {
        const [value, other, before, lenient, isSame] = drawn
        const literal = isSame && value !== undefined ? value : other
        const entity = withProperty(value, before)
        const record = recordOf(entity)
        for (const operator of arbitrary.operators) {
          const filter = { kind: 'comparison', property: 'Aé', operator, literal } as const
          const compiled = compileFilter(filter, { numbers: lenient ? 'lenient' : 'strict' })
          const around = '0123456789"\\'.repeat(before)
          assert.deepEqual(
            matchesOf(compiled, [record], around),
            [satisfies(entity, filter, lenient)],
            operator,
          )
        }
      }),
      { numRuns: arbitrary.runs(10_000) },
    )
  })

  it('compiled filters agree with the naive evaluator, from row to row', () => {
    const rows = fc.array(arbitrary.entity, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(arbitrary.filter, rows, (filter, entities) => {
        const compiled = compileFilter(filter)
        const expected = entities.map((entity) => satisfies(entity, filter))
        const records = entities.map(recordOf)
        assert.deepEqual(matchesOf(compiled, records), expected, formatFilter(filter))
        const singly = records.flatMap((record) => matchesOf(compiled, [record]))
        assert.deepEqual(singly, expected, formatFilter(filter))
      }),
      { numRuns: arbitrary.runs(5_000) },
    )
  })

  it('a filter written as text parses to itself', () => {
    fc.assert(
      fc.property(arbitrary.filter, (filter) => {
        const text = formatFilter(filter)
        assert.equal(formatFilter(parseFilter(text, entitySchema)), text)
      }),
      { numRuns: arbitrary.runs(2_000) },
    )
  })
})

/** What a compiled filter says of each record, when they stand in one buffer among other bytes. */
function matchesOf(matches: Predicate, records: readonly EntityRecord[], around = ''): boolean[] {
  const together = recordsTogether(records, around)
  return Array.from(together.starts, (start) => matches(together, start))
}

/** The property asked for, with others before and the end of the record behind it. */
function withProperty(
  value: PlainEntity['properties'][number]['value'] | undefined,
  before: number,
): PlainEntity {
  const properties = Array.from({ length: before }, (_, index) => ({
    name: `Before${index}`,
    value: { type: 'Edm.Int32', value: index } as const,
  }))
  return {
    ...vectorEntity,
    properties: value === undefined ? properties : [...properties, { name: 'Aé', value }],
  }
}

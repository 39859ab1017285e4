import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { Fault } from '../../src/model/faults.ts'
import { formatFilter } from '../../src/query/filter.ts'
import {
  entitySchema,
  filterNodesMax,
  type FilterSchema,
  parseFilter,
  tableSchema,
} from '../../src/query/parse-filter.ts'
import { corpus, messages, type Outcome, tableCorpus } from './filter-corpus.ts'
import { workedExamples } from './worked-examples.ts'

describe('parsing a filter', () => {
  it('each refusal has its text and position', () => {
    for (const [filter, expected] of messages) assertOutcome(filter, expected, entitySchema)
  })

  it('every quoted filter has its outcome', () => {
    for (const [filter, expected] of corpus) assertOutcome(filter, expected, entitySchema)
  })

  it('only TableName exists in the tables collection', () => {
    for (const [filter, expected] of tableCorpus) assertOutcome(filter, expected, tableSchema)
  })

  it('every worked example parses to a tree whose text parses to the same tree', () => {
    for (const [filter] of workedExamples) {
      const tree = parseFilter(filter, entitySchema)
      assert.deepEqual(parseFilter(formatFilter(tree), entitySchema), tree)
    }
  })

  it('an absent filter lets everything through', () => {
    assert.deepEqual(parseFilter(undefined, entitySchema), { kind: 'constant', value: true })
  })

  it('depth is what stands inside each other, not side by side', () => {
    const filter = Array.from({ length: 500 }, () => '(not (A))').join(' and ')
    assert.equal(parseFilter(filter, entitySchema).kind, 'and')
  })

  it('a filter has at most so many nodes', () => {
    const full = Array.from({ length: filterNodesMax - 1 }, () => 'A').join(' or ')
    assert.equal(parseFilter(full, entitySchema).kind, 'or')
    assert.throws(() => parseFilter(`${full} or A`, entitySchema), { code: 'InvalidInput' })
  })

  it('long filters take time in proportion to their length', () => {
    const limitMs = 1000
    const long = [
      Array.from({ length: 3000 }, (_, i) => `RowKey eq '${i}'`).join(' or '),
      `A eq '${"''".repeat(32_000)}'`,
      `A eq '${"''".repeat(32_000)}`,
      'a'.repeat(65_536),
      '9'.repeat(65_536),
      `${'9'.repeat(65_536)}L`,
      `A eq X'${'0'.repeat(65_000)}'`,
      `A eq datetime'${'.0000000'.repeat(8_000)}'`,
      '('.repeat(65_536),
      'not '.repeat(16_384),
      '-'.repeat(65_536),
      'f('.repeat(32_768),
      `f(${'1,'.repeat(32_000)}1)`,
      ' '.repeat(65_536),
      `A${' eq 1'.repeat(13_000)}`,
      `A${' add 1'.repeat(10_000)}`,
      "A eq guid'".repeat(6_000),
    ]
    for (const filter of long) {
      const startMs = performance.now()
      try {
        parseFilter(filter, entitySchema)
      } catch (error) {
        assert(error instanceof Fault, String(error))
      }
      const tookMs = performance.now() - startMs
      assert(tookMs < limitMs, `${tookMs} ms for ${filter.slice(0, 20)}…`)
    }
  })
})

function assertOutcome(filter: string, expected: Outcome, schema: FilterSchema): void {
  const found = outcomeOf(filter, schema)
  const wanted =
    typeof expected === 'object' ? { refused: expected.refused.replace('~', () => filter) } : expected
  assert.deepEqual(found, wanted, filter)
}

function outcomeOf(filter: string, schema: FilterSchema): Outcome {
  try {
    return formatFilter(parseFilter(filter, schema))
  } catch (error) {
    assert(error instanceof Fault, String(error))
    if (error.code === 'NotImplemented') return 501
    assert.equal(error.code, 'InvalidInput')
    return { refused: error.message }
  }
}

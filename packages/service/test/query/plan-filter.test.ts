import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import type { KeyPosition } from '../../src/model/keys.ts'
import { formatFilter, formatLiteral } from '../../src/query/filter.ts'
import { entitySchema, parseFilter } from '../../src/query/parse-filter.ts'
import { planFilter, type PlanRange } from '../../src/query/plan-filter.ts'
import { workedExamples } from './worked-examples.ts'

describe('the planner', () => {
  for (const [index, [text, queryClass, ranges, residuals]] of workedExamples.entries()) {
    it(`worked example ${index + 1}: ${text}`, () => {
      const plan = planFilter(parseFilter(text, entitySchema))
      assert.equal(plan.class, queryClass)
      assert.deepEqual(plan.ranges.map(formatRange), ranges)
      const found = plan.ranges.map(({ residual }) => (residual === undefined ? '–' : formatFilter(residual)))
      assert.deepEqual(found, residuals.length === 0 ? ranges.map(() => '–') : residuals)
    })
  }
})

function formatRange({ from, until, rows }: PlanRange): string {
  const range = `[${formatPosition(from)} … ${until === undefined ? 'TOP' : formatPosition(until)})`
  if (rows === undefined) return range
  const intervals: string[] = []
  for (let i = 0; i < rows.length; i += 2) {
    intervals.push(`[${formatText(rows[i])},${rows[i + 1] === undefined ? 'TOP' : formatText(rows[i + 1])})`)
  }
  return `${range} rk∈{${intervals.join(',')}}`
}

function formatPosition({ partition, row }: KeyPosition): string {
  return `(${formatText(partition)},${formatText(row)})`
}

function formatText(text = ''): string {
  return formatLiteral({ type: 'Edm.String', value: text.replaceAll('\u0000', '·') })
}

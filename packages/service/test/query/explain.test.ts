import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { advice, type ExplainedRun, explain, formatExplanation } from '../../src/query/explain.ts'
import { entitySchema, parseFilter } from '../../src/query/parse-filter.ts'
import { planFilter, type QueryClass } from '../../src/query/plan-filter.ts'
import type { PageCounters, Stop } from '../../src/query/read-page.ts'
import * as arbitrary from './arbitraries.ts'

/** Filter, its class here, its class on the original service, advice from the plan alone. */
// biome-ignore format: a table reads in columns
const explained: readonly (readonly [string, QueryClass, QueryClass, readonly string[]])[] = [
  ["PartitionKey eq 'a' and RowKey eq '1'", 'point', 'point', ['Q01']],
  ["PartitionKey eq 'a' and RowKey ge '1'", 'row-range', 'row-range', []],
  ["PartitionKey eq 'a'", 'partition-scan', 'partition-scan', []],
  ["PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '2')", 'multi-point', 'partition-scan', []],
  ["PartitionKey eq 'a' or PartitionKey eq 'b'", 'partition-scan', 'table-scan', []],
  [`PartitionKey eq 'a' and (${rowKeys(101)})`, 'multi-point', 'partition-scan', ['Q02', 'Q16']],
  ["LastName eq 'Jones'", 'table-scan', 'table-scan', ['Q04']],
  ["RowKey eq '1'", 'table-scan', 'table-scan', ['Q05']],
  ["RowKey eq '1' and LastName eq 'Jones'", 'table-scan', 'table-scan', ['Q04']],
  ["PartitionKey ge 'a' and PartitionKey lt 'b'", 'partition-range-scan', 'partition-range-scan', ['Q06']],
  ["(PartitionKey eq 'a' and RowKey eq '1') or Age gt 30", 'table-scan', 'table-scan', ['Q04', 'Q07']],
  ["PartitionKey eq 'a' and (RowKey eq '1' or Age gt 30)", 'partition-scan', 'partition-scan', ['Q07']],
  ["PartitionKey ne 'a'", 'table-scan', 'table-scan', ['Q08']],
  ["PartitionKey eq 'a' and not (RowKey ge 'S')", 'row-range', 'partition-scan', ['Q08']],
  ["not (Active eq true)", 'table-scan', 'table-scan', ['Q04']],
  ["Timestamp ge datetime'2024-01-01T00:00:00Z'", 'table-scan', 'table-scan', ['Q09']],
  ["PartitionKey eq 'a' and Timestamp ge datetime'2024-01-01T00:00:00Z'", 'partition-scan', 'partition-scan', []],
  [`PartitionKey eq 'a' and (${rowKeys(14)})`, 'multi-point', 'partition-scan', []],
  [`PartitionKey eq 'a' and (${rowKeys(15)})`, 'multi-point', 'partition-scan', ['Q16']],
  ['false', 'empty', 'table-scan', []],
  ["PartitionKey eq 'a' and PartitionKey eq 'b'", 'empty', 'empty', []],
]

/** Filter, what a run counted, why it stopped, whether it selects, advice that the run adds. */
// biome-ignore format: a table reads in columns
const ran: readonly (readonly [string, Partial<PageCounters>, Stop, boolean, readonly string[]])[] = [
  ["PartitionKey eq 'a' and B", { scanned: 5000, matched: 400, returned: 400 }, 'exhausted', false, ['Q03']],
  ["PartitionKey eq 'a' and B", { scanned: 5000, matched: 600, returned: 600 }, 'exhausted', false, []],
  ["PartitionKey eq 'a' and B", { scanned: 900, matched: 1, returned: 1 }, 'exhausted', false, []],
  ["PartitionKey eq 'a'", { scanned: 100, matched: 100, returned: 100, bytesRead: 500_000 }, 'exhausted', false, ['Q11']],
  ["PartitionKey eq 'a'", { scanned: 100, matched: 100, returned: 100, bytesRead: 500_000 }, 'exhausted', true, []],
  ["PartitionKey eq 'a'", { scanned: 100, matched: 100, returned: 100, bytesRead: 50_000 }, 'exhausted', false, []],
  ["PartitionKey eq 'a'", { scanned: 101, matched: 101, returned: 100 }, 'top', false, []],
  ["PartitionKey eq 'a'", { scanned: 10, matched: 10, returned: 10 }, 'time', false, ['Q15']],
  ["PartitionKey eq 'a'", { scanned: 10, matched: 10, returned: 10 }, 'scanBudget', false, ['Q15']],
  ["PartitionKey eq 'a'", {}, 'injected', false, ['Q15']],
]

describe('an explanation', () => {
  it('names the class here, the class in the cloud, and what to do', () => {
    for (const [text, here, there, codes] of explained) {
      const { class: found, serviceEquivalent, advice } = explain(asked(text))
      assert.deepEqual([found, serviceEquivalent, advice], [here, there, codes], text)
    }
  })

  it('learns from a run', () => {
    for (const [text, counters, stop, selects, codes] of ran) {
      const explanation = explain({ ...asked(text), selects }, run(counters, stop))
      assert.deepEqual(explanation.advice, codes, `${text} ${JSON.stringify(counters)}`)
      assert.equal(explanation.run?.stop, stop)
    }
  })

  it('shows ranges with their bounds, skip sets, residuals and flags', () => {
    const text = "PartitionKey eq 'foo' or RowKey eq 'bar' and IsAdmin eq 'admin'"
    const { ranges, exact, filter, partitionsTouched } = explain(asked(text))
    assert.deepEqual(filter, {
      text: "((PartitionKey eq 'foo') or ((RowKey eq 'bar') and (IsAdmin eq 'admin')))",
      comparisons: 3,
      warnings: [],
    })
    assert.deepEqual([exact, partitionsTouched, ranges.count], [false, undefined, 3])
    const residual = "(IsAdmin eq 'admin')"
    const skip = [['bar', 'bar\u0000']]
    assert.deepEqual(ranges.first, [
      { lo: ['', 'bar'], hi: ['foo', ''], skip, residual, flags: ['multiPartition'] },
      { lo: ['foo', ''], hi: ['foo\u0000', ''], residual: null, flags: ['fullPartition'] },
      { lo: ['foo\u0000', 'bar'], hi: null, skip, residual, flags: ['multiPartition'] },
    ])
    const points = explain(asked("PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '2')"))
    assert.deepEqual([points.exact, points.partitionsTouched], [true, 1])
    assert.deepEqual(points.ranges.first[0]?.flags, ['point'])
  })

  it('counts what a run cost', () => {
    const counters = { seeks: 1, scanned: 200, matched: 50, returned: 49, bytesRead: 9, partitions: 4 }
    const { run: cost, partitionsTouched } = explain(asked('A eq 1'), run(counters, 'top'))
    assert.deepEqual(cost, {
      seeks: 1,
      scanned: 200,
      matched: 50,
      returned: 49,
      bytesRead: 9,
      bytesSent: 77,
      selectivity: 0.25,
      timeMs: { parse: 1, plan: 2, execute: 3, serialise: 4 },
      stop: 'top',
      continuation: { partition: 'p', row: 'é' },
    })
    assert.equal(partitionsTouched, 4)
  })

  it('warns of names that differ from a key by case alone', () => {
    assert.deepEqual(explain(asked("partitionKey eq 'a'")).filter.warnings, [
      'partitionKey is not PartitionKey: names are case-sensitive',
    ])
  })

  it('fits into a header whatever the filter', () => {
    const long = [
      `PartitionKey eq 'é' and (${rowKeys(900)})`,
      `A eq '${'😀"\\'.repeat(5_000)}'`,
      Array.from({ length: 200 }, (_, i) => `(RowKey eq '${i}' and V eq '${'v'.repeat(100)}')`).join(' or '),
    ]
    for (const text of long) assertFits(formatExplanation(explain(asked(text), run({}, 'top'))))
    const keys = { partition: 'é'.repeat(1024), row: '😀'.repeat(512) }
    const page = { ...run({}, 'top').page, next: keys }
    assertFits(formatExplanation(explain(asked('true'), { ...run({}, 'top'), page })))
    fc.assert(
      fc.property(arbitrary.filter, (filter) => {
        const explanation = explain({ filter, plan: planFilter(filter) })
        const header = formatExplanation(explanation)
        assertFits(header)
        if (JSON.stringify(explanation).length < 600) {
          assert.deepEqual(JSON.parse(header), JSON.parse(JSON.stringify(explanation)))
        }
      }),
      { numRuns: arbitrary.runs(500) },
    )
  })

  it('has a sentence for each code', () => {
    for (const sentence of Object.values(advice)) assert.match(sentence, /^[A-Z`].+\.$/)
  })
})

function asked(text: string) {
  const filter = parseFilter(text, entitySchema)
  return { filter, plan: planFilter(filter) }
}

function run(counters: Partial<PageCounters>, stop: Stop): ExplainedRun {
  const none = {
    seeks: 0,
    scanned: 0,
    matched: 0,
    returned: 0,
    bytesRead: 0,
    bytesTaken: 0,
    partitions: undefined,
  }
  return {
    page: {
      stop,
      next: stop === 'exhausted' ? undefined : { partition: 'p', row: 'é' },
      counters: { ...none, ...counters },
    },
    bytesSent: 77,
    timeMs: { parse: 1, plan: 2, execute: 3, serialise: 4 },
  }
}

function assertFits(header: string): void {
  assert(header.length <= 4096, `${header.length} bytes`)
  assert.match(header, /^[\x20-\x7e]*$/)
  assert.equal(typeof JSON.parse(header), 'object')
}

function rowKeys(count: number): string {
  return Array.from({ length: count }, (_, index) => `RowKey eq '${index}'`).join(' or ')
}

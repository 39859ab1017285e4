/** What the rows say about a write whose answer was lost. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { judgeOutcome } from '../../src/client/lost-answer.ts'
import { Instant, type Row, type Step, type StoredRow } from '../../src/index.ts'

const place = { of: 'E', partitionKey: 'p', rowKey: 'r' }
const row: Row = {
  text: { type: 'String', value: 'x' },
  real: { type: 'Double', value: 5 },
  at: { type: 'DateTime', value: '2026-11-15T12:00:00.1200000Z' },
  guid: { type: 'Guid', value: '0f0e0d0c-0000-4000-8000-00000000000a' },
}
/** As the service and its client give them back. */
const same: Row = {
  ...row,
  real: { type: 'Int32', value: 5 },
  at: { type: 'DateTime', value: '2026-11-15T12:00:00.12Z' },
  guid: { type: 'Guid', value: '0F0E0D0C-0000-4000-8000-00000000000A' },
}
const more: Row = { ...same, other: { type: 'Boolean', value: true } }
const different: Row = { ...same, text: { type: 'String', value: 'y' } }

const cases: readonly (readonly [string, Step, 'absent' | readonly [Row, etag: string], string])[] = [
  ['an insert whose row is there', { kind: 'insert', ...place, row }, [same, 'e2'], 'written'],
  ['an insert whose row is missing', { kind: 'insert', ...place, row }, 'absent', 'not written'],
  ['an insert where another row is', { kind: 'insert', ...place, row }, [different, 'e2'], 'not written'],
  ['an insert where a fuller row is', { kind: 'insert', ...place, row }, [more, 'e2'], 'not written'],
  ['a replace that is there', { kind: 'replace', ...place, row, etag: 'e1' }, [same, 'e2'], 'written'],
  [
    'a replace under an ETag that still stands',
    { kind: 'replace', ...place, row, etag: 'e1' },
    [same, 'e1'],
    'not written',
  ],
  [
    'a replace that another may have followed',
    { kind: 'replace', ...place, row, etag: 'e1' },
    [different, 'e3'],
    'undecided',
  ],
  ['a replace whose row is missing', { kind: 'replace', ...place, row, etag: '*' }, 'absent', 'not written'],
  [
    'an upsert whose row is missing',
    { kind: 'replace', ...place, row, etag: undefined },
    'absent',
    'undecided',
  ],
  [
    'a merge that is there among others',
    { kind: 'merge', ...place, row, etag: 'e1' },
    [more, 'e2'],
    'written',
  ],
  ['a merge that is not there', { kind: 'merge', ...place, row, etag: 'e1' }, [different, 'e3'], 'undecided'],
  ['a delete whose row is gone', { kind: 'delete', ...place, etag: 'e1' }, 'absent', 'written'],
  ['a delete whose row still stands', { kind: 'delete', ...place, etag: 'e1' }, [same, 'e1'], 'not written'],
  ['a delete where a newer row is', { kind: 'delete', ...place, etag: 'e1' }, [same, 'e2'], 'undecided'],
]

describe('a lost answer', () => {
  for (const [name, step, found, outcome] of cases) {
    it(`to ${name} means: ${outcome}`, async () => {
      assert.equal((await judgeOutcome([step], async () => stored(found))).outcome, outcome)
    })
  }

  const change: readonly Step[] = [
    { kind: 'replace', ...place, rowKey: 'own', row, etag: 'e1' },
    { kind: 'delete', ...place, rowKey: 'old', etag: '*' },
    { kind: 'insert', ...place, rowKey: 'new', row },
  ]
  const transactions: readonly (readonly [
    string,
    Readonly<Record<string, readonly [Row, string]>>,
    string,
  ])[] = [
    ['all of whose rows are there', { own: [same, 'e2'], new: [same, 'e2'] }, 'written'],
    ['whose own row is as it was', { own: [different, 'e1'], old: [same, 'e0'] }, 'not written'],
    ['whose old copy another has moved', { own: [different, 'e3'], other: [same, 'e3'] }, 'undecided'],
    ['that another has followed', { own: [different, 'e3'], new: [same, 'e2'] }, 'undecided'],
  ]
  for (const [name, rows, outcome] of transactions) {
    it(`to a transaction ${name} means: ${outcome}`, async () => {
      const judged = await judgeOutcome(change, async (_, rowKey) => stored(rows[rowKey] ?? 'absent'))
      assert.equal(judged.outcome, outcome)
      assert.deepEqual(judged.etags, [rows['own']?.[1], undefined, rows['new']?.[1]])
    })
  }
})

function stored(found: 'absent' | readonly [Row, string]): StoredRow | undefined {
  if (found === 'absent') return undefined
  const [cells, etag] = found
  return { partitionKey: 'p', rowKey: 'r', etag, timestamp: Instant.ofTicks(0n), cells }
}

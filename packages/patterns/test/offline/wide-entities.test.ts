/** What a wide entity comes to, as data. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { digits, guid, int32, key, string, text, wide } from '../../src/index.ts'
import {
  changeWide,
  insertWide,
  patchWide,
  removeWide,
  replaceWide,
  upsertWide,
} from '../../src/wide-entities.ts'
import type { Intent } from '../../src/write/intent.ts'
import { facetsOf } from '../../src/write/facets.ts'
import { changeOf, checkSteps, complete, stepsOf, systemSources } from '../../src/write/plan.ts'
import type { Step } from '../../src/write/step.ts'
import { Report, Year } from '../support/shapes.ts'
import { Instant } from '../../src/index.ts'

const mark = '11111111-1111-1111-1111-111111111111'
const Whole = { type: 'Guid', value: mark } as const
const word = (value: string) => ({ type: 'String', value }) as const
const number = (value: number) => ({ type: 'Int32', value }) as const
const q3 = { department: 'Sales', title: 'Q3', summary: 'good', pages: 5, body: 'long' }
/** A text that is not the last part of a key ends in a space. */
const first = { of: 'Report.00', partitionKey: 'Sales', rowKey: 'report_Q3 _00' } as const
const second = { of: 'Report.01', partitionKey: 'Sales', rowKey: 'report_Q3 _01' } as const

describe('a wide entity', () => {
  it('is all its parts, written together', () => {
    assert.deepEqual(planned(insertWide(Report, q3, mark)), [
      { kind: 'insert', ...first, row: { summary: word('good'), pages: number(5), Whole } },
      { kind: 'insert', ...second, row: { body: word('long'), Whole } },
    ])
    assert.deepEqual(
      planned(upsertWide(Report, q3, mark)).map(({ kind }) => kind),
      ['replace', 'replace'],
    )
  })

  it('has every part, also those that hold nothing', () => {
    const steps = planned(insertWide(Year, { department: 'Sales', year: 2026 }, mark))
    assert.deepEqual(
      steps.map(({ rowKey, ...step }) => [rowKey, 'row' in step && step.row]),
      ['year_2026_00', 'year_2026_01', 'year_2026_02'].map((rowKey) => [rowKey, { Whole }]),
    )
  })

  it('is replaced, and removed, under the ETags of all its parts', () => {
    const etags = (steps: readonly Step[]) => steps.map((step) => 'etag' in step && step.etag)
    assert.deepEqual(etags(planned(replaceWide(Report, q3, 'a b', mark))), ['a', 'b'])
    assert.deepEqual(etags(planned(removeWide(Report, q3, 'a b'))), ['a', 'b'])
    assert.deepEqual(etags(planned(removeWide(Report, q3, '*'))), ['*', '*'])
    assert.throws(() => removeWide(Report, q3, 'a'), { code: 'InvalidValue' })
  })

  it('is patched in the one part that holds the property', () => {
    assert.deepEqual(planned(patchWide(Report, q3, { pages: 6 }, '*', mark)), [
      { kind: 'merge', ...first, row: { pages: number(6) }, etag: '*' },
    ])
    assert.deepEqual(patchWide(Report, q3, {}, '*', mark), [])
  })

  it('is patched in all parts where a reader might see half of it, or where there is a condition', () => {
    assert.deepEqual(planned(patchWide(Report, q3, { pages: 6, body: 'x' }, '*', mark)), [
      { kind: 'merge', ...first, row: { pages: number(6), Whole }, etag: '*' },
      { kind: 'merge', ...second, row: { body: word('x'), Whole }, etag: '*' },
    ])
    assert.deepEqual(planned(patchWide(Report, q3, { pages: 6 }, 'a b', mark)), [
      { kind: 'merge', ...first, row: { pages: number(6), Whole }, etag: 'a' },
      { kind: 'merge', ...second, row: { Whole }, etag: 'b' },
    ])
  })

  it('is changed part by part, and keeps what others put into its rows', () => {
    const entity = { ...q3, etag: 'a b', timestamp: Instant.ofTicks(0n) }
    const current = { entity, foreign: [{}, { Newer: number(1) }] }
    assert.deepEqual(planned(changeWide(Report, current, { ...q3, body: 'x' }, mark)), [
      { kind: 'merge', ...first, row: { Whole }, etag: 'a' },
      { kind: 'replace', ...second, row: { Newer: number(1), body: word('x'), Whole }, etag: 'b' },
    ])
    assert.deepEqual(changeWide(Report, undefined, undefined, mark), [])
    assert.throws(() => changeWide(Report, current, { ...q3, title: 'Q4' }, mark), { code: 'InvalidValue' })
  })

  it('refuses strangers, and keys in a patch', () => {
    assert.throws(() => insertWide(Report, { ...q3, shoe: 1 }, mark), {
      message: 'Report has no property shoe',
    })
    assert.throws(() => patchWide(Report, q3, { title: 'x' }, '*', mark), { code: 'InvalidValue' })
    assert.throws(() => planned(insertWide(Report, { ...q3, pages: 'five' }, mark)), {
      message: 'Report.00.pages "five" is no Int32',
    })
  })

  it('is refused if it is more than a transaction takes', () => {
    const names = Array.from({ length: 100 }, (_, index) => `text${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, string()]))
    const Huge = wide('Huge', {
      properties: { id: int32(), ...properties },
      partition: key('p'),
      row: key(digits('id', 3)),
      parts: 10,
    })
    const entity = { id: 1, ...Object.fromEntries(names.map((name) => [name, 'x'.repeat(32_000)])) }
    const steps = planned(insertWide(Huge, entity, mark))
    checkSteps(steps)
    const larger = { ...entity, ...Object.fromEntries(names.map((name) => [name, 'é'.repeat(32_000)])) }
    assert.throws(() => checkSteps(planned(insertWide(Huge, larger, mark))), { code: 'LimitExceeded' })
  })
})

describe('the part of a property', () => {
  it('is chosen by its name alone, so that it stays when others come', () => {
    const small = wide('Small', {
      properties: { id: int32(), a: string(), b: string(), c: string() },
      partition: key('p'),
      row: key(digits('id', 3)),
      parts: 2,
    })
    const larger = wide('Larger', {
      properties: { id: int32(), z: string(), a: string(), b: string(), c: string(), d: string() },
      partition: key('p'),
      row: key(digits('id', 3)),
      parts: 2,
    })
    const partOf = (name: string, parts: typeof small.parts): number =>
      parts.findIndex(({ names }) => names.includes(name))
    for (const name of ['a', 'b', 'c']) assert.equal(partOf(name, small.parts), partOf(name, larger.parts))
    // Known answers: entities that are stored must be found by every later version.
    assert.deepEqual(
      ['a', 'b', 'c', 'd', 'z'].map((name) => partOf(name, larger.parts)),
      [0, 0, 1, 1, 0],
    )
  })

  it('is spread evenly enough', () => {
    const sizes = Year.parts.map(({ names }) => names.length)
    assert.equal(
      sizes.reduce((a, b) => a + b),
      301,
    )
    for (const size of sizes) assert(size > 60 && size < 150, String(sizes))
  })
})

describe('a wide definition', () => {
  const shape = { partition: key('p'), row: key('r_', text('id')) }
  it('that contradicts itself is refused with the name of the property', () => {
    const properties = { id: string(), a: string(), b: string() }
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [() => wide('W', { ...shape, properties, parts: [['a'], []] }), /W: b is in no part/],
      [() => wide('W', { ...shape, properties, parts: [['a'], ['a', 'b']] }), /W: a is in two parts/],
      [() => wide('W', { ...shape, properties, parts: [['a', 'b']] }), /at least two/],
      [() => wide('W', { ...shape, properties, parts: [['a', 'b'], ['c' as 'a']] }), /W: c is no property/],
      [() => wide('W', { ...shape, properties, parts: 1 }), /at least two/],
      [() => wide('W', { ...shape, properties, parts: 101 }), /101 parts/],
      [
        () => wide('W', { ...shape, properties: { ...properties, Whole: string() }, parts: 2 }),
        /Whole is kept/,
      ],
      [
        () => wide('W', { ...shape, properties: { id: guid().fresh(), a: string() }, parts: 2 }),
        /id is in the key/,
      ],
      [
        () => wide('W', { ...shape, properties: { ...properties, etag: string() }, parts: 2 }),
        /etag is a reserved/,
      ],
    ]
    for (const [make, message] of cases) assert.throws(make, { code: 'InvalidDefinition', message })
  })

  it('with more properties than its parts have room for is refused', () => {
    const many = Object.fromEntries(
      Array.from({ length: 600 }, (_, index) => [`p${index}`, int32().optional()]),
    )
    assert.throws(
      () =>
        wide('W', {
          ...shape,
          properties: { id: string(), ...many },
          parts: 2,
        }),
      { code: 'InvalidDefinition', message: /properties; a row holds 252/ },
    )
  })
})

function planned(intents: readonly Intent[]): readonly Step[] {
  return intents.flatMap((intent) => {
    const wanted = complete(intent, systemSources)
    const facets = facetsOf(intent.definition)
    return stepsOf(
      changeOf(wanted, 'unread', systemSources),
      facets,
      facets.map(() => []),
    )
  })
}

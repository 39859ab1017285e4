/** Time to rows and slots, and points to writes, as data. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { int32, key, series, string, text } from '../../src/index.ts'
import { addPoints, rowWrites, setPoints } from '../../src/data-series.ts'
import type { Value } from '../../src/definition/properties.ts'
import { Messages, Moods, Temperature, Visits } from '../support/shapes.ts'
import { runs } from '../support/runs.ts'

const jones = { department: 'Sales', employee: 223 }
const mark = '11111111-1111-1111-1111-111111111111'
const sum = (old: Value | undefined, value: Value): Value => Number(old ?? 0) + Number(value)
const at = (text: string) => new Date(`${text}Z`)

describe('a slot', () => {
  it('is named by the time within its period', () => {
    const named = (definition: Parameters<typeof setPoints>[0], keys: object, time: Date) => {
      const [intent] = setPoints(definition, keys, [{ at: time, value: 1 }])
      assert(intent?.kind === 'upsertMerge')
      const {
        site: _,
        department: __,
        employee: ___,
        period,
        ...slots
      } = intent.entity as Record<string, unknown>
      return [intent.definition.name, period, Object.keys(slots)[0]]
    }
    const time = at('2026-11-15T07:42:59.999')
    assert.deepEqual(named(Messages, jones, time), ['Messages', 20261115n, 'hour07'])
    assert.deepEqual(named(Temperature, { site: 'a' }, time), ['Temperature', 2026111507n, 'minute42'])
    assert.deepEqual(named(Moods, { site: 'a' }, time), ['Moods', 2026n, 'month11'])
    assert.deepEqual(named(Visits, { site: 'a' }, time), ['Visits.01', 2026n, 'day1115'])
    assert.deepEqual(named(Visits, { site: 'a' }, at('2024-02-29T00:00:00')), ['Visits.00', 2024n, 'day0229'])
  })

  it('has its place in one row, and rows keep the order of time', () => {
    assert.equal(Messages.rows.length, 1)
    assert.equal(Messages.rows[0]?.slots.length, 24)
    const slots = Visits.rows.flatMap((row) => row.slots)
    assert.equal(slots.length, 366)
    assert.deepEqual(slots, slots.toSorted())
    for (const row of Visits.rows) assert(Object.keys(row.definition.properties).length <= 252)
  })

  it('is the same for all times within it, and another for others', () => {
    const placeOf = (time: Date) => {
      const [intent] = setPoints(Temperature, { site: 'a' }, [{ at: time, value: 1 }])
      return JSON.stringify(intent, (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      )
    }
    const times = fc.date({
      min: at('1900-01-01T00:00:00'),
      max: at('2100-01-01T00:00:00'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(times, times, (one, other) => {
        const minute = (time: Date) => Math.floor(time.getTime() / 60_000)
        assert.equal(placeOf(one) === placeOf(other), minute(one) === minute(other))
        assert.equal(placeOf(one), placeOf(new Date(minute(one) * 60_000)))
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('points', () => {
  const points = [
    { at: at('2026-11-15T07:10:00'), value: 1 },
    { at: at('2026-11-15T07:50:00'), value: 2 },
    { at: at('2026-11-15T08:00:00'), value: 4 },
    { at: at('2026-11-16T00:00:00'), value: 8 },
  ]

  it('that are set are one blind merge for each row, the last of a slot', () => {
    const definition = Messages.rows[0]?.definition
    assert.deepEqual(setPoints(Messages, jones, points), [
      { kind: 'upsertMerge', definition, entity: { ...jones, period: 20261115n, hour07: 2, hour08: 4 } },
      { kind: 'upsertMerge', definition, entity: { ...jones, period: 20261116n, hour00: 8 } },
    ])
  })

  it('that are added are sums: of those of one slot, and with what is stored', () => {
    const definition = Messages.rows[0]?.definition
    const writes = rowWrites(Messages, jones, points, sum)
    assert.deepEqual(
      writes.map(({ values }) => values),
      [{ hour07: 3, hour08: 4 }, { hour00: 8 }],
    )
    assert.deepEqual(addPoints(writes, [{ values: { hour07: 10 }, etag: 'e' }, undefined], mark), [
      {
        kind: 'patch',
        definition,
        key: { ...jones, period: 20261115n },
        patch: { hour07: 13, hour08: 4, Added: mark },
        etag: 'e',
      },
      { kind: 'insert', definition, entity: { ...jones, period: 20261116n, hour00: 8, Added: mark } },
    ])
  })

  it('of Int64 are summed beyond what a number can hold', () => {
    const writes = rowWrites(
      Visits,
      { site: 'a' },
      [{ at: at('2026-01-01T00:00:00'), value: 1n }],
      (_, value) => value,
    )
    const [intent] = addPoints(writes, [{ values: { day0101: 9_007_199_254_740_993n }, etag: 'e' }], mark)
    assert(intent?.kind === 'patch')
    assert.deepEqual(intent.patch, { day0101: 9_007_199_254_740_994n, Added: mark })
  })
})

describe('a series that contradicts itself', () => {
  const shape = { partition: key('p'), row: key('r_', text('id')), value: int32() }
  it('is refused with the reason', () => {
    const id = string()
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [
        () => series('S', { ...shape, properties: { id }, slot: 'day', per: 'hour' }),
        /an? hour has no slots of a day/,
      ],
      [
        () => series('S', { ...shape, properties: { id }, slot: 'day', per: 'day' }),
        /a day has no slots of a day/,
      ],
      [
        () => series('S', { ...shape, properties: { id, x: string() }, slot: 'hour', per: 'day' }),
        /S: x is in no key/,
      ],
      [
        () =>
          series('S', {
            ...shape,
            row: key(text('hour01')),
            properties: { hour01: string() },
            slot: 'hour',
            per: 'day',
          }),
        /hour01 is kept/,
      ],
      [
        () =>
          series('S', {
            ...shape,
            properties: { id },
            slot: 'hour',
            per: 'day',
            value: int32().optional() as never,
          }),
        /a value cannot be optional/,
      ],
      [
        () => series('S', { ...shape, properties: { id }, slot: 'minute', per: 'year' }),
        /parts; a transaction writes 100/,
      ],
    ]
    for (const [make, message] of cases) assert.throws(make, { code: 'InvalidDefinition', message })
  })
})

import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  formatTicks,
  formatTicksFully,
  formatTicksInvariant,
  parseTicks,
  systemClock,
  type Ticks,
  ticksMax,
  ticksOfUnixMs,
  unixMsOfTicks,
} from '../../src/model/ticks.ts'
import { seededRandom } from '../support/random.ts'
import { ticksAt } from '../support/test-clock.ts'

describe('ticks', () => {
  it('count 100 ns from the year 1', () => {
    assert.equal(parseTicks('0001-01-01T00:00:00Z'), 0n)
    assert.equal(parseTicks('0001-01-01T00:00:00.0000001Z'), 1n)
    assert.equal(parseTicks('1601-01-01T00:00:00Z'), 504_911_232_000_000_000n)
    assert.equal(parseTicks('1970-01-01T00:00:00Z'), 621_355_968_000_000_000n)
    assert.equal(parseTicks('9999-12-31T23:59:59.9999999Z'), ticksMax)
    assert.equal(ticksMax, 3_155_378_975_999_999_999n)
  })

  it('are written and read without loss', () => {
    const random = seededRandom(31)
    for (let i = 0; i < 40_000; i++) {
      const ticks = ((BigInt(random.below(2 ** 32)) * BigInt(random.below(2 ** 32))) %
        (ticksMax + 1n)) as Ticks
      if (parseTicks(formatTicks(ticks)) !== ticks) assert.fail(formatTicks(ticks))
      if (parseTicks(formatTicksFully(ticks)) !== ticks) assert.fail(formatTicksFully(ticks))
      if (formatTicksFully(ticks).length !== 28) assert.fail(formatTicksFully(ticks))
    }
  })

  // biome-ignore format: a table reads in columns
  const trimmed: readonly (readonly [read: string, written: string])[] = [
    ['2020-07-27T22:35:08.4923533Z', '2020-07-27T22:35:08.4923533Z'],
    ['2020-07-27T22:35:08.4923530Z', '2020-07-27T22:35:08.492353Z'],
    ['2020-07-27T22:35:08.4900000Z', '2020-07-27T22:35:08.49Z'],
    ['2020-07-27T22:35:08.1Z',       '2020-07-27T22:35:08.1Z'],
    ['2020-07-27T22:35:08.0000000Z', '2020-07-27T22:35:08Z'],
    ['2020-07-27T22:35:08.0000010Z', '2020-07-27T22:35:08.000001Z'],
    ['2020-07-27T22:35:08Z',         '2020-07-27T22:35:08Z'],
    ['2008-07-10T00:00:00',          '2008-07-10T00:00:00Z'],
    ['2008-07-10T00:00:00.25',       '2008-07-10T00:00:00.25Z'],
    ['2008-07-10T00:00:00+02:00',    '2008-07-09T22:00:00Z'],
    ['2008-07-10T00:00:00-05:30',    '2008-07-10T05:30:00Z'],
    ['2008-07-10T00:00:00.5+14:00',  '2008-07-09T10:00:00.5Z'],
    ['2008-07-10T00:00:00-00:00',    '2008-07-10T00:00:00Z'],
    ['2000-02-29T23:59:59Z',         '2000-02-29T23:59:59Z'],
    ['0099-01-02T03:04:05Z',         '0099-01-02T03:04:05Z'],
    ['0001-01-01T01:00:00+01:00',    '0001-01-01T00:00:00Z'],
    ['2020-07-27T22:35:08.12345674Z',    '2020-07-27T22:35:08.1234567Z'],
    ['2020-07-27T22:35:08.123456749Z',   '2020-07-27T22:35:08.1234567Z'],
    ['2020-07-27T22:35:08.12345675Z',    '2020-07-27T22:35:08.1234568Z'],
    ['2020-07-27T22:35:08.123456650Z',   '2020-07-27T22:35:08.1234566Z'],
    ['2020-07-27T22:35:08.1234566501Z',  '2020-07-27T22:35:08.1234567Z'],
    ['2020-07-27T22:35:08.12345676Z',    '2020-07-27T22:35:08.1234568Z'],
    ['2020-07-27T22:35:08.999999999Z',   '2020-07-27T22:35:09Z'],
    ['2020-07-27T22:35:08.99999999+02:00', '2020-07-27T20:35:09Z'],
  ]
  for (const [read, written] of trimmed) {
    it(`${read} is written ${written}`, () => assert.equal(formatTicks(ticksAt(read)), written))
  }

  for (const text of [
    '',
    'now',
    '2020',
    '2020-01-01',
    '2020-01-01 00:00:00Z',
    '2020-01-01t00:00:00Z',
    '2020-01-01T00:00:00z',
    '2020-01-01T00:00Z',
    '2020-1-01T00:00:00Z',
    '20200101T000000Z',
    '2020-01-01T00:00:00.Z',
    '2020-01-01T00:00:00,5Z',
    '2020-01-01T00:00:00+0100',
    '2020-01-01T00:00:00+01',
    '2020-01-01T00:00:00+15:00',
    '2020-01-01T00:00:00+01:60',
    '2020-00-01T00:00:00Z',
    '2020-13-01T00:00:00Z',
    '2020-01-00T00:00:00Z',
    '2020-01-32T00:00:00Z',
    '2020-04-31T00:00:00Z',
    '2019-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2020-01-01T24:00:00Z',
    '2020-01-01T00:60:00Z',
    '2020-01-01T00:00:60Z',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59.9999999-00:01',
    '9999-12-31T23:59:59.99999999Z',
    '10000-01-01T00:00:00Z',
    '-0001-01-01T00:00:00Z',
    ' 2020-01-01T00:00:00Z',
    '2020-01-01T00:00:00Z ',
    '2020-01-01T00:00:00Z\n',
    '\u0662\u0660\u0662\u0660-01-01T00:00:00Z',
  ]) {
    it(`${JSON.stringify(text)} is no time`, () => assert.equal(parseTicks(text), undefined))
  }

  it('have every day of four hundred years, and no other', () => {
    const date = new Date(Date.UTC(1600, 0, 1))
    for (let year = 1600; year < 2000; year++) {
      for (let month = 1; month <= 12; month++) {
        for (const day of [28, 29, 30, 31]) {
          date.setUTCFullYear(year, month - 1, day)
          const exists = date.getUTCMonth() === month - 1
          const text = `${year}-${String(month).padStart(2, '0')}-${day}T12:00:00Z`
          const ticks = parseTicks(text)
          if ((ticks !== undefined) !== exists) assert.fail(text)
          if (ticks !== undefined && formatTicks(ticks) !== text) assert.fail(text)
        }
      }
    }
  })

  it('have a form for one error text', () => {
    assert.equal(formatTicksInvariant(0n as Ticks), '01/01/0001 00:00:00')
    assert.equal(formatTicksInvariant(ticksAt('1600-12-31T23:59:59.9Z')), '12/31/1600 23:59:59')
  })

  it('become milliseconds and back', () => {
    assert.equal(ticksOfUnixMs(0), ticksAt('1970-01-01T00:00:00Z'))
    assert.equal(ticksOfUnixMs(1.9), ticksAt('1970-01-01T00:00:00.001Z'))
    assert.equal(ticksOfUnixMs(-1), ticksAt('1969-12-31T23:59:59.999Z'))
    for (const ms of [0, 1, -1, 1_700_000_000_123]) assert.equal(unixMsOfTicks(ticksOfUnixMs(ms)), ms)
  })
})

describe('the system clock', () => {
  it('tells the wall clock, finer than a millisecond', () => {
    const clock = systemClock()
    const fractions = new Set<bigint>()
    for (let i = 0; i < 2000; i++) {
      const before = Date.now()
      const now = clock()
      const after = Date.now()
      const ms = unixMsOfTicks(now)
      assert(ms >= before - 3 && ms <= after + 3, `${ms} is not within ${before} and ${after}`)
      fractions.add(now % 10_000n)
    }
    assert(fractions.size > 1)
  })
})

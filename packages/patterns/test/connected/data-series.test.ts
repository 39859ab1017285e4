/** Series over real rows: what was set and added is read again, exactly once each. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import type { TableClient } from '@azure/data-tables'
import { isPatternsError, openTable } from '../../src/index.ts'
import { Died, newFaults } from '../support/faults.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { Messages, Moods, Temperature, Visits } from '../support/shapes.ts'

const jones = { department: 'Sales', employee: 223 }
const at = (text: string) => new Date(`${text}Z`)
const seven = at('2026-11-15T07:00:00')

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a data series', () => {
  it('is set by one request without a read, and a period is read by one point read', async () => {
    const client = await service.newTable()
    const faults = newFaults()
    const messages = openTable(service.clientOf(client.tableName, faults)).series(Messages)
    await messages.set(jones, { at: at('2026-11-15T07:30:00'), value: 5 })
    assert.equal(faults.requests, 1)
    await messages.set(
      jones,
      { at: at('2026-11-15T09:00:00'), value: 7 },
      { at: at('2026-11-15T07:00:00'), value: 6 },
    )
    faults.heal()
    assert.deepEqual(await messages.get(jones, at('2026-11-15T23:59:59')), [
      { at: seven, value: 6 },
      { at: at('2026-11-15T09:00:00'), value: 7 },
    ])
    assert.equal(faults.requests, 1)
    assert.deepEqual(await messages.get(jones, at('2026-11-16T00:00:00')), [])
    const row = await client.getEntity('Sales', 'messages_000223_20261115')
    assert.deepEqual([row['hour07'], row['hour09'], row['hour08']], [6, 7, undefined])
  })

  it('keeps series apart that differ in any part of their key', async () => {
    const messages = openTable(await service.newTable()).series(Messages)
    await messages.set(jones, { at: seven, value: 1 })
    await messages.set({ ...jones, employee: 224 }, { at: seven, value: 2 })
    await messages.set({ ...jones, department: 'IT' }, { at: seven, value: 3 })
    assert.deepEqual(await messages.get(jones, seven), [{ at: seven, value: 1 }])
    assert.deepEqual(
      await all(messages.read(jones, { from: at('2026-01-01T00:00:00'), until: at('2027-01-01T00:00:00') })),
      [{ at: seven, value: 1 }],
    )
  })

  it('holds values of its type', async () => {
    const table = openTable(await service.newTable())
    const site = { site: 'a' }
    const temperature = table.series(Temperature)
    await temperature.set(site, { at: seven, value: 20 })
    await temperature.add(site, { at: seven, value: 0.5 })
    assert.deepEqual(await temperature.get(site, seven), [{ at: seven, value: 20.5 }])
    await table.series(Moods).set(site, { at: seven, value: 'fair' })
    assert.deepEqual(await table.series(Moods).get(site, seven), [
      { at: at('2026-11-01T00:00:00'), value: 'fair' },
    ])
    await assert.rejects(temperature.set(site, { at: seven, value: 'warm' as never }), {
      code: 'InvalidValue',
    })
    const messages = table.series(Messages)
    await messages.set(jones, { at: seven, value: 2 ** 31 - 1 })
    await assert.rejects(messages.add(jones, { at: seven, value: 1 }), {
      code: 'InvalidValue',
      message: /hour07/,
    })
  })

  it('with more slots than a row holds is read in order, over years', async () => {
    const visits = openTable(await service.newTable()).series(Visits)
    const days = Array.from({ length: 800 }, (_, day) => new Date(Date.UTC(2023, 10, 1 + day)))
    for (let from = 0; from < days.length; from += 100)
      await visits.set(
        { site: 'a' },
        ...days.slice(from, from + 100).map((day, index) => ({ at: day, value: BigInt(from + index) })),
      )
    const range = { from: days[37] as Date, until: days[777] as Date }
    assert.deepEqual(
      await all(visits.read({ site: 'a' }, range)),
      days.map((day, index) => ({ at: day, value: BigInt(index) })).slice(37, 777),
    )
    const leapYear = await visits.get({ site: 'a' }, at('2024-07-01T00:00:00'))
    assert.equal(leapYear.length, 366)
    assert.deepEqual(await all(visits.read({ site: 'a' }, { from: range.until, until: range.from })), [])
  })

  it('reads what a model says, for any range', async () => {
    const start = at('2026-12-30T00:00:00').getTime()
    const hour = 3_600_000
    const point = fc.record({
      at: fc.nat(5 * 24 * 60 - 1).map((minutes) => new Date(start + minutes * 60_000)),
      value: fc.integer({ min: -9, max: 9 }),
      kind: fc.constantFrom('add', 'set'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(point, { minLength: 1, maxLength: 5 }), { maxLength: 6 }),
        point,
        point,
        async (calls, a, b) => {
          const messages = openTable(await service.newTable()).series(Messages)
          const model = new Map<number, number>()
          for (const points of calls) {
            const kind = points[0]?.kind
            await (kind === 'add' ? messages.add(jones, ...points) : messages.set(jones, ...points))
            for (const { at: time, value } of points) {
              const slot = Math.floor(time.getTime() / hour)
              model.set(slot, value + (kind === 'add' ? (model.get(slot) ?? 0) : 0))
            }
          }
          const slots = [...model].toSorted(([one], [other]) => one - other)
          const expected = slots
            .filter(([slot]) => slot >= Math.floor(a.at.getTime() / hour) && slot * hour < b.at.getTime())
            .map(([slot, value]) => ({ at: new Date(slot * hour), value }))
          const found = await all(messages.read(jones, { from: a.at, until: b.at }))
          assert.deepEqual(found, a.at < b.at ? expected : [])
        },
      ),
      { numRuns: runs(25) },
    )
  })

  it('counts each of many adders once', async () => {
    const client = await service.newTable()
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const messages = openTable(service.clientOf(client.tableName)).series(Messages)
        for (let turn = 0; turn < 4; turn += 1) await messages.add(jones, { at: seven, value: 1 })
      }),
    )
    assert.deepEqual(await openTable(client).series(Messages).get(jones, seven), [{ at: seven, value: 20 }])
  })
})

describe('an answer that is lost', () => {
  it('does not add twice, nor lose what was added', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (const how of ['connection', 'busy'] as const) {
        for (const request of [1, 2]) {
          const client = await service.newTable()
          const faults = newFaults()
          const messages = openTable(service.clientOf(client.tableName, faults)).series(Messages)
          await messages.set(jones, { at: seven, value: 5 })
          faults.loseAt(request, moment, how)
          await messages.add(jones, { at: seven, value: 1 })
          assert.deepEqual(
            await messages.get(jones, seven),
            [{ at: seven, value: 6 }],
            inspect({ moment, how, request }),
          )
        }
      }
    }
  })

  it('is not mistaken for the write of another who added the same', async () => {
    const client = await service.newTable()
    const other = openTable(client).series(Messages)
    await other.set(jones, { at: seven, value: 5 })
    const mine = service.clientOf(client.tableName)
    let meddled = false
    mine.pipeline.addPolicy(
      {
        name: 'somebody else is quicker, and then the connection breaks',
        async sendRequest(request, next) {
          if (request.method === 'GET' || meddled) return next(request)
          meddled = true
          await other.add(jones, { at: seven, value: 1 })
          throw Object.assign(new Error('the connection broke'), { name: 'RestError', code: 'ECONNRESET' })
        },
      },
      { phase: 'Sign' },
    )
    const outcome = await openTable(mine)
      .series(Messages)
      .add(jones, { at: seven, value: 1 })
      .then(
        () => 'added',
        (error: unknown) => (isPatternsError(error, 'OutcomeUnknown') ? 'unknown' : inspect(error)),
      )
    const [point] = await other.get(jones, seven)
    assert(meddled)
    assert(
      outcome === 'unknown' || (outcome === 'added' && point?.value === 7),
      `${outcome}, ${point?.value}`,
    )
  })
})

describe('a client that dies while it adds', () => {
  it('has added all points or none', async () => {
    const points = [
      { at: seven, value: 1 },
      { at: at('2026-11-16T07:00:00'), value: 1 },
    ]
    for (const moment of ['before', 'after'] as const) {
      for (let request = 1; ; request++) {
        const client: TableClient = await service.newTable()
        const faults = newFaults()
        faults.dieAt(request, moment)
        const error = await openTable(service.clientOf(client.tableName, faults))
          .series(Messages)
          .add(jones, ...points)
          .then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
        const found = await all(
          openTable(client)
            .series(Messages)
            .read(jones, { from: seven, until: at('2026-11-17T00:00:00') }),
        )
        assert(found.length === 0 || found.length === 2, inspect({ moment, request, found }))
        if (error === undefined) {
          assert(request > 1, 'the fault was never met')
          break
        }
        assert(error instanceof Died || isPatternsError(error, 'OutcomeUnknown'), inspect(error))
      }
    }
  })
})

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

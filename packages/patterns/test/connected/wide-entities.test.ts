/** A wide entity is seen whole or not at all: by any reader, among concurrent writers, after a death at any request. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import type { TableClient } from '@azure/data-tables'
import { isPatternsError, openTable } from '../../src/index.ts'
import { Died, newFaults } from '../support/faults.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { Report, Year } from '../support/shapes.ts'

const department = 'Sales'
const q3 = { department, title: 'Q3', summary: 'good', pages: 5, body: 'long' }

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a wide entity', () => {
  it('comes back as it was written, with more properties than a row holds', async () => {
    const years = openTable(await service.newTable()).wide(Year)
    const days = Object.fromEntries(
      Array.from({ length: 300 }, (_, day) => [`day${String(day).padStart(3, '0')}`, day]),
    )
    await years.insert({ department, year: 2026, remark: 'r', ...days })
    const { etag, timestamp: _, ...found } = (await years.get({ department, year: 2026 })) ?? {}
    assert.deepEqual(found, { department, year: 2026, remark: 'r', ...days })
    assert.equal(etag?.split(' ').length, 3)
    await assert.rejects(years.insert({ department, year: 2026 }), { code: 'AlreadyExists' })
  })

  it('is read in part by one point read, and patched by one merge', async () => {
    const client = await service.newTable()
    const faults = newFaults()
    const reports = reportsOf(service.clientOf(client.tableName, faults))
    await reports.insert(q3)
    faults.heal()
    assert.deepEqual(await reports.get(q3, { select: ['summary', 'pages'] }), { summary: 'good', pages: 5 })
    assert.equal(faults.requests, 1)
    assert.deepEqual(await reports.get(q3, { select: ['pages', 'body'] }), { pages: 5, body: 'long' })
    const rows = async () =>
      (await Promise.all(['00', '01'].map((part) => client.getEntity(department, `report_Q3 _${part}`)))).map(
        ({ etag }) => etag,
      )
    const [first, second] = await rows()
    faults.heal()
    await reports.patch(q3, { pages: 6 })
    assert.equal(faults.requests, 1)
    const [patched, untouched] = await rows()
    assert.notEqual(patched, first)
    assert.equal(untouched, second)
  })

  it('is guarded by one ETag, whichever part was changed', async () => {
    const reports = reportsOf(await service.newTable())
    await reports.insert(q3)
    const { etag = '' } = (await reports.get(q3)) ?? {}
    await reports.patch(q3, { body: 'other' })
    await assert.rejects(reports.patch(q3, { pages: 1 }, { etag }), { code: 'Changed' })
    await assert.rejects(reports.replace(q3, { etag }), { code: 'Changed' })
    await assert.rejects(reports.remove(q3, { etag }), { code: 'Changed' })
    const now = (await reports.get(q3))?.etag ?? ''
    await reports.replace({ department, title: 'Q3', summary: 's' }, { etag: now })
    assert.equal((await reports.get(q3))?.body, undefined)
    await assert.rejects(reports.patch({ department, title: 'none' }, { pages: 1 }), { code: 'NotFound' })
    assert.equal(await reports.remove(q3), true)
    assert.equal(await reports.remove(q3), false)
  })

  it('is listed in order, by ranges of its key, beside rows of others', async () => {
    const client = await service.newTable()
    const table = openTable(client)
    const reports = table.wide(Report)
    await client.createEntity({ partitionKey: department, rowKey: 'report_B', note: 'not one of these' })
    for (const title of ['C', 'A B', 'A', 'D']) await reports.upsert({ department, title, summary: title })
    const titles = async (query?: Parameters<typeof reports.query>[1]) => {
      const found: string[] = []
      for await (const { title } of reports.query({ department }, query)) found.push(title)
      return found
    }
    assert.deepEqual(await titles(), ['A', 'A B', 'C', 'D'])
    assert.deepEqual(await titles({ from: { title: 'A B' }, until: { title: 'D' } }), ['A B', 'C'])
    assert.deepEqual(await titles({ prefix: { title: 'A' } }), ['A'])
    assert.deepEqual(await titles({ take: 2 }), ['A', 'A B'])
  })

  it('is as a model says, after every step', async () => {
    const command = fc.record({
      kind: fc.constantFrom('upsert', 'patch', 'change', 'remove', 'insert'),
      title: fc.constantFrom('a', 'b/c'),
      summary: fc.constantFrom('x', 'y'),
      pages: fc.option(fc.nat(9), { nil: undefined }),
      body: fc.option(fc.constantFrom('p', 'q'), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 12 }), async (commands) => {
        const reports = reportsOf(await service.newTable())
        const model = new Map<string, Record<string, unknown>>()
        for (const { kind, title, ...values } of commands) {
          const key = { department, title }
          const old = model.get(title)
          const given = withoutUndefined(values)
          const entity = { ...key, ...values }
          if (kind === 'upsert') await reports.upsert(entity)
          else if (kind === 'change') await reports.change(key, (it) => it && { ...it, ...values })
          else if (kind === 'remove') assert.equal(await reports.remove(key), old !== undefined)
          else if (kind === 'insert') await assertIf(old === undefined, reports.insert(entity))
          else await assertIf(old !== undefined, reports.patch(key, given))
          const next = {
            upsert: given,
            insert: old ?? given,
            patch: old && { ...old, ...given },
            change: old && withoutUndefined({ ...old, ...values }),
            remove: undefined,
          }[kind]
          if (next === undefined) model.delete(title)
          else model.set(title, next)
          const found: unknown[] = []
          for await (const { etag: _, timestamp: __, ...each } of reports.query({ department }))
            found.push(each)
          const expected = [...model]
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([each, rest]) => ({ department, title: each, ...rest }))
          assert.deepEqual(found, expected)
        }
      }),
      { numRuns: runs(20) },
    )
  })

  it('is never seen half written, however the pages of a reader are cut', async () => {
    const client = await service.newTable()
    const reports = reportsOf(client)
    await reports.upsert({ department, title: 'Q3', summary: '0', body: '0' })
    const writing = new AbortController()
    const seen = new Set<string>()
    const writer = (async () => {
      for (let turn = 1; turn <= 60; turn += 1) {
        const text = String(turn)
        if (turn % 2 === 0) await reports.patch(q3, { summary: text, body: text })
        else await reports.upsert({ department, title: 'Q3', summary: text, body: text })
      }
      writing.abort()
    })()
    const mine = reportsOf(service.clientOf(client.tableName))
    while (!writing.signal.aborted) {
      const found = await mine.get(q3)
      assert.equal(found?.summary, found?.body)
      for await (const each of mine.query({ department })) assert.equal(each.summary, each.body)
      seen.add(found?.summary ?? '')
    }
    await writer
    assert(seen.size > 1, 'nothing was read while it was written')
  })

  it('keeps all changes of many at once', async () => {
    const client = await service.newTable()
    await reportsOf(client).insert({ ...q3, pages: 0 })
    await Promise.all(
      Array.from({ length: 6 }, () =>
        reportsOf(service.clientOf(client.tableName)).change(
          q3,
          (it) => it && { ...it, pages: (it.pages ?? 0) + 1, body: `${it.body}.` },
        ),
      ),
    )
    const found = await reportsOf(client).get(q3)
    assert.deepEqual([found?.pages, found?.body], [6, 'long......'])
  })

  it('whose parts do not belong together is reported, not guessed', async () => {
    const client = await service.newTable()
    const reports = openTable(client, { backoff: { attemptsMax: 2 } }).wide(Report)
    await reports.insert(q3)
    await client.deleteEntity(department, 'report_Q3 _01')
    await assert.rejects(reports.get(q3), { code: 'UnreadableRow', message: /do not belong together/ })
  })
})

describe('a client that dies while it writes a wide entity', () => {
  type Reports = ReturnType<typeof reportsOf>
  const old = { summary: 'good', body: 'long' }
  const scenarios: Readonly<
    Record<string, readonly [(reports: Reports) => Promise<unknown>, object | undefined]>
  > = {
    upsert: [(it) => it.upsert({ ...q3, summary: 'new', body: 'new' }), { summary: 'new', body: 'new' }],
    change: [
      (it) => it.change(q3, (now) => now && { ...now, summary: 'new', body: 'new' }),
      { summary: 'new', body: 'new' },
    ],
    patch: [(it) => it.patch(q3, { summary: 'new', body: 'new' }), { summary: 'new', body: 'new' }],
    remove: [(it) => it.remove(q3), undefined],
  }
  for (const [name, [run, next]] of Object.entries(scenarios)) {
    it(`${name}: readers see all of it or nothing`, async () => {
      for (const moment of ['before', 'after'] as const) {
        for (let request = 1; ; request++) {
          const client = await service.newTable()
          await reportsOf(client).insert(q3)
          const faults = newFaults()
          faults.dieAt(request, moment)
          const error = await run(reportsOf(service.clientOf(client.tableName, faults))).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          const found = await reportsOf(client).get(q3, { select: ['summary', 'body'] })
          assert(
            [old, next].some((each) => inspect(each) === inspect(found)),
            inspect({ request, moment, found }),
          )
          await run(reportsOf(client))
          assert.deepEqual(await reportsOf(client).get(q3, { select: ['summary', 'body'] }), next)
          if (error === undefined) {
            assert(request > 1, 'the fault was never met')
            break
          }
          assert(error instanceof Died || isPatternsError(error, 'OutcomeUnknown'), inspect(error))
        }
      }
    })
  }
})

function reportsOf(client: TableClient) {
  return openTable(client).wide(Report)
}

function withoutUndefined(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Done if it may be, and refused otherwise. */
async function assertIf(may: boolean, written: Promise<unknown>): Promise<void> {
  if (may) await written
  else await assert.rejects(written, (error) => isPatternsError(error))
}

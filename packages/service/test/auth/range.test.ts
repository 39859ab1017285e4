/** A range-limited signature shows nothing of what lies outside: not by rows, pages, tokens, costs or errors. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { encodeToken } from '../../src/query/continuation.ts'
import { formatFilter } from '../../src/query/filter.ts'
import { filter, runs } from '../query/arbitraries.ts'
import { batch, type InProcess, openInProcess, type Sent, serviceSas } from './without-socket.ts'

const texts = ['', '1', '2', 'a', 'aa', 'ab', 'b']
const bound = fc.option(fc.constantFrom('1', '2', 'a', 'aa', 'aaa', 'ab', 'b', 'c'), { nil: undefined })
const text = fc.constantFrom(...texts, 'aaa', 'c')

interface Bounds {
  readonly spk?: string
  readonly srk?: string
  readonly epk?: string
  readonly erk?: string
}

const bounds: fc.Arbitrary<Bounds> = fc.tuple(bound, bound, bound, bound).map(([spk, srk, epk, erk]) => ({
  ...(spk === undefined ? {} : { spk, ...(srk === undefined ? {} : { srk }) }),
  ...(epk === undefined ? {} : { epk, ...(erk === undefined ? {} : { erk }) }),
}))

/** What a holder might try. The token is put in by whoever sends it. */
type Attempt = (token: string) => Sent

const query: fc.Arbitrary<Attempt> = fc
  .record({
    filter: fc.option(filter, { nil: undefined }),
    top: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    from: fc.option(fc.tuple(text, fc.option(text, { nil: undefined })), { nil: undefined }),
    select: fc.option(fc.constantFrom('RowKey', 'A,PartitionKey', '*'), { nil: undefined }),
    explain: fc.option(fc.constantFrom('plan', 'analyze'), { nil: undefined }),
    inBatch: fc.boolean(),
  })
  .map(({ filter, top, from, select, explain, inBatch }) => (token) => {
    const options = [
      ...(filter === undefined ? [] : [`$filter=${encoded(formatFilter(filter))}`]),
      ...(top === undefined ? [] : [`$top=${top}`]),
      ...(select === undefined ? [] : [`$select=${encoded(select)}`]),
      ...(from === undefined ? [] : [`NextPartitionKey=${encoded(encodeToken(from[0]))}`]),
      ...(from?.[1] === undefined ? [] : [`NextRowKey=${encoded(encodeToken(from[1]))}`]),
    ].join('&')
    const headers: Record<string, string> = explain === undefined ? {} : { 'x-explain': explain }
    if (inBatch) return batch([{ method: 'GET', path: `/people()?${options}`, headers }], token)
    return { path: `/people()?${options}&${token}`, headers }
  })

const point: fc.Arbitrary<Attempt> = fc
  .tuple(text, text, fc.constantFrom({}, { 'If-Match': '*' }, { 'If-None-Match': '*' }), fc.boolean())
  .map(([partition, row, headers, inBatch]) => (token) => {
    const path = `/people(PartitionKey='${partition}',RowKey='${row}')`
    return inBatch ? batch([{ method: 'GET', path, headers }], token) : { path: `${path}?${token}`, headers }
  })

/** Writes whose keys lie outside, or that change nothing inside that differs between the two tables. */
const write: fc.Arbitrary<Attempt> = fc
  .tuple(
    text,
    text,
    fc.constantFrom('POST', 'PUT', 'MERGE', 'DELETE'),
    fc.constantFrom(undefined, '*', `W/"datetime'2020-01-01T00%3A00%3A00Z'"`),
    fc.boolean(),
  )
  .map(([partition, row, method, ifMatch, inBatch]) => (token) => {
    const headers: Record<string, string> =
      ifMatch === undefined || method === 'POST' ? {} : { 'If-Match': ifMatch }
    const path = method === 'POST' ? '/people' : `/people(PartitionKey='${partition}',RowKey='${row}')`
    const body = method === 'DELETE' ? {} : { body: { PartitionKey: partition, RowKey: row, A: 7 } }
    if (inBatch) return batch([{ method, path, headers, ...body }], token)
    return { method, path: `${path}?${token}`, headers, body: JSON.stringify(body.body ?? {}) }
  })

describe('a range-limited signature', () => {
  it('answers as if the table ended where its range does', async () => {
    await fc.assert(
      fc.asyncProperty(
        bounds,
        fc.array(fc.oneof({ weight: 4, arbitrary: query }, point, write), { minLength: 10, maxLength: 30 }),
        async (range, attempts) => {
          const whole = await tableWith(() => true)
          const cut = await tableWith((partition, row) => isInside(range, partition, row))
          const token = serviceSas({ sp: 'raud', ...range })
          for (const [index, attempt] of attempts.entries()) {
            const sent = attempt(token)
            // A moment of its own for each, so that versions are the same on both sides.
            const moment = new Date(Date.UTC(2025, 1, 1) + index * 1000).toISOString()
            whole.at(moment)
            cut.at(moment)
            const [a, b] = [await whole.send(sent), await cut.send(sent)]
            assert.equal(a.masked, b.masked, JSON.stringify(sent))
          }
        },
      ),
      { numRuns: runs(100) },
    )
  })

  it('is one interval in the order of keys, not a rectangle', async () => {
    const service = openInProcess()
    await service.own({ method: 'POST', path: '/Tables', body: '{"TableName":"people"}' })
    for (const partition of '01234') {
      for (const row of '01234') await insert(service, partition, row)
    }
    const token = serviceSas({ sp: 'r', spk: '1', srk: '1', epk: '3', erk: '3' })
    const keysOf = async (options: string) => {
      const answered = await service.send({ path: `/people()?${options}&${token}` })
      const { value } = JSON.parse(answered.text) as { value: { PartitionKey: string; RowKey: string }[] }
      return value.map((entity) => `${entity.PartitionKey}${entity.RowKey}`)
    }
    assert.deepEqual(await keysOf(''), '11 12 13 14 20 21 22 23 24 30 31 32 33'.split(' '))
    const recorded = "PartitionKey gt '1' and PartitionKey le '4' and RowKey gt '1' and RowKey le '4'"
    assert.deepEqual(await keysOf(`$filter=${encoded(recorded)}`), '22 23 24 32 33'.split(' '))
  })
})

async function tableWith(has: (partition: string, row: string) => boolean): Promise<InProcess> {
  const service = openInProcess()
  await service.own({ method: 'POST', path: '/Tables', body: '{"TableName":"people"}' })
  let second = 0
  for (const partition of texts) {
    for (const row of texts) {
      service.at(new Date(Date.UTC(2025, 0, 15, 8, 30, second++)).toISOString())
      if (has(partition, row)) await insert(service, partition, row)
    }
  }
  return service
}

async function insert(service: InProcess, partition: string, row: string): Promise<void> {
  const body = JSON.stringify({ PartitionKey: partition, RowKey: row, A: row.length, B: partition })
  await service.own({ method: 'POST', path: '/people', body, headers: { Prefer: 'return-no-content' } })
}

/** Written from the specification, without the service's own ranges. */
function isInside({ spk, srk = '', epk, erk }: Bounds, partition: string, row: string): boolean {
  const isAbove = spk === undefined || partition > spk || (partition === spk && row >= srk)
  const isBelow =
    epk === undefined || partition < epk || (partition === epk && (erk === undefined || row <= erk))
  return isAbove && isBelow
}

/** Half a surrogate pair cannot be written in an address. */
function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, 'x'))
}

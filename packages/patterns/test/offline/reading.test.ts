/** Readings over pages that end anywhere, also at nothing; merged, cut short, and no further ahead than asked. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Rows } from '../../src/client/rows.ts'
import { Instant, parallel, type Reading } from '../../src/index.ts'
import { fanOut } from '../../src/read/fan-out.ts'
import { openReading } from '../../src/read/reading.ts'
import { runs } from '../support/runs.ts'

const timestamp = Instant.ofTicks(0n)

describe('a reading', () => {
  it('gives the same however its pages are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(40),
        fc.infiniteStream(fc.nat(5)),
        fc.integer({ min: 1, max: 9 }),
        fc.option(fc.nat(45), { nil: undefined }),
        async (count, cuts, size, take) => {
          const { rows } = cutRows('p', count, cuts)
          const reading = readingOf(rows, take)
          const expected = names('p', count).slice(0, take)
          assert.deepEqual(await reading.toArray(), expected)
          assert.equal(await reading.first(), expected[0])
          assert.deepEqual(await byPages(reading, size), expected)
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('leaves out what is decoded to nothing, and still fills its pages', async () => {
    const { rows } = cutRows('p', 30, [0, 1, 4][Symbol.iterator]())
    const odd = openReading({
      ...query,
      rows,
      decode: async ({ rowKey }) => (Number(rowKey) % 2 === 1 ? rowKey : undefined),
    })
    const { items, cursor } = await odd.page({ size: 4 })
    assert.deepEqual(items, ['01', '03', '05', '07'])
    assert.deepEqual((await odd.page({ size: 4, cursor })).items, ['09', '11', '13', '15'])
  })

  it('refuses sizes that are none', async () => {
    const { rows } = cutRows('p', 1, [][Symbol.iterator]())
    await assert.rejects(readingOf(rows).page({ size: 0 }), { code: 'InvalidValue' })
    assert.throws(() => readingOf(rows, -1), { code: 'InvalidValue' })
  })
})

describe('parallel readings', () => {
  it('are merged in order, whatever their lengths, the cuts and the concurrency', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(12), { maxLength: 6 }),
        fc.infiniteStream(fc.nat(4)),
        fc.integer({ min: 1, max: 4 }),
        fc.option(fc.nat(30), { nil: undefined }),
        async (counts, cuts, concurrency, take) => {
          const readings = counts.map((count, index) => readingOf(cutRows(`p${index}`, count, cuts).rows))
          const all = counts.flatMap((count, index) => names(`p${index}`, count))
          const merged = parallel(readings, {
            order: 'key',
            concurrency,
            ...(take !== undefined && { take }),
          })
          assert.deepEqual(await collect(merged), all.toSorted(byRow).slice(0, take))
          assert.deepEqual((await collect(parallel(readings, { concurrency }))).toSorted(), all.toSorted())
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('are not read ahead of what is taken, and end when the loop is left', async () => {
    const sources = [0, 1, 2].map((index) => cutRows(`p${index}`, 50, repeat(5)))
    const readings = sources.map(({ rows }) => readingOf(rows))
    for (const options of [{ order: 'key' }, {}] as const) {
      const before = sources.reduce((sum, { pages }) => sum + pages(), 0)
      let taken = 0
      for await (const _ of parallel(readings, options)) {
        taken += 1
        if (taken === 6) break
      }
      // One page of each, and at most one more of one of them.
      assert(sources.reduce((sum, { pages }) => sum + pages(), 0) - before <= 4)
    }
  })

  it('tell an error of one of them', async () => {
    const failing = openReading({
      ...query,
      rows: { ...cutRows('p', 1, repeat(1)).rows, page: () => Promise.reject(new Error('broken')) },
      decode: async () => 'x',
    })
    for (const order of ['key', undefined] as const) {
      const all = collect(
        parallel([readingOf(cutRows('q', 3, repeat(1)).rows), failing], order ? { order } : {}),
      )
      await assert.rejects(all, { message: 'broken' })
    }
  })
})

describe('a fan-out', () => {
  it('goes on behind its cursor in every partition', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(9), { minLength: 2, maxLength: 4 }),
        fc.infiniteStream(fc.nat(4)),
        fc.integer({ min: 1, max: 7 }),
        fc.option(fc.nat(25), { nil: undefined }),
        async (counts, cuts, size, take) => {
          const reading = fanOut<string>({
            partitionKeys: counts.map((_, index) => `p${index}`),
            take,
            query: 'test',
            open(partitionKey, behind) {
              const count = counts[Number(partitionKey.slice(1))] as number
              const keep = (rowKey: string): boolean =>
                behind === undefined ||
                rowKey > behind.rowKey ||
                (behind.itself === 'included' && rowKey === behind.rowKey)
              return readingOf(cutRows(partitionKey, count, cuts, keep).rows)
            },
          })
          const all = counts
            .flatMap((count, index) => names(`p${index}`, count))
            .toSorted(byRow)
            .slice(0, take)
          assert.deepEqual(await reading.toArray(), all)
          assert.deepEqual(await byPages(reading, size), all)
        },
      ),
      { numRuns: runs(200) },
    )
  })
})

const query = { filter: undefined, select: undefined, take: undefined }

function readingOf(rows: Rows, take?: number): Reading<string> {
  const decode = async (row: { partitionKey: string; rowKey: string }) => `${row.partitionKey}/${row.rowKey}`
  return openReading({ ...query, rows, take, decode })
}

/** Rows 00, 01, … of a partition, in pages of sizes that `cuts` says, 0 among them. */
function cutRows(
  partitionKey: string,
  count: number,
  cuts: Iterator<number>,
  keep: (rowKey: string) => boolean = () => true,
): { readonly rows: Rows; pages(): number } {
  let pages = 0
  const stored = Array.from({ length: count }, (_, index) => String(index).padStart(2, '0'))
    .filter(keep)
    .map((rowKey) => ({ partitionKey, rowKey, etag: 'e', timestamp, cells: {} }))
  const rows: Rows = {
    table: 'test',
    get: () => Promise.reject(new Error('not asked for')),
    commit: () => Promise.reject(new Error('not asked for')),
    async page(_, { size, token = '0' }) {
      pages += 1
      const from = Number(token)
      const until = Math.min(stored.length, from + Math.min(size, cuts.next().value ?? size))
      return { rows: stored.slice(from, until), token: until < stored.length ? String(until) : undefined }
    },
  }
  return { rows, pages: () => pages }
}

function names(partitionKey: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${partitionKey}/${String(index).padStart(2, '0')}`)
}

function byRow(a: string, b: string): number {
  const [x, y] = [a, b].map((name) => name.split('/').toReversed().join('/')) as [string, string]
  return x < y ? -1 : 1
}

async function byPages(reading: Reading<string>, size: number): Promise<string[]> {
  const all: string[] = []
  let cursor: string | undefined
  do {
    const page = await reading.page({ size, cursor })
    all.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined)
  return all
}

function* repeat(value: number): Generator<number> {
  for (;;) yield value
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

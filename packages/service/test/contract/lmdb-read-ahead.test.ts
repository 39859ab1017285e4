/** A scan that waits for the disk has the next leaves read for it, and one that does not is left alone. */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as passed } from 'node:timers/promises'
import { firstPosition } from '../../src/model/keys.ts'
import { type AccountName, parseTableName } from '../../src/model/table.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { newPace, openReadAhead } from '../../src/store/lmdb/read-ahead.ts'
import { commit, keyAt, put, text } from '../support/entities.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const leaves = [7, 8, 9]

describe('the pace of a scan', () => {
  it('asks for nothing while leaves are in memory', async () => {
    const { pace, fetched } = paced(async () => undefined)
    for (let i = 0; i < 20; i++) await pace.rest(500, () => leaves)
    assert.deepEqual(fetched, [])
    assert.equal(pace.leavesMax, Infinity)
  })

  it('goes no further than what was read, while that comes from a disk', async () => {
    const { pace, fetched } = paced(() => passed(20))
    await pace.rest(16, () => leaves)
    assert.equal(pace.leavesMax, 3)
    await pace.rest(3, () => [])
    assert.equal(pace.leavesMax, 1, 'the first leaf below the next branch')
    await pace.rest(1, () => [20, 21])
    assert.equal(pace.leavesMax, 2)
    assert.deepEqual(fetched, [leaves, [20, 21]])
  })

  it('is free where it is not known what follows', async () => {
    const { pace, fetched } = paced(() => passed(20))
    await pace.rest(16, () => [])
    await pace.rest(1, () => [])
    assert.equal(pace.leavesMax, Infinity)
    assert.deepEqual(fetched, [])
  })

  it('is free again once leaves come from memory for a while', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => i)
    let isSlow = true
    const { pace, fetched } = paced(() => (isSlow ? passed(200) : Promise.resolve()))
    await pace.rest(1, () => many)
    isSlow = false
    while (pace.leavesMax !== Infinity) {
      assert.ok(fetched.length < 20)
      await pace.rest(pace.leavesMax, () => many)
    }
    assert.equal(fetched.length, 9)
  })

  it('does not change what a scan sees', async () => {
    const folder = await temporaryFolder()
    const store = await openLmdbStore({ path: folder, clock: testClock().read })
    const table = await store.create('slow' as AccountName, parseTableName('scanned'))
    assert(table !== undefined)
    for (let from = 0; from < 300; from += 100) {
      const group = Array.from({ length: 100 }, (_, i) =>
        put(keyAt('p', String(from + i)), { a: text('x'.repeat(900)) }),
      )
      await commit(store, table, 'p', group)
    }
    let seen = 0
    await store.scan(table, [{ from: firstPosition, until: undefined }], ({ count }) => {
      seen += count
      // As long as a slow disk takes for a few leaves.
      const untilMs = performance.now() + 6
      while (performance.now() < untilMs);
      return 'next'
    })
    assert.equal(seen, 300)
    await store.close()
  })
})

describe('reading ahead', () => {
  it('takes pages in any order, many of them, and behind the end of the file', async () => {
    const folder = await temporaryFolder()
    const store = await openLmdbStore({ path: folder, clock: testClock().read })
    await store.create('read' as AccountName, parseTableName('ahead'))
    await store.close()
    const ahead = openReadAhead(join(folder, 'tables'))
    await ahead.fetch([])
    await ahead.fetch([3, 1, 2, 900, 0])
    await ahead.fetch(Array.from({ length: 1000 }, (_, i) => 999 - i))
    await ahead.close()
  })

  it('is not missed where it fails', async () => {
    const ahead = openReadAhead(join(await temporaryFolder(), 'nowhere'))
    await ahead.fetch([1])
    await ahead.close()
  })
})

function paced(fetch: () => Promise<void>) {
  const fetched: (readonly number[])[] = []
  const pace = newPace(async (pages) => {
    fetched.push(pages)
    await fetch()
  })
  return { pace, fetched }
}

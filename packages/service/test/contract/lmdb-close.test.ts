import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { everything } from '../../src/model/keys.ts'
import { type AccountName, parseTableName } from '../../src/model/table.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { commit, eachRecord, keyAt, put, putOne, recordsOf } from '../support/entities.ts'
import { startOtherProcess } from '../support/other-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const { read: clock } = testClock()
const account = 'closing' as AccountName

describe('a closed store', () => {
  it('has done what was asked before', async () => {
    const path = await temporaryFolder()
    const store = await openLmdbStore({ path, clock })
    const table = await store.create(account, parseTableName('closing'))
    assert(table !== undefined)
    const asked = Array.from({ length: 50 }, (_, i) => putOne(store, table, keyAt('p', `r${i}`)))
    await store.close()
    await Promise.all(asked)
    const again = await openLmdbStore({ path, clock })
    assert.equal((await recordsOf(again, table)).length, 50)
    await again.close()
  })

  it('refuses what is asked later', async () => {
    const store = await openLmdbStore({ path: await temporaryFolder(), clock })
    const table = await store.create(account, parseTableName('closed'))
    assert(table !== undefined)
    await store.close()
    await assert.rejects(putOne(store, table, keyAt('p', 'r')), /closed/)
    await assert.rejects(store.create(account, parseTableName('another')), /closed/)
    await assert.rejects(store.drop(account, parseTableName('closed')), /closed/)
    await assert.rejects(async () => await store.get(table, keyAt('p', 'r')), /closed/)
    await assert.rejects(recordsOf(store, table), /closed/)
  })

  it('may be closed again', async () => {
    const store = await openLmdbStore({ path: await temporaryFolder(), clock })
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  it('lets a scan under way end, or fail with a reason', async (t) => {
    // In a process of its own, because reading a map that was taken away is a crash.
    const other = startOtherProcess()
    t.after(() => other.kill())
    const path = await temporaryFolder()
    for (let round = 0; round < 5; round++) {
      const store = await other.open(path, clock)
      const table = await store.create(account, parseTableName(`scanned${round}`))
      assert(table !== undefined)
      for (const partition of ['a', 'b', 'c', 'd', 'e']) {
        const rows = Array.from({ length: 100 }, (_, i) => put(keyAt(partition, `r${i}`)))
        await commit(store, table, partition, rows)
      }
      let rows = 0
      const visit = eachRecord(() => {
        rows++
        return 'next'
      })
      const scan = store.scan(table, [everything], visit)
      const [scanned, closed] = await Promise.allSettled([scan, store.close()])
      assert.equal(closed.status, 'fulfilled', `close failed after ${rows} rows: ${reasonOf(closed)}`)
      if (scanned.status === 'fulfilled') assert.equal(rows, 500)
      else assert.match(reasonOf(scanned), /closed/)
    }
  })
})

function reasonOf(result: PromiseSettledResult<unknown>): string {
  return result.status === 'rejected' ? String(result.reason) : ''
}

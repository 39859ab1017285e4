/** One data folder, two processes, every call to the other one: nobody may notice. */
import { strict as assert } from 'node:assert'
import { after, describe, it } from 'node:test'
import { parseTableName, type AccountName } from '../../src/model/table.ts'
import type { Version } from '../../src/model/version.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { commit, int32, keyAt, put, putOne, recordsOf, seen, valueIn } from '../support/entities.ts'
import { alternating, startOtherProcess } from '../support/other-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'
import { persistentStoreContract, storeContract } from './store-contract.ts'

const other = startOtherProcess()
after(() => other.stop())

storeContract('lmdb in two processes', async (clock) => {
  const path = await temporaryFolder()
  return alternating([await openLmdbStore({ path, clock }), await other.open(path, clock)])
})

persistentStoreContract(
  'lmdb in two processes',
  async (path, clock) => alternating([await other.open(path, clock), await openLmdbStore({ path, clock })]),
  temporaryFolder,
)

describe('two processes over one folder', () => {
  const account = 'two' as AccountName

  it('see at once what either has acknowledged', async () => {
    const path = await temporaryFolder()
    const clock = testClock()
    const here = await openLmdbStore({ path, clock: clock.read })
    const there = await other.open(path, clock.read)
    const table = await here.create(account, parseTableName('both'))
    assert(table !== undefined)
    const key = keyAt('p', 'r')
    for (let i = 0; i < 100; i++) {
      const [writer, reader] = i % 2 ? [here, there] : [there, here]
      await putOne(writer, table, key, { i: int32(i) })
      assert.equal(valueIn(await reader.get(table, key), 'i'), i)
      assert.deepEqual(
        (await recordsOf(reader, table)).map((record) => valueIn(record, 'i')),
        [i],
      )
    }
    await here.close()
    await there.close()
  })

  it('hand out versions that grow, though their clocks disagree', async () => {
    const path = await temporaryFolder()
    const ahead = testClock('2031-01-01T00:00:00Z')
    const behind = testClock('2021-01-01T00:00:00Z')
    const here = await openLmdbStore({ path, clock: ahead.read })
    const there = await other.open(path, behind.read)
    const table = await here.create(account, parseTableName('clocks'))
    assert(table !== undefined)
    let last = 0n as Version
    for (let i = 0; i < 40; i++) {
      const [version] = await commit(i % 2 ? here : there, table, 'p', [put(keyAt('p', `r${i}`))])
      assert(version !== undefined && version > last)
      last = version
      ahead.move(1n)
    }
    await here.close()
    await there.close()
  })

  it('never reuse an id, and refuse what the other dropped', async () => {
    const path = await temporaryFolder()
    const clock = testClock()
    const here = await openLmdbStore({ path, clock: clock.read })
    const there = await other.open(path, clock.read)
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 ? here : there).create(account, parseTableName(`made${i}`)),
      ),
    )
    assert.equal(new Set(ids).size, 40)
    const [id] = ids
    assert(id !== undefined)
    await putOne(there, id, keyAt('p', 'r'))
    assert.equal(await here.drop(account, parseTableName('made0')), true)
    const outcome = await there.commit(id, keyAt('p', 'r').partition, [put(keyAt('p', 'r'))])
    assert.equal(outcome.kind, 'no table')
    await here.close()
    await there.close()
  })

  it('keep what was acknowledged when one of them is killed', async (t) => {
    const path = await temporaryFolder()
    const clock = testClock()
    const doomed = startOtherProcess()
    t.after(() => doomed.kill())
    const here = await openLmdbStore({ path, clock: clock.read })
    const there = await doomed.open(path, clock.read)
    const table = await there.create(account, parseTableName('killed'))
    assert(table !== undefined)
    let acknowledged = 0
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; ; i++) {
        const key = keyAt(`w${writer}`, `r${String(i).padStart(6, '0')}`)
        await commit(there, table, key.partition, [put(key, { i: int32(i) })])
        acknowledged++
      }
    })
    const counts = new Map<string, number>()
    await new Promise<void>((resolve) => {
      const watch = setInterval(() => {
        if (acknowledged < 400) return
        clearInterval(watch)
        resolve()
      }, 1)
    })
    await doomed.kill()
    const atKill = acknowledged
    await Promise.allSettled(writers)
    for (const record of await recordsOf(here, table)) {
      const { key, properties } = seen(record)
      const count = counts.get(key.partition) ?? 0
      assert.deepEqual(properties, [{ name: 'i', value: int32(count) }])
      counts.set(key.partition, count + 1)
    }
    const kept = [...counts.values()].reduce((sum, count) => sum + count, 0)
    assert(kept >= atKill, `${atKill} acknowledged, ${kept} kept`)
    // The survivor goes on, though the other may have died with the write lock in its hands.
    await putOne(here, table, keyAt('after', 'kill'))
    await here.close()
  })
})

import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import { everything } from '../../src/model/keys.ts'
import { type AccountName, parseTableName } from '../../src/model/table.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { commit, eachRecord, keyAt, put } from '../support/entities.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'
import { persistentStoreContract, storeContract } from './store-contract.ts'

storeContract('lmdb', async (clock) => openLmdbStore({ path: await temporaryFolder(), clock }))

persistentStoreContract('lmdb', (path, clock) => openLmdbStore({ path, clock }), temporaryFolder)

it('a long scan lets other work run in between', async () => {
  const store = await openLmdbStore({ path: await temporaryFolder(), clock: testClock().read })
  const table = await store.create('busy' as AccountName, parseTableName('long'))
  assert(table !== undefined)
  for (let group = 0; group < 10; group++) {
    const rows = Array.from({ length: 100 }, (_, i) => put(keyAt('p', `${group}-${i}`)))
    await commit(store, table, 'p', rows)
  }
  let turns = 0
  const work = setInterval(() => turns++, 0)
  const visit = eachRecord(() => {
    const untilMs = performance.now() + 0.1
    while (performance.now() < untilMs);
    return 'next'
  })
  await store.scan(table, [everything], visit)
  clearInterval(work)
  assert(turns >= 2, `${turns} timers ran in 100 ms`)
  await store.close()
})

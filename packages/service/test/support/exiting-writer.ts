/**
 * A program that writes without a pause and ends as programs do, by `process.exit`. Arguments: FOLDER TABLE SINCE MS,
 * where SINCE is `open` or `writing`; it sends a message when the store is open.
 */
import { strict as assert } from 'node:assert'
import { parseTableName, type AccountName } from '../../src/model/table.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { keyAt, putOne } from './entities.ts'

const [, , path = '', name = '', since = '', afterMs = ''] = process.argv
const store = await openLmdbStore({ path, clock: systemClock() })
if (since === 'open') exitLater()
process.send?.('open')
const table = await store.create('exits' as AccountName, parseTableName(name))
assert(table !== undefined)
if (since === 'writing') exitLater()
for (let row = 0; ; row++) {
  await Promise.all(Array.from({ length: 100 }, (_, i) => putOne(store, table, keyAt('p', `${row}-${i}`))))
}

function exitLater(): void {
  setTimeout(() => process.exit(), Number(afterMs))
}

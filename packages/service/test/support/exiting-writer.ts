/**
 * A program that writes without a pause and ends as programs do, by `process.exit`. Arguments: FOLDER TABLE MS, from
 * when the store is open; then it sends a message to whoever listens.
 */
import { strict as assert } from 'node:assert'
import { parseTableName, type AccountName } from '../../src/model/table.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { keyAt, putOne } from './entities.ts'

const [, , path = '', name = '', afterMs = ''] = process.argv
const store = await openLmdbStore({ path, clock: systemClock() })
setTimeout(() => process.exit(), Number(afterMs))
process.send?.('open')
const table = await store.create('exits' as AccountName, parseTableName(name))
assert(table !== undefined)
for (let row = 0; ; row++) {
  await Promise.all(Array.from({ length: 100 }, (_, i) => putOne(store, table, keyAt('p', `${row}-${i}`))))
}

/** Rows of dropped tables go away in the background. Counted in the LMDB file itself, behind the store. */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { open } from 'lmdb'
import { parseTableName, type AccountName, type TableId } from '../../src/model/table.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import type { Store } from '../../src/store/store.ts'
import { commit, keyAt, put, recordsOf, text } from '../support/entities.ts'
import { startOtherProcess } from '../support/other-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const { read: clock } = testClock()
const account = 'reclaim' as AccountName
const doomed = parseTableName('doomed')

describe('rows of a dropped table', () => {
  it('go away, and no others', async () => {
    const path = await temporaryFolder()
    const store = await openLmdbStore({ path, clock })
    const [below, table, above] = [
      await fill(store, 'below', 1000),
      await fill(store, doomed, 3000),
      await fill(store, 'above', 1000),
    ]
    const file = openFile(path)
    assert.equal(file.count(table), 3001, 'one key for each row and one for the table')
    await store.drop(account, doomed)
    await until(() => file.count(table) === 0 && file.waiting() === 0)
    assert.equal((await recordsOf(store, below)).length, 1000)
    assert.equal((await recordsOf(store, above)).length, 1000)
    assert.equal(file.count(below), 1001)
    assert.equal(file.count(above), 1001)
    await file.close()
    await store.close()
  })

  it('go away for several tables, empty ones among them', async () => {
    const path = await temporaryFolder()
    const store = await openLmdbStore({ path, clock })
    const tables: TableId[] = []
    for (const [i, rows] of [0, 255, 256, 257, 512, 1, 700].entries())
      tables.push(await fill(store, `table${i}`, rows))
    const file = openFile(path)
    await Promise.all(tables.map((_, i) => store.drop(account, parseTableName(`table${i}`))))
    await until(() => tables.every((table) => file.count(table) === 0) && file.waiting() === 0)
    await file.close()
    await store.close()
  })

  it('go away also when the store is closed at once, and opened later', async () => {
    const path = await temporaryFolder()
    for (let round = 0; round < 2; round++) {
      const store = await openLmdbStore({ path, clock })
      const table = await fill(store, doomed, 2000)
      await store.drop(account, doomed)
      await store.close()
      const again = await openLmdbStore({ path, clock })
      const file = openFile(path)
      await until(() => file.count(table) === 0 && file.waiting() === 0)
      await file.close()
      await again.close()
    }
  })

  it('go away after a kill in the middle', async (t) => {
    const path = await temporaryFolder()
    const other = startOtherProcess()
    t.after(() => other.kill())
    const store = await other.open(path, clock, 'sync')
    const rows = 20_000
    const table = await fill(store, doomed, rows)
    const kept = await fill(store, 'kept', 100)
    const file = openFile(path)
    assert.equal(await store.drop(account, doomed), true)
    await until(() => file.count(table) < rows, 0)
    await other.kill()
    const left = file.count(table)
    assert(left > 0 && left < rows, `${left} of ${rows} left: the kill was not in the middle`)
    assert.equal(file.waiting(), 1)
    await file.close()

    const again = await openLmdbStore({ path, clock })
    const reopened = openFile(path)
    const recreated = await again.create(account, doomed)
    assert(recreated !== undefined && recreated !== table)
    assert.deepEqual(await recordsOf(again, recreated), [])
    await until(() => reopened.count(table) === 0 && reopened.waiting() === 0)
    assert.equal(reopened.count(kept), 101)
    await reopened.close()
    await again.close()
  })
})

async function fill(store: Store, name: string, rows: number): Promise<TableId> {
  const table = await store.create(account, parseTableName(name))
  assert(table !== undefined)
  const groups: Promise<unknown>[] = []
  for (let from = 0; from < rows; from += 100) {
    const partition = `p${from}`
    const group = Array.from({ length: Math.min(100, rows - from) }, (_, i) =>
      put(keyAt(partition, `r${i}`), { filler: text('x'.repeat(40)) }),
    )
    groups.push(commit(store, table, partition, group))
  }
  await Promise.all(groups)
  return table
}

/** Looks into the file without the store's own code. */
function openFile(path: string) {
  const database = open<Buffer, Buffer>({
    path: join(path, 'tables'),
    pageSize: 8192,
    maxDbs: 1,
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  return {
    /** Keys that begin with the table's four bytes. */
    count(table: TableId): number {
      database.resetReadTxn()
      return database.getKeysCount({ start: u32(table), end: u32(table + 1) })
    },
    /** Tables noted as dropped and not yet reclaimed. */
    waiting(): number {
      database.resetReadTxn()
      const start = Buffer.concat([u32(0xff_ff_ff_ff), Buffer.from('dropped')])
      return database.getKeysCount({ start, end: Buffer.concat([start, Buffer.alloc(5, 0xff)]) })
    },
    close: () => database.close(),
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

async function until(done: () => boolean, pauseMs = 5): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!done()) {
    assert(performance.now() < deadline, 'the rows are still there')
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

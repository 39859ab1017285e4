/** Rows read in place are the rows that lmdb-js's own cursor steps through, for as long as they are held. */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as passed } from 'node:timers/promises'
import { recordAt, type EntityRecord } from '../../src/model/record.ts'
import { type AccountName, parseTableName, type TableId } from '../../src/model/table.ts'
import {
  type Environment,
  entityKey,
  liveKey,
  openEnvironment,
  type ReadTransaction,
} from '../../src/store/lmdb/environment.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { findMap, type MappedFile } from '../../src/store/lmdb/mapped-file.ts'
import { findLockFile } from '../../src/store/lmdb/lock-file.ts'
import { rowsByCursor, rowsInPlace, snapshots } from '../../src/store/lmdb/snapshot.ts'
import { latestTxn, type Rows } from '../../src/store/lmdb/tree.ts'
import type { Store } from '../../src/store/store.ts'
import {
  any,
  assertSame,
  binary,
  commit,
  keyAt,
  type Properties,
  put,
  remove,
  text,
} from '../support/entities.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'
import { longestKey } from './store-contract.ts'

const account = 'snapshots' as AccountName
const name = parseTableName('held')
const partitions = ['', 'a', 'ab', 'p', 'p\u4e00', 'k'.repeat(1024), longestKey]

describe('rows read in place', () => {
  it('are those of the cursor, in any range, after any history', async (t) => {
    const { store, table, environment, path } = await opened(t)
    const random = seededRandom(7)
    for (let round = 0; round < 60; round++) {
      const partition = random.pick(partitions)
      await commit(store, table, partition, changes(random, partition))
      const { transaction, map } = begin(environment, path)
      const inPlace = rowsInPlace(environment, transaction, map)
      assert(inPlace !== undefined, 'neither meta is the one the transaction began with')
      const byCursor = rowsByCursor(environment, transaction)
      assertSame(read(inPlace, everyKey(table)), read(byCursor, everyKey(table)))
      for (let ranges = 0; ranges < 10; ranges++) {
        const range: Range = [bound(random, table), bound(random, table)]
        range.sort(Buffer.compare)
        assertSame(read(inPlace, range), read(byCursor, range))
      }
      // They share the transaction, which ends once.
      byCursor.close()
    }
  })

  it('stay while all of them are rewritten, removed, and their table is dropped', async (t) => {
    const { store, table, environment, path } = await opened(t)
    const random = seededRandom(8)
    for (const partition of partitions) await commit(store, table, partition, changes(random, partition))
    const { transaction, map } = begin(environment, path)
    const rows = rowsInPlace(environment, transaction, map)
    assert(rows !== undefined)
    const before = read(rows, everyKey(table))
    rows.seek(...everyKey(table))
    const met: EntityRecord[] = []
    for (let round = 0; round < 30; round++) {
      while (met.length < (round * before.length) / 40) {
        assert(rows.next())
        rows.open()
        met.push(...copiesOf(rows))
      }
      if (round === 25) assert(await store.drop(account, name))
      if (round >= 25) await passed(20)
      else await Promise.all(partitions.map((p) => commit(store, table, p, changes(random, p))))
    }
    while (rows.next()) {
      rows.open()
      met.push(...copiesOf(rows))
    }
    assertSame(met, before)
    rows.close()
  })

  it('are refused when the transaction is older than both metas, and the cursor takes their place', async (t) => {
    const { store, table, environment, path } = await opened(t)
    await commit(store, table, 'p', [put(keyAt('p', 'first'))])
    const { transaction, map } = begin(environment, path)
    for (let i = 0; i < 3; i++) await commit(store, table, 'p', [put(keyAt('p', `later${i}`))])
    assert.equal(rowsInPlace(environment, transaction, map), undefined)
    const rows = rowsByCursor(environment, transaction)
    assert.equal(read(rows, everyKey(table)).length, 1)
    rows.close()
  })

  it('tell which leaves follow, up to the end of the range and of the branch', async (t) => {
    const { store, table, environment, path } = await opened(t)
    const random = seededRandom(10)
    // Long keys make branches that name few leaves, so that there are several.
    const row = (i: number) => `${'r'.repeat(900)}${String(i).padStart(4, '0')}`
    const shuffled = random.shuffled(Array.from({ length: 600 }, (_, i) => i))
    for (let from = 0; from < shuffled.length; from += 100) {
      const group = shuffled.slice(from, from + 100)
      await commit(
        store,
        table,
        'p',
        group.map((i) => put(keyAt('p', row(i)), { a: text('x'.repeat(1000)) })),
      )
    }
    const { transaction, map } = begin(environment, path)
    const rows = rowsInPlace(environment, transaction, map)
    assert(rows !== undefined)
    const last = entityKey(table, { partition: 'p', row: row(400) })
    rows.seek(liveKeyAfter(table), last)
    let named = 0
    let branches = 1
    let following: readonly number[] = []
    while (rows.next()) {
      if (following.length > 0) {
        // The leaf that holds the end of the range is not met whole, and then has no place.
        if (rows.place !== 0) assert.equal(rows.place, following[0])
        assert.deepEqual(rows.following(), following.slice(1))
        named++
      } else {
        branches++
      }
      following = rows.following()
    }
    assert.deepEqual(following, [])
    assert.ok(named > 50 && branches > 3, `${named} leaves below ${branches} branches`)
    rows.close()
  })

  it('are those of the transaction that the lock file names', async (t) => {
    const { store, table, environment, path } = await opened(t)
    const lock = findLockFile(path)
    if (process.platform !== 'linux') return assert.equal(lock, undefined)
    const { transaction, map } = begin(environment, path)
    transaction.done()
    for (let i = 0; i < 10; i++) {
      const before = lock?.committed()
      await commit(store, table, 'p', [put(keyAt('p', `r${i}`))])
      assert.equal(lock?.committed(), (before as number) + 1)
      assert.equal(lock?.committed(), latestTxn(map))
    }
  })

  it('need something in the file to find it by', async () => {
    const path = await temporaryFolder()
    const environment = openEnvironment(join(path, 'empty'), { keys: false })
    const transaction = environment.useReadTransaction() as ReadTransaction
    assert.equal(findMap(environment, transaction, join(path, 'empty')), undefined)
    transaction.done()
    await environment.close()
  })
})

describe('single rows', () => {
  it('are those the binding finds, after any history', async (t) => {
    const { store, table, environment, path } = await opened(t)
    const latest = snapshots(environment, path)
    t.after(() => latest.close())
    const random = seededRandom(9)
    for (let round = 0; round < 60; round++) {
      const partition = random.pick(partitions)
      const group = changes(random, partition)
      await commit(store, table, partition, group)
      const written = group.map(({ row }) => entityKey(table, { partition, row }))
      const others = Array.from({ length: 30 }, () => bound(random, table))
      for (const key of random.shuffled([
        ...written,
        ...others,
        liveKeyAfter(table),
        liveKey(0 as TableId),
      ])) {
        const row = latest.find(key)
        const found = row === undefined ? undefined : Buffer.from(recordAt(row.bytes, row.at))
        environment.resetReadTxn()
        const expected = environment.get(key)
        assert.deepEqual(found, expected === undefined ? undefined : Buffer.from(recordAt(expected, 0)))
      }
    }
  })

  it('hold no snapshot when nobody asks for them any more', async (t) => {
    const { store, table, environment } = await opened(t)
    const readers = () => environment.readerList().match(/\d+ +[0-9a-f]+ +\d+$/gm)?.length ?? 0
    const untilNone = async () => {
      for (let waited = 0; readers() > 0 && waited < 500; waited++) await passed(10)
      assert.equal(readers(), 0)
    }
    await commit(store, table, 'p', [put(keyAt('p', 'r'))])
    await untilNone()
    // The writer holds one of its own for a moment, when it begins to look for what to reclaim.
    for (let asked = 0; readers() !== 1 && asked < 500; asked++) {
      if (asked > 0) await passed(1)
      await store.get(table, keyAt('p', 'r'))
    }
    assert.equal(readers(), 1)
    await untilNone()
    assert(await store.get(table, keyAt('p', 'r')))
  })
})

async function opened(t: TestContext) {
  const folder = await temporaryFolder()
  const path = join(folder, 'tables')
  const store: Store = await openLmdbStore({ path: folder, clock: testClock().read })
  const table = await store.create(account, name)
  assert(table !== undefined)
  const environment = openEnvironment(path, { keys: false })
  t.after(async () => {
    await environment.close()
    await store.close()
  })
  return { store, table, environment, path }
}

function begin(environment: Environment, path: string): { transaction: ReadTransaction; map: MappedFile } {
  environment.resetReadTxn()
  const transaction = environment.useReadTransaction() as ReadTransaction
  const map = findMap(environment, transaction, path)
  assert(map !== undefined, 'the map was not found')
  return { transaction, map }
}

/** Rows of all lengths and shapes, some rewritten, some removed. */
function changes(random: Random, partition: string) {
  const rows = random.shuffled(Array.from({ length: 60 }, (_, i) => i)).slice(0, 30)
  return rows.map((i) => {
    const key = keyAt(partition, `${'r'.repeat(random.pick([1, 8, 900]))}${i}`)
    return random.below(5) === 0 ? remove(key, any) : put(key, properties(random))
  })
}

function properties(random: Random): Properties {
  const shapes: readonly (() => Properties)[] = [
    () => ({}),
    () => ({ a: text('x'.repeat(random.below(300))) }),
    () => ({ b: text('y'.repeat(random.below(3000))), a: text('') }),
    () => ({ c: binary(random.below(5000)), b: text('z') }),
    () => ({ d: binary(60_000) }),
  ]
  return random.pick(shapes)()
}

type Range = [from: Uint8Array, until: Uint8Array]

function everyKey(table: TableId): Range {
  return [liveKeyAfter(table), liveKey((table + 1) as TableId)]
}

/** Behind the mark that the table lives, which is no record. */
function liveKeyAfter(table: TableId): Uint8Array {
  return Buffer.concat([liveKey(table), Buffer.from([0])])
}

function bound(random: Random, table: TableId): Uint8Array {
  const row = `${'r'.repeat(random.pick([0, 1, 8, 900]))}${random.below(70)}`
  return entityKey(table, { partition: random.pick(partitions), row })
}

function read(rows: Rows, range: Range): EntityRecord[] {
  const records: EntityRecord[] = []
  rows.seek(...range)
  while (rows.next()) {
    rows.open()
    records.push(...copiesOf(rows))
  }
  return records
}

function copiesOf({ bytes, starts, count }: Rows): EntityRecord[] {
  return Array.from(starts.subarray(0, count), (at) => Buffer.from(recordAt(bytes, at)))
}

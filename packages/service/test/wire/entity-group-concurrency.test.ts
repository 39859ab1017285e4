/** Many clients increment one counter in groups guarded by its ETag, on disk, while others look on. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PartitionKey } from '../../src/model/keys.ts'
import { propertiesOf } from '../../src/model/record.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import {
  batchRequest,
  changeSet,
  direct,
  insert,
  merge,
  read,
  readBatchAnswer,
  replace,
  startTables,
  type TestTables,
} from '../support/batch.ts'
import { eachRecord, wholePartition } from '../support/entities.ts'
import { openRaw, requestBytes } from '../support/raw-http.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const clients = 16
const incrementsEach = 6
const followers = Array.from({ length: 9 }, (_, i) => `follower${i}`)

describe('Entity group transactions side by side', () => {
  it('lose no increment and never show half a group', async () => {
    const store = await openLmdbStore({ path: await temporaryFolder(), clock: systemClock() })
    const tables = await startTables(store)
    try {
      await tables.batch(changeSet(['counter', ...followers].map((row) => insert(row, { value: 0 }))))
      let running = true
      const looking = Promise.all([lookOn(tables, () => running), lookOn(tables, () => running)])
      await Promise.all(Array.from({ length: clients }, () => increment(tables.url)))
      running = false
      const looks = await looking
      assert.equal(await valueSeen(tables), clients * incrementsEach)
      assert(
        looks.every((count) => count > 50),
        `only ${looks.join(' and ')} looks`,
      )
    } finally {
      await tables.close()
    }
  })
})

/** Reads the counter, writes it one higher under its ETag, and tries again when somebody was faster. */
async function increment(url: string): Promise<void> {
  const connection = await openRaw(url)
  for (let done = 0; done < incrementsEach; ) {
    const found = readBatchAnswer(await connection.send(requestBytes(batchRequest(direct(read('counter'))))))
    const [counter] = found.parts
    const { value } = JSON.parse(counter?.body ?? '') as { value: number }
    const next = { value: value + 1 }
    const group = changeSet([
      replace('counter', next, { 'If-Match': counter?.header('ETag') as string }),
      ...followers.map((row, i) => (i % 2 === 0 ? merge(row, next) : replace(row, next))),
    ])
    const { parts } = readBatchAnswer(await connection.send(requestBytes(batchRequest(group))))
    if (parts[0]?.status === 204) done++
    else assert.equal(parts[0]?.message?.slice(0, 6), '0:The ', parts[0]?.text)
  }
  connection.close()
}

async function lookOn(tables: TestTables, running: () => boolean): Promise<number> {
  let looks = 0
  let last = 0
  while (running()) {
    const value = await valueSeen(tables)
    assert(value >= last, `${value} after ${last}`)
    last = value
    looks++
    await nextTurn()
  }
  return looks
}

/** The value of all rows of one scan, which must be the same. */
async function valueSeen({ store, id }: TestTables): Promise<number> {
  const values: unknown[] = []
  const visit = eachRecord((record) => {
    values.push(propertiesOf(record)[0]?.value.value)
    return 'next'
  })
  await store.scan(id, [wholePartition('p' as PartitionKey)], visit)
  assert.deepEqual([values.length, new Set(values).size], [followers.length + 1, 1], values.join(' '))
  return values[0] as number
}

import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parseTableName, type AccountName } from '../../src/model/table.ts'
import { type Durability, openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { commit, int32, keyAt, put, putOne, recordsOf, valueIn } from '../support/entities.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const { read: clock } = testClock()
const account = 'folders' as AccountName

describe('a data folder', () => {
  it('is made where there is none, with the folders above it', async () => {
    const path = join(await temporaryFolder(), 'one', 'two')
    const store = await openLmdbStore({ path, clock })
    await store.close()
    assert.equal(
      (JSON.parse(await readFile(join(path, 'partita.json'), 'utf8')) as { format: number }).format,
      1,
    )
  })

  it('of a newer format is refused, and not a byte of it changes', async () => {
    const path = await filledFolder()
    await writeFile(join(path, 'partita.json'), '{"format":2,"engine":"lmdb"}\n')
    const before = await fingerprint(path)
    await assert.rejects(openLmdbStore({ path, clock }), (error: Error) => {
      assert.match(error.message, /newer Partita/)
      assert.match(error.message, /format 2; this one reads 1/)
      assert.match(error.message, /Nothing was changed/)
      assert(error.message.includes(path), 'the message names the folder')
      return true
    })
    assert.deepEqual(await fingerprint(path), before)
  })

  for (const [what, content] of [
    ['nothing', ''],
    ['no JSON', 'format 1'],
    ['no format', '{"engine":"lmdb"}'],
    ['null', 'null'],
    ['a format that is a word', '{"format":"1"}'],
    ['a format before the first', '{"format":0}'],
  ] as const) {
    it(`described by ${what} is refused, and not a byte of it changes`, async () => {
      const path = await filledFolder()
      await writeFile(join(path, 'partita.json'), content)
      const before = await fingerprint(path)
      await assert.rejects(openLmdbStore({ path, clock }), /Nothing was changed/)
      assert.deepEqual(await fingerprint(path), before)
    })
  }

  it('that is not ours is refused, and nothing is added to it', async () => {
    const path = await temporaryFolder()
    await mkdir(join(path, 'tables'))
    await writeFile(join(path, 'tables', 'letter.txt'), 'dear all')
    const before = await fingerprint(path)
    await assert.rejects(openLmdbStore({ path, clock }), /not a Partita data folder/)
    assert.deepEqual(await fingerprint(path), before)
  })

  it('opened by several at once for the first time serves them all', async () => {
    const path = await temporaryFolder()
    const stores = await Promise.all(Array.from({ length: 3 }, () => openLmdbStore({ path, clock })))
    const table = await stores[0]?.create(account, parseTableName('shared'))
    assert(table !== undefined)
    for (const [i, store] of stores.entries()) await putOne(store, table, keyAt('p', `r${i}`))
    for (const store of stores) assert.equal((await recordsOf(store, table)).length, 3)
    for (const store of stores) await store.close()
  })
})

describe('durability', () => {
  for (const durability of ['sync', 'interval', 'memory'] satisfies Durability[]) {
    it(`${durability} commits, and keeps all after a close`, async () => {
      const path = await temporaryFolder()
      const store = await openLmdbStore({ path, clock, durability })
      const table = await store.create(account, parseTableName('modes'))
      assert(table !== undefined)
      for (let i = 0; i < 20; i++) {
        await commit(store, table, 'p', [put(keyAt('p', `r${i}`), { i: int32(i) })])
        assert.equal(valueIn(await store.get(table, keyAt('p', `r${i}`)), 'i'), i)
      }
      await store.close()
      const again = await openLmdbStore({ path, clock })
      assert.equal((await recordsOf(again, table)).length, 20)
      await again.close()
    })
  }

  it('interval goes on after its sync', async () => {
    const store = await openLmdbStore({ path: await temporaryFolder(), clock, durability: 'interval' })
    const table = await store.create(account, parseTableName('modes'))
    assert(table !== undefined)
    await putOne(store, table, keyAt('p', 'a'))
    await new Promise((resolve) => setTimeout(resolve, 1200))
    const first = await putOne(store, table, keyAt('p', 'b'))
    const second = await putOne(store, table, keyAt('p', 'b'))
    assert(second > first)
    await store.close()
  })
})

/** A folder with a store in it that was used and closed. */
async function filledFolder(): Promise<string> {
  const path = await temporaryFolder()
  const store = await openLmdbStore({ path, clock })
  const table = await store.create(account, parseTableName('filled'))
  assert(table !== undefined)
  await putOne(store, table, keyAt('p', 'r'))
  await store.close()
  return path
}

/** Name, size, time of change and hash of every file below a folder. */
async function fingerprint(path: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for (const name of (await readdir(path, { recursive: true })).toSorted()) {
    const file = join(path, name)
    const facts = await stat(file)
    const hash = facts.isFile()
      ? createHash('sha256')
          .update(await readFile(file))
          .digest('hex')
      : 'folder'
    files[name] = `${facts.size} ${facts.mtimeMs} ${hash}`
  }
  return files
}

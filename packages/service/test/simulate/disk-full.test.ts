/** What a disk without room costs: new writes, and nothing that was acknowledged. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type AccountName, parseTableName } from '../../src/model/table.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { commit, keyAt, put, putOne, recordsOf, remove } from '../support/entities.ts'
import { entityPath, type KeepAliveClient, keepAliveClient } from '../support/keep-alive-client.ts'
import { startServer } from '../support/server-process.ts'
import { openTablesFile } from '../support/tables-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const nightly = process.env['PARTITA_NIGHTLY'] !== undefined
const clients = 8

describe('a store whose disk has only its reserve left', () => {
  it('reads, deletes and drops, writes nothing new, and goes on when there is room', async () => {
    const path = await temporaryFolder()
    const { read: clock } = testClock()
    const account = 'account' as AccountName
    const [kept, doomed] = [parseTableName('kept'), parseTableName('doomed')]

    const before = await openLmdbStore({ path, clock })
    const table = await before.create(account, kept)
    const other = await before.create(account, doomed)
    assert(table !== undefined && other !== undefined)
    for (const row of ['a', 'b', 'c']) await putOne(before, table, keyAt('p', row))
    await before.close()

    const full = await openLmdbStore({ path, clock, reserveBytes: 2 ** 60 })
    const noRoom = /only deletions are accepted/
    await assert.rejects(putOne(full, table, keyAt('p', 'd')), noRoom)
    await assert.rejects(commit(full, table, 'p', [remove(keyAt('p', 'a')), put(keyAt('p', 'e'))]), noRoom)
    await assert.rejects(full.create(account, parseTableName('more')), noRoom)
    assert.equal((await recordsOf(full, table)).length, 3)
    await commit(full, table, 'p', [remove(keyAt('p', 'a')), remove(keyAt('p', 'b'))])
    assert.equal(await full.drop(account, doomed), true)
    assert.equal((await recordsOf(full, table)).length, 1)
    const file = openTablesFile(path)
    await until(() => file.waiting() === 0)
    await file.close()
    await full.close()

    const after = await openLmdbStore({ path, clock })
    await putOne(after, table, keyAt('p', 'd'))
    assert.equal((await recordsOf(after, table)).length, 2)
    await after.close()
  })
})

/**
 * The reserve cannot foresee a quota, or a limit on how large files may grow, which is what this sets. Then
 * the engine's write fails; it may take the process with it, but not the data.
 */
describe('a server whose engine fails to write', () => {
  for (const durability of nightly ? ['sync', 'interval', 'memory'] : ['sync']) {
    it(`refuses or breaks off, and has all it acknowledged once there is room (${durability})`, async () => {
      const data = await temporaryFolder()
      const args = ['--durability', durability]
      const written = new Map<string, string>()

      for (let round = 0; round < 3; round++) {
        // A mebibyte or two, as shells differ in the size of a block.
        const server = await startServer(data, args, { fileBlocksMax: 2048 })
        await withClients(server.url, async (each) => {
          if (round === 0) assert.equal(await create(each[0], 'kept'), 201)
          await Promise.all(each.map((own, i) => writeUntilRefused(own, `${round}, ${i}`, written)))
        })
        await server.kill()
      }

      const server = await startServer(data, args)
      await withClients(server.url, async (each) => {
        await readBack(each, written)
        for (let i = 0; i < 10; i++) assert.equal(await insert(each[0], `room ${i}`, written), 201)
        await readBack(each, written)
      })
      assert.equal((await server.stop()).code, 0)
    })
  }
})

/** Inserts row after row until one is not acknowledged. */
async function writeUntilRefused(
  client: KeepAliveClient,
  name: string,
  written: Map<string, string>,
): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    try {
      const status = await insert(client, `${name}, row ${i}`, written)
      if (status === 201) continue
      assert(status >= 500, `${status} is not the server's fault`)
    } catch (error) {
      assert.match((error as { code?: string }).code ?? '', /^(?:ECONNRESET|ECONNREFUSED|EPIPE)$/)
    }
    return
  }
  assert.fail('there is room without end')
}

/** Notes the ETag of what is acknowledged. */
async function insert(client: KeepAliveClient, row: string, written: Map<string, string>): Promise<number> {
  const body = { PartitionKey: 'p', RowKey: row, Text: textOf(row) }
  const { status, headers } = await client.send('POST', '/kept', { body })
  if (status === 201) written.set(row, headers.etag ?? '')
  return status
}

async function readBack(
  each: readonly KeepAliveClient[],
  written: ReadonlyMap<string, string>,
): Promise<void> {
  assert(written.size > 0)
  const rows = [...written]
  await Promise.all(
    each.map(async (client, i) => {
      for (const [row, etag] of rows.filter((_, at) => at % clients === i)) {
        const answer = await client.send('GET', entityPath('kept', 'p', row))
        assert.equal(answer.status, 200, row)
        assert.equal(answer.headers.etag, etag)
        assert.equal((JSON.parse(answer.body) as { Text: string }).Text, textOf(row))
      }
    }),
  )
}

/** More than a page of the store. */
function textOf(row: string): string {
  return `${row} `.repeat(1000)
}

async function create(client: KeepAliveClient, table: string): Promise<number> {
  return (await client.send('POST', '/Tables', { body: { TableName: table } })).status
}

async function withClients(
  url: string,
  work: (each: [KeepAliveClient, ...KeepAliveClient[]]) => Promise<void>,
): Promise<void> {
  const first = keepAliveClient(url)
  const others = Array.from({ length: clients - 1 }, () => keepAliveClient(url))
  try {
    await work([first, ...others])
  } finally {
    for (const client of [first, ...others]) client.close()
  }
}

async function until(done: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!done()) {
    assert(performance.now() < deadline, 'it has not come')
    await pause(5)
  }
}

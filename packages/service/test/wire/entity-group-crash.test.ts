/** Groups under SIGKILL: whole or not there at all, and there whenever they were acknowledged. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { setTimeout as passed } from 'node:timers/promises'
import { everything } from '../../src/model/keys.ts'
import { keyOf, propertiesOf } from '../../src/model/record.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { findTable } from '../../src/store/catalogue.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import {
  account,
  batchRequest,
  changeSet,
  insert,
  readBatchAnswer,
  replace,
  table,
} from '../support/batch.ts'
import { openRaw, requestBytes } from '../support/raw-http.ts'
import { startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const kills = 20
const writers = 4
const rowsEach = 8

describe('Entity group transactions under kill -9', () => {
  it(`${kills} times: all or nothing, and nothing acknowledged is lost`, async () => {
    const data = await temporaryFolder()
    /** Groups by name; true once acknowledged. */
    const groups = new Map<string, boolean>()
    let acknowledged = 0
    for (let round = 0; round <= kills; round++) {
      // What the last kill left is looked at while the next server starts: both must cope with it.
      const [server] = await Promise.all([startServer(data), round === 0 ? undefined : check(data, groups)])
      if (round === 0) await createTable(server.url)
      if (round === kills) {
        // The last start shows that the service itself comes up on what was left.
        const url = `/${account}/people(PartitionKey='p',RowKey='head')`
        const connection = await openRaw(server.url)
        assert.equal((await connection.send(requestBytes({ method: 'GET', target: url }))).status, 200)
        connection.close()
        await server.kill()
        break
      }
      const writing = Array.from({ length: writers }, (_, writer) =>
        write(server.url, `${round}-${writer}`, groups),
      )
      await passed(20 + Math.random() * 60)
      await server.kill()
      await Promise.all(writing)
      acknowledged = [...groups.values()].filter(Boolean).length
    }
    assert(acknowledged > kills, `only ${acknowledged} groups were acknowledged`)
  })
})

async function check(path: string, groups: ReadonlyMap<string, boolean>): Promise<void> {
  const store = await openLmdbStore({ path, clock: systemClock() })
  try {
    const entry = await findTable(store, account, table)
    assert(entry !== undefined, 'the table is gone')
    const rows = new Map<string, number>()
    let head: unknown
    await store.scan(entry.id, [everything], (record) => {
      const { row } = keyOf(record)
      const group = propertiesOf(record)[0]?.value.value
      if (row === 'head') head = group
      else rows.set(group as string, (rows.get(group as string) ?? 0) + 1)
      return 'next'
    })
    for (const [group, acknowledged] of groups) {
      const found = rows.get(group) ?? 0
      assert(found === rowsEach || (found === 0 && !acknowledged), `${group}: ${found} rows`)
    }
    for (const group of rows.keys()) assert(groups.has(group), `nobody wrote ${group}`)
    assert(rows.has(head as string), `the head is of ${String(head)}, which is not there`)
  } finally {
    await store.close()
  }
}

async function createTable(url: string): Promise<void> {
  const connection = await openRaw(url)
  const body = JSON.stringify({ TableName: table })
  const headers = { 'Content-Type': 'application/json' }
  const answer = await connection.send(
    requestBytes({ method: 'POST', target: `/${account}/Tables`, headers, body }),
  )
  assert.equal(answer.status, 201)
  connection.close()
}

/** Writes groups until the connection breaks. Each leaves rows of its own and its name in a common row. */
async function write(url: string, name: string, groups: Map<string, boolean>): Promise<void> {
  const connection = await openRaw(url)
  for (let i = 0; ; i++) {
    const group = `${name}-${i}`
    groups.set(group, false)
    const rows = Array.from({ length: rowsEach }, (_, row) => insert(`${group}-${row}`, { group }))
    const bytes = requestBytes(batchRequest(changeSet([...rows, replace('head', { group })])))
    const answer = await connection.send(bytes).catch(() => undefined)
    if (answer === undefined) return
    const { parts } = readBatchAnswer(answer)
    assert.equal(parts.length, rowsEach + 1, parts[0]?.text)
    groups.set(group, true)
  }
}

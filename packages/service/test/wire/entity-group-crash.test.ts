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
import { eachRecord } from '../support/entities.ts'
import { openRaw, type RawConnection, requestBytes } from '../support/raw-http.ts'
import { startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const kills = 20
const writers = 4
const rowsEach = 8

describe('Entity group transactions under kill -9', () => {
  it(`${kills} times: all or nothing, and nothing acknowledged is lost`, async (test) => {
    const data = await temporaryFolder()
    /** Groups by name; true once acknowledged. */
    const groups = new Map<string, boolean>()
    let starting = startServer(data)
    try {
      await begin((await starting).url, groups)
      for (let round = 0; round < kills; round++) {
        const server = await starting
        const connections = await Promise.all(Array.from({ length: writers }, () => openRaw(server.url)))
        const writing = connections.map((connection, writer) =>
          write(connection, `${round}-${writer}`, groups),
        )
        await passed(20 + Math.random() * 60)
        // A slow machine gets the time it needs: about one group for each kill.
        const deadline = performance.now() + 20_000
        while (acknowledgedOf(groups) <= round && performance.now() < deadline) await passed(1)
        await server.kill()
        await Promise.all(writing)
        // What the kill left is looked at while the next server starts: both must cope with it.
        starting = startServer(data)
        await check(data, groups)
      }
      const connection = await openRaw((await starting).url)
      const target = `/${account}/people(PartitionKey='p',RowKey='head')`
      assert.equal((await connection.send(requestBytes({ method: 'GET', target }))).status, 200)
      connection.close()
    } finally {
      await (await starting).kill()
    }
    const acknowledged = acknowledgedOf(groups)
    test.diagnostic(`${groups.size} groups, ${acknowledged} of them acknowledged`)
    assert(acknowledged >= kills, 'hardly any group was acknowledged under load')
  })
})

function acknowledgedOf(groups: ReadonlyMap<string, boolean>): number {
  return [...groups.values()].filter(Boolean).length
}

async function check(path: string, groups: ReadonlyMap<string, boolean>): Promise<void> {
  const store = await openLmdbStore({ path, clock: systemClock() })
  try {
    const entry = await findTable(store, account, table)
    assert(entry !== undefined, 'the table is gone')
    const rows = new Map<string, number>()
    let head: unknown
    const visit = eachRecord((record) => {
      const { row } = keyOf(record)
      const group = propertiesOf(record)[0]?.value.value
      if (row === 'head') head = group
      else rows.set(group as string, (rows.get(group as string) ?? 0) + 1)
      return 'next'
    })
    await store.scan(entry.id, [everything], visit)
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

/** A table with one group in it, so that there is something to find however soon the first kill comes. */
async function begin(url: string, groups: Map<string, boolean>): Promise<void> {
  const connection = await openRaw(url)
  const body = JSON.stringify({ TableName: table })
  const headers = { 'Content-Type': 'application/json' }
  const create = requestBytes({ method: 'POST', target: `/${account}/Tables`, headers, body })
  assert.equal((await connection.send(create)).status, 201)
  groups.set('first', true)
  readBatchAnswer(await connection.send(groupBytes('first')))
  connection.close()
}

/** Writes groups until the connection breaks. Each leaves rows of its own and its name in a common row. */
async function write(connection: RawConnection, name: string, groups: Map<string, boolean>): Promise<void> {
  for (let i = 0; ; i++) {
    const group = `${name}-${i}`
    groups.set(group, false)
    const answer = await connection.send(groupBytes(group)).catch(() => undefined)
    if (answer === undefined) return
    const { parts } = readBatchAnswer(answer)
    assert.equal(parts.length, rowsEach + 1, parts[0]?.text)
    groups.set(group, true)
  }
}

function groupBytes(group: string): Buffer {
  const rows = Array.from({ length: rowsEach }, (_, row) => insert(`${group}-${row}`, { group }))
  return requestBytes(batchRequest(changeSet([...rows, replace('head', { group })])))
}

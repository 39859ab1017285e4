/**
 * Batches in the shape each client library gives them, byte for byte, and the bytes that answer them. Every
 * one of them inserts row 1, replaces 2, merges 3 and deletes 4, save for the one that reads row 2.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { masked, startTables, type TestTables } from '../support/batch.ts'
import type { RawRequest } from '../support/raw-http.ts'

const folder = new URL('../../../test/fixtures/batch/', import.meta.url)

const clients = ['javascript', 'python', 'go', 'java', 'dotnet', 'rust', 'legacy-node', 'legacy-dotnet']

describe('Entity group transactions as clients write them', () => {
  let tables: TestTables
  before(async () => {
    tables = await startTables()
  })
  after(() => tables.close())

  for (const client of [...clients, 'legacy-read']) {
    it(client, async () => {
      await tables.seed(['2', '4'])
      const answer = await tables.send(readRequest(`${client}.request.http`))
      assert.equal(masked(answer.body.toString('latin1')), readFixture(`${client}.answer.http`))
      if (client === 'legacy-read') return
      const shown = await Promise.all(['1', '2', '3', '4'].map(statusOf))
      assert.deepEqual(shown, [200, 200, 200, 404])
    })
  }

  async function statusOf(row: string): Promise<number> {
    const target = `/devstoreaccount1/people(PartitionKey='p',RowKey='${row}')`
    return (await tables.send({ method: 'GET', target })).status
  }
})

function readFixture(name: string): string {
  return readFileSync(new URL(name, folder), 'latin1')
}

/** Only date and signature are not the client's. */
function readRequest(name: string): RawRequest {
  const text = readFixture(name)
  const [, head = '', body = ''] = /^(.*?)\r?\n\r?\n(.*)$/s.exec(text) ?? []
  const [line = '', ...lines] = head.split(/\r?\n/)
  const [method = '', target = ''] = line.split(' ')
  const headers = Object.fromEntries(lines.map((header) => header.split(': ', 2) as [string, string]))
  return { method, target, headers, body: Buffer.from(body, 'latin1') }
}

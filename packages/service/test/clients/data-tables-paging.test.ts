/** Pages as the official JavaScript client follows them, and every filter of the corpus over HTTP. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { TableClient } from '@azure/data-tables'
import * as fc from 'fast-check'
import type { EntityKey, PartitionKey, RowKey } from '../../src/model/keys.ts'
import { compareKeys } from '../../src/model/keys.ts'
import type { RunningService } from '../../src/service.ts'
import { corpus } from '../query/filter-corpus.ts'
import { developmentAccount, keepAliveClient } from '../support/keep-alive-client.ts'
import { startTestedService } from '../support/tested-service.ts'

interface Row {
  readonly partition: string
  readonly row: string
  readonly n: number
}

/** Empty, alike, astral, and on both sides of U+E000, where byte order and text order part. */
const texts = ['', 'a', 'A', 'aa', 'b', '0', '10', '2', "o'k", 'é', '😀', '\ue000', '～', 'p q', '+', '=&']
const rows = fc.uniqueArray(
  fc.record({ partition: fc.constantFrom(...texts), row: fc.constantFrom(...texts), n: fc.nat(9) }),
  { minLength: 1, maxLength: 60, selector: ({ partition, row }) => `${partition}\u0000${row}` },
)
const filters: readonly (readonly [text: string, holds: (row: Row) => boolean])[] = [
  ['', () => true],
  ['n lt 5', ({ n }) => n < 5],
  ["PartitionKey eq ''", ({ partition }) => partition === ''],
  ["PartitionKey ge 'a' and n ne 3", ({ partition, n }) => partition >= 'a' && n !== 3],
  ["RowKey eq '😀' or PartitionKey eq '～'", ({ partition, row }) => row === '😀' || partition === '～'],
  ["not (PartitionKey lt '😀')", ({ partition }) => !(partition < '😀')],
]

describe('listEntities().byPage()', () => {
  let service: RunningService
  before(async () => {
    service = await startTestedService({ data: ':memory:' })
  })
  after(() => service.close())

  it('gives what the filter matches, in order, whatever the page size and wherever pages are cut', async () => {
    let tables = 0
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.constantFrom(...filters),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        async (written, [filter, holds], maxPageSize, realism) => {
          const table = await fill(service, `paging${tables++}`, written)
          const seen = await readPages(table, filter, maxPageSize, realism)
          const expected = written.filter(holds).map(keyOf).toSorted(compareKeys)
          assert.deepEqual(seen, expected)
        },
      ),
      { numRuns: process.env['PARTITA_NIGHTLY'] === undefined ? 30 : 600 },
    )
  })

  it('reads all of a partition whose key is empty, beyond the first thousand', async () => {
    const written = Array.from({ length: 1100 }, (_, i) => ({ partition: '', row: `${i}`, n: 0 }))
    const table = await fill(service, 'emptykey', written)
    assert.equal((await readPages(table, '', undefined, false)).length, 1100)
  })
})

describe('filters of the corpus', () => {
  it('are answered over HTTP, none of them by a failure of the service', async () => {
    const service = await startTestedService({ data: ':memory:' })
    const client = keepAliveClient(service.url, { account: developmentAccount })
    await client.send('POST', '/Tables', { body: { TableName: 'corpus' } })
    for (const [filter] of corpus) {
      const { status } = await client.send('GET', `/corpus()?$filter=${encodeURIComponent(filter)}`)
      assert([200, 400, 501].includes(status), `${status} for ${filter}`)
    }
    client.close()
    await service.close()
  })
})

async function fill(service: RunningService, name: string, written: readonly Row[]): Promise<TableClient> {
  const table = TableClient.fromConnectionString(service.connectionString, name, {
    allowInsecureConnection: true,
  })
  await table.createTable()
  await Promise.all(
    written.map(({ partition, row, n }) => table.createEntity({ partitionKey: partition, rowKey: row, n })),
  )
  return table
}

/** Starts a new iterator from the token after every page, as a client does that was restarted in between. */
async function readPages(
  table: TableClient,
  filter: string,
  maxPageSize: number | undefined,
  realism: boolean,
): Promise<EntityKey[]> {
  const seen: EntityKey[] = []
  let continuationToken: string | undefined
  do {
    const pages = table
      .listEntities({
        queryOptions: filter === '' ? {} : { filter },
        requestOptions: { customHeaders: { 'x-realism': realism ? 'on' : 'off' } },
      })
      .byPage({
        ...(maxPageSize === undefined ? {} : { maxPageSize }),
        ...(continuationToken === undefined ? {} : { continuationToken }),
      })
    const { value: page } = (await pages.next()) as {
      value: { partitionKey: string; rowKey: string }[] & { continuationToken?: string }
    }
    assert(maxPageSize === undefined || page.length <= maxPageSize)
    for (const { partitionKey, rowKey } of page) seen.push(keyOf({ partition: partitionKey, row: rowKey }))
    continuationToken = page.continuationToken
  } while (continuationToken !== undefined)
  return seen
}

function keyOf({ partition, row }: Omit<Row, 'n'>): EntityKey {
  return { partition: partition as PartitionKey, row: row as RowKey }
}

/** The official JavaScript client, unchanged, against services of this process. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  AzureNamedKeyCredential,
  type Edm,
  odata,
  RestError,
  TableClient,
  type TableEntity,
  TableServiceClient,
} from '@azure/data-tables'
import { type LogEntry, type RunningService, type ServiceOptions, startService } from '../../src/service.ts'
import { developmentAccount } from '../support/keep-alive-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { startTestedService } from '../support/tested-service.ts'

const insecure = { allowInsecureConnection: true }
const custom = { name: 'custom42', key: Buffer.alloc(64, 'a key of our own').toString('base64') }
const customAccounts = `other:${Buffer.alloc(64, 'unused').toString('base64')};${custom.name}:${custom.key}`

describe('@azure/data-tables', () => {
  it('runs its published sample with UseDevelopmentStorage=true', async (test) => {
    const { service, connectionString } = await startOnDevelopmentPort()
    test.diagnostic(`connected by ${connectionString}`)
    try {
      await runSample(connectionString)
    } finally {
      await service.close()
    }
  })

  it('runs its published sample with the connection string of any service, in memory and on disk', async () => {
    for (const data of [':memory:', await temporaryFolder()]) {
      await withService({ data }, ({ connectionString }) => runSample(connectionString))
    }
  })

  it('keeps every type of property, to its extremes', async () => {
    await withTable(async (client) => {
      const entity = {
        partitionKey: 'p',
        rowKey: 'r',
        text: 'plain',
        empty: '',
        odd: 'quotes " and \\ and \u0001 and \u{1f3bc} and \ud800',
        long: 'x'.repeat(32_768),
        yes: true,
        no: false,
        whole: 42,
        least: -2_147_483_648,
        most: 2_147_483_647,
        fraction: 0.1,
        tiny: Number.MIN_VALUE,
        huge: Number.MAX_VALUE,
        big: 9_223_372_036_854_775_807n,
        small: -9_223_372_036_854_775_808n,
        zero: 0n,
        date: new Date('2024-02-29T23:59:59.999Z'),
        early: new Date('1601-01-01T00:00:00.000Z'),
        late: new Date('9999-12-31T23:59:59.999Z'),
        bytes: Uint8Array.from({ length: 256 }, (_, i) => i),
        none: new Uint8Array(0),
      }
      await client.createEntity(entity)
      const { etag, timestamp, ...found } = await client.getEntity('p', 'r')
      assert.match(etag, /^W\/"datetime'/)
      assert(!Number.isNaN(Date.parse(String(timestamp))))
      const { 'odata.metadata': _metadata, ...properties } = found
      assert.deepEqual({ ...properties, bytes: plain(found['bytes']), none: plain(found['none']) }, entity)
    })
  })

  it('keeps properties whose type is given', async () => {
    await withTable(async (client) => {
      const typed = {
        guid: { type: 'Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' } satisfies Edm<'Guid'>,
        int32: { type: 'Int32', value: 7 } satisfies Edm<'Int32'>,
        int64: { type: 'Int64', value: '-9007199254740993' } satisfies Edm<'Int64'>,
        double: { type: 'Double', value: 3 } satisfies Edm<'Double'>,
        notANumber: { type: 'Double', value: 'NaN' },
        infinite: { type: 'Double', value: '-Infinity' },
        boolean: { type: 'Boolean', value: true } satisfies Edm<'Boolean'>,
        string: { type: 'String', value: 'text' } satisfies Edm<'String'>,
        date: { type: 'DateTime', value: '2008-07-10T00:00:00.1234567Z' } satisfies Edm<'DateTime'>,
        binary: { type: 'Binary', value: 'AAEC/w==' } satisfies Edm<'Binary'>,
      }
      await client.createEntity({ partitionKey: 'p', rowKey: 'r', ...typed })
      const found = await client.getEntity('p', 'r', { disableTypeConversion: true })
      assert.deepEqual(found['guid'], typed.guid)
      assert.deepEqual(found['int32'], { type: 'Int32', value: '7' })
      assert.deepEqual(found['int64'], typed.int64)
      // The client reads 3.0 as a whole number: JSON tells it no more.
      assert.equal(Number((found['double'] as { value: string }).value), 3)
      assert.deepEqual(found['notANumber'], typed.notANumber)
      assert.deepEqual(found['infinite'], typed.infinite)
      assert.deepEqual(found['boolean'], { type: 'Boolean', value: 'true' })
      assert.deepEqual(found['string'], typed.string)
      assert.deepEqual(found['date'], typed.date)
      assert.deepEqual(found['binary'], typed.binary)
    })
  })

  it('keeps entities apart by their keys, whatever is in them', async () => {
    const keys = [
      '',
      ' ',
      "'",
      "''",
      "it's",
      '%',
      '%20',
      '100%25',
      '+',
      'a+b',
      'a b',
      '&',
      '=',
      ';',
      ',',
      '(',
      ')',
      '"',
    ]
    keys.push('ä', '日本', '\u{1f3bc}', 'A', 'a', ':', '@', '$', '~', '<', '|', '[', '{', 'x'.repeat(512))
    await withTable(async (client) => {
      for (const [i, key] of keys.entries()) {
        await client.createEntity({ partitionKey: key, rowKey: keys.at(-1 - i) as string, number: i })
      }
      for (const [i, key] of keys.entries()) {
        const row = keys.at(-1 - i) as string
        const found = await client.getEntity(key, row)
        assert.deepEqual([found.partitionKey, found.rowKey, found['number']], [key, row, i])
        await client.updateEntity({ partitionKey: key, rowKey: row, more: true }, 'Merge')
        await client.updateEntity({ partitionKey: key, rowKey: row, again: i }, 'Replace')
        assert.equal((await client.getEntity(key, row))['again'], i)
      }
      for (const [i, key] of keys.entries()) {
        await client.deleteEntity(key, keys.at(-1 - i) as string)
        await failsWith(404, 'ResourceNotFound', client.getEntity(key, keys.at(-1 - i) as string))
      }
    })
  })

  it('meets refusals as RestError with their status and code', async () => {
    await withTable(async (client, { connectionString }) => {
      const entity = { partitionKey: 'p', rowKey: 'r', count: 1 }
      const { etag: first = '' } = await client.createEntity(entity)
      await failsWith(409, 'EntityAlreadyExists', client.createEntity(entity))
      const { etag: second = '' } = await client.updateEntity({ ...entity, count: 2 }, 'Replace', {
        etag: first,
      })
      assert.notEqual(second, first)
      for (const mode of ['Merge', 'Replace'] as const) {
        await failsWith(
          412,
          'UpdateConditionNotSatisfied',
          client.updateEntity(entity, mode, { etag: first }),
        )
      }
      await failsWith(412, 'UpdateConditionNotSatisfied', client.deleteEntity('p', 'r', { etag: first }))
      assert.equal((await client.getEntity('p', 'r'))['count'], 2)
      await client.deleteEntity('p', 'r', { etag: second })
      await Promise.all(
        [
          client.getEntity('p', 'r'),
          client.updateEntity(entity, 'Merge'),
          client.updateEntity(entity, 'Replace'),
          client.deleteEntity('p', 'r'),
        ].map((gone) => failsWith(404, 'ResourceNotFound', gone)),
      )
      const nowhere = TableClient.fromConnectionString(connectionString, 'nowhere', insecure)
      await failsWith(404, 'TableNotFound', nowhere.createEntity(entity))
      await failsWith(404, 'TableNotFound', nowhere.getEntity('p', 'r'))
      const bad = { partitionKey: 'p', rowKey: 'a/b' }
      await failsWith(400, 'OutOfRangeInput', client.createEntity(bad))
      const large = { ...entity, text: 'x'.repeat(32_769) }
      await failsWith(400, 'PropertyValueTooLarge', client.createEntity(large))
    })
  })

  it('signs with AzureNamedKeyCredential, for an account of our own', async () => {
    await withService({ data: ':memory:', accounts: customAccounts }, async ({ url }) => {
      const credential = new AzureNamedKeyCredential(custom.name, custom.key)
      const endpoint = `${url}/${custom.name}`
      await new TableServiceClient(endpoint, credential, insecure).createTable('mine')
      const client = new TableClient(endpoint, 'mine', credential, insecure)
      await client.createEntity({ partitionKey: 'p', rowKey: 'r' })
      assert.equal((await client.getEntity('p', 'r')).rowKey, 'r')
      const { name, key } = developmentAccount
      const stranger = new AzureNamedKeyCredential(name, key)
      const outside = new TableClient(`${url}/${name}`, 'mine', stranger, insecure)
      await failsWith(403, 'AuthenticationFailed', outside.getEntity('p', 'r'))
      const pretender = new TableClient(
        endpoint,
        'mine',
        new AzureNamedKeyCredential(custom.name, key),
        insecure,
      )
      await failsWith(403, 'AuthenticationFailed', pretender.getEntity('p', 'r'))
    })
  })

  it('merges through POST where it believes to speak to another service', async () => {
    const logged: LogEntry[] = []
    const log = (entry: LogEntry) => logged.push(entry)
    await withService({ data: ':memory:', accounts: customAccounts, log }, async ({ url }) => {
      const credential = new AzureNamedKeyCredential(custom.name, custom.key)
      const endpoint = `${url.replace('127.0.0.1', 'localhost')}/${custom.name}`
      const client = new TableClient(endpoint, 'tunnel', credential, insecure)
      await client.createTable()
      await client.createEntity({ partitionKey: 'p', rowKey: 'r', kept: 1 })
      await client.updateEntity({ partitionKey: 'p', rowKey: 'r', added: 2 }, 'Merge')
      await client.upsertEntity({ partitionKey: 'p', rowKey: 'r', more: 3 }, 'Merge')
      const found = await client.getEntity('p', 'r')
      assert.deepEqual([found['kept'], found['added'], found['more']], [1, 2, 3])
      const merges = logged.filter(({ answer }) => answer.operation === 'merge entity')
      assert.deepEqual(
        merges.map(({ method }) => method),
        ['POST', 'POST'],
      )
    })
  })

  it('lists entities: all, filtered, selected, and page by page', async () => {
    await withTable(async (client) => {
      const rows = Array.from({ length: 25 }, (_, i) => String.fromCharCode(97 + i))
      await Promise.all(
        rows.map((rowKey, i) =>
          client.createEntity({ partitionKey: "it's", rowKey, number: i, big: BigInt(i), text: `text ${i}` }),
        ),
      )
      assert.deepEqual(await rowKeysOf(client.listEntities()), rows)
      const filter = odata`PartitionKey eq ${"it's"} and number ge ${10} and big lt ${12n}`
      assert.deepEqual(await rowKeysOf(client.listEntities({ queryOptions: { filter } })), ['k', 'l'])
      const selected = client.listEntities({ queryOptions: { filter, select: ['text', 'none'] } })
      assert.equal((await selected.next()).value?.['text'], 'text 10')
      const pages: number[] = []
      for await (const page of client.listEntities().byPage({ maxPageSize: 10 })) pages.push(page.length)
      assert.deepEqual(pages, [10, 10, 5])
      const first = (await client.listEntities().byPage({ maxPageSize: 20 }).next()).value
      const { continuationToken } = first as unknown as { continuationToken: string }
      const rest = (await client.listEntities().byPage({ continuationToken }).next()).value as TableEntity[]
      assert.deepEqual(
        rest.map(({ rowKey }) => rowKey),
        rows.slice(20),
      )
    })
  })

  it('reads all tables page by page', async () => {
    await withService({ data: ':memory:' }, async ({ connectionString }) => {
      const service = TableServiceClient.fromConnectionString(connectionString, insecure)
      const names = Array.from({ length: 25 }, (_, i) => `list${String.fromCharCode(97 + i)}`)
      await Promise.all(names.map((name) => service.createTable(name)))
      const pages: number[] = []
      const found: (string | undefined)[] = []
      for await (const page of service.listTables().byPage({ maxPageSize: 10 })) {
        pages.push(page.length)
        found.push(...page.map(({ name }) => name))
      }
      assert.deepEqual(pages, [10, 10, 5])
      assert.deepEqual(found, names)
    })
  })
})

describe('services in one process', () => {
  it('are as many as wanted, each with data of its own', async () => {
    const services = await Promise.all(Array.from({ length: 20 }, () => startService({ data: ':memory:' })))
    try {
      assert.equal(new Set(services.map(({ url }) => url)).size, services.length)
      await Promise.all(
        services.map(async ({ connectionString }, i) => {
          const client = TableClient.fromConnectionString(connectionString, 'same', insecure)
          await client.createTable()
          await client.createEntity({ partitionKey: 'p', rowKey: 'r', number: i })
        }),
      )
      for (const [i, { connectionString }] of services.entries()) {
        const client = TableClient.fromConnectionString(connectionString, 'same', insecure)
        assert.equal((await client.getEntity('p', 'r'))['number'], i)
      }
    } finally {
      await Promise.all(services.map((service) => service.close()))
    }
  })

  it('answer their first request as soon as they are started, and are gone once closed', async () => {
    for (const data of [':memory:', await temporaryFolder()]) {
      const service = await startService({ data })
      const { connectionString, url } = service
      const tables = TableServiceClient.fromConnectionString(connectionString, insecure).listTables()
      assert.deepEqual(await tables.next(), { done: true, value: undefined })
      await service.close()
      await assert.rejects(fetch(`${url}/-/live`))
    }
  })
})

/** What the client's own samples do, one after the other. */
async function runSample(connectionString: string): Promise<void> {
  // The development connection string allows plain HTTP by itself; others need to be told.
  const options = connectionString.startsWith('UseDevelopmentStorage') ? {} : insecure
  const service = TableServiceClient.fromConnectionString(connectionString, options)
  await service.createTable('sampletable')
  await service.createTable('sampletable')
  const names: (string | undefined)[] = []
  for await (const { name } of service.listTables()) names.push(name)
  assert.deepEqual(names, ['sampletable'])

  const client = TableClient.fromConnectionString(connectionString, 'sampletable', options)
  interface Product {
    name?: string
    price?: number
    inStock?: boolean
    brand?: string
  }
  const keys = { partitionKey: 'stationery', rowKey: 'A1' }
  const entity: TableEntity<Product> = { ...keys, name: 'Marker Set', price: 5, inStock: true }
  const created = await client.createEntity(entity)
  assert.match(created.etag ?? '', /^W\/"datetime'/)
  const read = await client.getEntity<Product>('stationery', 'A1')
  assert.equal(read.etag, created.etag)
  assert.deepEqual([read.name, read.price, read.inStock], ['Marker Set', 5, true])

  await client.updateEntity({ ...keys, price: 6 }, 'Merge', { etag: read.etag })
  assert.deepEqual(await productOf(client), { name: 'Marker Set', price: 6, inStock: true })
  await client.updateEntity({ ...keys, name: 'Marker' }, 'Replace')
  assert.deepEqual(await productOf(client), { name: 'Marker' })
  await client.upsertEntity({ ...keys, brand: 'Contoso' }, 'Merge')
  assert.deepEqual(await productOf(client), { brand: 'Contoso', name: 'Marker' })
  await client.upsertEntity({ ...keys, price: 7 }, 'Replace')
  assert.deepEqual(await productOf(client), { price: 7 })
  await client.upsertEntity({ ...keys, rowKey: 'A2', name: 'new' }, 'Merge')
  await client.upsertEntity({ ...keys, rowKey: 'A3', name: 'new' }, 'Replace')
  for (const rowKey of ['A1', 'A2', 'A3']) await client.deleteEntity('stationery', rowKey)
  await failsWith(404, 'ResourceNotFound', client.getEntity('stationery', 'A1'))

  const selected = { ...keys, name: 'Pen', price: 1 }
  await client.createEntity(selected)
  const { name, price } = await client.getEntity<Product>('stationery', 'A1', {
    queryOptions: { select: ['name'] },
  })
  assert.deepEqual([name, price], ['Pen', undefined])

  await client.deleteTable()
  await service.deleteTable('sampletable')
  for await (const table of service.listTables()) assert.fail(`${table.name} is still there`)
}

async function rowKeysOf(entities: AsyncIterable<{ rowKey?: string }>): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = []
  for await (const { rowKey } of entities) keys.push(rowKey)
  return keys
}

async function productOf(client: TableClient): Promise<object> {
  const found = await client.getEntity('stationery', 'A1')
  const { etag: _etag, timestamp: _timestamp, partitionKey, rowKey, ...product } = found
  assert.deepEqual([partitionKey, rowKey], ['stationery', 'A1'])
  const { 'odata.metadata': _metadata, ...properties } = product
  return properties
}

/** On port 10002, where an unchanged client looks; if that is taken, anywhere. */
async function startOnDevelopmentPort(): Promise<{ service: RunningService; connectionString: string }> {
  try {
    const service = await startService({ data: ':memory:', tablePort: 10002 })
    return { service, connectionString: 'UseDevelopmentStorage=true' }
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'EADDRINUSE')
    const service = await startService({ data: ':memory:' })
    return { service, connectionString: service.connectionString }
  }
}

async function withService(
  options: ServiceOptions,
  work: (service: RunningService) => Promise<void>,
): Promise<void> {
  // A log can only be told in this process.
  const start = options.log === undefined ? startTestedService : startService
  const service = await start(options)
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

async function withTable(
  work: (client: TableClient, service: RunningService) => Promise<void>,
): Promise<void> {
  await withService({ data: ':memory:' }, async (service) => {
    const client = TableClient.fromConnectionString(service.connectionString, 'things', insecure)
    await client.createTable()
    await work(client, service)
  })
}

async function failsWith(status: number, code: string, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert(error instanceof RestError)
    assert.equal(error.statusCode, status)
    const { odataError } = error.details as { odataError?: { code?: string } }
    assert.equal(error.code ?? odataError?.code, code)
    return true
  })
}

function plain(bytes: unknown): Uint8Array {
  assert(bytes instanceof Uint8Array)
  return Uint8Array.from(bytes)
}

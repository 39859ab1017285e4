/** The scenarios, as a user of `@azure/data-tables` would write them. */
import { strict as assert } from 'node:assert'
import { Agent } from 'node:http'
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateTableSas,
  odata,
  RestError,
  TableClient,
  TableServiceClient,
  TableTransaction,
} from '@azure/data-tables'
import { given, preflight, unusualKeys } from './contract.js'

const options = { allowInsecureConnection: true }
const credential = new AzureNamedKeyCredential(given.account, given.key)
const service = new TableServiceClient(given.url, credential, options)
const hourMs = 3_600_000

export const scenarios = {
  'connect-connection-string': () =>
    proveTable(TableClient.fromConnectionString(given.connectionString, `${given.prefix}string`, options)),

  'connect-account-key': () =>
    proveTable(new TableClient(given.url, `${given.prefix}key`, credential, options)),

  async 'connect-sas-url'() {
    await proveTable(new TableClient(given.sasUrl, `${given.prefix}sas`, options))
    const [url, signature] = given.sasUrl.split('?')
    const sas = new AzureSASCredential(signature)
    await proveTable(new TableClient(url, `${given.prefix}sascredential`, sas, options))
  },

  async tables() {
    const name = `${given.prefix}tables`
    await service.createTable(name)
    await service.createTable(name)
    assert((await collect(service.listTables())).some((table) => table.name === name))
    const filter = odata`TableName eq ${name}`
    assert.deepEqual(
      (await collect(service.listTables({ queryOptions: { filter } }))).map((table) => table.name),
      [name],
    )
    await service.deleteTable(name)
    await service.deleteTable(name)
    assert.deepEqual(await collect(service.listTables({ queryOptions: { filter } })), [])
  },

  async types() {
    const client = await newTable('types')
    const entity = {
      partitionKey: 'p',
      rowKey: 'r',
      text: 'text',
      yes: true,
      int32: 42,
      int64: 9_007_199_254_740_993n,
      double: 1.5,
      date: new Date('2024-02-29T23:59:59.123Z'),
      bytes: Uint8Array.of(0, 127, 255),
      guid: { type: 'Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' },
    }
    await client.createEntity(entity)
    const found = await client.getEntity('p', 'r')
    assert.deepEqual({ ...pick(found, entity), bytes: Uint8Array.from(found.bytes) }, entity)
  },

  async 'insert-get'() {
    const client = await newTable('insertget')
    const { etag } = await client.createEntity({ partitionKey: 'p', rowKey: 'r', a: 1 })
    const found = await client.getEntity('p', 'r')
    assert.equal(found.a, 1)
    assert.equal(found.etag, etag)
    assert(!Number.isNaN(Date.parse(found.timestamp)))
    await refused(client.createEntity({ partitionKey: 'p', rowKey: 'r' }), 409, 'EntityAlreadyExists')
    await refused(client.getEntity('p', 'absent'), 404, 'ResourceNotFound')
  },

  async merge() {
    const client = await tableWithEntity('merge')
    await client.updateEntity({ partitionKey: 'p', rowKey: 'r', b: 3, c: 4 }, 'Merge')
    await holds(client, { a: 1, b: 3, c: 4 })
    const absent = client.updateEntity({ partitionKey: 'p', rowKey: 'absent' }, 'Merge')
    await refused(absent, 404, 'ResourceNotFound')
  },

  async replace() {
    const client = await tableWithEntity('replace')
    await client.updateEntity({ partitionKey: 'p', rowKey: 'r', c: 4 }, 'Replace')
    await holds(client, { c: 4 })
    const absent = client.updateEntity({ partitionKey: 'p', rowKey: 'absent' }, 'Replace')
    await refused(absent, 404, 'ResourceNotFound')
  },

  async 'upsert-merge'() {
    const client = await newTable('upsertmerge')
    await client.upsertEntity({ partitionKey: 'p', rowKey: 'r', a: 1, b: 2 }, 'Merge')
    await client.upsertEntity({ partitionKey: 'p', rowKey: 'r', b: 3 }, 'Merge')
    await holds(client, { a: 1, b: 3 })
  },

  async 'upsert-replace'() {
    const client = await newTable('upsertreplace')
    await client.upsertEntity({ partitionKey: 'p', rowKey: 'r', a: 1, b: 2 }, 'Replace')
    await client.upsertEntity({ partitionKey: 'p', rowKey: 'r', b: 3 }, 'Replace')
    await holds(client, { b: 3 })
  },

  async delete() {
    const client = await tableWithEntity('delete')
    await client.deleteEntity('p', 'r')
    await refused(client.getEntity('p', 'r'), 404, 'ResourceNotFound')
    await refused(client.deleteEntity('p', 'r'), 404, 'ResourceNotFound')
  },

  async etags() {
    const client = await newTable('etags')
    const entity = { partitionKey: 'p', rowKey: 'r', a: 1 }
    const { etag: first } = await client.createEntity(entity)
    const { etag: second } = await client.updateEntity({ ...entity, a: 2 }, 'Replace', { etag: first })
    assert.notEqual(second, first)
    const unsatisfied = [412, 'UpdateConditionNotSatisfied']
    await refused(client.updateEntity({ ...entity, a: 3 }, 'Replace', { etag: first }), ...unsatisfied)
    await refused(client.updateEntity({ ...entity, a: 3 }, 'Merge', { etag: first }), ...unsatisfied)
    await refused(client.deleteEntity('p', 'r', { etag: first }), ...unsatisfied)
    await client.updateEntity({ ...entity, a: 4 }, 'Merge', { etag: '*' })
    const { etag: last } = await client.getEntity('p', 'r')
    await client.deleteEntity('p', 'r', { etag: last })
  },

  async select() {
    const client = await newTable('select')
    await client.createEntity({ partitionKey: 'p', rowKey: 'r', a: 1, b: 2 })
    const queryOptions = { select: ['rowKey', 'b', 'absent'] }
    const one = await client.getEntity('p', 'r', { queryOptions })
    assert.deepEqual([one.rowKey, one.b, 'a' in one, 'partitionKey' in one], ['r', 2, false, false])
    const [row] = await collect(client.listEntities({ queryOptions }))
    assert.deepEqual([row.rowKey, row.b, 'a' in row, 'partitionKey' in row], ['r', 2, false, false])
  },

  async filters() {
    const client = await newTable('filters')
    const date = new Date('2024-02-29T00:00:00Z')
    const guid = 'c9da6455-213d-42c9-9a79-3e9149a57833'
    await client.createEntity({
      partitionKey: "it's",
      rowKey: 'match',
      text: "o'clock & 50%",
      yes: true,
      int32: 5,
      int64: 5_000_000_000n,
      double: 2.5,
      date,
      bytes: Uint8Array.of(1, 2),
      guid: { type: 'Guid', value: guid },
    })
    await client.createEntity({ partitionKey: 'other', rowKey: 'none', text: 'x', int32: -1 })
    for (const filter of [
      odata`PartitionKey eq ${"it's"}`,
      odata`text eq ${"o'clock & 50%"}`,
      odata`yes eq ${true}`,
      odata`int32 gt ${4} and int32 le ${5}`,
      odata`int64 eq ${5_000_000_000n}L`,
      odata`double lt ${2.75}`,
      odata`date ge ${date}`,
      odata`guid eq guid'${guid}'`,
      odata`bytes eq X'${'0102'}'`,
      odata`not (text eq ${'x'}) and (RowKey eq ${'match'} or int32 eq ${7})`,
    ]) {
      const found = await collect(client.listEntities({ queryOptions: { filter } }))
      assert.deepEqual(
        found.map(({ rowKey }) => rowKey),
        ['match'],
        filter,
      )
    }
    const broken = collect(client.listEntities({ queryOptions: { filter: 'int32 eq' } }))
    await refused(broken, 400, 'InvalidInput')
  },

  async paging() {
    const client = await newTable('paging')
    assert.deepEqual(await collect(client.listEntities()), [])
    const rows = Array.from({ length: 25 }, (_, n) => `r${String(n).padStart(3, '0')}`)
    await client.submitTransaction(rows.map((rowKey) => ['create', { partitionKey: 'p', rowKey }]))
    const pages = await collect(client.listEntities().byPage({ maxPageSize: 10 }))
    assert.deepEqual(
      pages.map((page) => page.length),
      [10, 10, 5],
    )
    assert.deepEqual(
      pages.flat().map(({ rowKey }) => rowKey),
      rows,
    )
    const all = await collect(client.listEntities())
    assert.equal(all.length, 25)
  },

  async group() {
    const client = await newTable('group')
    for (const rowKey of ['merged', 'replaced', 'deleted'])
      await client.createEntity({ partitionKey: 'p', rowKey, a: 1 })
    const group = new TableTransaction()
    group.createEntity({ partitionKey: 'p', rowKey: 'created', a: 1 })
    group.updateEntity({ partitionKey: 'p', rowKey: 'merged', b: 2 }, 'Merge')
    group.updateEntity({ partitionKey: 'p', rowKey: 'replaced', b: 2 }, 'Replace')
    group.upsertEntity({ partitionKey: 'p', rowKey: 'upserted', b: 2 }, 'Merge')
    group.upsertEntity({ partitionKey: 'p', rowKey: "it's new", b: 2 }, 'Replace')
    group.deleteEntity('p', 'deleted')
    const { status, subResponses, getResponseForEntity } = await client.submitTransaction(group.actions)
    assert.equal(status, 202)
    assert.deepEqual(
      subResponses.map((answer) => answer.status),
      [204, 204, 204, 204, 204, 204],
    )
    assert.match(getResponseForEntity('created').etag, /^W\/"datetime'/)
    const found = await collect(client.listEntities())
    assert.deepEqual(
      found.map(({ rowKey, a, b }) => [rowKey, a, b]),
      [
        ['created', 1, undefined],
        ["it's new", undefined, 2],
        ['merged', 1, 2],
        ['replaced', undefined, 2],
        ['upserted', undefined, 2],
      ],
    )
  },

  async 'group-failures'() {
    const client = await newTable('groupfailures')
    await client.createEntity({ partitionKey: 'p', rowKey: 'there' })
    const fine = ['create', { partitionKey: 'p', rowKey: 'fine' }]
    const there = { partitionKey: 'p', rowKey: 'there' }
    const absent = { partitionKey: 'p', rowKey: 'absent' }
    const stale = { etag: `W/"datetime'2020-01-01T00%3A00%3A00Z'"` }
    const many = Array.from({ length: 101 }, (_, n) => ['create', { partitionKey: 'p', rowKey: `${n}` }])
    // This client tells the place of what failed only in the message, before the colon.
    for (const [actions, status, code, place] of [
      [[fine, ['create', there]], 409, 'EntityAlreadyExists', '1:'],
      [[fine, ['update', absent]], 404, 'ResourceNotFound', '1:'],
      [[fine, ['update', there, 'Merge', stale]], 412, 'UpdateConditionNotSatisfied', '1:'],
      [[fine, fine], 400, 'InvalidDuplicateRow', '1:'],
      [many, 400, 'InvalidInput', '99:'],
    ]) {
      const error = await refused(client.submitTransaction(actions), status, code)
      assert(error.message.startsWith(place), error.message)
    }
    const elsewhere = ['create', { partitionKey: 'q', rowKey: 'fine' }]
    await assert.rejects(client.submitTransaction([fine, elsewhere]), /same partitionKey/)
    const left = await collect(client.listEntities())
    assert.deepEqual(
      left.map(({ rowKey }) => rowKey),
      ['there'],
    )
  },

  async 'access-policies'() {
    const client = await newTable('accesspolicies')
    assert.equal((await client.getAccessPolicy()).length, 0)
    const start = new Date('2024-01-01T00:00:00Z')
    const expiry = new Date('2034-01-01T00:00:00Z')
    const policies = [
      { id: 'full', accessPolicy: { start, expiry, permission: 'raud' } },
      { id: 'reader', accessPolicy: { permission: 'r' } },
    ]
    await client.setAccessPolicy(policies)
    assert.deepEqual([...(await client.getAccessPolicy())], policies)
    await client.setAccessPolicy([])
    assert.equal((await client.getAccessPolicy()).length, 0)
  },

  async 'policy-sas'() {
    const client = await tableWithEntity('policysas')
    const expiry = new Date(Date.now() + hourMs)
    await client.setAccessPolicy([{ id: 'reader', accessPolicy: { expiry, permission: 'r' } }])
    const reader = openWithSas(client.tableName, { identifier: 'reader' })
    assert.equal((await reader.getEntity('p', 'r')).a, 1)
    const insert = reader.createEntity({ partitionKey: 'p', rowKey: 'new' })
    await refused(insert, 403, 'AuthorizationPermissionMismatch')
    await client.setAccessPolicy([])
    await refused(reader.getEntity('p', 'r'), 403, 'AuthenticationFailed')
  },

  async 'table-sas'() {
    const client = await newTable('tablesas')
    for (const partitionKey of ['a', 'b', 'c'])
      await client.createEntity({ partitionKey, rowKey: 'r', value: partitionKey })
    const limited = openWithSas(client.tableName, {
      permissions: { query: true, add: true },
      expiresOn: new Date(Date.now() + hourMs),
      startPartitionKey: 'b',
      startRowKey: 'a',
      endPartitionKey: 'b',
      endRowKey: 's',
    })
    assert.deepEqual(
      (await collect(limited.listEntities())).map(({ partitionKey }) => partitionKey),
      ['b'],
    )
    await limited.createEntity({ partitionKey: 'b', rowKey: 'q' })
    const outside = limited.createEntity({ partitionKey: 'c', rowKey: 'q' })
    await refused(outside, 403, 'AuthorizationFailure')
    await refused(limited.deleteEntity('b', 'r'), 403, 'AuthorizationPermissionMismatch')
  },

  async 'service-properties'() {
    const retentionPolicy = { enabled: true, days: 5 }
    const wanted = {
      logging: { version: '1.0', read: true, write: true, delete: false, retentionPolicy },
      hourMetrics: { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy },
      minuteMetrics: { version: '1.0', enabled: false, retentionPolicy: { enabled: false } },
    }
    await service.setProperties(wanted)
    const { logging, hourMetrics, minuteMetrics, cors } = await service.getProperties()
    assert.deepEqual(withoutAbsent({ logging, hourMetrics, minuteMetrics }), wanted)
    await service.setProperties({ logging, hourMetrics, minuteMetrics, cors })
    assert.deepEqual(withoutAbsent(pick(await service.getProperties(), wanted)), wanted)
  },

  async cors() {
    const rule = {
      allowedOrigins: 'https://app.example.org',
      allowedMethods: 'GET,PUT',
      allowedHeaders: 'x-ms-*',
      exposedHeaders: 'x-ms-*',
      maxAgeInSeconds: 60,
    }
    await service.setProperties({ cors: [rule] })
    assert.deepEqual((await service.getProperties()).cors, [rule])
    const answer = await preflight('https://app.example.org')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://app.example.org')
    assert.equal((await preflight('https://other.example.org')).status, 403)
    await service.setProperties({ cors: [] })
    assert.equal((await preflight('https://app.example.org')).status, 403)
  },

  async statistics() {
    // The secondary's address is made from the first label of the host, so the host must have one.
    const { port } = new URL(given.url)
    const named = `http://${given.account}.table.partita.test:${port}`
    const nameService = new TableServiceClient(named, credential, {
      ...options,
      additionalPolicies: [{ position: 'perRetry', policy: resolveEveryName }],
    })
    const { geoReplication } = await nameService.getStatistics()
    assert.equal(geoReplication.status, 'live')
    assert(Math.abs(Date.now() - geoReplication.lastSyncTime.getTime()) < hourMs)
    return 'only where the account is in the host, not in the path'
  },

  async keys() {
    const client = await newTable('keys')
    for (const key of unusualKeys) {
      for (const [partitionKey, rowKey] of [
        [key, 'r'],
        ['p', key],
      ]) {
        await client.createEntity({ partitionKey, rowKey, a: 1 })
        const found = await client.getEntity(partitionKey, rowKey)
        assert.deepEqual([found.partitionKey, found.rowKey], [partitionKey, rowKey])
        const filter = odata`PartitionKey eq ${partitionKey} and RowKey eq ${rowKey}`
        assert.equal((await collect(client.listEntities({ queryOptions: { filter } }))).length, 1, key)
        await client.updateEntity({ partitionKey, rowKey, b: 2 }, 'Merge', { etag: found.etag })
        await client.submitTransaction([['update', { partitionKey, rowKey, c: 3 }, 'Merge']])
        const { a, b, c } = await client.getEntity(partitionKey, rowKey)
        assert.deepEqual([a, b, c], [1, 2, 3], key)
        await client.deleteEntity(partitionKey, rowKey)
        await refused(client.getEntity(partitionKey, rowKey), 404, 'ResourceNotFound')
      }
    }
  },

  async errors() {
    const client = await newTable('errors')
    const missing = openTable('neithercreatednordeleted')
    const entity = { partitionKey: 'p', rowKey: 'r' }
    await refused(missing.createEntity(entity), 404, 'TableNotFound')
    await refused(missing.getEntity('p', 'r'), 404, 'TableNotFound')
    // Creating a table again is no error to this client; the answer says so all the same.
    let created
    await client.createTable({ onResponse: (answer) => (created = answer) })
    assert.deepEqual([created.status, created.parsedBody.odataError.code], [409, 'TableAlreadyExists'])
    const stale = { etag: `W/"datetime'2020-01-01T00%3A00%3A00Z'"` }
    await client.createEntity(entity)
    await refused(client.updateEntity(entity, 'Replace', stale), 412, 'UpdateConditionNotSatisfied')
    const long = 'x'.repeat(32_768)
    const parts = Array.from({ length: 17 }, (_, n) => [`part${n}`, long])
    const large = { partitionKey: 'p', rowKey: 'large', ...Object.fromEntries(parts) }
    await refused(client.createEntity(large), 400, 'EntityTooLarge')
    const wide = { partitionKey: 'p', rowKey: 'wide', text: `${long}x` }
    await refused(client.createEntity(wide), 400, 'PropertyValueTooLarge')
    const halves = { first: long, second: long }
    const heavy = Array.from({ length: 100 }, (_, n) => [
      'create',
      { partitionKey: 'p', rowKey: `${n}`, ...halves },
    ])
    await refused(client.submitTransaction(heavy), 413, 'RequestBodyTooLarge')
    await refused(openTable('a_b').createTable(), 400, 'InvalidResourceName')
    await refused(service.createTable('a'), 400, 'OutOfRangeInput')
  },

  async retries() {
    const client = new TableClient(given.flakyUrl, `${given.prefix}retries`, credential, {
      ...options,
      retryOptions: { maxRetries: 3, retryDelayInMs: 10, maxRetryDelayInMs: 50 },
    })
    await client.createTable()
    await client.createEntity({ partitionKey: 'p', rowKey: 'r', a: 1 })
    assert.equal((await client.getEntity('p', 'r')).a, 1)
    assert.equal((await collect(client.listEntities())).length, 1)
    await client.submitTransaction([['upsert', { partitionKey: 'p', rowKey: 'r', a: 2 }]])
    await client.deleteTable()
    const impatient = new TableClient(given.flakyUrl, `${given.prefix}noretries`, credential, {
      ...options,
      retryOptions: { maxRetries: 0 },
    })
    await refused(impatient.getEntity('p', 'r'), 503, 'ServerBusy')
  },
}

function openTable(name) {
  return new TableClient(given.url, name, credential, options)
}

async function newTable(name) {
  const client = openTable(given.prefix + name)
  await client.createTable()
  return client
}

async function tableWithEntity(name) {
  const client = await newTable(name)
  await client.createEntity({ partitionKey: 'p', rowKey: 'r', a: 1, b: 2 })
  return client
}

function openWithSas(table, values) {
  const sas = new AzureSASCredential(generateTableSas(table, credential, values))
  return new TableClient(given.url, table, sas, options)
}

/** Proves that a client may do everything, and leaves nothing behind. */
async function proveTable(client) {
  await client.createTable()
  await client.createEntity({ partitionKey: 'p', rowKey: 'r', a: 1 })
  assert.equal((await client.getEntity('p', 'r')).a, 1)
  await client.submitTransaction([['delete', { partitionKey: 'p', rowKey: 'r' }]])
  assert.deepEqual(await collect(client.listEntities()), [])
  await client.deleteTable()
}

async function holds(client, expected) {
  const found = Object.entries(await client.getEntity('p', 'r')).filter(([name]) => !added.has(name))
  assert.deepEqual(Object.fromEntries(found), expected)
}

const added = new Set(['partitionKey', 'rowKey', 'etag', 'timestamp', 'odata.metadata'])

async function refused(promise, status, code) {
  const error = await promise.then(
    () => assert.fail(`${code} was expected`),
    (reason) => reason,
  )
  assert(error instanceof RestError, error)
  // A group's error carries its code at the top, any other's below.
  const found = error.code ?? error.details?.odataError?.code
  assert.deepEqual([error.statusCode, found], [status, code])
  return error
}

const localAgent = new Agent({
  lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
})

/** Stands for a name server that knows the account's name and its secondary's. */
const resolveEveryName = {
  name: 'resolveEveryName',
  sendRequest(request, next) {
    request.agent = localAgent
    return next(request)
  },
}

/** The client names what the service left out as undefined. */
function withoutAbsent(value) {
  return JSON.parse(JSON.stringify(value))
}

function pick(from, like) {
  return Object.fromEntries(Object.keys(like).map((name) => [name, from[name]]))
}

async function collect(iterable) {
  const items = []
  for await (const item of iterable) items.push(item)
  return items
}

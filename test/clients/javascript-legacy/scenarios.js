/** The scenarios, as a user of `azure-storage` would write them. */
import { strict as assert } from 'node:assert'
import azure from 'azure-storage'
import { given, preflight, unusualKeys } from '../javascript/contract.js'
import { entityOf, plain, withPromises } from './tables.js'

const { TableBatch, TableQuery, TableUtilities } = azure
const { entityGenerator: generate, QueryComparisons, TableOperators } = TableUtilities
const service = withPromises(azure.createTableService(given.connectionString))
const hourMs = 3_600_000

export const scenarios = {
  'connect-connection-string': () =>
    proveService(azure.createTableService(given.connectionString), `${given.prefix}string`),

  'connect-account-key': () =>
    proveService(azure.createTableService(given.account, given.key, given.url), `${given.prefix}key`),

  async 'connect-sas-url'() {
    const [url, sas] = given.sasUrl.split('?')
    await proveService(azure.createTableServiceWithSas(url, sas), `${given.prefix}sas`)
  },

  async tables() {
    const name = `${given.prefix}tables`
    assert.equal((await service.createTableIfNotExists(name)).created, true)
    assert.equal((await service.createTableIfNotExists(name)).created, false)
    await refused(service.createTable(name), 409, 'TableAlreadyExists')
    assert.equal((await service.doesTableExist(name)).exists, true)
    assert((await service.listTablesSegmented(null)).entries.includes(name))
    assert.deepEqual((await service.listTablesSegmentedWithPrefix(name, null)).entries, [name])
    await service.deleteTable(name)
    assert.equal((await service.doesTableExist(name)).exists, false)
    assert.equal(await service.deleteTableIfExists(name), false)
    await refused(service.deleteTable(name), 404, 'ResourceNotFound')
  },

  async types() {
    const table = await newTable('types')
    const entity = entityOf('p', 'r', {
      text: generate.String('text'),
      yes: generate.Boolean(true),
      int32: generate.Int32(42),
      int64: generate.Int64('9007199254740993'),
      double: generate.Double(1.5),
      date: generate.DateTime(new Date('2024-02-29T23:59:59.123Z')),
      bytes: generate.Binary(Buffer.of(0, 127, 255)),
      guid: generate.Guid('c9da6455-213d-42c9-9a79-3e9149a57833'),
    })
    await service.insertEntity(table, entity)
    const found = await service.retrieveEntity(table, 'p', 'r')
    assert.deepEqual(plain(found), plain(entity))
    for (const name of ['int64', 'date', 'bytes', 'guid']) assert.equal(found[name].$, entity[name].$)
  },

  async 'insert-get'() {
    const table = await newTable('insertget')
    const { '.metadata': inserted } = await service.insertEntity(table, entityOf('p', 'r', { a: 1 }))
    const found = await service.retrieveEntity(table, 'p', 'r')
    assert.deepEqual(plain(found), { a: 1 })
    assert.equal(found['.metadata'].etag, inserted.etag)
    assert(found.Timestamp._ instanceof Date)
    const echoed = await service.insertEntity(table, entityOf('p', 'echoed', { a: 1 }), { echoContent: true })
    assert.deepEqual(plain(echoed), { a: 1 })
    await refused(service.insertEntity(table, entityOf('p', 'r')), 409, 'EntityAlreadyExists')
    await refused(service.retrieveEntity(table, 'p', 'absent'), 404, 'ResourceNotFound')
  },

  async merge() {
    const table = await tableWithEntity('merge')
    await service.mergeEntity(table, entityOf('p', 'r', { b: 3, c: 4 }))
    await holds(table, { a: 1, b: 3, c: 4 })
    await refused(service.mergeEntity(table, entityOf('p', 'absent')), 404, 'ResourceNotFound')
  },

  async replace() {
    const table = await tableWithEntity('replace')
    await service.replaceEntity(table, entityOf('p', 'r', { c: 4 }))
    await holds(table, { c: 4 })
    await refused(service.replaceEntity(table, entityOf('p', 'absent')), 404, 'ResourceNotFound')
  },

  async 'upsert-merge'() {
    const table = await newTable('upsertmerge')
    await service.insertOrMergeEntity(table, entityOf('p', 'r', { a: 1, b: 2 }))
    await service.insertOrMergeEntity(table, entityOf('p', 'r', { b: 3 }))
    await holds(table, { a: 1, b: 3 })
  },

  async 'upsert-replace'() {
    const table = await newTable('upsertreplace')
    await service.insertOrReplaceEntity(table, entityOf('p', 'r', { a: 1, b: 2 }))
    await service.insertOrReplaceEntity(table, entityOf('p', 'r', { b: 3 }))
    await holds(table, { b: 3 })
  },

  async delete() {
    const table = await tableWithEntity('delete')
    await service.deleteEntity(table, entityOf('p', 'r'))
    await refused(service.retrieveEntity(table, 'p', 'r'), 404, 'ResourceNotFound')
    await refused(service.deleteEntity(table, entityOf('p', 'r')), 404, 'ResourceNotFound')
  },

  async etags() {
    const table = await newTable('etags')
    const first = await service.insertEntity(table, entityOf('p', 'r', { a: 1 }))
    const second = await service.replaceEntity(table, withTag(first, { a: 2 }))
    assert.notEqual(second['.metadata'].etag, first['.metadata'].etag)
    const unsatisfied = [412, 'UpdateConditionNotSatisfied']
    await refused(service.replaceEntity(table, withTag(first, { a: 3 })), ...unsatisfied)
    await refused(service.mergeEntity(table, withTag(first, { a: 3 })), ...unsatisfied)
    await refused(service.deleteEntity(table, withTag(first, {})), ...unsatisfied)
    await service.mergeEntity(table, withTag({ '.metadata': { etag: '*' } }, { a: 4 }))
    await service.deleteEntity(table, await service.retrieveEntity(table, 'p', 'r'))
  },

  async select() {
    const table = await tableWithEntity('select')
    const { entries } = await service.queryEntities(table, new TableQuery().select('RowKey', 'b'), null)
    const [row] = entries
    assert.deepEqual([row.RowKey._, row.b._, 'a' in row, 'PartitionKey' in row], ['r', 2, false, false])
    return 'only queries select, not the retrieval of one entity'
  },

  async filters() {
    const table = await newTable('filters')
    const date = new Date('2024-02-29T00:00:00Z')
    const guid = 'c9da6455-213d-42c9-9a79-3e9149a57833'
    const match = entityOf("it's", 'match', {
      text: "o'clock & 50%",
      yes: true,
      int32: 5,
      int64: generate.Int64('5000000000'),
      double: 2.5,
      date,
      bytes: generate.Binary(Buffer.of(1, 2)),
      guid: generate.Guid(guid),
    })
    await service.insertEntity(table, match)
    await service.insertEntity(table, entityOf('other', 'none', { text: 'x', int32: -1 }))
    const { EQUAL, GREATER_THAN, GREATER_THAN_OR_EQUAL, LESS_THAN } = QueryComparisons
    for (const query of [
      new TableQuery().where('PartitionKey eq ?', "it's"),
      new TableQuery().where('text == ?string? && yes == ?bool?', "o'clock & 50%", true),
      new TableQuery().where('int32 > ?int32?', 4).and('int32 <= ?', 5),
      new TableQuery().where('int64 == ?int64?', '5000000000'),
      new TableQuery().where('guid == ?guid? and date >= ?date?', guid, date),
      new TableQuery().where(TableQuery.doubleFilter('double', LESS_THAN, 2.75)),
      new TableQuery().where(TableQuery.dateFilter('date', GREATER_THAN_OR_EQUAL, date)),
      new TableQuery().where(TableQuery.guidFilter('guid', EQUAL, guid)),
      new TableQuery().where(TableQuery.binaryFilter('bytes', EQUAL, Buffer.of(1, 2))),
      new TableQuery().where(
        TableQuery.combineFilters(
          TableQuery.booleanFilter('yes', EQUAL, true),
          TableOperators.AND,
          TableQuery.int64Filter('int64', GREATER_THAN, '4999999999'),
        ),
      ),
      new TableQuery().where('not (text == ?)', 'x').and('(RowKey == ? or int32 == ?)', 'match', 7),
    ])
      assert.deepEqual(await rowsOf(table, query), ['match'], query.toQueryObject().$filter)
    await refused(rowsOf(table, new TableQuery().where('int32 eq')), 400, 'InvalidInput')
  },

  async paging() {
    const table = await newTable('paging')
    assert.deepEqual(await rowsOf(table), [])
    const rows = Array.from({ length: 25 }, (_, n) => `r${String(n).padStart(3, '0')}`)
    const batch = new TableBatch()
    for (const row of rows) batch.insertEntity(entityOf('p', row))
    await service.executeBatch(table, batch)
    const pages = []
    let token = null
    do {
      const { entries, continuationToken } = await service.queryEntities(
        table,
        new TableQuery().top(10),
        token,
      )
      pages.push(entries.map(({ RowKey }) => RowKey._))
      token = continuationToken
    } while (token !== null)
    assert.deepEqual(pages, [rows.slice(0, 10), rows.slice(10, 20), rows.slice(20)])
    assert.deepEqual(await rowsOf(table), rows)
  },

  async group() {
    const table = await newTable('group')
    for (const row of ['merged', 'replaced', 'deleted'])
      await service.insertEntity(table, entityOf('p', row, { a: 1 }))
    const batch = new TableBatch()
    batch.insertEntity(entityOf('p', 'created', { a: 1 }), { echoContent: true })
    batch.mergeEntity(entityOf('p', 'merged', { b: 2 }))
    batch.replaceEntity(entityOf('p', 'replaced', { b: 2 }))
    batch.insertOrMergeEntity(entityOf('p', 'upserted', { b: 2 }))
    batch.insertOrReplaceEntity(entityOf('p', "it's new", { b: 2 }))
    batch.deleteEntity(entityOf('p', 'deleted'))
    const answers = await service.executeBatch(table, batch)
    assert.deepEqual(
      answers.map(({ response }) => response.statusCode),
      [201, 204, 204, 204, 204, 204],
    )
    assert.deepEqual(plain(answers[0].entity), { a: 1 })
    assert.match(answers[1].entity['.metadata'].etag, /^W\/"datetime'/)
    const { entries } = await service.queryEntities(table, null, null)
    assert.deepEqual(
      entries.map((entity) => [entity.RowKey._, plain(entity)]),
      [
        ['created', { a: 1 }],
        ["it's new", { b: 2 }],
        ['merged', { a: 1, b: 2 }],
        ['replaced', { b: 2 }],
        ['upserted', { b: 2 }],
      ],
    )
    const single = new TableBatch()
    single.retrieveEntity('p', 'created')
    const [read] = await service.executeBatch(table, single)
    assert.deepEqual(plain(read.entity), { a: 1 })
  },

  async 'group-failures'() {
    const table = await newTable('groupfailures')
    await service.insertEntity(table, entityOf('p', 'there'))
    const stale = withTag({ '.metadata': { etag: staleTag } }, {}, 'there')
    // This client tells the place of what failed only in the message, before the colon.
    for (const [add, status, code] of [
      [(batch) => batch.insertEntity(entityOf('p', 'there')), 409, 'EntityAlreadyExists'],
      [(batch) => batch.mergeEntity(entityOf('p', 'absent')), 404, 'ResourceNotFound'],
      [(batch) => batch.replaceEntity(stale), 412, 'UpdateConditionNotSatisfied'],
      [(batch) => batch.insertEntity(entityOf('p', 'fine')), 400, 'InvalidDuplicateRow'],
    ]) {
      const batch = new TableBatch()
      batch.insertEntity(entityOf('p', 'fine'))
      add(batch)
      const error = await refused(service.executeBatch(table, batch), status, code)
      assert(error.message.startsWith('1:'), error.message)
    }
    const full = new TableBatch()
    for (let n = 0; n < 100; n++) full.insertEntity(entityOf('p', `${n}`))
    assert.throws(() => full.insertEntity(entityOf('p', '100')), /100/)
    assert.throws(() => {
      const batch = new TableBatch()
      batch.insertEntity(entityOf('p', 'fine'))
      batch.insertEntity(entityOf('q', 'fine'))
    }, /same PartitionKey/)
    assert.deepEqual(await rowsOf(table), ['there'])
  },

  async 'access-policies'() {
    const table = await newTable('accesspolicies')
    assert.deepEqual((await service.getTableAcl(table)).signedIdentifiers, {})
    const Start = new Date('2024-01-01T00:00:00Z')
    const Expiry = new Date('2034-01-01T00:00:00Z')
    await service.setTableAcl(table, {
      full: { Start, Expiry, Permissions: 'raud' },
      reader: { Permissions: 'r' },
    })
    const { full, reader } = (await service.getTableAcl(table)).signedIdentifiers
    assert.deepEqual([new Date(full.Start), new Date(full.Expiry), full.Permissions], [Start, Expiry, 'raud'])
    assert.equal(reader.Permissions, 'r')
    await service.setTableAcl(table, {})
    assert.deepEqual((await service.getTableAcl(table)).signedIdentifiers, {})
  },

  async 'policy-sas'() {
    const table = await tableWithEntity('policysas')
    const Expiry = new Date(Date.now() + hourMs)
    await service.setTableAcl(table, { reader: { Expiry, Permissions: 'r' } })
    const reader = openWithSas(table, { Id: 'reader' })
    assert.deepEqual(plain(await reader.retrieveEntity(table, 'p', 'r')), { a: 1, b: 2 })
    await refused(reader.insertEntity(table, entityOf('p', 'new')), 403, 'AuthorizationPermissionMismatch')
    await service.setTableAcl(table, {})
    await refused(reader.retrieveEntity(table, 'p', 'r'), 403, 'AuthenticationFailed')
  },

  async 'table-sas'() {
    const table = await newTable('tablesas')
    for (const partition of ['a', 'b', 'c']) await service.insertEntity(table, entityOf(partition, 'r'))
    const limited = openWithSas(table, {
      AccessPolicy: {
        Permissions: 'ra',
        Expiry: new Date(Date.now() + hourMs),
        StartPk: 'b',
        StartRk: 'a',
        EndPk: 'b',
        EndRk: 's',
      },
    })
    const { entries } = await limited.queryEntities(table, null, null)
    assert.deepEqual(
      entries.map(({ PartitionKey }) => PartitionKey._),
      ['b'],
    )
    await limited.insertEntity(table, entityOf('b', 'q'))
    await refused(limited.insertEntity(table, entityOf('c', 'q')), 403, 'AuthorizationFailure')
    await refused(limited.deleteEntity(table, entityOf('b', 'r')), 403, 'AuthorizationPermissionMismatch')
  },

  async 'service-properties'() {
    const RetentionPolicy = { Enabled: true, Days: 5 }
    const wanted = {
      Logging: { Version: '1.0', Read: true, Write: true, Delete: false, RetentionPolicy },
      HourMetrics: { Version: '1.0', Enabled: true, IncludeAPIs: true, RetentionPolicy },
      MinuteMetrics: { Version: '1.0', Enabled: false, RetentionPolicy: { Enabled: false } },
    }
    await service.setServiceProperties(wanted)
    const { Cors, ...found } = await service.getServiceProperties()
    assert.deepEqual(found, wanted)
    await service.setServiceProperties({ ...found, Cors })
    assert.deepEqual(await service.getServiceProperties(), { ...found, Cors })
  },

  async cors() {
    const rule = {
      AllowedOrigins: ['https://app.example.org'],
      AllowedMethods: ['GET', 'PUT'],
      AllowedHeaders: ['x-ms-*'],
      ExposedHeaders: ['x-ms-*'],
      MaxAgeInSeconds: 60,
    }
    await service.setServiceProperties({ Cors: { CorsRule: [rule] } })
    assert.deepEqual((await service.getServiceProperties()).Cors.CorsRule, [rule])
    const answer = await preflight('https://app.example.org')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://app.example.org')
    assert.equal((await preflight('https://other.example.org')).status, 403)
    await service.setServiceProperties({ Cors: { CorsRule: [] } })
    assert.equal((await preflight('https://app.example.org')).status, 403)
  },

  async statistics() {
    const { SECONDARY_ONLY } = azure.StorageUtilities.LocationMode
    const hosts = { primaryHost: given.url, secondaryHost: `${given.url}-secondary` }
    const both = withPromises(azure.createTableService(given.account, given.key, hosts))
    const { GeoReplication } = await both.getServiceStats({ locationMode: SECONDARY_ONLY })
    assert.equal(GeoReplication.Status, 'live')
    assert(Math.abs(Date.now() - GeoReplication.LastSyncTime.getTime()) < hourMs)
  },

  async keys() {
    const table = await newTable('keys')
    for (const key of unusualKeys) {
      for (const [partition, row] of [
        [key, 'r'],
        ['p', key],
      ]) {
        await service.insertEntity(table, entityOf(partition, row, { a: 1 }))
        const found = await service.retrieveEntity(table, partition, row)
        assert.deepEqual([found.PartitionKey._, found.RowKey._], [partition, row])
        const query = new TableQuery().where('PartitionKey == ? and RowKey == ?', partition, row)
        assert.deepEqual(await rowsOf(table, query), [row])
        await service.mergeEntity(table, entityOf(partition, row, { '.metadata': found['.metadata'], b: 2 }))
        const batch = new TableBatch()
        batch.mergeEntity(entityOf(partition, row, { c: 3 }))
        await service.executeBatch(table, batch)
        assert.deepEqual(plain(await service.retrieveEntity(table, partition, row)), { a: 1, b: 2, c: 3 })
        await service.deleteEntity(table, entityOf(partition, row))
        await refused(service.retrieveEntity(table, partition, row), 404, 'ResourceNotFound')
      }
    }
  },

  async errors() {
    const table = await newTable('errors')
    const missing = 'neithercreatednordeleted'
    await refused(service.insertEntity(missing, entityOf('p', 'r')), 404, 'TableNotFound')
    await refused(service.retrieveEntity(missing, 'p', 'r'), 404, 'TableNotFound')
    await refused(service.createTable(table), 409, 'TableAlreadyExists')
    await service.insertEntity(table, entityOf('p', 'r'))
    const stale = withTag({ '.metadata': { etag: staleTag } }, {})
    await refused(service.replaceEntity(table, stale), 412, 'UpdateConditionNotSatisfied')
    const long = 'x'.repeat(32_768)
    const parts = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`part${n}`, long]))
    await refused(service.insertEntity(table, entityOf('p', 'large', parts)), 400, 'EntityTooLarge')
    const wide = entityOf('p', 'wide', { text: `${long}x` })
    await refused(service.insertEntity(table, wide), 400, 'PropertyValueTooLarge')
    const heavy = new TableBatch()
    for (let n = 0; n < 100; n++) heavy.insertEntity(entityOf('p', `${n}`, { first: long, second: long }))
    await refused(service.executeBatch(table, heavy), 413, 'RequestBodyTooLarge')
    // Names are judged before they are sent, but for those of queries.
    await assert.rejects(service.createTable('a_b'), azure.ArgumentError ?? /Table name format is incorrect/)
    await refused(rowsOf('a_b'), 400, 'InvalidResourceName')
  },

  async retries() {
    const filter = new azure.RetryPolicyFilter(3, 10)
    filter.shouldRetry = (status) => ({ retryable: status >= 500 })
    const open = () => azure.createTableService(given.account, given.key, given.flakyUrl)
    const patient = withPromises(open().withFilter(filter))
    const table = `${given.prefix}retries`
    await patient.createTable(table)
    await patient.insertEntity(table, entityOf('p', 'r', { a: 1 }))
    assert.deepEqual(plain(await patient.retrieveEntity(table, 'p', 'r')), { a: 1 })
    assert.equal((await patient.queryEntities(table, null, null)).entries.length, 1)
    const batch = new TableBatch()
    batch.insertOrReplaceEntity(entityOf('p', 'r', { a: 2 }))
    await patient.executeBatch(table, batch)
    await patient.deleteTable(table)
    const impatient = withPromises(open())
    await refused(impatient.retrieveEntity(`${given.prefix}noretries`, 'p', 'r'), 503, 'ServerBusy')
    return 'the filters that come with the client do not retry after 503; one that is told to does'
  },
}

const staleTag = `W/"datetime'2020-01-01T00%3A00%3A00Z'"`

async function newTable(name) {
  const table = given.prefix + name
  await service.createTable(table)
  return table
}

async function tableWithEntity(name) {
  const table = await newTable(name)
  await service.insertEntity(table, entityOf('p', 'r', { a: 1, b: 2 }))
  return table
}

/** An entity that is to be written only over the version of another. */
function withTag({ '.metadata': metadata }, properties, row = 'r') {
  return entityOf('p', row, { ...properties, '.metadata': metadata })
}

function openWithSas(table, policy) {
  const sas = service.generateSharedAccessSignature(table, policy)
  return withPromises(azure.createTableServiceWithSas(given.url, sas))
}

/** Proves that a service may be used for everything, and leaves nothing behind. */
async function proveService(callbacks, table) {
  const proven = withPromises(callbacks)
  await proven.createTable(table)
  await proven.insertEntity(table, entityOf('p', 'r', { a: 1 }))
  assert.deepEqual(plain(await proven.retrieveEntity(table, 'p', 'r')), { a: 1 })
  const batch = new TableBatch()
  batch.deleteEntity(entityOf('p', 'r'))
  await proven.executeBatch(table, batch)
  assert.deepEqual((await proven.queryEntities(table, null, null)).entries, [])
  await proven.deleteTable(table)
}

async function rowsOf(table, query = null) {
  return (await service.queryEntities(table, query, null)).entries.map(({ RowKey }) => RowKey._)
}

async function holds(table, expected) {
  assert.deepEqual(plain(await service.retrieveEntity(table, 'p', 'r')), expected)
}

async function refused(promise, status, code) {
  const error = await promise.then(
    () => assert.fail(`${code} was expected`),
    (reason) => reason,
  )
  assert.equal(error.name, 'StorageError', error)
  assert.deepEqual([error.statusCode, error.code], [status, code])
  return error
}

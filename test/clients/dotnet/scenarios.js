/** The scenarios, as requests of the .NET client and answers that it could read. */
import { strict as assert } from 'node:assert'
import { Gap, given, preflight, unusualKeys } from '../javascript/contract.js'
import { refused, refusedGroup, send, sendGroup } from './answers.js'
import { readEntity, typed } from './entity-json.js'
import * as requests from './requests.js'

const hourMs = 3_600_000
const staleTag = `W/"datetime'2020-01-01T00%3A00%3A00Z'"`
const notRun = 'only the running client would show it, and it is published on NuGet alone'

export const scenarios = {
  'connect-connection-string'() {
    throw new Gap(notRun)
  },

  'connect-account-key': () => prove(`${given.prefix}key`),

  'connect-sas-url': () => prove(`${given.prefix}sas`, given.sasUrl.split('?')[1]),

  async tables() {
    const table = `${given.prefix}tables`
    const created = await send(requests.createTable(table))
    assert.deepEqual([created.status, JSON.parse(created.body).TableName], [201, table])
    await refused(requests.createTable(table), 409, 'TableAlreadyExists')
    const found = async () =>
      JSON.parse((await send(requests.queryTables(`TableName eq '${table}'`))).body).value.map(
        (each) => each.TableName,
      )
    assert.deepEqual(await found(), [table])
    assert.equal((await send(requests.deleteTable(table))).status, 204)
    assert.deepEqual(await found(), [])
    await refused(requests.deleteTable(table), 404, 'ResourceNotFound')
  },

  async types() {
    const table = await newTable('types')
    const properties = {
      text: typed('Edm.String', `quotes ' " and + & < > é 漢 🎼`),
      yes: typed('Edm.Boolean', 'true'),
      int32: typed('Edm.Int32', '42'),
      int64: typed('Edm.Int64', '9007199254740993'),
      double: typed('Edm.Double', '1.5'),
      whole: typed('Edm.Double', '3'),
      nan: typed('Edm.Double', 'NaN'),
      date: typed('Edm.DateTime', '2024-02-29T23:59:59.1234567Z'),
      bytes: typed('Edm.Binary', '007fff'),
      guid: typed('Edm.Guid', 'c9da6455-213d-42c9-9a79-3e9149a57833'),
    }
    await done(requests.insert(table, key('r', properties)))
    assert.deepEqual(await propertiesOf(table, 'p', 'r'), properties)
  },

  async 'insert-get'() {
    const table = await newTable('insertget')
    const inserted = await send(requests.insert(table, key('r', { a: 1 })))
    assert.equal(inserted.status, 204)
    assert.equal(inserted.headers['preference-applied'], 'return-no-content')
    const found = await send(requests.get(table, 'p', 'r'))
    assert.equal(found.status, 200)
    assert.equal(found.headers.etag, inserted.headers.etag)
    const { etag, Timestamp, a } = readEntity(found.body)
    assert.deepEqual([etag, a], [inserted.headers.etag, typed('Edm.Int32', '1')])
    assert(!Number.isNaN(Date.parse(Timestamp.text)))
    await refused(requests.insert(table, key('r')), 409, 'EntityAlreadyExists')
    await refused(requests.get(table, 'p', 'absent'), 404, 'ResourceNotFound')
  },

  async merge() {
    const table = await tableWithEntity('merge')
    await done(requests.merge(table, key('r', { b: 3, c: 4 }), '*'))
    await holds(table, { a: 1, b: 3, c: 4 })
    await refused(requests.merge(table, key('absent'), '*'), 404, 'ResourceNotFound')
  },

  async replace() {
    const table = await tableWithEntity('replace')
    await done(requests.replace(table, key('r', { c: 4 }), '*'))
    await holds(table, { c: 4 })
    await refused(requests.replace(table, key('absent'), '*'), 404, 'ResourceNotFound')
  },

  async 'upsert-merge'() {
    const table = await newTable('upsertmerge')
    await done(requests.merge(table, key('r', { a: 1, b: 2 })))
    await done(requests.merge(table, key('r', { b: 3 })))
    await holds(table, { a: 1, b: 3 })
  },

  async 'upsert-replace'() {
    const table = await newTable('upsertreplace')
    await done(requests.replace(table, key('r', { a: 1, b: 2 })))
    await done(requests.replace(table, key('r', { b: 3 })))
    await holds(table, { b: 3 })
  },

  async delete() {
    const table = await tableWithEntity('delete')
    await done(requests.remove(table, 'p', 'r'))
    await refused(requests.get(table, 'p', 'r'), 404, 'ResourceNotFound')
    await refused(requests.remove(table, 'p', 'r'), 404, 'ResourceNotFound')
  },

  async etags() {
    const table = await newTable('etags')
    const first = (await done(requests.insert(table, key('r', { a: 1 })))).headers.etag
    const second = (await done(requests.replace(table, key('r', { a: 2 }), first))).headers.etag
    assert.notEqual(second, first)
    for (const request of [
      requests.replace(table, key('r', { a: 3 }), first),
      requests.merge(table, key('r', { a: 3 }), first),
      requests.remove(table, 'p', 'r', first),
    ])
      await refused(request, 412, 'UpdateConditionNotSatisfied')
    await done(requests.remove(table, 'p', 'r', second))
  },

  async select() {
    const table = await tableWithEntity('select')
    const { body } = await send(requests.get(table, 'p', 'r', 'RowKey,b'))
    const { etag, ...found } = readEntity(body)
    assert.deepEqual(found, { RowKey: typed('Edm.String', 'r'), b: typed('Edm.Int32', '2') })
    assert.match(etag, /^W\//)
  },

  async filters() {
    const table = await newTable('filters')
    const match = {
      PartitionKey: "it's",
      RowKey: 'match',
      text: "o'clock & 50%",
      yes: true,
      int32: 5,
      int64: typed('Edm.Int64', '5000000000'),
      double: typed('Edm.Double', '2.5'),
      date: typed('Edm.DateTime', '2024-02-29T00:00:00.0000000Z'),
      bytes: typed('Edm.Binary', '0102'),
      guid: typed('Edm.Guid', 'c9da6455-213d-42c9-9a79-3e9149a57833'),
    }
    await done(requests.insert(table, match))
    await done(requests.insert(table, { PartitionKey: 'other', RowKey: 'none', text: 'x', int32: -1 }))
    // The forms of the client's filters from text, and with more parentheses those from expressions.
    for (const filter of [
      `PartitionKey eq 'it''s'`,
      `text eq 'o''clock & 50%'`,
      `yes eq true`,
      `(int32 gt 4) and (int32 le 5)`,
      `int64 eq 5000000000L`,
      `double lt 2.75`,
      `date ge datetime'2024-02-29T00:00:00.0000000Z'`,
      `bytes eq X'0102'`,
      `guid eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'`,
      `(not (text eq 'x')) and ((RowKey eq 'match') or (int32 eq 7))`,
    ])
      assert.deepEqual(await rowsOf(table, { $filter: filter }), ['match'], filter)
    await refused(requests.query(table, { $filter: 'int32 eq' }), 400, 'InvalidInput')
  },

  async paging() {
    const table = await newTable('paging')
    assert.deepEqual(await rowsOf(table), [])
    const rows = Array.from({ length: 25 }, (_, n) => `r${String(n).padStart(3, '0')}`)
    await sendGroup(requests.group(rows.map((row) => requests.insert(table, key(row)))))
    const first = await send(requests.query(table, { $top: 10 }))
    const next = {
      NextPartitionKey: first.headers['x-ms-continuation-nextpartitionkey'],
      NextRowKey: first.headers['x-ms-continuation-nextrowkey'],
    }
    assert.deepEqual(
      JSON.parse(first.body).value.map(({ RowKey }) => RowKey),
      rows.slice(0, 10),
    )
    assert.deepEqual(await rowsOf(table, { $top: 10, ...next }), rows.slice(10, 20))
    assert.deepEqual(await rowsOf(table), rows)
  },

  async group() {
    const table = await newTable('group')
    for (const row of ['merged', 'replaced', 'deleted'])
      await done(requests.insert(table, key(row, { a: 1 })))
    const answers = await sendGroup(
      requests.group([
        requests.insert(table, key('created', { a: 1 })),
        requests.merge(table, key('merged', { b: 2 }), '*'),
        requests.replace(table, key('replaced', { b: 2 }), '*'),
        requests.merge(table, key('upserted', { b: 2 })),
        requests.replace(table, key("it's new", { b: 2 })),
        requests.remove(table, 'p', 'deleted'),
      ]),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [204, 204, 204, 204, 204, 204],
    )
    for (const { headers } of answers.slice(0, 5)) assert.match(headers.etag, /^W\/"datetime'/)
    assert.deepEqual(await rowsOf(table), ['created', "it's new", 'merged', 'replaced', 'upserted'])
    assert.deepEqual(await propertiesOf(table, 'p', 'merged'), numbers({ a: 1, b: 2 }))
  },

  async 'group-failures'() {
    const table = await newTable('groupfailures')
    await done(requests.insert(table, key('there')))
    const fine = requests.insert(table, key('fine'))
    for (const [second, status, code] of [
      [requests.insert(table, key('there')), 409, 'EntityAlreadyExists'],
      [requests.merge(table, key('absent'), '*'), 404, 'ResourceNotFound'],
      [requests.replace(table, key('there'), staleTag), 412, 'UpdateConditionNotSatisfied'],
      [fine, 400, 'InvalidDuplicateRow'],
      [
        requests.insert(table, { PartitionKey: 'q', RowKey: 'fine' }),
        400,
        'CommandsInBatchActOnDifferentPartitions',
      ],
    ])
      await refusedGroup(requests.group([fine, second]), status, code, 1)
    const many = Array.from({ length: 101 }, (_, n) => requests.insert(table, key(`${n}`)))
    await refusedGroup(requests.group(many), 400, 'InvalidInput', 99)
    assert.deepEqual(await rowsOf(table), ['there'])
  },

  async 'access-policies'() {
    const table = await newTable('accesspolicies')
    const fields =
      '<Start>2024-01-01T00:00:00.0000000Z</Start><Expiry>2034-01-01T00:00:00.0000000Z</Expiry><Permission>raud</Permission>'
    await setPolicy(table, 'full', fields)
    const { status, headers, body } = await send(requests.getPolicies(table))
    assert.deepEqual([status, headers['content-type']], [200, 'application/xml'])
    assert(body.includes(`<Id>full</Id><AccessPolicy>${fields}</AccessPolicy>`), body)
    assert.equal((await send(requests.setPolicies(table, '<SignedIdentifiers />'))).status, 204)
    assert.match((await send(requests.getPolicies(table))).body, /<SignedIdentifiers \/>$/)
  },

  async 'policy-sas'() {
    const table = await tableWithEntity('policysas')
    await setPolicy(table, 'reader', `<Expiry>${inAnHour('.0000000')}</Expiry><Permission>r</Permission>`)
    const sas = requests.tableSas(table, { identifier: 'reader' })
    assert.equal((await send(requests.get(table, 'p', 'r'), sas)).status, 200)
    await refused(requests.insert(table, key('new')), 403, 'AuthorizationPermissionMismatch', sas)
    assert.equal((await send(requests.setPolicies(table, '<SignedIdentifiers />'))).status, 204)
    await refused(requests.get(table, 'p', 'r'), 403, 'AuthenticationFailed', sas)
  },

  async 'table-sas'() {
    const table = await newTable('tablesas')
    for (const partition of ['a', 'b', 'c'])
      await done(requests.insert(table, { PartitionKey: partition, RowKey: 'r' }))
    const sas = requests.tableSas(table, {
      permissions: 'ra',
      expiry: inAnHour(),
      range: ['b', 'a', 'b', 's'],
    })
    const { body } = await send(requests.query(table), sas)
    assert.deepEqual(
      JSON.parse(body).value.map(({ PartitionKey }) => PartitionKey),
      ['b'],
    )
    await done(requests.insert(table, { PartitionKey: 'b', RowKey: 'q' }), sas)
    const outside = requests.insert(table, { PartitionKey: 'c', RowKey: 'q' })
    await refused(outside, 403, 'AuthorizationFailure', sas)
    await refused(requests.remove(table, 'b', 'r'), 403, 'AuthorizationPermissionMismatch', sas)
  },

  async 'service-properties'() {
    const retention = '<RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy>'
    const metrics =
      `<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>${retention}</HourMetrics>` +
      '<MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics>'
    const logging = `<Logging><Version>1.0</Version><Delete>false</Delete><Read>true</Read><Write>true</Write>${retention}</Logging>`
    await setProperties(`${logging}${metrics}<Cors />`)
    const { body } = await send(requests.getProperties())
    const answered = `<Logging><Version>1.0</Version><Read>true</Read><Write>true</Write><Delete>false</Delete>${retention}</Logging>`
    assert(body.includes(`${answered}${metrics}<Cors />`), body)
  },

  async cors() {
    const origin = 'https://app.example.org'
    const rule =
      `<CorsRule><AllowedOrigins>${origin}</AllowedOrigins><AllowedMethods>GET,PUT</AllowedMethods>` +
      '<AllowedHeaders>x-ms-*</AllowedHeaders><ExposedHeaders>x-ms-*</ExposedHeaders><MaxAgeInSeconds>60</MaxAgeInSeconds></CorsRule>'
    await setProperties(`<Cors>${rule}</Cors>`)
    const answer = await preflight(origin)
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, origin])
    assert.equal((await preflight('https://other.example.org')).status, 403)
    await setProperties('<Cors />')
    assert.equal((await preflight(origin)).status, 403)
  },

  async statistics() {
    const { status, body } = await send(requests.getStatistics())
    assert.equal(status, 200, body)
    const [, time] = /<Status>live<\/Status><LastSyncTime>([^<]+)</.exec(body)
    assert(Math.abs(Date.now() - Date.parse(time)) < hourMs, time)
  },

  async keys() {
    const table = await newTable('keys')
    for (const unusual of unusualKeys) {
      for (const [PartitionKey, RowKey] of [
        [unusual, 'r'],
        ['p', unusual],
      ]) {
        const { headers } = await done(requests.insert(table, { PartitionKey, RowKey, a: 1 }))
        const found = readEntity((await send(requests.get(table, PartitionKey, RowKey))).body)
        assert.deepEqual([found.PartitionKey.text, found.RowKey.text], [PartitionKey, RowKey])
        const literal = (text) => `'${text.replaceAll("'", "''")}'`
        const $filter = `PartitionKey eq ${literal(PartitionKey)} and RowKey eq ${literal(RowKey)}`
        assert.deepEqual(await rowsOf(table, { $filter }), [RowKey])
        await done(requests.merge(table, { PartitionKey, RowKey, b: 2 }, headers.etag))
        await sendGroup(requests.group([requests.merge(table, { PartitionKey, RowKey, c: 3 }, '*')]))
        assert.deepEqual(await propertiesOf(table, PartitionKey, RowKey), numbers({ a: 1, b: 2, c: 3 }))
        await done(requests.remove(table, PartitionKey, RowKey))
        await refused(requests.get(table, PartitionKey, RowKey), 404, 'ResourceNotFound')
      }
    }
  },

  async errors() {
    const table = await newTable('errors')
    await refused(requests.insert('neithercreatednordeleted', key('r')), 404, 'TableNotFound')
    await refused(requests.get('neithercreatednordeleted', 'p', 'r'), 404, 'TableNotFound')
    await refused(requests.createTable(table), 409, 'TableAlreadyExists')
    await done(requests.insert(table, key('r')))
    await refused(requests.replace(table, key('r'), staleTag), 412, 'UpdateConditionNotSatisfied')
    const long = 'x'.repeat(32_768)
    const parts = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`part${n}`, long]))
    await refused(requests.insert(table, key('large', parts)), 400, 'EntityTooLarge')
    await refused(requests.insert(table, key('wide', { text: `${long}x` })), 400, 'PropertyValueTooLarge')
    const halves = { first: long, second: long }
    const heavy = Array.from({ length: 100 }, (_, n) => requests.insert(table, key(`${n}`, halves)))
    await refused(requests.group(heavy), 413, 'RequestBodyTooLarge')
    await refused(requests.createTable('a_b'), 400, 'InvalidResourceName')
    await refused(requests.createTable('a'), 400, 'OutOfRangeInput')
  },

  retries() {
    throw new Gap(notRun)
  },
}

async function newTable(name) {
  const table = given.prefix + name
  assert.equal((await send(requests.createTable(table))).status, 201)
  return table
}

async function tableWithEntity(name) {
  const table = await newTable(name)
  await done(requests.insert(table, key('r', { a: 1, b: 2 })))
  return table
}

function key(RowKey, properties = {}) {
  return { PartitionKey: 'p', RowKey, ...properties }
}

/** Proves that a credential may do everything, and leaves nothing behind. */
async function prove(table, signature) {
  assert.equal((await send(requests.createTable(table), signature)).status, 201)
  await done(requests.insert(table, key('r', { a: 1 })), signature)
  assert.equal((await send(requests.get(table, 'p', 'r'), signature)).status, 200)
  await sendGroup(requests.group([requests.remove(table, 'p', 'r')]), signature)
  assert.deepEqual(JSON.parse((await send(requests.query(table), signature)).body).value, [])
  assert.equal((await send(requests.deleteTable(table), signature)).status, 204)
}

async function done(request, signature) {
  const answer = await send(request, signature)
  assert.equal(answer.status, 204, answer.body)
  return answer
}

async function setPolicy(table, id, fields) {
  const policy = `<SignedIdentifier><Id>${id}</Id><AccessPolicy>${fields}</AccessPolicy></SignedIdentifier>`
  const answer = await send(requests.setPolicies(table, `<SignedIdentifiers>${policy}</SignedIdentifiers>`))
  assert.equal(answer.status, 204, answer.body)
}

async function setProperties(members) {
  const xml = `<StorageServiceProperties>${members}</StorageServiceProperties>`
  const answer = await send(requests.setProperties(xml))
  assert.equal(answer.status, 202, answer.body)
}

async function rowsOf(table, options) {
  const { status, body } = await send(requests.query(table, options))
  assert.equal(status, 200, body)
  return JSON.parse(body).value.map(({ RowKey }) => RowKey)
}

async function propertiesOf(table, partition, row) {
  const { body } = await send(requests.get(table, partition, row))
  const properties = readEntity(body)
  for (const name of ['PartitionKey', 'RowKey', 'Timestamp', 'etag']) delete properties[name]
  return properties
}

async function holds(table, expected) {
  assert.deepEqual(await propertiesOf(table, 'p', 'r'), numbers(expected))
}

function numbers(properties) {
  return Object.fromEntries(
    Object.entries(properties).map(([name, number]) => [name, typed('Edm.Int32', String(number))]),
  )
}

function inAnHour(fraction = '') {
  return new Date(Date.now() + hourMs).toISOString().replace(/\.\d+Z$/, `${fraction}Z`)
}

import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { openConnection } from './http-client.ts'
import {
  bytesOf,
  del,
  early,
  endpoint,
  entity,
  exchange,
  get,
  isRemote,
  masked,
  noContent,
  post,
  put,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const fresh = `fresh${isRemote ? Date.now().toString(36) : ''}`
const one = entity(people, 'p1', 'r1')
const clientId = '254a2b6b-d647-4cc3-9151-2b0da799f3af'
const named = { 'x-ms-client-request-id': clientId }
const server = 'Server: Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0'
const minimal = 'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8'

/** The lines every answer has in the middle. */
const envelope = `${server}
x-ms-request-id: ID
x-ms-client-request-id: ${clientId}
x-ms-version: 2019-02-02
X-Content-Type-Options: nosniff`

// biome-ignore format: the texts are compared byte for byte
wireTable('the whole head of every kind of answer', [
  [post('/Tables', { TableName: fresh }, named), 201, { head: `HTTP/1.1 201 Created
Cache-Control: no-cache
Transfer-Encoding: chunked
${minimal}
Location: BASE/Tables('${fresh}')
${envelope}
Date: DATE` }],
  [del(`/Tables('${fresh}')`, named), 204, { head: `HTTP/1.1 204 No Content
Cache-Control: no-cache
Content-Length: 0
${envelope}
Date: DATE` }],
  [post('/Tables', { TableName: `${fresh}2` }, { ...named, ...noContent }), 204, { head: `HTTP/1.1 204 No Content
Cache-Control: no-cache
Content-Length: 0
Location: BASE/Tables('${fresh}2')
${envelope}
Preference-Applied: return-no-content
DataServiceId: BASE/Tables('${fresh}2')
Date: DATE` }],
  [get(`/Tables('${fresh}2')`, named), 200, { head: `HTTP/1.1 200 OK
Cache-Control: no-cache
Transfer-Encoding: chunked
${minimal}
${envelope}
Date: DATE` }],
  [get('/Tables?$top=1', named), 200, { head: /^HTTP\/1\.1 200 OK\nCache-Control: [^]*\nX-Content-Type-Options: nosniff\nx-ms-continuation-NextTableName: \S+\nDate: [^\n]+$/ }],
  [del(`/Tables('${fresh}2')`, named), 204],
  // The example of an insert without content.
  [post(`/${people}`, '{"PartitionKey":"p1","RowKey":"r1","date":"2019-07-10T18:59:59.999Z","date@odata.type":"Edm.DateTime"}',
    { 'Content-Type': 'application/json;odata=nometadata', Accept: 'application/json;odata=minimalmetadata', ...named, ...noContent }), 204, { head: `HTTP/1.1 204 No Content
Cache-Control: no-cache
Content-Length: 0
ETag: W/"datetime'STAMP'"
Location: BASE/${people}(PartitionKey='p1',RowKey='r1')
${envelope}
Preference-Applied: return-no-content
DataServiceId: BASE/${people}(PartitionKey='p1',RowKey='r1')
Date: DATE`, body: '' }],
  [post(`/${people}`, { PartitionKey: 'p1', RowKey: 'r2' }, { ...named, Prefer: 'return-content' }), 201, { head: `HTTP/1.1 201 Created
Cache-Control: no-cache
Transfer-Encoding: chunked
${minimal}
ETag: W/"datetime'STAMP'"
Location: BASE/${people}(PartitionKey='p1',RowKey='r2')
${envelope}
Preference-Applied: return-content
Date: DATE` }],
  [put(one, {}, { ...named, ...noContent }), 204, { head: `HTTP/1.1 204 No Content
Cache-Control: no-cache
Content-Length: 0
ETag: W/"datetime'STAMP'"
${envelope}
Preference-Applied: return-no-content
Date: DATE` }],
  [get(one, named), 200, { head: `HTTP/1.1 200 OK
Cache-Control: no-cache
Transfer-Encoding: chunked
${minimal}
ETag: W/"datetime'STAMP'"
${envelope}
Date: DATE` }],
  [get(one, { ...named, 'If-None-Match': '*' }), 304, { head: `HTTP/1.1 304 Not Modified
Cache-Control: no-cache
ETag: W/"datetime'STAMP'"
${envelope}
Date: DATE` }],
  [del(one, { ...named, 'If-Match': '*' }), 204, { head: `HTTP/1.1 204 No Content
Cache-Control: no-cache
Content-Length: 0
${envelope}
Date: DATE` }],
  // The example of a missing table: an early refusal.
  [get(entity('nobodyhere', 'p', 'r'), named), 404, { head: `HTTP/1.1 404 Not Found
Transfer-Encoding: chunked
${minimal}
${envelope}
Date: DATE`, body: '{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"The table specified does not exist.\\nRequestId:ID\\nTime:TIME"}}}' }],
  // A late one.
  [post(`/${people}`, { PartitionKey: 'p1', RowKey: 'r2' }, { ...named, ...noContent }), 409, { head: `HTTP/1.1 409 Conflict
Cache-Control: no-cache
Transfer-Encoding: chunked
${minimal}
${envelope}
Preference-Applied: return-no-content
Date: DATE` }],
  // One by the front end.
  [get('/Tables', { ...named, Authorization: 'SharedKey a:b' }), 400, { head: `HTTP/1.1 400 Authentication information is not given in the correct format. Check the value of Authorization header.
Content-Length: 276
Content-Type: application/json
${server}
x-ms-error-code: InvalidAuthenticationInfo
x-ms-request-id: ID
x-ms-client-request-id: ${clientId}
x-ms-version: 2019-02-02
X-Content-Type-Options: nosniff
Date: DATE` }],
])

const recorded =
  '2014-02-14 2015-02-21 2015-04-05 2015-07-08 2015-12-11 2016-05-31 2017-04-17 2018-03-28 2019-02-02 2019-07-07 2020-12-06'.split(
    ' ',
  )
const versioned = (version: string | undefined) => get('/', { 'x-ms-version': version })
const badVersion = {
  'content-type': 'application/xml',
  'content-length': '371',
  'x-ms-error-code': undefined,
  'x-ms-version': undefined,
  'cache-control': undefined,
  reason: 'The value for one of the HTTP headers is not in the correct format.',
  body: '\ufeff<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n<error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">\r\n  <code>InvalidHeaderValue</code>\r\n  <message xml:lang="en-US">The value for one of the HTTP headers is not in the correct format.\nRequestId:ID\nTime:TIME</message>\r\n</error>',
}

// biome-ignore format: a table reads in columns
wireTable('x-ms-version', [
  ...recorded.map((version) => [versioned(version), 200, { 'x-ms-version': version }] as const),
  [versioned('2009-04-14'),     200, { 'x-ms-version': '2009-04-14' }],
  [versioned('2025-11-05'),     200, { 'x-ms-version': '2025-11-05' }],
  [versioned('2099-12-31'),     200, { 'x-ms-version': '2099-12-31' }],
  [versioned(undefined),        200, { 'x-ms-version': '2019-02-02' }],
  [versioned('12.0.0b1'),       400, 'InvalidHeaderValue', badVersion],
  [versioned(''),               400, 'InvalidHeaderValue', badVersion],
  [versioned('latest'),         400, 'InvalidHeaderValue', badVersion],
  [versioned('2019-2-2'),       400, 'InvalidHeaderValue', badVersion],
  [versioned('2019-13-01'),     400, 'InvalidHeaderValue', badVersion],
  [versioned('2019-02-02 '.padEnd(12, 'x')), 400, 'InvalidHeaderValue', badVersion],
  // The version is looked at before the credential and the address.
  [get('/', { 'x-ms-version': '12.0.0b1', Authorization: undefined }), 400, 'InvalidHeaderValue', badVersion],
])

const identified = (id: string | undefined, version = '2019-02-02') =>
  get('/', { 'x-ms-client-request-id': id, 'x-ms-version': version })
const echoes = (id: string | undefined) => ({ 'x-ms-client-request-id': id })

// biome-ignore format: a table reads in columns
wireTable('x-ms-client-request-id', [
  [identified('a1'),                          200, echoes('a1')],
  [identified(undefined),                     200, echoes(undefined)],
  [identified('with {braces} and "quotes"'),  200, echoes('with {braces} and "quotes"')],
  [identified('a1', '2020-12-06'),            200, echoes('a1')],
  [identified('a1', '2018-03-28'),            200, echoes(undefined)],
  [identified('a1', '2015-12-11'),            200, echoes(undefined)],
  [identified('x'.repeat(1024)),              200, echoes('x'.repeat(1024))],
  [identified('x'.repeat(1025)),              200, echoes(undefined)],
  [identified('\xe9\xe8'),                    200, echoes(undefined)],
  [get(entity('nobodyhere', 'p', 'r'), named), 404, 'TableNotFound', echoes(clientId)],
  [get('/Tables', { ...named, 'x-ms-return-client-request-id': 'false' }), 200, echoes(clientId)],
])

const unaffected = { dataserviceversion: undefined, 'content-encoding': undefined }

// biome-ignore format: a table reads in columns
wireTable('headers without effect', [
  [get('/', { DataServiceVersion: undefined }),         200, unaffected],
  [get('/', { DataServiceVersion: '3.0;NetFx', MaxDataServiceVersion: '3.0;NetFx' }), 200, unaffected],
  [get('/', { DataServiceVersion: '2.0;NetFx' }),       200, unaffected],
  [get('/', { DataServiceVersion: '1.0;NetFx', MaxDataServiceVersion: '1.0' }), 200, unaffected],
  [get('/', { 'Accept-Encoding': 'gzip, deflate, br', 'Accept-Charset': 'UTF-8', 'User-Agent': 'x' }), 200, unaffected],
  [get('/', { 'x-ms-effective-locale': 'en.en-us', Cookie: 'a=b' }), 200, unaffected],
])

// biome-ignore format: a table reads in columns
wireTable('Prefer on reads and deletes', [
  [put(one, {}),                                        204],
  [get(one, { Prefer: 'return-content' }),              200, { 'preference-applied': undefined }],
  [get('/Tables', noContent),                           200, { 'preference-applied': undefined }],
  [del(one, { 'If-Match': '*', Prefer: 'return-content' }), 204, { 'preference-applied': undefined }],
  [del(one, { 'If-Match': '*', ...noContent }),         404, 'ResourceNotFound', { 'preference-applied': undefined }],
  [put(one, {}, { Prefer: 'return-content' }),          204, { 'preference-applied': undefined }],
  [put(one, '{"a@odata.type":"Edm.Boolean","a":"not a bool"}', noContent), 400, 'InvalidInput', 'An error occurred while processing this request.', early],
])

describe('connections', () => {
  it('stay open without a word, for as many requests as come', async () => {
    const connection = await openConnection(endpoint.url)
    for (let i = 0; i < 3; i++) {
      connection.send(bytesOf(get('/')))
      const answer = await connection.receive()
      assert.equal(answer.status, 200)
      assert.equal(answer.header('connection'), undefined)
      assert.equal(answer.header('keep-alive'), undefined)
    }
    connection.send(bytesOf(put(entity('nobodyhere', 'p', 'r'), {})))
    assert.equal((await connection.receive()).header('connection'), undefined)
    connection.send(bytesOf(post('/', {}, { Authorization: 'SharedKey a:b' })))
    const refused = await connection.receive()
    assert.equal(refused.status, 400)
    assert.equal(refused.header('connection'), undefined)
    connection.send(bytesOf(get('/')))
    assert.equal((await connection.receive()).status, 200)
    connection.close()
  })

  it('answer pipelined requests in order', async () => {
    const connection = await openConnection(endpoint.url)
    connection.send(Buffer.concat([bytesOf(get('/')), bytesOf(get('/$metadata')), bytesOf(get('/Tables'))]))
    const types: (string | undefined)[] = []
    for (let i = 0; i < 3; i++) types.push((await connection.receive()).header('content-type'))
    assert.deepEqual(
      types.map((type) => type?.split(';')[0]),
      ['application/json', 'application/xml', 'application/json'],
    )
    connection.close()
  })

  it('close when asked to, and say so', async () => {
    const connection = await openConnection(endpoint.url)
    connection.send(bytesOf(get('/', { Connection: 'close' })))
    const answer = await connection.receive()
    assert.equal(answer.headers.at(-1)?.join(': '), 'Connection: close')
    await connection.ended
  })

  it('serve a client that speaks HTTP/1.0 without chunks', async () => {
    const connection = await openConnection(endpoint.url)
    connection.send(bytesOf(get('/')).toString('latin1').replace('HTTP/1.1', 'HTTP/1.0'))
    const answer = await connection.receive()
    assert.equal(answer.header('transfer-encoding'), undefined)
    assert.equal(answer.header('content-length'), answer.body.length.toString())
    assert.equal(answer.header('connection'), 'close')
    await connection.ended
  })
})

it('a body leaves in one chunk, whatever its size', async () => {
  await exchange(put(one, { text: 'x'.repeat(30_000) }))
  const answer = await exchange(get(one))
  assert.ok(answer.body.length > 30_000)
  assert.equal(answer.chunks, 1)
})

it('request ids are new for every answer', async () => {
  const ids = new Set<string | undefined>()
  for (let i = 0; i < 20; i++) ids.add((await exchange(request('GET', '/'))).header('x-ms-request-id'))
  assert.equal(ids.size, 20)
  assert.equal(masked([...ids].join()), Array.from({ length: 20 }, () => 'ID').join())
})

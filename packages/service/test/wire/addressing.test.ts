import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  account,
  del,
  early,
  endpoint,
  entity,
  exchange,
  get,
  isRemote,
  keyCountText,
  late,
  merge,
  nameLengthText,
  noContent,
  post,
  put,
  querySyntaxText,
  type Request,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', 'r')
const none = { Accept: 'application/json;odata=nometadata' }
const body = '{"PartitionKey":"p","RowKey":"r","Timestamp":"STAMP"}'
const any = { 'If-Match': '*' }
const tunnel = (method: string | readonly string[], path: string, wire = 'POST'): Request =>
  request(wire, path, { body: '{}', headers: { 'X-HTTP-Method': method, ...any } })

// biome-ignore format: a table reads in columns
wireTable('forms of an address', [
  [put(one, {}),                                                  204],
  [get(one, none),                                                200, { body }],
  [get(`/${people}(RowKey='r',PartitionKey='p')`, none),          200, { body }],
  [get(`/${people}(PartitionKey='p',%20RowKey='r')`, none),       200, { body }],
  [get(`/${people}(%20PartitionKey%20=%20'p'%20,RowKey='r'%20)`, none), 200, { body }],
  [get(`/${people}%28PartitionKey%3D%27p%27%2CRowKey%3D%27r%27%29`, none), 200, { body }],
  [get(`/${people}%28PartitionKey%3d%27p%27%2cRowKey%3d%27r%27%29`, none), 200, { body }],
  [get(`/%70eople${people.slice(6)}(PartitionKey='%70',RowKey='r')`, none), 200, { body }],
  [put(`/${people}(PartitionKey='a+b',RowKey='r')`, {}),          204],
  [get(`/${people}(PartitionKey='a%2Bb',RowKey='r')`, none),      200, { body: body.replace('"p"', '"a+b"') }],
  [get(`${one}?timeout=5000&unknown=1`, none),                    200, { body }],
  [get(`${one}?`, none),                                          200, { body }],
])

// biome-ignore format: a table reads in columns
wireTable('addresses that name no entity', [
  [get(`/${people}('x')`),                                  400, 'InvalidInput', keyCountText(people), early],
  [get(`/${people}(PartitionKey='p')`),                     400, 'InvalidInput', keyCountText(people), early],
  [get(`/${people}(PartitionKey='p',RowKey='r',More='m')`), 400, 'InvalidInput', keyCountText(people), early],
  [get(`/${people}(PartitionKey='p',PartitionKey='r')`),    400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(partitionkey='p',rowkey='r')`),          400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}('p','r')`),                              400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey=p,RowKey='r')`),            400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='p',RowKey=1)`),            400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='p',RowKey='r'`),           400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='p',RowKey='r')x`),         400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='p',,RowKey='r')`),         400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='p'RowKey='r')`),           400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='p',RowKey='r',)`),         400, 'InvalidInput', querySyntaxText, early],
  [get(`/${people}(PartitionKey='o'k',RowKey='r')`),        400, 'InvalidInput', querySyntaxText, early],
  [get(entity('nobodyhere', 'p', 'r')),                     404, 'TableNotFound', early],
])

// biome-ignore format: a table reads in columns
wireTable('names in addresses are judged as in bodies, but earlier', [
  [get(entity('a', 'p', 'r')),                400, 'OutOfRangeInput', nameLengthText, early],
  [get(entity('a'.repeat(64), 'p', 'r')),     400, 'OutOfRangeInput', nameLengthText, early],
  [put(entity('a_b', 'p', 'r'), {}, noContent), 400, 'InvalidResourceName', early],
  [merge(entity('1ab', 'p', 'r'), {}),        400, 'InvalidResourceName', early],
  [post('/%C3%B1ab', {}),                     400, 'InvalidResourceName', early],
  [del(entity('my-table', 'p', 'r'), any),    400, 'InvalidResourceName', early],
  [post('/$abc', {}),                         400, 'InvalidResourceName', early],
  [post('/$MetricsTransactionsTable', {}),    400, 'InvalidResourceName', early],
  [put(entity('$MetricsTransactionsTable', 'p', 'r'), {}), 400, 'InvalidResourceName', early],
  [get(entity('$MetricsTransactionsTable', 'p', 'r')), 404, 'TableNotFound', early],
  // What follows the first slash, also an escaped one, is another segment.
  [get(`/a%2F%2F(PartitionKey='p',RowKey='r')`), 400, 'OutOfRangeInput', nameLengthText, early],
])

// biome-ignore format: a table reads in columns
wireTable('segments behind the table', [
  [post(`/${people}/Tables`, { PartitionKey: 'p', RowKey: 's1' }, noContent), 204, { location: `BASE${entity(people, 'p', 's1')}` }],
  [post(`/${people}/${people}`, { PartitionKey: 'p', RowKey: 's2' }, noContent), 204, { location: `BASE${entity(people, 'p', 's2')}` }],
  [post(`/${people}/`, { PartitionKey: 'p', RowKey: 's3' }, noContent), 204, { location: `BASE${entity(people, 'p', 's3')}` }],
  [post('/nobodyhere/Tables', {}),               404, 'TableNotFound', early],
  [post(`/${people}/Tables`, {}),                400, 'PropertiesNeedValue', late],
  [del(`/${people}/Tables('${people}')`),        400, 'InvalidInput', keyCountText(people), early],
  [get(`/${people}/Tables`),                     400, 'InvalidInput', querySyntaxText, early],
])

// biome-ignore format: a table reads in columns
wireTable('method tunnelling', [
  [tunnel('MERGE', one),                         204],
  [tunnel('PATCH', one),                         204],
  [tunnel('PUT', one),                           204],
  [tunnel('MERGE', one, 'PUT'),                  400, 'XMethodNotUsingPost'],
  [tunnel('MERGE', one, 'GET'),                  400, 'XMethodNotUsingPost'],
  [tunnel('MERGE', one, 'DELETE'),               400, 'XMethodNotUsingPost'],
  [tunnel('GET', one),                           400, 'XMethodIncorrectValue'],
  [tunnel('POST', one),                          400, 'XMethodIncorrectValue'],
  [tunnel('merge', one),                         400, 'XMethodIncorrectValue'],
  [tunnel('', one),                              400, 'XMethodIncorrectValue'],
  [tunnel('MERGE, PUT', one),                    400, 'XMethodIncorrectValue'],
  [tunnel(['MERGE', 'MERGE'], one),              400, 'XMethodIncorrectCount'],
  [tunnel(['MERGE', 'DELETE'], one),             400, 'XMethodIncorrectCount'],
  [post(one, {}, { 'X-HTTP-Method-Override': 'MERGE' }), 405, 'MethodNotAllowed', early],
  [tunnel('DELETE', one),                        204],
])

// biome-ignore format: a table reads in columns
wireTable('methods', [
  [post(one, {}),                                405, 'MethodNotAllowed', early],
  [put('/Tables', {}),                           405, 'MethodNotAllowed', early],
  [del('/Tables'),                               405, 'MethodNotAllowed', early],
  [merge(`/Tables('${people}')`, {}),            405, 'MethodNotAllowed', early],
  [post('/', {}),                                405, 'MethodNotAllowed', early],
  [del('/$metadata'),                            405, 'MethodNotAllowed', early],
  [put(`/${people}`, {}),                        405, 'MethodNotAllowed', early],
  [request('HEAD', one),                         405, { reason: 'Method Not Allowed' }],
  [request('TRACE', one),                        405, 'UnsupportedHttpVerb', early],
  [request('PROPFIND', '/Tables'),               405, 'UnsupportedHttpVerb', early],
  [request('LINK', '/'),                         405, 'UnsupportedHttpVerb', early],
])

// biome-ignore format: a table reads in columns
wireTable('the documents that describe the service', [
  [get('/'),                                     200, { body: '{"odata.metadata":"BASE/$metadata","value":[{"name":"Tables","url":"Tables"}]}', 'cache-control': 'no-cache' }],
  [get('/', none),                               200, { body: '{"value":[{"name":"Tables","url":"Tables"}]}' }],
  ...(isRemote ? [] : [[get(''),                 200, { body: /"value":\[/ }] as const]),
  [get('/$metadata'),                            200, { 'content-type': 'application/xml;charset=utf-8', body: new RegExp(`<Schema Namespace="${account}".*<EntitySet Name="Tables" EntityType="${account}\\.Tables" />`) }],
  [get('/%24metadata'),                          200],
  [get('/', { Accept: 'application/atomsvc+xml' }), 415, 'MediaTypeNotSupported', early],
])

const keys = [
  "O'Brien",
  "'",
  "''",
  '',
  ' ',
  'a b ',
  ' a',
  'ñ',
  '日本',
  '𤭢',
  'a+b',
  'a%b',
  '%27',
  '%2F',
  'a=b&c',
  'a,b',
  '(a)',
  "a',RowKey='b",
  'A\'aaa_bbbb2"',
  '"@:+,$',
  '-_.!~*',
  '..',
  '.',
  ';',
  '<x>',
  '\u00a0',
  'e\u0301',
  '\ufeff',
]

it('keys of any text round trip by their Location', async () => {
  for (const [i, partition] of keys.entries()) {
    const row = keys[(i + 1) % keys.length] as string
    const made = await exchange(post(`/${people}`, { PartitionKey: partition, RowKey: row }, noContent))
    assert.equal(made.status, 204, made.text)
    const location = made.header('location') ?? ''
    assert.equal(location, `${endpoint.base}${entity(people, partition, row)}`)
    assert.equal(made.header('dataserviceid'), location)
    const path = location.slice(endpoint.base.length)
    const read = await exchange(get(path, none))
    const { PartitionKey, RowKey } = JSON.parse(read.text) as Record<string, string>
    assert.deepEqual([PartitionKey, RowKey], [partition, row])
    assert.equal((await exchange(del(path, any))).status, 204)
  }
})

const hosted = `${account}.table.example.org`
const atHost = (sent: Request, host = hosted): Request => ({ ...sent, host })
const hostBase = `${endpoint.url.protocol}//${hosted}`

// biome-ignore format: a table reads in columns
wireTable('host style', [
  [atHost(put(one, { a: 1 })),                   204],
  [atHost(get(one)),                             200, { body: `{"odata.metadata":"${hostBase}/$metadata#${people}/@Element","odata.etag":"W/\\"datetime'STAMP'\\"","PartitionKey":"p","RowKey":"r","Timestamp":"STAMP","a":1}` }],
  [atHost(get(one, none), `${hosted}:8080`),     200],
  [atHost(get('/')),                             200, { body: `{"odata.metadata":"${hostBase}/$metadata","value":[{"name":"Tables","url":"Tables"}]}` }],
  [atHost(post(`/${people}`, { PartitionKey: 'p', RowKey: 'h' }, noContent)), 204, { location: `${hostBase}${entity(people, 'p', 'h')}` }],
  [atHost(get(one, none), `${account}-secondary.table.example.org`), 200],
  [atHost(put(one, {}), `${account}-secondary.table.example.org`), 403, 'InsufficientAccountPermissions'],
  // Not an account of ours, so not host style, so a path without an account.
  [atHost(get(one), 'nobody.table.example.org'), 400, 'InvalidUri'],
])

if (!isRemote) {
  const path = `/${account}-secondary`
  const second = (sent: Request): Request => ({ ...sent, path: `${path}${sent.path}`, wholeTarget: true })
  const secondBase = 'BASE-secondary'

  // biome-ignore format: a table reads in columns
  wireTable('the secondary reads and refuses writes', [
    [second(get(one)),                           200, { body: `{"odata.metadata":"${secondBase}/$metadata#${people}/@Element","odata.etag":"W/\\"datetime'STAMP'\\"","PartitionKey":"p","RowKey":"r","Timestamp":"STAMP","a":1}` }],
    [second(get('/Tables', none)),               200],
    [second(get('/')),                           200],
    [second(post('/Tables', { TableName: 'other' })), 403, 'InsufficientAccountPermissions', late],
    [second(del(`/Tables('${people}')`)),        403, 'InsufficientAccountPermissions', late],
    [second(post(`/${people}`, {})),             403, 'InsufficientAccountPermissions', late],
    [second(put(one, {}, any)),                  403, 'InsufficientAccountPermissions', late],
    [second(merge(one, {}, any)),                403, 'InsufficientAccountPermissions', late],
    [second(del(one, any)),                      403, 'InsufficientAccountPermissions', late],
    [second(del(entity('nobodyhere', 'p', 'r'), any)), 403, 'InsufficientAccountPermissions', late],
    [get(one, none),                             200],
  ])
}

it('a key may be as long as its limit in an address', async () => {
  const key = 'k'.repeat(1024)
  assert.equal((await exchange(put(entity(people, key, key), {}))).status, 204)
  assert.equal((await exchange(get(entity(people, key, key)))).status, 200)
})

import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  early,
  entity,
  etagNeededText,
  exchange,
  get,
  late,
  lateNoContent,
  merge,
  noContent,
  oldEtag,
  patch,
  post,
  put,
  type Request,
  type RequestHeaders,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', '1')
const any = { 'If-Match': '*' }
const none = { Accept: 'application/json;odata=nometadata' }
const shows = (members: string) => ({
  body: `{"PartitionKey":"p","RowKey":"1","Timestamp":"STAMP"${members}}`,
})
const updated = {
  'cache-control': 'no-cache',
  etag: /^W\//,
  location: undefined,
  dataserviceid: undefined,
  'preference-applied': undefined,
  body: '',
}
const tunnel = (method: string, path: string, body: object, headers = {}) =>
  post(path, body, { 'X-HTTP-Method': method, ...headers })

// biome-ignore format: a table reads in columns
wireTable('Update Entity', [
  [put(one, { a: 1 }, any),                               404, 'ResourceNotFound', late],
  [put(one, {}, any),                                     404, 'ResourceNotFound', late],
  [put(one, { a: 1 }, { 'If-Match': oldEtag, ...noContent }), 404, 'ResourceNotFound', lateNoContent],
  [post(`/${people}`, { PartitionKey: 'p', RowKey: '1', b: 1, a: 2 }, noContent), 204],
  [put(one, { c: 3 }, any),                               204, updated],
  [get(one, none),                                        200, shows(',"c":3')],
  [(seen) => put(one, { d: 4 }, { 'If-Match': seen[4]?.header('etag') }), 204, updated],
  [(seen) => put(one, { e: 5 }, { 'If-Match': seen[4]?.header('etag') }), 412, 'UpdateConditionNotSatisfied', late],
  [put(one, { e: 5 }, { 'If-Match': oldEtag, ...noContent }), 412, 'UpdateConditionNotSatisfied', lateNoContent],
  [put(one, { f: 6 }, { ...any, ...noContent }),          204, { ...updated, 'preference-applied': 'return-no-content' }],
  [put(one, { f: 6 }, { ...any, Prefer: 'return-content' }), 204, updated],
  [put(one, {}, any),                                     204, updated],
  [get(one, none),                                        200, shows('')],
  [tunnel('PUT', one, { g: 7 }, any),                     204, updated],
  [get(one, none),                                        200, shows(',"g":7')],
  [put(one, { a: 1 }, { ...any, Accept: 'application/atom+xml' }), 204],
  [put(entity('nobodyhere', 'p', '1'), { a: 1 }, any),    404, 'TableNotFound', early],
  [put(one, { a: 1 }, { 'If-None-Match': '*' }),          400, 'InvalidInput', 'If-None-Match HTTP header cannot be specified for PUT operations.', early],
  [put(one, { a: 1 }, { 'If-Match': '*', 'If-None-Match': '*' }), 400, 'InvalidInput', 'Both If-Match and If-None-Match HTTP headers cannot be specified at the same time. Please specify either one of the headers or none of them.', early],
  [request('PUT', one, { headers: any }),                 411, 'MissingContentLengthHeader'],
  [put(one, { a: 1 }, { ...any, 'Content-Type': 'text/plain' }), 415, 'MediaTypeNotSupported', early],
  [put(`/${people}`, { a: 1 }),                           405, 'MethodNotAllowed', early],
])

const mergeForms: readonly (readonly [
  name: string,
  send: (path: string, body: object, headers?: RequestHeaders) => Request,
])[] = [
  ['MERGE', merge],
  ['PATCH', patch],
  ['POST with X-HTTP-Method: MERGE', (path, body, headers) => tunnel('MERGE', path, body, headers)],
  ['POST with X-HTTP-Method: PATCH', (path, body, headers) => tunnel('PATCH', path, body, headers)],
]

for (const [name, send] of mergeForms) {
  // biome-ignore format: a table reads in columns
  wireTable(`Merge Entity: ${name}`, [
    [put(one, { a: 1, b: 'x' }),                          204],
    [send(one, { b: true, c: 3 }, any),                   204, updated],
    [get(one, none),                                      200, shows(',"a":1,"b":true,"c":3')],
    [send(one, { a: null, B: 1.5 }, { ...any, ...noContent }), 204, { ...updated, 'preference-applied': 'return-no-content' }],
    [get(one, none),                                      200, shows(',"B":1.5,"a":1,"b":true,"c":3')],
    [send(one, {}, any),                                  204, updated],
    [get(one, none),                                      200, shows(',"B":1.5,"a":1,"b":true,"c":3')],
    [(seen) => send(one, {}, { 'If-Match': seen[5]?.header('etag') }), 204, updated],
    [(seen) => send(one, {}, { 'If-Match': seen[5]?.header('etag') }), 412, 'UpdateConditionNotSatisfied', late],
    [send(entity(people, 'p', 'none'), {}, any),          404, 'ResourceNotFound', late],
    [send(entity('nobodyhere', 'p', '1'), {}, any),       404, 'TableNotFound', early],
    [send(one, {}, { 'If-None-Match': '*' }),             400, 'InvalidInput', 'If-None-Match HTTP header cannot be specified for PUT operations.', early],
  ])
}

const two = entity(people, 'p', '2')
const three = entity(people, 'p', '3')
const showsOther = (row: string, members: string) => ({
  body: `{"PartitionKey":"p","RowKey":"${row}","Timestamp":"STAMP"${members}}`,
})

// biome-ignore format: a table reads in columns
wireTable('Insert Or Replace Entity', [
  [put(two, { b: 1, a: 2 }),                              204, updated],
  [get(two, none),                                        200, showsOther('2', ',"a":2,"b":1')],
  [put(two, { c: 3 }, noContent),                         204, { ...updated, 'preference-applied': 'return-no-content' }],
  [get(two, none),                                        200, showsOther('2', ',"c":3')],
  // The address names the entity, whatever the body says.
  [put(two, { PartitionKey: 'x', RowKey: 'y', d: 4 }),    204],
  [get(two, none),                                        200, showsOther('2', ',"d":4')],
  [get(entity(people, 'x', 'y')),                         404, 'ResourceNotFound'],
  [put(two, { PartitionKey: null, RowKey: null }),        204],
  [put(entity('nobodyhere', 'p', '2'), {}),               404, 'TableNotFound', early],
  [put(two, {}, { 'x-ms-version': '2009-09-19' }),        400, 'InvalidInput', etagNeededText(people), early],
  [put(two, {}, { 'x-ms-version': '2011-08-18' }),        204],
])

// biome-ignore format: a table reads in columns
wireTable('Insert Or Merge Entity', [
  [merge(three, { b: 1, a: 2 }),                          204, updated],
  [get(three, none),                                      200, showsOther('3', ',"a":2,"b":1')],
  [patch(three, { c: 3 }, noContent),                     204, { ...updated, 'preference-applied': 'return-no-content' }],
  [get(three, none),                                      200, showsOther('3', ',"a":2,"b":1,"c":3')],
  [tunnel('MERGE', entity(people, 'p', '4'), { a: 1 }),   204, updated],
  [get(entity(people, 'p', '4'), none),                   200, showsOther('4', ',"a":1')],
  [merge(entity('nobodyhere', 'p', '2'), {}),             404, 'TableNotFound', early],
])

it('every write gives a new ETag, also one that changes nothing', async () => {
  const etags: string[] = []
  for (let i = 0; i < 20; i++) {
    const answer = await exchange(i % 2 === 0 ? put(one, { a: 1 }) : merge(one, {}))
    etags.push(answer.header('etag') ?? '')
  }
  const moments = etags.map((etag) => /'(.*)'/.exec(etag)?.[1]?.replace('Z', '') ?? '')
  assert.equal(new Set(etags).size, etags.length)
  assert.deepEqual(moments, moments.toSorted())
})

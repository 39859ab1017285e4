import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  del,
  entity,
  type Expected,
  exchange,
  get,
  merge,
  post,
  put,
  request,
  type RequestHeaders,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const ann = entity(people, 'p', 'ann')
await exchange(post(`/${people}`, { PartitionKey: 'p', RowKey: 'ann' }))

const rule = (origins: string, methods: string, exposed: string) =>
  `<CorsRule><AllowedMethods>${methods}</AllowedMethods><AllowedOrigins>${origins}</AllowedOrigins><ExposedHeaders>${exposed}</ExposedHeaders></CorsRule>`
/** Another process may go by the former rules for a second, where a request has no origin. */
const rules = (...each: readonly string[]) => ({
  ...put(
    '/?restype=service&comp=properties',
    `<StorageServiceProperties><Cors>${each.join('')}</Cors></StorageServiceProperties>`,
  ),
  settleMs: 1100,
})

const app = 'https://app.example.org'
const from = (origin: string): RequestHeaders => ({ Origin: origin })
const [ours, other] = [from(app), from('https://other.example.org')]
const head = (headers: RequestHeaders = {}) => request('HEAD', `/${people}?comp=acl`, { headers })
const write = (headers: RequestHeaders = {}) => merge(ann, {}, headers)

const nothing: Expected = {
  vary: undefined,
  'access-control-allow-origin': undefined,
  'access-control-expose-headers': undefined,
  'access-control-allow-credentials': undefined,
}
const varies: Expected = { ...nothing, vary: 'Origin' }
const toUs: Expected = {
  'access-control-allow-origin': app,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'x-ms-request-id,x-ms-version',
}
const toAll: Expected = {
  ...toUs,
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': undefined,
}
const all = 'GET,HEAD,PUT,POST,MERGE,DELETE'

// biome-ignore format: a table reads in columns
wireTable('CORS: no rules', [
  [get(ann),          200, nothing],
  [get(ann, ours),    200, nothing],
  [write(ours),       204, nothing],
])

// biome-ignore format: a table reads in columns
wireTable('CORS: rules without *', [
  [rules(rule(app, all, 'x-ms-*')), 202],
  [get(ann),          200, varies],
  [head(),            200, varies],
  [get(ann, ours),    200, { vary: 'Origin', ...toUs }],
  [head(ours),        200, { vary: 'Origin', ...toUs }],
  [get(ann, other),   200, varies],
  [head(other),       200, varies],
  [get(ann, from('null')), 200, varies],
  [write(ours),       204, { vary: undefined, ...toUs }],
  [write(other),      204, nothing],
  [write(),           204, nothing],
])

// biome-ignore format: a table reads in columns
wireTable('CORS: rules with *', [
  [rules(rule('*', all, 'x-ms-*')), 202],
  [get(ann),          200, { vary: undefined, ...toAll }],
  [head(),            200, { vary: undefined, ...toAll }],
  [get(ann, ours),    200, { vary: undefined, ...toAll }],
  [get(ann, from('null')), 200, { vary: undefined, ...toAll }],
  [write(ours),       204, { vary: undefined, ...toAll }],
  [write(),           204, nothing],
])

// biome-ignore format: a table reads in columns
wireTable('CORS: the first rule that matches counts', [
  [rules(rule(app, 'GET', 'etag'), rule('*', 'GET,PUT', 'x-ms-*')), 202],
  [get(ann, ours),    200, { ...toUs, vary: 'Origin', 'access-control-expose-headers': 'ETag' }],
  [get(ann, other),   200, { ...toAll, vary: undefined }],
  [get(ann),          200, { ...toAll, vary: undefined }],
  [head(ours),        200, varies],
  [write(ours),       204, nothing],
  [rules(rule('*', 'GET', 'x-ms-*'), rule(app, 'GET', 'etag')), 202],
  [get(ann, ours),    200, { ...toAll, vary: undefined }],
])

// biome-ignore format: a table reads in columns
wireTable('CORS: what is exposed is what was sent', [
  [rules(rule(app, all, 'ETag,content-type,preference-applied,x-ms-*')), 202],
  [get(ann, ours),    200, { 'access-control-expose-headers': 'Content-Type,ETag,x-ms-request-id,x-ms-version' }],
  [del(ann, { ...ours, 'If-Match': 'wrong', 'x-ms-client-request-id': 'mine' }), 400, 'InvalidInput', /* its own text */ `The etag value 'wrong' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.`,
    { 'access-control-expose-headers': 'Content-Type,x-ms-request-id,x-ms-client-request-id,x-ms-version' }],
  [post(`/${people}`, { PartitionKey: 'p', RowKey: 'bob' }, { ...ours, Prefer: 'return-no-content' }), 204, { 'access-control-expose-headers': 'ETag,x-ms-request-id,x-ms-version,Preference-Applied' }],
  [get(`/${people}?$top=1`, ours), 200, { 'access-control-expose-headers': 'Content-Type,x-ms-request-id,x-ms-version,x-ms-continuation-NextPartitionKey,x-ms-continuation-NextRowKey' }],
  [rules(rule(app, all, '*')), 202],
  [write(ours),       204, { 'access-control-expose-headers': 'Cache-Control,Content-Length,ETag,Server,x-ms-request-id,x-ms-version,X-Content-Type-Options,Date' }],
  [rules(rule(app, all, '')), 202],
  [get(ann, ours),    200, { ...toUs, vary: 'Origin', 'access-control-expose-headers': undefined }],
  [rules(rule(app, all, 'x-other')), 202],
  [get(ann, ours),    200, { ...toUs, vary: 'Origin', 'access-control-expose-headers': undefined }],
])

const coded: Expected = {
  ...toUs,
  'access-control-expose-headers': 'x-ms-error-code,x-ms-request-id,x-ms-version',
}

// biome-ignore format: a table reads in columns
wireTable('CORS: refusals', [
  [rules(rule(app, all, 'x-ms-*')), 202],
  [get(ann, ours, { sign: 'nothing' }),                         403, 'AuthenticationFailed', { vary: 'Origin', ...coded }],
  [{ ...write(ours), sign: 'nothing' },                         403, 'AuthenticationFailed', { vary: undefined, ...coded }],
  [get(ann, other, { sign: 'nothing' }),                        403, 'AuthenticationFailed', varies],
  [get('/nobody', ours),                                        404, 'TableNotFound', { vary: 'Origin', ...toUs }],
  [get('/nobody?comp=acl', ours),                               404, 'TableNotFound', { vary: 'Origin', ...coded }],
  [get('/?restype=service&comp=properties', ours),              200, { vary: 'Origin', ...toUs }],
  [get(ann, { ...ours, 'x-ms-version': 'none' }),               400, 'InvalidHeaderValue', nothing],
  [{ ...get('/somebodyelse/people', ours), wholeTarget: true }, 403, 'AuthenticationFailed', nothing],
])

// The browser asked for POST in its preflight, whatever the request tunnels.
wireTable('CORS: the method of the request line is compared', [
  [rules(rule(app, 'POST', 'x-ms-*')), 202],
  [post(ann, {}, { ...ours, 'X-HTTP-Method': 'MERGE' }), 204, toUs],
  [write(ours), 204, nothing],
])

it('puts the headers where the recorded service does', async () => {
  await exchange(rules(rule(app, all, 'x-ms-*')))
  const noContent = { ...ours, Prefer: 'return-no-content' }
  const written = await exchange(post(`/${people}`, { PartitionKey: 'p', RowKey: 'zoe' }, noContent))
  assert.deepEqual(written.headers.map(([name]) => name).slice(-6), [
    'Preference-Applied',
    'Access-Control-Expose-Headers',
    'Access-Control-Allow-Origin',
    'Access-Control-Allow-Credentials',
    'DataServiceId',
    'Date',
  ])
  const read = await exchange(get(ann, ours))
  const names = read.headers.map(([name]) => name)
  assert.equal(names[names.indexOf('Vary') + 1], 'Server')
})

it('is forgotten with the rules', async () => {
  await exchange(rules())
  assert.equal((await exchange(get(ann))).header('vary'), undefined)
  assert.equal((await exchange(get(ann, ours))).header('vary'), undefined)
})

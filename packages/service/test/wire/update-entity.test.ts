import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  early,
  entity,
  exchange,
  get,
  late,
  lateNoContent,
  merge,
  noContent,
  none,
  oldEtag,
  post,
  put,
  request,
  table,
  tunnel,
  updated,
  updatedNoContent,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', '1')
const any = { 'If-Match': '*' }
const shows = (members: string) => ({
  body: `{"PartitionKey":"p","RowKey":"1","Timestamp":"STAMP"${members}}`,
})

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
  [put(one, { f: 6 }, { ...any, ...noContent }),          204, updatedNoContent],
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

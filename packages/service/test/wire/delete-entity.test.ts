import {
  badEtagText,
  del,
  early,
  entity,
  etagNeededText,
  get,
  lateUnpreferred,
  noContent,
  post,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', '1')
const insert = (row: string) => post(`/${people}`, { PartitionKey: 'p', RowKey: row }, noContent)
const any = { 'If-Match': '*' }

// biome-ignore format: a table reads in columns
wireTable('Delete Entity', [
  [insert('1'),                                           204],
  [del(one),                                              400, 'InvalidInput', etagNeededText(people), early],
  [del(one, { 'If-Match': '' }),                          400, 'InvalidInput', badEtagText(''), early],
  [del(one, { 'If-None-Match': '*' }),                    400, 'InvalidInput', 'If-None-Match HTTP header cannot be specified for DELETE operations.', early],
  [del(one, { ...any, ...noContent }),                    204, { 'cache-control': 'no-cache', etag: undefined, location: undefined, 'preference-applied': undefined, body: '' }],
  [del(one, { ...any, ...noContent }),                    404, 'ResourceNotFound', lateUnpreferred],
  [get(one),                                              404, 'ResourceNotFound'],
  [del(entity('nobodyhere', 'p', '1'), any),              404, 'TableNotFound', early],
  [del(entity('nobodyhere', 'p', '1')),                   404, 'TableNotFound', early],
  [insert('2'),                                           204],
  [(seen) => del(entity(people, 'p', '2'), { 'If-Match': seen.at(-1)?.header('etag'), 'Content-Length': '0', 'Content-Type': 'application/json' }), 204],
  [insert('3'),                                           204],
  [request('DELETE', entity(people, 'p', '3'), { headers: { ...any, Accept: 'application/atom+xml' } }), 204],
  [insert('4'),                                           204],
  [request('POST', entity(people, 'p', '4'), { body: '', headers: { ...any, 'X-HTTP-Method': 'DELETE' } }), 204],
  [del(`/${people}`, any),                                405, 'MethodNotAllowed', early],
])

import {
  del,
  early,
  entity,
  get,
  isRemote,
  lateUnpreferred,
  nameLengthText,
  noContent,
  oldEtag,
  post,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('People')
const places = await table('places')
const things = await table('things')
const row = { PartitionKey: 'p', RowKey: 'r' }

// biome-ignore format: a table reads in columns
wireTable('Delete Table', [
  [post(`/${people}`, row, noContent),                  204],
  [del(`/Tables('${people}')`),                         204, { 'cache-control': 'no-cache', etag: undefined, location: undefined, body: '' }],
  [del(`/Tables('${people}')`),                         404, 'ResourceNotFound', lateUnpreferred],
  [get(`/Tables('${people}')`),                         404, 'ResourceNotFound', lateUnpreferred],
  [get(entity(people, 'p', 'r')),                       404, 'TableNotFound', early],
  [post(`/${people}`, row, noContent),                  404, 'TableNotFound', early],
  // No condition is needed, and none is looked at; neither are preferences, bodies and formats.
  [del(`/Tables('${places.toUpperCase()}')`, { 'If-Match': oldEtag, Prefer: 'return-no-content', Accept: '*/*' }), 204, { 'preference-applied': undefined }],
  [request('DELETE', `/Tables('${things}')`, { body: '', headers: { Accept: 'application/atom+xml' } }), 204],
  [del("/Tables('nobodyhere')", noContent),             404, 'ResourceNotFound', lateUnpreferred],
  [del("/Tables('ab')"),                                400, 'OutOfRangeInput', nameLengthText, early],
  [del("/Tables('a-b')"),                               400, 'InvalidResourceName', early],
  [del("/Tables('$MetricsTransactionsTable')"),         400, 'InvalidResourceName', early],
  [del("/Tables('tables')"),                            400, 'InvalidInput', early],
  [del('/Tables'),                                      405, 'MethodNotAllowed', early],
  [request('POST', "/Tables('abc')", { body: '', headers: { 'X-HTTP-Method': 'DELETE' } }), 404, 'ResourceNotFound'],
])

if (!isRemote) {
  // biome-ignore format: a table reads in columns
  wireTable('Delete Table: the name is free at once, and the rows are gone', [
    [post('/Tables', { TableName: people }, noContent), 204],
    [get(entity(people, 'p', 'r')),                     404, 'ResourceNotFound', lateUnpreferred],
    [post(`/${people}`, row, noContent),                204],
    [del(`/Tables('${people}')`),                       204],
  ])
}

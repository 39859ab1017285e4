import {
  account,
  early,
  get,
  late,
  nameLengthText,
  noContent,
  querySyntaxText,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('People')
const other = people.toUpperCase()
const atLevel = (level: string) => ({ Accept: `application/json;odata=${level}` })
const minimal = `{"odata.metadata":"BASE/$metadata#Tables/@Element","TableName":"${people}"}`

// biome-ignore format: a table reads in columns
wireTable('Get Table', [
  [get(`/Tables('${people}')`), 200, {
    'cache-control': 'no-cache', etag: undefined, location: undefined, 'preference-applied': undefined,
    'content-type': 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8', body: minimal }],
  [get(`/Tables('${people}')`, atLevel('nometadata')),   200, { body: `{"TableName":"${people}"}` }],
  [get(`/Tables('${people}')`, atLevel('fullmetadata')), 200, { body: `{"odata.metadata":"BASE/$metadata#Tables/@Element","odata.type":"${account}.Tables","odata.id":"BASE/Tables('${people}')","odata.editLink":"Tables('${people}')","TableName":"${people}"}` }],
  // A table is found in any case, and shown in the case of its creation.
  [get(`/Tables('${other}')`),                           200, { body: minimal }],
  [get(`/tables('${people}')`),                          200, { body: minimal }],
  [get(`/Tables%28%27${people}%27%29`),                  200, { body: minimal }],
  [get(`/Tables(TableName='${people}')`),                200, { body: minimal }],
  [get(`/Tables('${people}')`, noContent),               200, { 'preference-applied': undefined, body: minimal }],
  [get("/Tables('nobodyhere')"),                         404, 'ResourceNotFound', { ...late, 'preference-applied': undefined }],
  [get("/Tables('$MetricsTransactionsTable')"),          404, 'ResourceNotFound', late],
  [get("/Tables('a')"),                                  400, 'OutOfRangeInput', nameLengthText, early],
  [get(`/Tables('${'a'.repeat(64)}')`),                  400, 'OutOfRangeInput', nameLengthText, early],
  [get("/Tables('a_b')"),                                400, 'InvalidResourceName', early],
  [get("/Tables('$abc')"),                               400, 'InvalidResourceName', early],
  [get("/Tables('tables')"),                             400, 'InvalidInput', early],
  [get("/Tables('abc','abd')"),                          400, 'InvalidInput', querySyntaxText, early],
  [get("/Tables(Name='abc')"),                           400, 'InvalidInput', querySyntaxText, early],
  [get("/Tables('abc'"),                                 400, 'InvalidInput', querySyntaxText, early],
  [get(`/Tables('${people}')`, { Accept: 'application/atom+xml' }), 415, 'AtomFormatNotSupported', early],
  [request('PUT', `/Tables('${people}')`, { body: '{}' }), 405, 'MethodNotAllowed', early],
])

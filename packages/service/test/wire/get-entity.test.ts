import {
  badEtagText,
  early,
  entity,
  get,
  keyCountText,
  late,
  lateUnpreferred,
  noContent,
  oldEtag,
  post,
  put,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', '1')
const body = `{"odata.metadata":"BASE/$metadata#${people}/@Element","odata.etag":"W/\\"datetime'STAMP'\\"","PartitionKey":"p","RowKey":"1","Timestamp":"STAMP","age":39}`
const etagOf = (seen: readonly { header(name: string): string | undefined }[]) => seen[0]?.header('etag')
const both =
  'Both If-Match and If-None-Match HTTP headers cannot be specified at the same time. Please specify either one of the headers or none of them.'

// biome-ignore format: a table reads in columns
wireTable('Get Entity', [
  [post(`/${people}`, { PartitionKey: 'p', RowKey: '1', age: 39 }, noContent), 204],
  [get(one), 200, { 'cache-control': 'no-cache', etag: /^W\//, location: undefined, 'preference-applied': undefined, body }],
  [get(one, noContent),                             200, { 'preference-applied': undefined, body }],
  [get(entity(people, 'p', '2')),                   404, 'ResourceNotFound', lateUnpreferred],
  [get(entity(people, 'P', '1')),                   404, 'ResourceNotFound', late],
  [get(entity('nobodyhere', 'p', '1')),             404, 'TableNotFound', early],
  [get(entity('$MetricsCapacityBlob', 'p', '1')),   404, 'TableNotFound', early],
  [get(`/${people}('1')`),                          400, 'InvalidInput', keyCountText(people), early],
  // The table is found in any case; links repeat the case of the request.
  [get(entity(people.toUpperCase(), 'p', '1')),     200, { body: body.replace(`#${people}/`, `#${people.toUpperCase()}/`) }],
])

// biome-ignore format: a table reads in columns
wireTable('Get Entity: conditions', [
  [get(one), 200],
  [(seen) => get(one, { 'If-None-Match': etagOf(seen) }), 304, { etag: /^W\//, 'cache-control': 'no-cache', 'content-type': undefined, 'content-length': undefined, 'transfer-encoding': undefined }],
  [get(one, { 'If-None-Match': '*' }),              304],
  [get(one, { 'If-None-Match': oldEtag }),          200, { body }],
  [(seen) => get(one, { 'If-Match': etagOf(seen) }), 200, { body }],
  [get(one, { 'If-Match': '*' }),                   200, { body }],
  [get(one, { 'If-Match': oldEtag }),               412, 'ConditionNotMet'],
  [get(one, { 'If-Match': 'W/"wrong"' }),           412, 'ConditionNotMet', early],
  [get(one, { 'If-Match': 'wrong' }),               400, 'InvalidInput', badEtagText('wrong'), early],
  [get(one, { 'If-None-Match': '"strong"' }),       400, 'InvalidInput', badEtagText('"strong"'), early],
  [get(one, { 'If-Match': '*', 'If-None-Match': '*' }), 400, 'InvalidInput', both, early],
  [get(entity(people, 'p', '2'), { 'If-Match': '*' }), 404, 'ResourceNotFound', late],
  [get(entity(people, 'p', '2'), { 'If-None-Match': '*' }), 404, 'ResourceNotFound', late],
])

const json = 'application/json;odata='
const typeOf = (level: string) => ({ 'content-type': `${json}${level};streaming=true;charset=utf-8` })

// biome-ignore format: a table reads in columns
wireTable('Get Entity: formats', [
  [get(one, { Accept: 'application/json' }),                          200, typeOf('minimalmetadata')],
  [get(one, { Accept: `${json}nometadata` }),                         200, typeOf('nometadata')],
  [get(one, { Accept: `${json}minimalmetadata` }),                    200, typeOf('minimalmetadata')],
  [get(one, { Accept: `${json}fullmetadata` }),                       200, typeOf('fullmetadata')],
  [get(one, { Accept: 'application/json; odata=fullmetadata' }),      200, typeOf('fullmetadata')],
  [get(one, { Accept: `${json}nometadata;charset=utf-8` }),           200, typeOf('nometadata')],
  [get(one, { Accept: `${json}nometadata;q=0.5` }),                   200, typeOf('nometadata')],
  [get(one, { Accept: 'APPLICATION/JSON;ODATA=NOMETADATA' }),         200, typeOf('nometadata')],
  [get(one, { Accept: 'text/html,application/json;odata=nometadata' }), 200, typeOf('nometadata')],
  [get(one, { Accept: undefined }),                                   200, typeOf('minimalmetadata')],
  [get(one, { Accept: '' }),                                          200, typeOf('minimalmetadata')],
  [get(one, { Accept: '*/*' }),                                       200, typeOf('minimalmetadata')],
  [get(`${one}?$format=application/json;odata=fullmetadata`, { Accept: `${json}minimalmetadata` }), 200, typeOf('fullmetadata')],
  [get(`${one}?$format=application%2Fjson%3Bodata%3Dnometadata`, { Accept: 'application/atom+xml' }), 200, typeOf('nometadata')],
  [get(`${one}?$format=application/atom%2Bxml`),                      415, 'AtomFormatNotSupported', early],
  [get(one, { Accept: 'application/atom+xml,application/xml' }),      415, 'AtomFormatNotSupported', early],
  [get(one, { Accept: `${json}verbose` }),                            415, 'JsonVerboseFormatNotSupported', early],
  [get(one, { Accept: 'text/html' }),                                 415, 'MediaTypeNotSupported', early],
])

// biome-ignore format: a table reads in columns
wireTable('Get Entity: what others wrote is seen at once', [
  [put(one, { name: 'a' }), 204],
  [get(one, { Accept: `${json}nometadata` }), 200, { body: '{"PartitionKey":"p","RowKey":"1","Timestamp":"STAMP","name":"a"}' }],
  [request('DELETE', one, { headers: { 'If-Match': '*' } }), 204],
  [get(one), 404, 'ResourceNotFound'],
])

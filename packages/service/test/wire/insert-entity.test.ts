import {
  conversionText,
  del,
  early,
  entity,
  get,
  late,
  lateNoContent,
  lateUnpreferred,
  noContent,
  post,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const key = (row: string) => ({ PartitionKey: 'p', RowKey: row })
const atLevel = (level: string) => ({ Accept: `application/json;odata=${level}` })
const link = (row: string) => `BASE${entity(people, 'p', row)}`
const noConditions = 'If-Match or If-None-Match HTTP headers cannot be specified for POST operations.'

// biome-ignore format: a table reads in columns
wireTable('Insert Entity: what comes back', [
  [post(`/${people}`, { ...key('1'), age: 39 }), 201, {
    'cache-control': 'no-cache', etag: /^W\//, location: link('1'), dataserviceid: undefined, 'preference-applied': undefined,
    'content-type': 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
    body: `{"odata.metadata":"BASE/$metadata#${people}/@Element","odata.etag":"W/\\"datetime'STAMP'\\"","PartitionKey":"p","RowKey":"1","Timestamp":"STAMP","age":39}` }],
  [post(`/${people}`, key('2'), { Prefer: 'return-content', ...atLevel('nometadata') }), 201, {
    'preference-applied': 'return-content', location: link('2'), dataserviceid: undefined,
    body: '{"PartitionKey":"p","RowKey":"2","Timestamp":"STAMP"}' }],
  [post(`/${people}()`, key('3'), noContent), 204, {
    'cache-control': 'no-cache', etag: /^W\//, location: link('3'), dataserviceid: link('3'), 'preference-applied': 'return-no-content', body: '' }],
  [post(`/${people}`, key('4'), { Prefer: 'RETURN-NO-CONTENT' }), 204, { 'preference-applied': 'return-no-content' }],
  [post(`/${people}`, key('5'), { Prefer: 'return=minimal' }), 201, { 'preference-applied': undefined }],
  [post(`/${people}`, key('6'), { Prefer: '' }), 201, { 'preference-applied': undefined }],
  [get(entity(people, 'p', '3')), 200],
])

// biome-ignore format: a table reads in columns
wireTable('Insert Entity: refusals', [
  [post(`/${people}`, key('1')),                              409, 'EntityAlreadyExists', lateUnpreferred],
  [post(`/${people}`, key('1'), noContent),                   409, 'EntityAlreadyExists', lateNoContent],
  [post(`/${people}`, key('1'), { Prefer: 'return-content' }), 409, 'EntityAlreadyExists', { ...late, 'preference-applied': 'return-content' }],
  [post('/nobodyhere', key('1'), noContent),                  404, 'TableNotFound', early],
  [post('/nobodyhere', {}),                                   404, 'TableNotFound', early],
  [post('/nobodyhere', '{'),                                  404, 'TableNotFound', early],
  [post(`/${people}`, {}, noContent),                         400, 'PropertiesNeedValue', lateNoContent],
  [post(`/${people}`, { PartitionKey: 'p' }),                 400, 'PropertiesNeedValue', lateUnpreferred],
  [post(`/${people}`, { RowKey: 'p' }),                       400, 'PropertiesNeedValue', late],
  [post(`/${people}`, { PartitionKey: null, RowKey: 'r' }),   400, 'PropertiesNeedValue', late],
  [post(`/${people}`, { partitionkey: 'p', rowkey: 'r' }),    400, 'PropertiesNeedValue', late],
  [post(`/${people}`, { PartitionKey: 1, RowKey: 'r' }),      400, 'InvalidInput', conversionText, early],
  [post(`/${people}`, '{"PartitionKey@odata.type":"Edm.Guid","PartitionKey":"0f8fad5b-d9cb-469f-a165-70867728950e","RowKey":""}'), 400, 'InvalidInput', conversionText, early],
  [post(`/${people}`, '', noContent),                         400, 'InvalidInput', conversionText, early],
  [post(`/${people}`, '"text"'),                              400, 'InvalidInput', conversionText, early],
  [request('POST', `/${people}`),                             411, 'MissingContentLengthHeader'],
  [post(`/${people}`, key('x'), { 'If-Match': '*' }),         400, 'InvalidInput', noConditions, early],
  [post(`/${people}`, key('x'), { 'If-None-Match': '*' }),    400, 'InvalidInput', noConditions, early],
  [post(`/${people}`, key('x'), { Accept: 'application/atom+xml' }), 415, 'AtomFormatNotSupported', early],
  [post(entity(people, 'p', 'x'), key('x')),                  405, 'MethodNotAllowed', early],
  [get(entity(people, 'p', 'x')),                             404, 'ResourceNotFound'],
])

// biome-ignore format: a table reads in columns
wireTable('Insert Entity: a deleted entity comes back under another ETag', [
  [post(`/${people}`, key('again'), noContent),               204],
  [(seen) => del(entity(people, 'p', 'again'), { 'If-Match': seen[0]?.header('etag') }), 204],
  [post(`/${people}`, key('again'), noContent),               204],
  [(seen) => del(entity(people, 'p', 'again'), { 'If-Match': seen[0]?.header('etag') }), 412, 'UpdateConditionNotSatisfied', lateUnpreferred],
  [(seen) => del(entity(people, 'p', 'again'), { 'If-Match': seen[2]?.header('etag') }), 204],
])

// biome-ignore format: a table reads in columns
wireTable('Insert Entity: content types', [
  [post(`/${people}`, key('c1'), { 'Content-Type': 'application/json;odata=nometadata', ...noContent }), 204],
  [post(`/${people}`, key('c2'), { 'Content-Type': 'application/json;odata=minimalmetadata', ...noContent }), 204],
  [post(`/${people}`, key('c3'), { 'Content-Type': 'application/json; odata=fullmetadata; charset=utf-8', ...noContent }), 204],
  [post(`/${people}`, key('c4'), { 'Content-Type': 'Application/JSON;charset=UTF-8', ...noContent }), 204],
  [post(`/${people}`, key('c5'), { 'Content-Type': undefined, ...noContent }), 204],
  [post(`/${people}`, key('c6'), { 'Content-Type': 'application/json;odata=verbose' }), 415, 'JsonVerboseFormatNotSupported', early],
  [post(`/${people}`, key('c6'), { 'Content-Type': 'application/atom+xml;type=entry' }), 415, 'AtomFormatNotSupported', early],
  [post(`/${people}`, key('c6'), { 'Content-Type': 'text/json' }), 415, 'MediaTypeNotSupported', early],
  [post(`/${people}`, key('c6'), { 'Content-Encoding': 'gzip' }), 415, 'MediaTypeNotSupported', early],
  [post(`/${people}`, `\ufeff${JSON.stringify(key('c7'))}`, noContent), 204],
  [post(`/${people}`, Buffer.from('{"PartitionKey":"p","RowKey":"\xff"}', 'latin1')), 400, 'InvalidInput', conversionText, early],
])

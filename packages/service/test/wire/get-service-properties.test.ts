import { del, get, post, put, request, wireTable } from './wire.ts'

const properties = '/?restype=service&comp=properties'
const off =
  '\ufeff<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties><Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging><HourMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics><MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics><Cors /></StorageServiceProperties>'
const invalid = { 'content-type': 'application/xml', 'x-ms-error-code': 'InvalidQueryParameterValue' }

// biome-ignore format: a table reads in columns
wireTable('Get Table Service Properties', [
  [get(properties), 200, { 'content-type': 'application/xml', 'x-ms-version': '2019-02-02', 'cache-control': undefined, etag: undefined, body: off }],
  [get('?restype=service&comp=properties'), 200, { body: off }],
  [get('/?comp=properties&restype=service', { Accept: 'application/json;odata=fullmetadata' }), 200, { body: off }],
  [get('/?ResType=Service&Comp=Properties'), 200, { body: off }],
  [get(`${properties}&timeout=30&$format=json`), 200, { body: off }],
  [{ ...get('/devstoreaccount1-secondary/?restype=service&comp=properties'), wholeTarget: true }, 200, { body: off }],
  [{ ...get(properties), host: 'devstoreaccount1.table.example.org' }, 200, { body: off }],
])

// biome-ignore format: a table reads in columns
wireTable('Get Table Service Properties: what is not an operation', [
  [get('/people?restype=service&comp=properties'), 400, 'InvalidQueryParameterValue', {
    ...invalid, 'x-ms-version': '2019-02-02',
    reason: 'Value for one of the query parameters specified in the request URI is invalid.',
    body: '<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><m:code>InvalidQueryParameterValue</m:code><m:message xml:lang="en-US">Value for one of the query parameters specified in the request URI is invalid.\nRequestId:ID\nTime:TIME</m:message></m:error>' }],
  [get('/Tables?restype=service&comp=properties'),        400, 'InvalidQueryParameterValue', invalid],
  [get('/$batch?restype=service&comp=properties'),        400, 'InvalidQueryParameterValue', invalid],
  [get('/?comp=properties'),                              400, 'InvalidQueryParameterValue', invalid],
  [get('/?restype=service'),                              400, 'InvalidQueryParameterValue', invalid],
  [get('/?restype=account&comp=properties'),              400, 'InvalidQueryParameterValue', invalid],
  [get('/?restype=container&comp=properties'),            400, 'InvalidQueryParameterValue', invalid],
  [post('/?restype=service&comp=userdelegationkey', ''),  400, 'InvalidQueryParameterValue', invalid],
  [post(properties, ''),                                  400, 'InvalidQueryParameterValue', invalid],
  [del(properties),                                       400, 'InvalidQueryParameterValue', invalid],
  [request('HEAD', properties),                           400, invalid],
  [get(`/people(PartitionKey='p',RowKey='r')?comp=properties`), 400, 'InvalidQueryParameterValue', invalid],
  [put(`/people(PartitionKey='p',RowKey='r')?comp=metadata`, {}), 400, 'InvalidQueryParameterValue', invalid],
  [get('/?restype=service&comp=properties&comp=stats'),   400, 'InvalidQueryParameterValue'],
  [get('/?restype=service&restype=service&comp=stats'),   400, 'InvalidQueryParameterValue'],
  [get(properties, {}, { sign: 'nothing' }),              403, 'AuthenticationFailed', { 'content-type': 'application/xml', 'content-length': '419' }],
  [get(properties, { 'x-ms-version': 'yesterday' }),      400, 'InvalidHeaderValue'],
])

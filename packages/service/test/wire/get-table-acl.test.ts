import { del, get, post, put, request, type RequestHeaders, table, wireTable } from './wire.ts'

const people = await table('people')
const acl = `/${people}?comp=acl`
const xml: RequestHeaders = { 'Content-Type': 'application/xml' }
const declaration = '\ufeff<?xml version="1.0" encoding="utf-8"?>'
const none = `${declaration}<SignedIdentifiers />`
const two =
  '<SignedIdentifiers><SignedIdentifier><Id>full</Id><AccessPolicy><Start>2021-06-08T02:10:09.0000000Z</Start><Expiry>2021-06-09T02:10:09.0000000Z</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier><SignedIdentifier><Id>bare</Id></SignedIdentifier></SignedIdentifiers>'

/** Always XML from the front end, with the code in a header. */
const refused = (code: string) => ({
  'content-type': 'application/xml',
  'x-ms-error-code': code,
  'x-ms-version': '2019-02-02',
  'cache-control': undefined,
})

// biome-ignore format: a table reads in columns
wireTable('Get Table ACL: what comes back', [
  [get(acl), 200, {
    'content-type': 'application/xml', 'x-ms-version': '2019-02-02', 'cache-control': undefined,
    'content-length': '62', etag: undefined, body: none }],
  [put(acl, two, xml), 204],
  [get(acl), 200, { body: `${declaration}${two}` }],
  [get(acl, { Accept: 'application/atom+xml' }), 200, { body: `${declaration}${two}` }],
  [get(acl, { Accept: undefined }), 200, { body: `${declaration}${two}` }],
  [get(`/${people}()?comp=acl`), 200, { body: `${declaration}${two}` }],
  [get(`/${people.toUpperCase()}?comp=acl`), 200, { body: `${declaration}${two}` }],
  [get(`/${people}?COMP=ACL`, {}, { sign: 'nothing' }), 403, 'AuthenticationFailed', refused('AuthenticationFailed')],
  [get(`/${people}?COMP=ACL`), 200, { body: `${declaration}${two}` }],
  [get(`/${people}?comp=ACL`), 200, { body: `${declaration}${two}` }],
  [request('HEAD', acl), 200, { 'content-type': 'application/xml', 'content-length': '326', body: '' }],
])

// biome-ignore format: a table reads in columns
wireTable('Get Table ACL: refusals are XML, whatever was asked for', [
  [get('/nobody?comp=acl'),                        404, 'TableNotFound', refused('TableNotFound')],
  [request('HEAD', '/nobody?comp=acl'),            404, { 'x-ms-error-code': 'TableNotFound', body: '' }],
  [get('/x?comp=acl'),                             400, 'OutOfRangeInput', 'The specified resource name length is not within the permissible limits.', refused('OutOfRangeInput')],
  [get('/no-name?comp=acl'),                       400, 'InvalidResourceName', refused('InvalidResourceName')],
  [get(acl, {}, { sign: 'nothing' }),              403, 'AuthenticationFailed', refused('AuthenticationFailed')],
  [get(`/${people}?comp=stats`),                   400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get(`/${people}?comp=`),                        400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get(`/${people}?restype=service&comp=acl`),     400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get(`/${people}?comp=acl&comp=acl`),            400, 'InvalidQueryParameterValue'],
  [get(`/${people}?comp=acl&COMP=stats`),          400, 'InvalidQueryParameterValue'],
  [del(acl),                                       400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [post(acl, two, xml),                            400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get(`/${people}(PartitionKey='p',RowKey='r')?comp=acl`), 400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get('/Tables?comp=acl'),                        400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get("/Tables('people')?comp=acl"),              400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
  [get('/?comp=acl'),                              400, 'InvalidQueryParameterValue', refused('InvalidQueryParameterValue')],
])

// biome-ignore format: the bytes of a refusal, as recorded
wireTable('Get Table ACL: the bytes of a refusal', [
  [get('/nobody?comp=acl', { 'x-ms-client-request-id': 'mine' }), 404, 'TableNotFound', {
    reason: 'The table specified does not exist.',
    'x-ms-client-request-id': 'mine',
    body: '<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><m:code>TableNotFound</m:code><m:message xml:lang="en-US">The table specified does not exist.\nRequestId:ID\nTime:TIME</m:message></m:error>' }],
])

wireTable('Get Table ACL: policies end with their table', [
  [post('/Tables', { TableName: 'passing' }), 201],
  [put('/passing?comp=acl', two, xml), 204],
  [del("/Tables('passing')"), 204],
  [get('/passing?comp=acl'), 404, 'TableNotFound'],
  [post('/Tables', { TableName: 'passing' }), 201],
  [get('/passing?comp=acl'), 200, { body: none }],
  [del("/Tables('passing')"), 204],
])

wireTable('Get Table ACL: the secondary address reads and does not write', [
  [
    {
      ...get('/devstoreaccount1-secondary/people?comp=acl'),
      wholeTarget: true,
    },
    200,
    { body: `${declaration}${two}` },
  ],
  [
    { ...put('/devstoreaccount1-secondary/people?comp=acl', two, xml), wholeTarget: true },
    403,
    'InsufficientAccountPermissions',
    refused('InsufficientAccountPermissions'),
  ],
])

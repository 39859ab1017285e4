import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  badEtagText,
  conversionText,
  del,
  early,
  entity,
  exchange,
  get,
  keyCountText,
  late,
  lateNoContent,
  lateUnpreferred,
  merge,
  nameLengthText,
  noContent,
  oldEtag,
  post,
  put,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', 'r')
const two = entity(people, 'p', 'missing')
await exchange(put(one, {}))
const prefer = noContent
const withEtag = (etag: string) => ({ 'If-Match': etag, ...prefer })
const row = { PartitionKey: 'p', RowKey: 'r' }

// biome-ignore format: a table reads in columns
wireTable('which refusals carry Cache-Control and Preference-Applied', [
  [post('/nobodyhere', row, prefer),                        404, 'TableNotFound', early],
  [put(entity('nobodyhere', 'p', 'r'), {}, prefer),         404, 'TableNotFound', early],
  [post('/a_b', row, prefer),                               400, 'InvalidResourceName', early],
  [post('/ab', row, prefer),                                400, 'OutOfRangeInput', nameLengthText, early],
  [put(`/${people}('x')`, {}, prefer),                      400, 'InvalidInput', keyCountText(people), early],
  [put(one, {}, withEtag('x')),                             400, 'InvalidInput', badEtagText('x'), early],
  [put(one, {}, withEtag('W/"x"')),                         412, 'ConditionNotMet', early],
  [del(one, withEtag('W/"x"')),                             412, 'ConditionNotMet', early],
  [post(`/${people}`, '{"a@odata.type":"Edm.Boolean","a":"x"}', prefer), 400, 'InvalidInput', conversionText, early],
  [post(`/${people}`, {}, prefer),                          400, 'PropertiesNeedValue', lateNoContent],
  [put(one, Object.fromEntries(Array.from({ length: 253 }, (_, i) => [`p${i}`, 1])), prefer), 400, 'TooManyProperties', lateNoContent],
  [put(one, { ['n'.repeat(256)]: 1 }, prefer),              400, 'PropertyNameTooLong', lateNoContent],
  [put(one, { 'a-b': 1 }, prefer),                          400, 'PropertyNameInvalid', lateNoContent],
  [put(one, { a: 'x'.repeat(32_769) }, prefer),             400, 'PropertyValueTooLarge', lateNoContent],
  [post(`/${people}`, row, prefer),                         409, 'EntityAlreadyExists', lateNoContent],
  [post('/Tables', { TableName: people }, prefer),          409, 'TableAlreadyExists', lateNoContent],
  [post('/Tables', { TableName: 'a_b' }, prefer),           400, 'InvalidResourceName', lateNoContent],
  [post('/Tables', { TableName: 'ab' }, prefer),            400, 'OutOfRangeInput', nameLengthText, lateNoContent],
  [get(two, prefer),                                        404, 'ResourceNotFound', lateUnpreferred],
  [put(two, {}, withEtag('*')),                             404, 'ResourceNotFound', lateNoContent],
  [merge(two, {}, withEtag('*')),                           404, 'ResourceNotFound', lateNoContent],
  [del(two, withEtag('*')),                                 404, 'ResourceNotFound', lateUnpreferred],
  [put(one, {}, withEtag(oldEtag)),                         412, 'UpdateConditionNotSatisfied', lateNoContent],
  [merge(one, {}, withEtag(oldEtag)),                       412, 'UpdateConditionNotSatisfied', lateNoContent],
  [del(one, withEtag(oldEtag)),                             412, 'UpdateConditionNotSatisfied', lateUnpreferred],
  [del("/Tables('nobodyhere')", prefer),                    404, 'ResourceNotFound', lateUnpreferred],
])

const json = (code: string, text: string) =>
  `{"odata.error":{"code":"${code}","message":{"lang":"en-US","value":"${text}\\nRequestId:ID\\nTime:TIME"}}}`
const missing = json('ResourceNotFound', 'The specified resource does not exist.')
const namespace = 'http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'
const xml = (code: string, text: string) =>
  `<?xml version="1.0" encoding="utf-8"?><error xmlns="${namespace}"><code>${code}</code><message xml:lang="en-US">${text}\nRequestId:ID\nTime:TIME</message></error>`
const accepts = (Accept: string | undefined) => ({ Accept })
const typed = (level: string) => `application/json;odata=${level};streaming=true;charset=utf-8`
const asXml = {
  'content-type': 'application/xml;charset=utf-8',
  body: xml('ResourceNotFound', 'The specified resource does not exist.'),
  'x-ms-error-code': undefined,
}

// biome-ignore format: a table reads in columns
wireTable('bodies of the table layer', [
  [get(two, accepts('application/json')),                       404, { body: missing, 'content-type': typed('minimalmetadata'), 'x-ms-error-code': undefined }],
  [get(two, accepts('application/json;odata=nometadata')),      404, { body: missing, 'content-type': typed('nometadata') }],
  [get(two, accepts('application/json;odata=minimalmetadata')), 404, { body: missing, 'content-type': typed('minimalmetadata') }],
  [get(two, accepts('application/json;odata=fullmetadata')),    404, { body: missing, 'content-type': typed('fullmetadata') }],
  [get(`${two}?$format=application/json;odata=fullmetadata`, accepts('application/xml')), 404, { body: missing, 'content-type': typed('fullmetadata') }],
  [get(two, accepts(undefined)),                                404, asXml],
  [get(two, accepts('*/*')),                                    404, asXml],
  [del(two, { Accept: 'application/atom+xml', 'If-Match': '*' }), 404, asXml],
  [post(`/${people}`, { PartitionKey: 'a<b>&?', RowKey: '' }, { ...accepts('application/atom+xml'), ...prefer }), 400, { 'content-type': 'application/xml;charset=utf-8', body: xml('OutOfRangeInput', "The 'PartitionKey' parameter of value 'a&lt;b&gt;&amp;?' is out of range.") }],
  [post(`/${people}`, { PartitionKey: 'a"\n', RowKey: '' }),    400, { body: json('OutOfRangeInput', "The 'PartitionKey' parameter of value 'a\\\"\\n' is out of range.") }],
  // What XML cannot carry is shown as the replacement character.
  [post(`/${people}`, { PartitionKey: '\u0000\u001f\ufffe', RowKey: '' }, { ...accepts('application/atom+xml'), ...prefer }), 400, { body: xml('OutOfRangeInput', "The 'PartitionKey' parameter of value '\ufffd\ufffd\ufffd' is out of range.") }],
])

const failedText =
  'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.'
const failed = {
  reason: failedText,
  'x-ms-error-code': 'AuthenticationFailed',
  'cache-control': undefined,
  'transfer-encoding': undefined,
}
const unsigned = { Authorization: undefined }
const failedXml = {
  ...failed,
  'content-type': 'application/xml',
  'content-length': '419',
  body: `<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="${namespace}"><m:code>AuthenticationFailed</m:code><m:message xml:lang="en-US">${failedText}\nRequestId:ID\nTime:TIME</m:message></m:error>`,
}

// biome-ignore format: a table reads in columns
wireTable('bodies of the front end', [
  [get('/Tables', unsigned), 403, { ...failed, 'content-type': 'application/json', 'content-length': '299', body: json('AuthenticationFailed', failedText) }],
  [get('/Tables', { ...unsigned, Accept: 'application/json;odata=fullmetadata' }), 403, { ...failed, 'content-type': 'application/json', 'content-length': '299' }],
  [get('/Tables', { ...unsigned, Accept: 'application/xml' }), 403, failedXml],
  [get('/Tables', { ...unsigned, Accept: undefined }),      403, failedXml],
  [get('/Tables', { ...unsigned, 'x-ms-version': '2017-07-29' }), 403, failed],
  [get('/Tables', { ...unsigned, 'x-ms-version': '2017-04-17' }), 403, { ...failed, 'x-ms-error-code': undefined }],
  [get('/%2', {}, { wholeTarget: true, host: 'x' }),        400, 'InvalidUri', { reason: 'The requested URI does not represent any resource on the server.', 'x-ms-error-code': 'InvalidUri' }],
  [post(`/${people}`, row, { 'Content-MD5': 'AAAAAAAAAAAAAAAAAAAAAA==' }), 400, 'Md5Mismatch'],
  [post(`/${people}`, '{}', { 'Content-MD5': 'mZFLkyvTelC5g8XnyQrpOw==' }), 400, 'PropertiesNeedValue', late],
])

it('the time in an error is the time of the answer', async () => {
  const answer = await exchange(get(two))
  const time = /Time:([^"]*)"/.exec(answer.text)?.[1] ?? ''
  assert.ok(Math.abs(Date.parse(time) - Date.parse(answer.header('date') ?? '')) < 5_000)
})

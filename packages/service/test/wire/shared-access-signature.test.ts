/** Requests that carry a shared access signature, as they go over the wire. */
import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  account,
  early,
  endpoint,
  entity,
  exchange,
  get,
  late,
  masked,
  patch,
  post,
  put,
  type Request,
  type Row,
  sign,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const others = await table('others')
for (const row of ['1', '2', '3']) await exchange(put(entity(people, 'p', row), { A: 1 }))

interface Token {
  readonly [name: string]: string
}

/** Signed as the protocol says, for one table. */
function tableToken(fields: Token): string {
  const all: Token = { sv: '2019-02-02', tn: people, se: '2035-01-01', ...fields }
  const names = ['sp', 'st', 'se', '', 'si', 'sip', 'spr', 'sv', 'spk', 'srk', 'epk', 'erk']
  const resource = `/table/${account}/${people.toLowerCase()}`
  return signed(all, names.map((name) => (name === '' ? resource : (all[name] ?? ''))).join('\n'))
}

function accountToken(fields: Token): string {
  const all: Token = { sv: '2019-02-02', ss: 't', srt: 'sco', se: '2035-01-01', ...fields }
  const names = ['sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv']
  return signed(all, [account, ...names.map((name) => all[name] ?? ''), ''].join('\n'))
}

function signed(fields: Token, text: string): string {
  return new URLSearchParams({ ...fields, sig: sign(endpoint.key, text) }).toString()
}

function withToken(sent: Request, token: string): Request {
  const path = `${sent.path}${sent.path.includes('?') ? '&' : '?'}${token}`
  return { ...sent, path, sign: 'nothing', headers: { 'x-ms-date': undefined, ...sent.headers } }
}

const xml = { Accept: 'application/xml' }
const front = { 'content-type': 'application/json', 'x-ms-error-code': /^Auth/ } as const
const frontXml = { 'content-type': 'application/xml', 'x-ms-error-code': /^Auth/ } as const
const behindXml = { 'content-type': 'application/xml;charset=utf-8', 'cache-control': 'no-cache' } as const
const reader = tableToken({ sp: 'r' })
const writer = tableToken({ sp: 'raud' })
const ranged = tableToken({ sp: 'raud', spk: 'p', srk: '2', epk: 'p', erk: '2' })
const any = { 'If-Match': '*' }
const list = get(`/${people}()`)
const one = get(entity(people, 'p', '1'))

/** Once as JSON, once as XML: in front of the table layer, or behind it. */
function both(sent: Request, code: string, where: 'front' | 'behind'): Row[] {
  const asXml = { ...sent, headers: { ...sent.headers, ...xml } }
  return [
    [sent, 403, code, where === 'front' ? front : late],
    [asXml, 403, code, where === 'front' ? frontXml : behindXml],
  ]
}

// biome-ignore format: a table reads in columns
wireTable('Service SAS', [
  [withToken(list, reader),                                        200, { 'x-ms-version': '2019-02-02' }],
  [withToken(one, reader),                                         200],
  [withToken({ ...list, headers: { 'x-ms-version': undefined } }, reader), 200, { 'x-ms-version': '2019-02-02' }],
  [withToken({ ...list, headers: { 'x-ms-version': '2020-12-06' } }, reader), 200, { 'x-ms-version': '2020-12-06' }],
  [withToken(post(`/${people}`, { PartitionKey: 'p', RowKey: '4' }), writer), 201],
  [withToken(patch(entity(people, 'p', '4'), { B: 2 }, any), tableToken({ sp: 'u' })), 204],
  [withToken(put(entity(people, 'p', '5'), {}), tableToken({ sp: 'au' })), 204],
  [withToken({ method: 'DELETE', path: entity(people, 'p', '5'), headers: any }, tableToken({ sp: 'd' })), 204],
  [withToken(post(entity(people, 'p', '4'), {}, { ...any, 'X-HTTP-Method': 'DELETE' }), tableToken({ sp: 'd' })), 204],
  ...both(withToken(put(entity(people, 'p', '1'), {}), reader),    'AuthorizationPermissionMismatch', 'behind'),
  ...both(withToken(get('/Tables'), writer),                       'AuthorizationFailure', 'behind'),
  ...both(withToken(post('/Tables', { TableName: 'abc' }), writer), 'AuthorizationFailure', 'behind'),
  ...both(withToken(get(`/${others}()`), writer),                  'AuthenticationFailed', 'behind'),
  ...both(withToken(list, `${reader}x`),                           'AuthenticationFailed', 'front'),
  ...both(withToken(list, tableToken({ sp: 'r', se: '2020-01-01' })), 'AuthenticationFailed', 'front'),
  ...both(withToken(list, reader.replace('sp=r', 'sp=raud')),      'AuthenticationFailed', 'front'),
  ...both(withToken(list, tableToken({ sp: 'r', spr: 'https' })),  'AuthorizationProtocolMismatch', 'front'),
  [withToken(list, `${reader}&sp=r`),                              400, 'InvalidQueryParameterValue'],
  [withToken(list, `${reader}&Sp=r`),                              400, 'InvalidQueryParameterValue'],
])

// biome-ignore format: a table reads in columns
wireTable('Service SAS: a range of keys', [
  [withToken(get(`/${people}()?$select=RowKey`, { Accept: 'application/json;odata=nometadata' }), ranged), 200, { body: '{"value":[{"RowKey":"2"}]}' }],
  [withToken(get(entity(people, 'p', '2')), ranged),               200],
  [withToken(one, ranged),                                         404, 'ResourceNotFound', late],
  [withToken({ ...one, headers: { 'If-Match': '*' } }, ranged),    404, 'ResourceNotFound', late],
  ...both(withToken(post(`/${people}`, { PartitionKey: 'p', RowKey: '1' }, { Prefer: 'return-no-content' }), ranged), 'AuthorizationFailure', 'behind'),
  ...both(withToken(put(entity(people, 'p', '1'), {}), ranged),    'AuthorizationFailure', 'behind'),
  ...both(withToken(put(entity(people, 'p', '9'), {}, any), ranged), 'AuthorizationFailure', 'behind'),
  [withToken({ method: 'DELETE', path: entity(people, 'p', '9'), headers: any }, ranged), 403, 'AuthorizationFailure', late],
  [withToken(post(`/${people}`, '{'), ranged),                     400, 'InvalidInput', 'An error occurred while processing this request.', early],
])

it('what lies outside a range looks exactly as what is not there', async () => {
  const outside = await exchange(withToken(one, ranged))
  const absent = await exchange(withToken(get(entity(people, 'p', '7')), reader))
  assert.equal(masked(outside.head), masked(absent.head))
  assert.equal(masked(outside.text), masked(absent.text))
})

// biome-ignore format: a table reads in columns
wireTable('Account SAS', [
  [withToken(get('/Tables'), accountToken({ sp: 'l' })),           200],
  [withToken(list, accountToken({ sp: 'r' })),                     200],
  [withToken(post('/Tables', { TableName: 'made' }, { Prefer: 'return-no-content' }), accountToken({ sp: 'w' })), 204],
  [withToken({ method: 'DELETE', path: "/Tables('made')" }, accountToken({ sp: 'd' })), 204],
  ...both(withToken(post('/Tables', { TableName: 'made' }), accountToken({ sp: 'd' })), 'AuthorizationPermissionMismatch', 'behind'),
  ...both(withToken(post('/Tables', { TableName: 'made' }), accountToken({ sp: 'rwdlacu', srt: 's' })), 'AuthorizationResourceTypeMismatch', 'behind'),
  ...both(withToken(get('/Tables'), accountToken({ sp: 'l', ss: 'b' })), 'AuthorizationServiceMismatch', 'front'),
  ...both(withToken(get('/Tables'), accountToken({ sp: 'l', spr: 'https' })), 'AuthorizationProtocolMismatch', 'front'),
  [withToken(get('/Tables'), accountToken({ sp: 'l', sip: '10.0.0.1' })), 403, 'AuthorizationSourceIPMismatch', 'This request is not authorized to perform this operation using this source IP 127.0.0.1.', front],
])

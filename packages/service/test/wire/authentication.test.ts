import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import {
  account,
  endpoint,
  entity,
  exchange,
  get,
  isRemote,
  masked,
  post,
  put,
  type Request,
  type RequestOptions,
  request,
  sign,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, "O'Neil & Co", '日本')
const signed = (sent: Request, scheme: RequestOptions['sign']): Request => ({
  ...sent,
  sign: scheme ?? 'SharedKey',
})
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toUTCString()
const dated = (date: string | undefined, headers = {}) => get('/Tables', { 'x-ms-date': date, ...headers })
const authorized = (Authorization: string | readonly string[] | undefined) =>
  get('/Tables', { Authorization })
const front = { 'cache-control': undefined, 'content-type': 'application/json' }

// biome-ignore format: a table reads in columns
wireTable('both schemes, on every method', [
  [signed(put(one, {}), 'SharedKey'),                    204],
  [signed(put(one, {}), 'SharedKeyLite'),                204],
  [signed(get(one), 'SharedKey'),                        200],
  [signed(get(one), 'SharedKeyLite'),                    200],
  [signed(get('/Tables?$top=1&timeout=30'), 'SharedKey'), 200],
  [signed(get('/Tables?$top=1&timeout=30'), 'SharedKeyLite'), 200],
  [signed(get('/'), 'SharedKeyLite'),                    200],
  [signed(put(one, {}, { 'Content-Type': 'application/json; odata=nometadata;  charset=utf-8' }), 'SharedKey'), 204],
  [signed(put(one, {}, { 'Content-MD5': 'mZFLkyvTelC5g8XnyQrpOw==' }), 'SharedKey'), 204],
  [signed(post(one, {}, { 'X-HTTP-Method': 'MERGE' }), 'SharedKey'), 204],
  [signed(request('DELETE', one, { headers: { 'If-Match': '*' } }), 'SharedKeyLite'), 204],
])

// biome-ignore format: a table reads in columns
wireTable('dates', [
  [dated(minutesFromNow(-14)),                           200],
  [dated(minutesFromNow(14)),                            200],
  [dated(minutesFromNow(-16)),                           403, 'AuthenticationFailed', front],
  [dated(minutesFromNow(16)),                            403, 'AuthenticationFailed', front],
  [dated(undefined, { Date: minutesFromNow(0) }),        200],
  [dated(undefined, { Date: minutesFromNow(-16) }),      403, 'AuthenticationFailed', front],
  [dated(minutesFromNow(0), { Date: minutesFromNow(-60) }), 200],
  [dated(minutesFromNow(-60), { Date: minutesFromNow(0) }), 403, 'AuthenticationFailed', front],
  [dated(undefined),                                     403, 'AuthenticationFailed', front],
  [dated(new Date().toISOString()),                      403, 'AuthenticationFailed', front],
])

const anySignature = sign(endpoint.key, 'anything')

// biome-ignore format: a table reads in columns
wireTable('credentials that prove nothing', [
  [authorized(undefined),                                403, 'AuthenticationFailed', front],
  [authorized(`SharedKey ${account}:${anySignature}`),   403, 'AuthenticationFailed', front],
  [authorized(`SharedKeyLite ${account}:${anySignature}`), 403, 'AuthenticationFailed', front],
  [authorized(`SharedKey other:${anySignature}`),        403, 'AuthenticationFailed', front],
  [authorized(`SharedKey ${account}${anySignature}`),    400, 'InvalidAuthenticationInfo', front],
  [authorized(`SharedKey ${account}:AAAA`),              400, 'InvalidAuthenticationInfo', front],
  [authorized('SharedKey'),                              400, 'InvalidAuthenticationInfo', front],
  [authorized(''),                                       400, 'InvalidAuthenticationInfo', front],
  [authorized('Basic dXNlcjpwYXNz'),                     400, 'InvalidAuthenticationInfo', front],
  [authorized([`SharedKey ${account}:${anySignature}`, 'Basic x']), 400, 'InvalidHeaderValue'],
  [get('/Tables', { Authorization: undefined, 'x-ms-version': '2020-12-06' }), 403, 'AuthenticationFailed', front],
  // Nothing is looked at before the credential: neither table, nor name, nor method, nor body.
  [{ ...get(entity('nobodyhere', 'p', 'r')), sign: 'nothing' }, 403, 'AuthenticationFailed', front],
  [{ ...get(entity('a_b', 'p', 'r')), sign: 'nothing' },  403, 'AuthenticationFailed', front],
  [{ ...post(`/${people}`, 'not json'), sign: 'nothing' }, 403, 'AuthenticationFailed', front],
  [{ ...request('TRACE', '/'), sign: 'nothing' },         403, 'AuthenticationFailed', front],
])

it('a refusal does not tell which accounts exist', async () => {
  const answers = await Promise.all(
    [
      get('/Tables', { Authorization: `SharedKey ${account}:${anySignature}` }),
      get('/Tables', { Authorization: undefined }),
      get(
        '/nobody/Tables',
        { Authorization: `SharedKey nobody:${anySignature}` },
        { wholeTarget: !isRemote },
      ),
      get('/nobody/Tables', { Authorization: undefined }, { wholeTarget: !isRemote }),
    ].map((sent) => exchange(sent)),
  )
  const shown = answers.map((answer) => masked(`${answer.head}\n${answer.text}`))
  assert.equal(new Set(shown).size, 1, shown.join('\n\n'))
  assert.ok(answers.every((answer) => answer.status === 403))
})

it('a large body behind a bad credential does not hide the refusal', async () => {
  for (let i = 0; i < 5; i++) {
    const sent = post(`/${people}`, Buffer.alloc(4_000_000, ' '), { Authorization: undefined })
    const answer = await exchange(sent)
    assert.equal(answer.status, 403)
  }
})

if (!isRemote) {
  const host = endpoint.url.host
  const lite = (path: string, signedPath: string): Request => {
    const now = new Date().toUTCString()
    const Authorization = `SharedKeyLite ${account}:${sign(endpoint.key, `${now}\n/${account}${signedPath}`)}`
    return get(path, { Authorization, 'x-ms-date': now, Host: host }, { wholeTarget: true })
  }
  // biome-ignore format: a table reads in columns
  wireTable('what is signed is the path as sent', [
    [lite(`/${account}/Tables`, `/${account}/Tables`),            200],
    [lite(`/${account}/T%61bles`, `/${account}/T%61bles`),        200],
    [lite(`/${account}/T%61bles`, `/${account}/Tables`),          403, 'AuthenticationFailed'],
    [lite(`/${account}/Tables`, `/${account}/T%61bles`),          403, 'AuthenticationFailed'],
    [lite(`/${account}/Tables`, '/Tables'),                       403, 'AuthenticationFailed'],
    [lite(`/${account}`, `/${account}`),                          200],
    [lite(`/${account}/`, `/${account}/`),                        200],
    [lite(`/${account}/`, `/${account}`),                         403, 'AuthenticationFailed'],
    // The secondary is signed with its suffix by some clients and without it by others.
    [lite(`/${account}-secondary/Tables`, `/${account}-secondary/Tables`), 200],
    [lite(`/${account}-secondary/Tables`, `/${account}/Tables`),  200],
    [lite(`/${account}/Tables`, `/${account}-secondary/Tables`),  403, 'AuthenticationFailed'],
    [lite(`/${account}-secondary-secondary/Tables`, `/${account}-secondary-secondary/Tables`), 400, 'InvalidUri'],
    // An account is compared as it stands.
    [lite(`/%64evstoreaccount1/Tables`, `/%64evstoreaccount1/Tables`), 400, 'InvalidUri'],
    [lite(`/${account.toUpperCase()}/Tables`, `/${account.toUpperCase()}/Tables`), 403, 'AuthenticationFailed'],
  ])
}

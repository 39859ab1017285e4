/** Bearer tokens against an issuer that is really there: it serves its keys over HTTP and signs as told. */
import { strict as assert } from 'node:assert'
import { createHmac } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import * as jose from 'jose'
import { type BearerSettings, openBearer, parseAssignments } from '../../src/auth/bearer.ts'
import { fetchJson } from '../../src/auth/issuer-keys.ts'
import { type InProcess, openInProcess, type Sent, vectorsMadeAt } from './without-socket.ts'

const tenant = '3f2c9a54-11aa-4b1e-9c55-0123456789ab'
const now = Math.floor(Date.parse(vectorsMadeAt) / 1000)
const challenge = (origin: string) =>
  `Bearer authorization_uri=${origin}/${tenant}/oauth2/authorize resource_id=https://storage.azure.com`

const issuer = await openIssuer()
after(() => issuer.close())

const assignments = [
  ...parseAssignments('reader', 'Storage Table Data Reader, group:readers, role:Elsewhere@otheraccount'),
  ...parseAssignments('contributor', 'Storage Table Data Contributor,subject:the-owner@devstoreaccount1'),
]
const settings: BearerSettings = { kind: 'issuer', issuer: issuer.url, assignments }

describe('bearer tokens', () => {
  let service: InProcess
  before(async () => {
    service = await serviceWith(settings)
  })

  const read: Sent = { path: '/people()', headers: { 'x-ms-version': '2020-12-06' } }
  const outcome = async (token: string, sent: Sent = read) => {
    const headers = { ...sent.headers, Authorization: `Bearer ${token}` }
    const { status, code } = await service.send({ ...sent, headers })
    return code === undefined ? `${status}` : `${status} ${code}`
  }
  const refused = '401 InvalidAuthenticationInfo'

  it('are accepted from the issuer, for the audience, while they last', async () => {
    for (const claims of [
      {},
      { aud: 'https://storage.azure.com/' },
      { aud: ['elsewhere', 'e406a681-f3d4-42a8-90b6-c2b029497af1'] },
      { exp: now + 1 },
      { exp: now - 59 },
      { nbf: now + 60 },
      { nbf: now },
    ]) {
      assert.equal(await outcome(await issuer.sign(claims)), '200', JSON.stringify(claims))
    }
  })

  // biome-ignore format: a table reads in columns
  const wrong: readonly [what: string, claims: Record<string, unknown>][] = [
    ['expired',                        { exp: now - 61 }],
    ['not valid yet',                  { nbf: now + 61 }],
    ['for ever',                       { exp: undefined }],
    ['for another audience',           { aud: 'https://vault.azure.net' }],
    ['for an audience that begins like ours', { aud: 'https://storage.azure.com.example.org' }],
    ['for an audience with two slashes', { aud: 'https://storage.azure.com//' }],
    ['for nobody',                     { aud: undefined }],
    ['of another issuer',              { iss: 'https://login.example.org' }],
    ['of the issuer with a slash more', { iss: `${issuer.url}/` }],
    ['of no issuer',                   { iss: undefined }],
    ['with a time that is text',       { exp: `${now + 600}` }],
  ]
  for (const [what, claims] of wrong) {
    it(`are refused when ${what}`, async () =>
      assert.equal(await outcome(await issuer.sign(claims)), refused))
  }

  it('are refused when forged', async () => {
    const token = await issuer.sign({})
    const [header = '', payload = '', signature = ''] = token.split('.')
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    const stranger = await jose.generateKeyPair('RS256')
    // The classic: the public key, which everybody has, used as the secret of an HMAC.
    const hs256 = Buffer.from(`{"alg":"HS256","kid":"${issuer.kid()}"}`).toString('base64url')
    const mac = createHmac('sha256', await issuer.publicPem())
      .update(`${hs256}.${payload}`)
      .digest('base64url')
    const embedded = { jwk: await jose.exportJWK(stranger.publicKey), jku: 'https://example.org/keys' }
    const forged: Record<string, string> = {
      'alg none': `${none}.${payload}.`,
      'alg none, signature kept': `${none}.${payload}.${signature}`,
      'HS256 with the public key': `${hs256}.${payload}.${mac}`,
      'another payload': `${header}.${Buffer.from('{"sub":"me"}').toString('base64url')}.${signature}`,
      'a stranger under a known key id': await issuer.sign({}, { key: stranger.privateKey }),
      'a stranger under its own key id': await issuer.sign({}, { key: stranger.privateKey, kid: 'mine' }),
      'a key inside the token': await issuer.sign({}, { key: stranger.privateKey, header: embedded }),
      'critical extensions': await issuer.sign({}, { header: { crit: ['exp'] } }),
      'half a token': `${header}.${payload}`,
      'five parts': `${token}.x.y`,
      nonsense: 'nonsense',
      'not base64': `${header}!.${payload}.${signature}`,
      'too long': await issuer.sign({ filler: 'x'.repeat(16_384) }),
    }
    for (const [what, forgery] of Object.entries(forged)) assert.equal(await outcome(forgery), refused, what)
    assert.equal(await outcome(token), '200')
  })

  it('allow what their role allows', async () => {
    const reader = await issuer.sign({ roles: ['Storage Table Data Reader'] })
    const contributor = await issuer.sign({
      roles: ['Storage Table Data Contributor', 'Storage Table Data Reader'],
    })
    const nobody = await issuer.sign({ roles: ['Unknown', 'Elsewhere'] })
    const headers = { 'x-ms-version': '2020-12-06' }
    const path = "/people(PartitionKey='p',RowKey='r')"
    const body = '{}'
    // biome-ignore format: a table reads in columns
    const rows: readonly [sent: Sent, reader: boolean][] = [
      [{ path: '/Tables' }, true],
      [{ path: "/Tables('people')" }, true],
      [{ path: '/people()' }, true],
      [{ method: 'POST', path: '/Tables', body: '{"TableName":"more"}' }, false],
      [{ method: 'DELETE', path: "/Tables('more')" }, false],
      [{ method: 'PUT', path, body }, false],
      [{ path }, true],
      [{ method: 'MERGE', path, body, headers: { 'If-Match': '*' } }, false],
      [{ method: 'DELETE', path, headers: { 'If-Match': '*' } }, false],
      [{ method: 'POST', path: '/people', body: '{"PartitionKey":"p","RowKey":"r"}' }, false],
    ]
    for (const [sent, readable] of rows) {
      const versioned = { ...sent, headers: { ...sent.headers, ...headers } }
      const told = `${sent.method ?? 'GET'} ${sent.path}`
      assert.match(await outcome(contributor, versioned), /^20/, told)
      const denied = '403 AuthorizationPermissionMismatch'
      if (readable) assert.match(await outcome(reader, versioned), /^200/, told)
      else assert.equal(await outcome(reader, versioned), denied, told)
      assert.equal(await outcome(nobody, versioned), denied, told)
    }
  })

  it('take roles from roles, groups and subjects, each from its own claim', async () => {
    const rows: readonly [claims: Record<string, unknown>, expected: string][] = [
      [{ roles: 'Storage Table Data Reader' }, '200'],
      [{ roles: [], groups: ['readers'] }, '200'],
      [{ roles: ['readers'] }, '403 AuthorizationPermissionMismatch'],
      [{ roles: [], oid: 'the-owner', sub: 'x' }, '200'],
      [{ roles: [], sub: 'the-owner' }, '200'],
      [{ roles: [], oid: 'x', sub: 'the-owner' }, '403 AuthorizationPermissionMismatch'],
      [{ roles: { 'Storage Table Data Reader': true } }, '403 AuthorizationPermissionMismatch'],
      [{ roles: undefined }, '403 AuthorizationPermissionMismatch'],
    ]
    for (const [claims, expected] of rows) {
      assert.equal(await outcome(await issuer.sign(claims)), expected, JSON.stringify(claims))
    }
  })

  it('are worth nothing in clear text, except on this machine', async () => {
    const token = await issuer.sign({})
    assert.equal(await outcome(token, { ...read, peer: '192.0.2.1' }), '403 AuthenticationFailed')
    assert.equal(await outcome(token, { ...read, peer: '192.0.2.1', secure: true }), '200')
    assert.equal(await outcome(token, { ...read, peer: '::1' }), '200')
    assert.equal(await outcome(token, { ...read, peer: '::ffff:127.0.0.1' }), '200')
  })

  it('are challenged as clients expect, and only those that know how', async () => {
    const bad = {
      ...read,
      headers: { ...read.headers, Authorization: 'Bearer x.y.z', Accept: 'application/xml' },
    }
    const refusal = await service.send(bad)
    assert.deepEqual([refusal.status, refusal.code], [401, 'InvalidAuthenticationInfo'])
    assert.equal(refusal.header('WWW-Authenticate'), challenge(issuer.origin))
    assert.equal(Buffer.byteLength(refusal.text), 399)
    const anonymous = await service.send(read)
    assert.deepEqual([anonymous.status, anonymous.code], [401, 'NoAuthenticationInformation'])
    assert.equal(anonymous.header('WWW-Authenticate'), challenge(issuer.origin))
    assert.equal(anonymous.header('Content-Type'), 'application/json')
    assert.equal(Buffer.byteLength(anonymous.text), 281)
    for (const sent of [bad, read]) {
      const older = await service.send({
        ...sent,
        headers: { ...sent.headers, 'x-ms-version': '2019-07-07' },
      })
      assert.deepEqual([older.status, older.code], [403, 'AuthenticationFailed'])
      assert.equal(older.masked.includes('WWW-Authenticate'), false)
    }
    assert.equal(
      (await service.send({ ...read, headers: { ...read.headers, Authorization: 'Bearer' } })).status,
      400,
    )
  })

  it('are worth nothing where no issuer is configured', async () => {
    const without = openInProcess()
    const headers = { 'x-ms-version': '2020-12-06', Authorization: `Bearer ${await issuer.sign({})}` }
    const answered = await without.send({ path: '/people()', headers })
    assert.deepEqual([answered.status, answered.code], [403, 'AuthenticationFailed'])
  })

  it('do not tell unknown accounts from those without a role', async () => {
    const empty = await serviceWith(settings, new Map())
    const headers = { 'x-ms-version': '2020-12-06', Authorization: `Bearer ${await issuer.sign({})}` }
    const answered = await empty.send({ path: '/people()', headers })
    assert.deepEqual([answered.status, answered.code], [403, 'AuthorizationPermissionMismatch'])
  })
})

describe("an issuer's keys", () => {
  let service: InProcess
  beforeEach(async () => {
    issuer.fail(false)
    service = await serviceWith(settings)
  })
  const accepts = async (token: string) => {
    const headers = { 'x-ms-version': '2020-12-06', Authorization: `Bearer ${token}` }
    return (await service.send({ path: '/people()', headers })).status === 200
  }
  const long = { exp: now + 7 * 24 * 3600 }

  it('may be replaced: a new key is looked for, once a minute at most', async () => {
    assert(await accepts(await issuer.sign({})))
    await issuer.rotate()
    const fetched = issuer.fetches()
    const token = await issuer.sign({})
    for (let i = 0; i < 5; i++) assert.equal(await accepts(token), false)
    assert.equal(issuer.fetches(), fetched)
    service.at('2025-01-15T08:31:00Z')
    assert(await accepts(token))
    assert.equal(issuer.fetches(), fetched + 1)
  })

  it('are asked for once, however many tokens wait', async () => {
    const fetched = issuer.fetches()
    const token = await issuer.sign({})
    assert.deepEqual(await Promise.all([accepts(token), accepts(token), accepts(token)]), [true, true, true])
    assert.equal(issuer.fetches(), fetched + 1)
  })

  it('are not asked for by tokens of an algorithm that is not allowed', async () => {
    const [fetched, [, payload, signature]] = [issuer.fetches(), (await issuer.sign({})).split('.')]
    for (const alg of ['none', 'HS256', 'RS1', '']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: issuer.kid() })).toString('base64url')
      assert.equal(await accepts(`${header}.${payload}.${signature}`), false)
    }
    assert.equal(issuer.fetches(), fetched)
  })

  it('are forgotten when the issuer withdraws them', async () => {
    const token = await issuer.sign(long)
    assert(await accepts(token))
    await issuer.rotate()
    service.at('2025-01-15T08:39:59Z')
    assert(await accepts(token))
    service.at('2025-01-15T08:40:01Z')
    assert.equal(await accepts(token), false)
  })

  it('serve for a day when the issuer is silent', async () => {
    const token = await issuer.sign(long)
    assert(await accepts(token))
    issuer.fail(true)
    service.at('2025-01-15T09:30:00Z')
    assert(await accepts(token))
    service.at('2025-01-16T08:29:59Z')
    assert(await accepts(token))
    service.at('2025-01-16T08:30:00Z')
    assert.equal(await accepts(token), false)
    issuer.fail(false)
    service.at('2025-01-16T08:31:00Z')
    assert(await accepts(token))
  })

  it('are not taken from whoever calls himself something else', async () => {
    const token = await issuer.sign({})
    issuer.fail('another name')
    assert.equal(await accepts(token), false)
  })

  it('are not fetched in clear text from another machine', async () => {
    for (const address of [
      'http://login.example.org',
      'http://127.0.0.1.example.org',
      'ftp://127.0.0.1',
      'nonsense',
    ]) {
      await assert.rejects(
        openBearer({ kind: 'issuer', issuer: address, assignments: [] }, service.context.clock, fetchJson),
        /https is needed/,
      )
    }
  })
})

describe('accept-any', () => {
  it('believes every token whose claims look right, on this machine or over TLS', async () => {
    const service = await serviceWith({ kind: 'accept-any' })
    const unsigned = (claims: object) =>
      ['{"alg":"none"}', JSON.stringify(claims)]
        .map((part) => Buffer.from(part).toString('base64url'))
        .join('.')
        .concat('.x')
    const good = { aud: 'https://storage.azure.com', iat: now, nbf: now, exp: now + 60 }
    const outcome = async (claims: object, sent: Partial<Sent> = {}) => {
      const headers = { 'x-ms-version': '2020-12-06', Authorization: `Bearer ${unsigned(claims)}` }
      return (await service.send({ path: '/people()', headers, ...sent })).status
    }
    assert.equal(await outcome(good), 200)
    assert.equal(await outcome(good, { peer: '192.0.2.1' }), 403)
    assert.equal(await outcome(good, { peer: '192.0.2.1', secure: true }), 200)
    for (const change of [
      { exp: now - 61 },
      { nbf: now + 61 },
      { iat: undefined },
      { aud: 'else' },
      { exp: 'x' },
    ]) {
      assert.equal(await outcome({ ...good, ...change }), 401, JSON.stringify(change))
    }
  })
})

describe('assignments', () => {
  it('are read', () => {
    assert.deepEqual(parseAssignments('reader', 'A b, role:C@acct1,group:g-1,subject:s'), [
      { role: 'reader', claim: 'role', value: 'A b', account: undefined },
      { role: 'reader', claim: 'role', value: 'C', account: 'acct1' },
      { role: 'reader', claim: 'group', value: 'g-1', account: undefined },
      { role: 'reader', claim: 'subject', value: 's', account: undefined },
    ])
    assert.deepEqual(parseAssignments('reader', ' , '), [])
    for (const wrong of ['a@B', '@acct1', 'a@b@c']) assert.throws(() => parseAssignments('reader', wrong))
  })
})

async function serviceWith(
  bearer: BearerSettings,
  accounts?: InProcess['context']['accounts'],
): Promise<InProcess> {
  // The clock is the service's own, so that a test can move both.
  let clock: InProcess['context']['clock'] = () => {
    throw new Error('not yet')
  }
  const opened = await openBearer(bearer, () => clock(), fetchJson)
  const service = openInProcess({ bearer: opened, ...(accounts === undefined ? {} : { accounts }) })
  clock = service.context.clock
  if (accounts === undefined) {
    await service.own({ method: 'POST', path: '/Tables', body: '{"TableName":"people"}' })
  }
  return service
}

interface Signing {
  readonly key?: jose.CryptoKey
  readonly kid?: string
  readonly header?: Record<string, unknown>
}

async function openIssuer() {
  let generation = 0
  let pair = await jose.generateKeyPair('RS256', { extractable: true })
  let fetches = 0
  let failing: boolean | 'another name' = false
  const server = createServer((request, response) => {
    void serve(request.url ?? '', response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${origin}/${tenant}/v2.0`
  return {
    url,
    origin,
    sign,
    rotate,
    kid,
    publicPem,
    fetches: () => fetches,
    fail,
    close: () => server.close(),
  }

  async function serve(path: string, response: ServerResponse): Promise<void> {
    response.statusCode = failing === true ? 503 : 200
    response.end(JSON.stringify(await answerWith(path)))
  }

  async function answerWith(path: string): Promise<unknown> {
    if (path === `/${tenant}/v2.0/.well-known/openid-configuration`) {
      return { issuer: failing === 'another name' ? `${url}x` : url, jwks_uri: `${origin}/keys` }
    }
    fetches++
    const key = await jose.exportJWK(pair.publicKey)
    return { keys: [{ ...key, kid: kid(), use: 'sig', alg: 'RS256' }] }
  }

  async function sign(
    claims: Record<string, unknown>,
    { key, kid: named, header }: Signing = {},
  ): Promise<string> {
    const payload = {
      iss: url,
      aud: 'https://storage.azure.com',
      sub: 'somebody',
      iat: now,
      exp: now + 3600,
      roles: ['Storage Table Data Reader'],
      ...claims,
    }
    const encoded = [{ alg: 'RS256', kid: named ?? kid(), ...header }, payload]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const algorithm = 'RSASSA-PKCS1-v1_5'
    const signature = await crypto.subtle.sign(algorithm, key ?? pair.privateKey, Buffer.from(encoded))
    return `${encoded}.${Buffer.from(signature).toString('base64url')}`
  }

  async function rotate(): Promise<void> {
    generation++
    pair = await jose.generateKeyPair('RS256', { extractable: true })
  }

  function kid(): string {
    return `key-${generation}`
  }

  function publicPem(): Promise<string> {
    return jose.exportSPKI(pair.publicKey)
  }

  function fail(how: typeof failing): void {
    failing = how
  }
}

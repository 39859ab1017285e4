/** Shared Key and Shared Key Lite against signatures made elsewhere, without a socket and on a clock of ours. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { parseAccounts } from '../../src/auth/accounts.ts'
import { authenticate } from '../../src/auth/authenticate.ts'
import { type SignedRequest, stringsToSign } from '../../src/auth/shared-key.ts'
import { readTarget } from '../../src/http/target.ts'
import { Fault } from '../../src/model/faults.ts'
import { parseTicks, type Ticks } from '../../src/model/ticks.ts'
import { foreignVectors, secondKey, signedAt, type Vector, vectors } from './shared-key-vectors.ts'
import { developmentKey, sign } from './wire.ts'

const name = 'devstoreaccount1'
const oneKey = parseAccounts(`${name}:${developmentKey}`)
const twoKeys = parseAccounts(`${name}:${developmentKey}:${secondKey}`)
const noRequest = {
  rawHeaders: [],
  secure: false,
  body: async () => Buffer.alloc(0),
  hungUp: () => false,
}
const schemes = { sharedkey: 'SharedKey', sharedkeylite: 'SharedKeyLite' } as const

describe('what is signed', () => {
  for (const vector of vectors) {
    const [id, scheme, , , headers, text, signature, key] = vector
    it(id, () => {
      const request = requestOf(vector)
      const date = headers['x-ms-date'] ?? headers['date'] ?? ''
      assert.ok(stringsToSign(scheme, request, date).includes(text), text)
      assert.equal(sign(key ?? developmentKey, text), signature)
      assert.deepEqual(judge(request), { kind: 'owner', account: name })
    })
  }
  for (const vector of foreignVectors) {
    const [id, scheme, , , headers, text, signature, key] = vector
    it(id, () => {
      const request = id === 'JS-1' ? bareRequestOf(vector, 'accountName') : requestOf(vector)
      assert.deepEqual(stringsToSign(scheme, request, headers['x-ms-date'] ?? ''), [text])
      assert.equal(sign(key ?? developmentKey, text), signature)
    })
  }
  it('the secondary has two texts, and no other address has', () => {
    assert.equal(stringsToSign('sharedkey', requestOf(named('SK-13')), '').length, 2)
    assert.equal(stringsToSign('sharedkey', requestOf(named('SK-1')), '').length, 1)
    const request = bareRequestOf(named('SKL-2'), name)
    const hosted = { ...request, target: { ...request.target, secondary: true } }
    assert.equal(stringsToSign('sharedkeylite', hosted, '').length, 1)
  })
})

interface Altered {
  readonly method?: string
  readonly headers?: ReadonlyMap<string, string>
  readonly target?: Partial<SignedRequest['target']>
}

type Change = (vector: Vector) => Altered

const withHeader =
  (header: string, value: string | undefined): Change =>
  (vector) => {
    const headers = new Map(requestOf(vector).headers)
    if (value === undefined) headers.delete(header)
    else headers.set(header, value)
    return { headers }
  }
const unchanged: Change = () => ({})
const at =
  (target: Partial<SignedRequest['target']>): Change =>
  () => ({ target })
const authorization = (value: string): Change => withHeader('authorization', value)
const good = 'uB5oepwEiNDbhDeOMBvZqPQvuBxBL8qOH/9+KGL2AJI='

// biome-ignore format: a table reads in columns
const changes: readonly (readonly [id: string, what: string, change: Change, expected: string, at?: string])[] = [
  ['SK-1',  'fifteen minutes later',             unchanged, 'passes', '2025-01-15T08:45:00Z'],
  ['SK-1',  'a second more',                     unchanged, 'AuthenticationFailed', '2025-01-15T08:45:01Z'],
  ['SK-1',  'fifteen minutes earlier',           unchanged, 'passes', '2025-01-15T08:15:00Z'],
  ['SK-1',  'a second less',                     unchanged, 'AuthenticationFailed', '2025-01-15T08:14:59Z'],
  ['SK-1',  'another signature',                 authorization(`SharedKey ${name}:v${good.slice(1)}`), 'AuthenticationFailed'],
  ['SK-1',  'another scheme',                    authorization(`SharedKeyLite ${name}:${good}`), 'AuthenticationFailed'],
  ['SK-1',  'the scheme in another case',        authorization(`sharedKEY ${name}:${good}`), 'passes'],
  ['SK-1',  'another account in the header',     authorization(`SharedKey other:${good}`), 'AuthenticationFailed'],
  ['SK-1',  'the account in upper case',         authorization(`SharedKey ${name.toUpperCase()}:${good}`), 'AuthenticationFailed'],
  ['SK-1',  'no colon',                          authorization(`SharedKey ${name}${good}`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'no account',                        authorization(`SharedKey :${good}`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'no signature',                      authorization(`SharedKey ${name}:`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'a signature without padding',       authorization(`SharedKey ${name}:${good.slice(0, -1)}`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'a signature in the other alphabet', authorization(`SharedKey ${name}:${good.replace('/', '_')}`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'a signature with a tail',           authorization(`SharedKey ${name}:${good} x`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'two spaces after the scheme',       authorization(`SharedKey  ${name}:${good}`), 'AuthenticationFailed'],
  ['SK-1',  'no scheme',                         authorization(good), 'InvalidAuthenticationInfo'],
  ['SK-1',  'a scheme we do not know',           authorization(`Basic ${name}:${good}`), 'InvalidAuthenticationInfo'],
  ['SK-1',  'an empty header',                   authorization(''), 'InvalidAuthenticationInfo'],
  ['SK-1',  'no header',                         withHeader('authorization', undefined), 'AuthenticationFailed'],
  ['SK-1',  'a blank more in Content-Type',      withHeader('content-type', 'application/json; odata=nometadata'), 'AuthenticationFailed'],
  ['SK-1',  'a Content-MD5 more',                withHeader('content-md5', 'XUFAKrxLKna5cZ2REBfFkg=='), 'AuthenticationFailed'],
  ['SK-1',  'another verb',                      () => ({ method: 'PUT' }), 'AuthenticationFailed'],
  ['SK-1',  'another path',                      at({ rawPath: `/${name}/tables` }), 'AuthenticationFailed'],
  ['SK-1',  'an escape in the path',             at({ rawPath: `/${name}/T%61bles` }), 'AuthenticationFailed'],
  ['SK-1',  'comp in the query',                 at({ query: new Map([['comp', 'acl']]) }), 'AuthenticationFailed'],
  ['SK-1',  'another Date',                      withHeader('date', 'Wed, 15 Jan 2020 08:30:00 GMT'), 'passes'],
  ['SK-1',  'nonsense for Date',                 withHeader('date', 'nonsense'), 'passes'],
  ['SK-1',  'no date',                           withHeader('x-ms-date', undefined), 'AuthenticationFailed'],
  ['SKL-1', 'another Content-Type',              withHeader('content-type', 'text/plain'), 'passes'],
  ['SKL-1', 'another verb',                      () => ({ method: 'DELETE' }), 'passes'],
  ['SKL-1', 'another path',                      at({ rawPath: `/${name}/Tables()` }), 'AuthenticationFailed'],
  ['SKL-5', 'another comp',                      at({ query: new Map([['comp', 'other']]) }), 'AuthenticationFailed'],
  ['SKL-5', 'an x-ms-date more',                 withHeader('x-ms-date', 'Wed, 15 Jan 2025 08:30:01 GMT'), 'AuthenticationFailed'],
  ['SK-4',  'without the slash',                 at({ rawPath: `/${name}` }), 'AuthenticationFailed'],
  ['SK-9',  'without Content-MD5',               withHeader('content-md5', undefined), 'AuthenticationFailed'],
  ['SK-10', 'without x-ms-date',                 withHeader('x-ms-date', undefined), 'AuthenticationFailed'],
  ['SK-11', 'with the tunnelled verb',           () => ({ method: 'MERGE' }), 'AuthenticationFailed'],
  ['SK-13', 'on the primary',                    at({ rawPath: `/${name}/`, secondary: false }), 'AuthenticationFailed'],
  ['SK-14', 'on the primary, whose path it signs', at({ rawPath: `/${name}/`, secondary: false }), 'passes'],
  ['SK-1',  'for an account nobody has',         at({ account: 'nobody' }), 'AuthenticationFailed'],
]

describe('what a change to a signed request does', () => {
  for (const [id, what, change, expected, time] of changes) {
    it(`${id}, ${what}: ${expected}`, () => {
      const vector = named(id)
      const signed = requestOf(vector)
      const { target, ...rest } = change(vector)
      const request = { ...signed, ...rest, target: { ...signed.target, ...target } }
      assert.equal(
        outcomeOf(() => judge(request, time)),
        expected,
      )
    })
  }
  it('SK-12 needs the second key', () => {
    assert.equal(
      outcomeOf(() => judge(requestOf(named('SK-12')), signedAt, oneKey)),
      'AuthenticationFailed',
    )
  })
})

// biome-ignore format: a table reads in columns
const dates: readonly (readonly [date: string, expected: string])[] = [
  ['Wed, 15 Jan 2025 08:30:00 GMT',    'passes'],
  ['Mon, 15 Jan 2025 08:30:00 GMT',    'passes'],
  ['Wed, 15 Jan 2025 08:30:00 UTC',    'AuthenticationFailed'],
  ['Wed, 15 Jan 2025 08:30:00 +0000',  'AuthenticationFailed'],
  ['wed, 15 jan 2025 08:30:00 gmt',    'AuthenticationFailed'],
  ['Wednesday, 15-Jan-25 08:30:00 GMT', 'AuthenticationFailed'],
  ['Wed Jan 15 08:30:00 2025',         'AuthenticationFailed'],
  ['2025-01-15T08:30:00Z',             'AuthenticationFailed'],
  ['1736929800',                       'AuthenticationFailed'],
  ['',                                 'AuthenticationFailed'],
]

describe('dates, each signed as it stands', () => {
  for (const [date, expected] of dates) {
    it(`'${date}': ${expected}`, () => {
      const signature = sign(developmentKey, `${date}\n/${name}/${name}/Tables`)
      const headers = new Map([
        ['x-ms-date', date],
        ['authorization', `SharedKeyLite ${name}:${signature}`],
      ])
      const request = { ...requestOf(named('SKL-1')), headers }
      assert.equal(
        outcomeOf(() => judge(request)),
        expected,
      )
    })
  }
})

describe('accounts', () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  // biome-ignore format: a table reads in columns
  const texts: readonly (readonly [text: string, expected: string | RegExp])[] = [
    [`abc:${key}`,                     'abc'],
    [`abc:${key};def:${key}:${key};`,  'abc,def'],
    [`abc:${key}:${key}:${key}`,       /one or two keys/],
    ['abc',                            /one or two keys/],
    [`ab:${key}`,                      /3 to 24/],
    [`Abc:${key}`,                     /3 to 24/],
    [`a-secondary:${key}`,             /3 to 24/],
    [`abc:${key};abc:${key}`,          /given twice/],
    ['abc:AAAA',                       /shorter than 32/],
    [`abc:${key.slice(0, -1)}`,        /not base64/],
    [`abc: ${key}`,                    /not base64/],
    ['',                               /no account/],
  ]
  for (const [text, expected] of texts) {
    it(`'${text.replaceAll(key, 'KEY')}'`, () => {
      if (expected instanceof RegExp) assert.throws(() => parseAccounts(text), expected)
      else assert.equal([...parseAccounts(text).keys()].join(), expected)
    })
  }
})

function named(id: string): Vector {
  const found = vectors.find(([other]) => other === id)
  assert.ok(found, id)
  return found
}

/** As the service reads it from the wire. */
function requestOf(vector: Vector): SignedRequest {
  const [, scheme, method, target, given, , signature] = vector
  const hosted = !target.startsWith(`/${name}`)
  const headers = new Map(Object.entries(given))
  headers.set('host', hosted ? `${name}.table.example.org` : '127.0.0.1:10002')
  headers.set('authorization', `${schemes[scheme]} ${name}:${signature}`)
  const read = readTarget({ ...noRequest, method, target }, headers, oneKey)
  return { method, target: read, headers }
}

function bareRequestOf([, , method, target, given]: Vector, account: string): SignedRequest {
  const headers = new Map(Object.entries(given))
  return { method, target: { rawPath: target, account, secondary: false, query: new Map() }, headers }
}

function judge(request: SignedRequest, at = signedAt, accounts = twoKeys): unknown {
  return authenticate(request, { accounts, clock: () => parseTicks(at) as Ticks })
}

function outcomeOf(attempt: () => unknown): string {
  try {
    attempt()
    return 'passes'
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return error.code
  }
}

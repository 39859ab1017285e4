/** Tokens as clients make them, as they may be written, and as they may be forged. */
import { strict as assert } from 'node:assert'
import { before, describe, it } from 'node:test'
import { AzureNamedKeyCredential, generateAccountSas, generateTableSas } from '@azure/data-tables'
import {
  account,
  accountSas,
  type InProcess,
  key1,
  key2,
  openInProcess,
  queryOf,
  type Sent,
  serviceSas,
  signed,
} from './without-socket.ts'

let service: InProcess
before(async () => {
  service = openInProcess()
  await service.own({ method: 'POST', path: '/Tables', body: '{"TableName":"people"}' })
  for (const row of ['a b', 'a+b', 'c']) {
    await service.own({
      method: 'POST',
      path: '/people',
      body: JSON.stringify({ PartitionKey: 'p q', RowKey: row }),
    })
  }
})

async function outcome(sent: Sent): Promise<string> {
  const { status, code } = await service.send(sent)
  return code === undefined ? `${status}` : `${status} ${code}`
}

const query = (token: string): Promise<string> => outcome({ path: `/people()?${token}` })
const failed = '403 AuthenticationFailed'

/** Made by the package azure-storage 2.10.7, which nobody needs to install for them. */
const legacy = {
  'for a table, by the legacy client':
    'st=2025-01-01T00%3A00%3A00Z&se=2035-01-01T00%3A00%3A00Z&sp=r&spk=p%20q&epk=p%20q&srk=a%20b&erk=b&sv=2018-03-28&tn=people&sig=uB1I%2BDSYunQZlki2eg4qjNPTcZdGhGQ1V1vuMEN2hBg%3D',
  'for an account, by the legacy client':
    'sv=2018-03-28&ss=t&srt=sco&sp=rwdlacu&st=2025-01-01T00%3A00%3A00Z&se=2035-01-01T00%3A00%3A00Z&spr=https%2Chttp&sig=X85391LGj%2FXH0A%2BBX2t6b9mhfD4oc3tMIyD57WFCMpI%3D',
}

describe('tokens of the JavaScript clients', () => {
  const credential = new AzureNamedKeyCredential(account, key1)
  const expiresOn = new Date('2035-01-01T00:00:00Z')
  const made = {
    'for a table': generateTableSas('people', credential, {
      expiresOn,
      startsOn: new Date('2025-01-01T00:00:00Z'),
      permissions: { query: true, add: true, update: true, delete: true },
      startPartitionKey: 'p q',
      startRowKey: 'a b',
      endPartitionKey: 'p q',
      endRowKey: 'b',
      ipRange: { start: '127.0.0.1', end: '127.0.0.9' },
      protocol: 'https,http',
    }),
    'for an account': generateAccountSas(credential, {
      expiresOn,
      startsOn: new Date('2025-01-01T00:00:00Z'),
      ipRange: { start: '127.0.0.1' },
      protocol: 'https,http',
    }),
    ...legacy,
  }

  for (const [what, token] of Object.entries(made)) {
    it(`${what} are accepted, also with pluses for spaces`, async () => {
      assert.equal(await query(token), '200')
      assert.equal(await query(token.replaceAll('%20', '+')), '200')
      assert.equal(await query(new URLSearchParams(token).toString()), '200')
    })

    it(`${what} are refused with any field altered, taken away or added`, async () => {
      const fields = new Map(new URLSearchParams(token))
      const names = [
        'sv',
        'sp',
        'st',
        'se',
        'sip',
        'spr',
        'sig',
        ...(fields.has('tn') ? serviceOnly : accountOnly),
      ]
      for (const name of names) {
        const value = fields.get(name)
        const changes =
          value === undefined ? ['x'] : [`${value}x`, value.slice(1), `x${value.slice(1)}`, ` ${value}`, '']
        for (const change of changes) {
          const altered = queryOf(Object.fromEntries(new Map(fields).set(name, change)))
          assert.equal(await query(altered), failed, `${name}=${change}`)
        }
      }
    })
  }

  const serviceOnly = ['tn', 'spk', 'srk', 'epk', 'erk', 'si']
  const accountOnly = ['ss', 'srt']

  it('show what lies in their range', async () => {
    const answered = await service.send({ path: `/people()?${made['for a table']}` })
    const { value } = JSON.parse(answered.text) as { value: { RowKey: string }[] }
    assert.deepEqual(
      value.map(({ RowKey }) => RowKey),
      ['a b', 'a+b'],
    )
  })

  it('that name a policy follow it', async () => {
    const token = generateTableSas('people', credential, { identifier: 'mine' })
    await service.setPolicies('people', [
      { id: 'mine', permission: 'r', expiry: '2026-01-01T00:00:00.0000000Z' },
    ])
    assert.equal(await query(token), '200')
    await service.setPolicies('people', [])
    assert.equal(await query(token), failed)
  })
})

describe('a service SAS', () => {
  // biome-ignore format: a table reads in columns
  const rows: readonly [what: string, fields: Record<string, string>, expected: string][] = [
    ['has an expiry',                          { se: '' },                               failed],
    ['has a permission',                       { sp: '' },                               failed],
    ['has a table',                            { tn: '' },                               failed],
    ['has a version',                          { sv: '' },                               failed],
    ['has a version that is a date',           { sv: 'latest' },                         failed],
    ['may be newer than this service',         { sv: '2099-12-31' },                     '200'],
    ['takes letters in any order',             { sp: 'dr' },                             '200'],
    ['takes letters it does not know',         { sp: 'rxyz' },                           '200'],
    ['takes the name of the table in any case', { tn: 'PeOpLe' },                        '200'],
    ['begins at its start',                    { st: '2025-01-15T08:30:00Z' },           '200'],
    ['begins no earlier',                      { st: '2025-01-15T08:30:00.0000001Z' },   failed],
    ['ends at its expiry',                     { se: '2025-01-15T08:30Z' },              failed],
    ['ends no earlier',                        { se: '2025-01-15T08:30:00.0000001Z' },   '200'],
    ['reads zones',                            { se: '2025-01-15T10:30:01+02:00' },      '200'],
    ['reads zones, also west',                 { se: '2025-01-15T03:00-05:30' },         failed],
    ['needs a zone with a time',               { se: '2035-01-01T00:00:00' },            failed],
    ['reads seven digits of a second',         { se: '2035-01-01T00:00:00.00000000Z' },  failed],
    ['knows the calendar',                     { se: '2035-02-30' },                     failed],
    ['knows no year 10000',                    { se: '10000-01-01' },                    failed],
    ['knows no zone of 15 hours',              { se: '2035-01-01T00:00+15:00' },         failed],
    ['cannot begin after its end',             { st: '2026-01-01', se: '2025-06-01' },   failed],
    ['has a start that can be read',           { st: 'yesterday' },                      failed],
    ['takes a row bound only with its partition', { srk: 'a' },                          failed],
    ['takes a last row only with its partition', { spk: 'a', erk: 'a' },                 failed],
    ['may be turned the wrong way round',      { spk: 'z', epk: 'a' },                   '200'],
    ['takes one address',                      { sip: '127.0.0.1' },                     '200'],
    ['takes a range of addresses',             { sip: '126.255.255.255-127.0.0.1' },     '200'],
    ['keeps other addresses out',              { sip: '127.0.0.2-127.0.0.9' },           '403 AuthorizationSourceIPMismatch'],
    ['takes no range upside down',             { sip: '127.0.0.9-127.0.0.1' },           failed],
    ['takes no half a range',                  { sip: '127.0.0.1-' },                    failed],
    ['takes no third end',                     { sip: '127.0.0.1-127.0.0.2-127.0.0.3' }, failed],
    ['takes no octal addresses',               { sip: '127.0.0.01' },                    failed],
    ['takes no IPv6',                          { sip: '::1' },                           failed],
    ['takes both protocols',                   { spr: 'https,http' },                    '200'],
    ['keeps clear text out',                   { spr: 'https' },                         '403 AuthorizationProtocolMismatch'],
    ['takes no http alone',                    { spr: 'http' },                          failed],
    ['takes no other protocols',               { spr: 'ftp' },                           failed],
    ['names a policy that exists',             { si: 'nobody', sp: '', se: '' },         failed],
  ]
  for (const [what, fields, expected] of rows) {
    it(what, async () => assert.equal(await query(serviceSas({ sp: 'r', ...fields })), expected))
  }

  it('may be signed by either key', async () => {
    assert.equal(await query(serviceSas({ sp: 'r' }, key2)), '200')
    assert.equal(await query(serviceSas({ sp: 'r' }, Buffer.alloc(64, 7).toString('base64'))), failed)
  })

  it('is refused for an account nobody knows', async () => {
    const other = openInProcess({ accounts: new Map() })
    const { status, code } = await other.send({ path: `/people()?${serviceSas({ sp: 'r' })}` })
    assert.deepEqual([status, code], [403, 'AuthenticationFailed'])
  })

  it('holds no control characters, whatever was signed', async () => {
    for (const name of ['sp', 'st', 'se', 'si', 'sip', 'spr', 'tn', 'spk', 'srk', 'epk', 'erk', 'sv']) {
      for (const character of ['\n', '\r', '\u0000', '\u007f', '\u0085']) {
        const fields = { sp: 'r', spk: 'a', epk: 'z', se: '2035-01-01', [name]: `r${character}` }
        assert.equal(await query(serviceSas(fields)), failed, `${name} ${JSON.stringify(character)}`)
      }
    }
  })

  it('cannot have a field slide into the next', async () => {
    // The text that was signed has a start; the holder moves it, line feed and all, into another field.
    const token = serviceSas({ sp: 'r', st: '2030-01-01' })
    const fields = new Map(new URLSearchParams(token))
    fields.set('sp', 'r\n2030-01-01').delete('st')
    fields.set('se', '2035-01-01')
    assert.equal(await query(queryOf(Object.fromEntries(fields))), failed)
  })

  it('forgives pluses that were pasted as they are', async () => {
    let token = ''
    for (let minute = 10; !token.includes('%2B'); minute++) {
      token = serviceSas({ sp: 'r', se: `2035-01-01T00:${minute}Z` })
    }
    assert.equal(await query(token.replaceAll('%2B', '+')), '200')
  })

  it('takes a signature of the right shape only', async () => {
    const token = serviceSas({ sp: 'r' })
    for (const change of [
      token.replace('%3D', ''),
      token.replace('%3D', '%3D%3D'),
      token.replace('%3D', '%3D!'),
      token.replace(/sig=.*/, 'sig='),
      token.replace(/sig=.*/, 'sig'),
    ]) {
      assert.equal(await query(change), failed, change)
    }
    assert.equal(await query(token.replace('sig=', 'SIG=')), failed)
    assert.equal(await query(`${token}&SIG=x`), '400 InvalidQueryParameterValue')
  })

  it('has each parameter once', async () => {
    const token = serviceSas({ sp: 'r', st: '2025-01-01', spk: 'a' })
    for (const name of ['sv', 'tn', 'sp', 'st', 'se', 'spk', 'sig']) {
      const again = new URLSearchParams(token).get(name) ?? ''
      assert.equal(
        await query(`${token}&${name}=${encodeURIComponent(again)}`),
        '400 InvalidQueryParameterValue',
      )
      assert.equal(await query(`${token}&${name.toUpperCase()}=x`), '400 InvalidQueryParameterValue')
    }
  })

  it('is not made with a delegated key, and not of both kinds', async () => {
    assert.equal(await query(`${serviceSas({ sp: 'r' })}&skoid=someone`), failed)
    assert.equal(await query(`${serviceSas({ sp: 'r' })}&ss=t`), failed)
    assert.equal(await query(`${accountSas({ sp: 'r' })}&tn=people`), failed)
  })

  it('ignores parameters it does not know', async () => {
    assert.equal(await query(`${serviceSas({ sp: 'r' })}&rscc=x&a[]=1&__proto__=2&constructor=3`), '200')
  })

  const before2015 = (sv: string, prefix: string): string => {
    const text = `r\n\n2035-01-01\n${prefix}/${account}/people\n\n${sv}\n\n\n\n`
    return queryOf({ sv, se: '2035-01-01', sp: 'r', tn: 'People', sig: signed(text) })
  }

  it('of the years before sip and spr neither signs nor obeys them', async () => {
    const token = before2015('2012-02-12', '')
    assert.equal(await query(token), '200')
    assert.equal(await query(`${token}&spr=https&sip=1.2.3.4`), '200')
    assert.equal(await query(before2015('2011-08-18', '')), failed)
  })

  it('names the service in what it signs from 2015-02-21 on', async () => {
    assert.equal(await query(before2015('2015-02-20', '')), '200')
    assert.equal(await query(before2015('2015-02-20', '/table')), failed)
    assert.equal(await query(before2015('2015-02-21', '/table')), '200')
    assert.equal(await query(before2015('2015-02-21', '')), failed)
  })

  it('does not help, nor hurt, beside an Authorization header', async () => {
    const [good, bad] = [serviceSas({ sp: 'r' }), `${serviceSas({ sp: 'r' })}x`]
    assert.equal(await outcome({ path: `/people()?${bad}`, owner: true }), '200')
    const headers = { Authorization: `SharedKey ${account}:${signed('other')}`, 'x-ms-date': 'x' }
    assert.equal(await outcome({ path: `/people()?${good}`, headers }), failed)
    assert.equal(
      await outcome({ path: `/people()?${good}`, headers: { Authorization: 'Digest x' } }),
      '400 InvalidAuthenticationInfo',
    )
  })

  it('refuses a write outside its range before the table, the entity or a condition is looked at', async () => {
    const token = serviceSas({ sp: 'raud', tn: 'nobody', spk: 'm', epk: 'm' })
    const path = (partition: string) => `/nobody(PartitionKey='${partition}',RowKey='1')?${token}`
    for (const method of ['PUT', 'MERGE', 'DELETE']) {
      for (const ifMatch of ['*', 'W/"nonsense"']) {
        const sent = {
          method,
          headers: { 'If-Match': ifMatch },
          ...(method === 'DELETE' ? {} : { body: '{}' }),
        }
        assert.equal(await outcome({ ...sent, path: path('a') }), '403 AuthorizationFailure')
        assert.equal(await outcome({ ...sent, path: path('m') }), '404 TableNotFound')
      }
    }
    assert.equal(await outcome({ path: path('a') }), '404 TableNotFound')
  })

  it('reads an empty If-Match as a malformed one, not as none', async () => {
    const sent = {
      method: 'PUT',
      path: `/people(PartitionKey='x',RowKey='y')?${serviceSas({ sp: 'au' })}`,
      body: '{}',
    }
    assert.equal(await outcome({ ...sent, headers: { 'If-Match': '' } }), '400 InvalidInput')
    const updater = { ...sent, path: `/people(PartitionKey='x',RowKey='y')?${serviceSas({ sp: 'u' })}` }
    assert.equal(await outcome({ ...updater, headers: { 'If-Match': '' } }), '400 InvalidInput')
    assert.equal(await outcome(updater), '403 AuthorizationPermissionMismatch')
  })

  it('says which version is spoken, where no header does', async () => {
    const unversioned = { 'x-ms-version': undefined }
    const versionOf = async (options: string, headers: Sent['headers'] = unversioned) =>
      (
        await service.send({
          path: `/people()?${serviceSas({ sp: 'r', sv: '2018-03-28' })}${options}`,
          headers,
        })
      ).header('x-ms-version')
    assert.equal(await versionOf(''), '2018-03-28')
    assert.equal(await versionOf('&api-version=2017-07-29'), '2017-07-29')
    assert.equal(await versionOf('&api-version=2017-07-29', { 'x-ms-version': '2020-12-06' }), '2020-12-06')
    assert.equal(await versionOf('&api-version='), '2018-03-28')
    const wrong = { path: `/people()?${serviceSas({ sp: 'r' })}&api-version=new`, headers: unversioned }
    assert.equal(await outcome(wrong), '400 InvalidQueryParameterValue')
  })
})

describe('a stored policy', () => {
  // biome-ignore format: a table reads in columns
  const rows: readonly [what: string, token: Record<string, string>, policy: Record<string, string>, expected: string][] = [
    ['gives all',                    { se: '' },                                { permission: 'r', expiry: '2035-01-01' }, '200'],
    ['gives the permission',         {},                                        { permission: 'r' },                       '200'],
    ['gives the expiry',             { sp: 'r', se: '' },                       { expiry: '2035-01-01T00:00:00.0000000Z' }, '200'],
    ['gives the start',              { sp: 'r' },                               { start: '2025-01-15T08:30:01Z' },         failed],
    ['gives nothing',                { sp: 'r' },                               {},                                        '200'],
    ['gives nothing, nor the token', {},                                        {},                                        failed],
    ['has empty fields',             { sp: 'r' },                               { permission: '', expiry: '', start: '' }, '200'],
    ['conflicts on permission',      { sp: 'r' },                               { permission: 'r' },                       failed],
    ['conflicts on expiry',          { sp: 'r' },                               { expiry: '2035-01-01' },                  failed],
    ['conflicts on start',           { sp: 'r', st: '2025-01-01' },             { start: '2025-01-01' },                   failed],
    ['does not give enough',         { se: '' },                                { permission: 'aud', expiry: '2035-01-01' }, '403 AuthorizationPermissionMismatch'],
    ['leaves addresses to the token', { se: '', sip: '127.0.0.2' },             { permission: 'r', expiry: '2035-01-01' }, '403 AuthorizationSourceIPMismatch'],
  ]
  for (const [what, token, policy, expected] of rows) {
    it(what, async () => {
      await service.setPolicies('people', [
        { id: 'other', permission: 'raud', expiry: '2035-01-01' },
        { id: 'mine', ...policy },
      ])
      assert.equal(await query(serviceSas({ si: 'mine', ...token })), expected)
    })
  }

  it('is looked for only once the signature holds', async () => {
    const asked: string[] = []
    const policies = async (_account: string, table: string) => {
      asked.push(table)
      return undefined
    }
    const probed = openInProcess({ policies })
    const token = serviceSas({ si: 'mine', se: '' })
    await probed.send({ path: `/people()?${token.replace('si=mine', 'si=yours')}` })
    assert.deepEqual(asked, [])
    assert.equal((await probed.send({ path: `/people()?${token}` })).code, 'AuthenticationFailed')
    assert.deepEqual(asked, ['people'])
  })
})

describe('an account SAS', () => {
  // biome-ignore format: a table reads in columns
  const rows: readonly [what: string, fields: Record<string, string>, expected: string][] = [
    ['reads entities',                     {},                                       '200'],
    ['takes letters of other services',    { sp: 'rwdlacupiyx' },                    '200'],
    ['takes letters in any order',         { sp: 'lr', srt: 'ocs', ss: 'ftqb' },     '200'],
    ['has permissions',                    { sp: '' },                               failed],
    ['has services',                       { ss: '' },                               failed],
    ['has resource types',                 { srt: '' },                              failed],
    ['has an expiry',                      { se: '' },                               failed],
    ['expires',                            { se: '2025-01-15T08:30:00Z' },           failed],
    ['begins',                             { st: '2025-01-16' },                     failed],
    ['is of no older version',             { sv: '2015-02-21' },                     failed],
    ['is of the first version',            { sv: '2015-04-05' },                     '200'],
    ['signs its scope from 2020-12-06 on', { sv: '2020-12-06' },                     '200'],
    ['signs its scope',                    { sv: '2022-11-02', ses: 'scope1' },      '200'],
    ['is for this service',                { ss: 'bqf' },                            '403 AuthorizationServiceMismatch'],
    ['is judged by address before service', { ss: 'b', sip: '1.2.3.4' },             '403 AuthorizationSourceIPMismatch'],
    ['is judged by address before protocol', { spr: 'https', sip: '1.2.3.4' },       '403 AuthorizationSourceIPMismatch'],
    ['is judged by protocol before service', { ss: 'b', spr: 'https' },              '403 AuthorizationProtocolMismatch'],
    ['is judged by service before type',   { ss: 'b', srt: 's' },                    '403 AuthorizationServiceMismatch'],
    ['is judged by type before permission', { srt: 's', sp: 'w' },                   '403 AuthorizationResourceTypeMismatch'],
    ['needs its permission',               { sp: 'wdlacu' },                         '403 AuthorizationPermissionMismatch'],
  ]
  for (const [what, fields, expected] of rows) {
    it(what, async () => assert.equal(await query(accountSas({ sp: 'r', ...fields })), expected))
  }

  it('holds no control characters, whatever was signed', async () => {
    for (const name of ['sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv', 'ses']) {
      const fields = { sp: 'r', sv: '2022-11-02', [name]: 't\n' }
      assert.equal(await query(accountSas(fields)), failed, name)
    }
  })

  it('takes no other account', async () => {
    const other = openInProcess({ accounts: new Map() })
    const { status, code } = await other.send({ path: `/people()?${accountSas({ sp: 'r' })}` })
    assert.deepEqual([status, code], [403, 'AuthenticationFailed'])
  })

  it('tells the refused address, and nothing else, in its refusal', async () => {
    const { text } = await service.send({
      path: `/people()?${accountSas({ sp: 'r', sip: '10.0.0.1' })}`,
      peer: '::ffff:192.0.2.7',
    })
    assert.match(text, /using this source IP 192\.0\.2\.7\.\\nRequestId/)
  })
})

describe('without a credential', () => {
  it('nothing is served, and accounts are not told apart', async () => {
    for (const headers of [{}, { 'x-ms-version': '2020-12-06' }, { 'x-ms-version': undefined }]) {
      assert.equal(await outcome({ path: '/people()', headers }), failed)
    }
  })
})

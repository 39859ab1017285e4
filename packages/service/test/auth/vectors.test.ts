/** Every published and computed signature comes out as it must, and each change to one is refused. */
import { strict as assert } from 'node:assert'
import { before, describe, it } from 'node:test'
import { accountStringToSign } from '../../src/auth/account-sas.ts'
import { serviceStringToSign } from '../../src/auth/service-sas.ts'
import { readTarget, type Target } from '../../src/http/target.ts'
import { computed, fromClients, type Vector } from './vectors.ts'
import { account, key1, openInProcess, type Sent, signed } from './without-socket.ts'

describe('signature vectors', () => {
  for (const vector of [...computed, ...fromClients]) {
    it(`${vector.id} signs to what was recorded`, () => {
      assert.equal(signed(vector.stringToSign, vector.key ?? key1), vector.signature)
    })
  }

  for (const vector of computed) {
    it(`${vector.id} is signed in these lines`, () => {
      const { query } = targetOf(`/${account}/employees()?${vector.token}`)
      const text =
        vector.kind === 'ServiceSAS'
          ? serviceStringToSign(account, query)
          : accountStringToSign(account, query)
      assert.equal(text, vector.stringToSign)
    })
  }

  for (const vector of fromClients) {
    it(`${vector.id} is signed in these lines`, () => {
      const lines = vector.stringToSign.split('\n')
      const isAccount = lines[2] === 't'
      const names = isAccount
        ? ['', 'sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv']
        : ['sp', 'st', 'se', '', 'si', 'sip', 'spr', 'sv', 'spk', 'srk', 'epk', 'erk']
      const query = new Map(names.map((name, index) => [name, lines[index] ?? '']))
      const [, , owner = '', table = ''] = isAccount ? ['', '', lines[0]] : (lines[3] ?? '').split('/')
      query.set('tn', table.toUpperCase())
      const text = isAccount ? accountStringToSign(owner, query) : serviceStringToSign(owner, query)
      assert.equal(text, vector.stringToSign)
    })
  }
})

describe('SAS vectors on the wire', () => {
  const service = openInProcess()
  const tokenOf = (id: string): string => vectorOf(id).token ?? ''
  const [sas1, sas2, sas3, sas4, sas5] = ['SAS-1', 'SAS-2', 'SAS-3', 'SAS-4', 'SAS-5'].map(tokenOf) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const get = (token: string, path = '/Employees()'): Sent => ({ path: `${path}?${token}` })
  const insert = (token: string, partition: string, row: string): Sent => ({
    method: 'POST',
    path: `/Employees?${token}`,
    body: JSON.stringify({ PartitionKey: partition, RowKey: row }),
  })
  const aachen = `/Employees(PartitionKey='Coho%20Winery',RowKey='Aachen')`

  before(async () => {
    const own = (path: string, body: object) =>
      service.own({
        method: 'POST',
        path,
        body: JSON.stringify(body),
        headers: { Prefer: 'return-no-content' },
      })
    await own('/Tables', { TableName: 'Employees' })
    await own('/Tables', { TableName: 'Others' })
    for (const row of ['Aachen', 'Auburn', 'Berlin', 'Zürich', 'Züricha']) {
      await own('/Employees', { PartitionKey: 'Coho Winery', RowKey: row })
    }
    await own('/Employees', { PartitionKey: 'Mead', RowKey: '1' })
  })

  // biome-ignore format: a table reads in columns
  const rows: readonly [what: string, sent: Sent, status: number, code?: string | undefined, check?: readonly string[]][] = [
    ['SAS-1',                       get(sas1),                                          200],
    ['SAS-1, in lower case',        get(sas1, '/employees()'),                          200],
    ['SAS-1 on another table',      get(sas1, '/Others()'),                             403, 'AuthenticationFailed'],
    ['SAS-1 on an upsert',          { method: 'PUT', path: `${aachen}?${sas1}`, body: '{}' }, 403, 'AuthorizationPermissionMismatch'],
    ['SAS-1 on tables',             get(sas1, '/Tables'),                               403, 'AuthorizationFailure'],
    ['SAS-1 on one table',          get(sas1, "/Tables('Employees')"),                  403, 'AuthorizationFailure'],
    ['SAS-1 with more permissions', get(sas1.replace('sp=r', 'sp=raud')),               403, 'AuthenticationFailed'],
    ['SAS-1 with two permissions',  get(`${sas1}&sp=raud`),                             400, 'InvalidQueryParameterValue'],
    ['SAS-2',                       { ...get(sas2), secure: true, peer: '168.1.5.65' }, 200],
    ['SAS-2, first address',        { ...get(sas2), secure: true, peer: '168.1.5.60' }, 200],
    ['SAS-2, last address',         { ...get(sas2), secure: true, peer: '::ffff:168.1.5.70' }, 200],
    ['SAS-2 from elsewhere',        { ...get(sas2), secure: true, peer: '168.1.5.71' }, 403, 'AuthorizationSourceIPMismatch'],
    ['SAS-2 from IPv6',             { ...get(sas2), secure: true, peer: '::1' },        403, 'AuthorizationSourceIPMismatch'],
    ['SAS-2 in clear text',         { ...get(sas2), peer: '168.1.5.65' },               403, 'AuthorizationProtocolMismatch'],
    ['SAS-3 without policy',        get(sas3),                                          403, 'AuthenticationFailed'],
    ['SAS-4, insert outside',       insert(sas4, 'Coho Winery', 'Aachen'),              403, 'AuthorizationFailure'],
    ['SAS-4, insert inside',        insert(sas4, 'Coho Winery', 'Bonn'),                201],
    ['SAS-4, read outside',         get(sas4, aachen),                                  404, 'ResourceNotFound'],
    ['SAS-4, query',                get(sas4),                                          200, undefined, ['Auburn', 'Berlin', 'Bonn', 'Zürich']],
    ['SAS-4, pluses',               get(sas4.replaceAll('%20', '+')),                   200, undefined, ['Auburn', 'Berlin', 'Bonn', 'Zürich']],
    ['SAS-5, query',                get(sas5),                                          200, undefined, ['1']],
    ['SAS-6',                       get(tokenOf('SAS-6')),                              200, undefined, ['Auburn', 'Berlin', 'Bonn']],
    ['SAS-7',                       get(tokenOf('SAS-7')),                              200],
    ['SAS-8',                       get(tokenOf('SAS-8')),                              403, 'AuthenticationFailed'],
    ['ASAS-1',                      get(tokenOf('ASAS-1'), '/Tables'),                  200],
    ['ASAS-1 on properties',        { method: 'PUT', path: `/?restype=service&comp=properties&${tokenOf('ASAS-1')}`, body: '<StorageServiceProperties><Cors/></StorageServiceProperties>' }, 202],
    ['ASAS-1 on policies',          { path: `/Employees?comp=acl&${tokenOf('ASAS-1')}` }, 403, 'AuthorizationFailure'],
    ['ASAS-2',                      get(tokenOf('ASAS-2'), '/Tables'),                  200],
    ['ASAS-3',                      { ...get(tokenOf('ASAS-3'), '/Tables'), secure: true }, 200],
    ['ASAS-3 without scope',        { ...get(tokenOf('ASAS-3').replace('&ses=scope1', ''), '/Tables'), secure: true }, 403, 'AuthenticationFailed'],
    ['ASAS-4 on tables',            get(tokenOf('ASAS-4'), '/Tables'),                  403, 'AuthorizationResourceTypeMismatch'],
    ['ASAS-5',                      get(tokenOf('ASAS-5'), '/Tables'),                  403, 'AuthorizationServiceMismatch'],
  ]
  for (const [what, sent, status, code, check] of rows) {
    it(`${what}: ${status} ${code ?? ''}`, async () => {
      const answered = await service.send(sent)
      assert.deepEqual([answered.status, answered.code], [status, code], answered.text)
      if (check === undefined) return
      const { value } = JSON.parse(answered.text) as { value: { RowKey: string }[] }
      assert.deepEqual(
        value.map(({ RowKey }) => RowKey),
        check,
      )
    })
  }

  it('SAS-3 does what its policy says, as long as it says enough', async () => {
    const statusOf = async (sent: Sent) => {
      const { status, code } = await service.send(sent)
      return `${status} ${code ?? ''}`.trim()
    }
    await service.setPolicies('Employees', [{ id: 'reader-policy', permission: 'r', expiry: '2035-01-01' }])
    assert.equal(await statusOf(get(sas3)), '200')
    assert.equal(await statusOf(insert(sas3, 'a', 'b')), '403 AuthorizationPermissionMismatch')
    for (const policies of [
      [{ id: 'reader-policy', permission: 'r' }],
      [{ id: 'reader-policy', expiry: '2035-01-01' }],
      [{ id: 'Reader-Policy', permission: 'r', expiry: '2035-01-01' }],
      [{ id: 'reader-policy', permission: 'r', expiry: '2025-01-15T08:30Z' }],
      [{ id: 'reader-policy', permission: 'r', expiry: '2035-01-01', start: '2025-01-15T08:30:00.0000001Z' }],
      [{ id: 'reader-policy', permission: 'r', expiry: 'soon' }],
      [],
    ]) {
      await service.setPolicies('Employees', policies)
      assert.equal(await statusOf(get(sas3)), '403 AuthenticationFailed', JSON.stringify(policies))
    }
  })
})

function vectorOf(id: string): Vector {
  return computed.find((vector) => vector.id === id) as Vector
}

function targetOf(target: string): Target {
  const request = { method: 'GET', target, rawHeaders: [], secure: false, peer: () => undefined }
  const unread = { body: async () => Buffer.alloc(0), hungUp: () => false }
  return readTarget({ ...request, ...unread }, new Map([['host', '127.0.0.1:10002']]), new Map())
}

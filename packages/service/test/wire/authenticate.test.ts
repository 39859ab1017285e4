/** Credentials as they go over the wire: challenges, and clients that hold a signature instead of a key. */
import { strict as assert } from 'node:assert'
import { after, describe, it } from 'node:test'
import {
  AzureNamedKeyCredential,
  AzureSASCredential,
  generateAccountSas,
  generateTableSas,
  TableClient,
  TableServiceClient,
} from '@azure/data-tables'
import { startService } from '../../src/service.ts'
import { developmentKey, endpointOf, exchange, get } from './wire.ts'

const account = 'devstoreaccount1'
const service = await startService({
  data: ':memory:',
  bearer: { kind: 'issuer', issuer: 'https://login.example.org/realm', assignments: [] },
})
after(() => service.close())
const endpoint = endpointOf(service.url, account, developmentKey)

describe('a request without credential', () => {
  const sent = (headers: Record<string, string>) =>
    exchange(get('/people()', headers, { sign: 'nothing', endpoint }))

  it('is told where to get a token, by a version that can', async () => {
    const answer = await sent({ 'x-ms-version': '2020-12-06' })
    assert.equal(answer.status, 401)
    assert.equal(answer.header('x-ms-error-code'), 'NoAuthenticationInformation')
    assert.equal(
      answer.header('www-authenticate'),
      'Bearer authorization_uri=https://login.example.org/00000000-0000-4000-8000-000000000000/oauth2/authorize resource_id=https://storage.azure.com',
    )
    assert.equal(answer.header('content-length'), '281')
  })

  it('is refused without a challenge by one that cannot', async () => {
    const answer = await sent({})
    assert.equal(answer.status, 403)
    assert.equal(answer.header('www-authenticate'), undefined)
  })
})

describe('the JavaScript client', () => {
  const credential = new AzureNamedKeyCredential(account, developmentKey)
  const options = { allowInsecureConnection: true }
  const expiresOn = new Date(Date.now() + 3_600_000)

  it('works with a signature for an account', async () => {
    const token = generateAccountSas(credential, {
      expiresOn,
      permissions: { list: true, write: true, query: true, add: true },
    })
    const tables = new TableServiceClient(`${service.url}/${account}`, new AzureSASCredential(token), options)
    await tables.createTable('people')
    const names: string[] = []
    for await (const { name } of tables.listTables()) names.push(name ?? '')
    assert.deepEqual(names, ['people'])
    await assert.rejects(tables.deleteTable('people'), {
      statusCode: 403,
      message: /AuthorizationPermissionMismatch/,
    })
  })

  it('works with a signature for a range of a table, in transactions too', async () => {
    const token = generateTableSas('people', credential, {
      expiresOn,
      permissions: { query: true, add: true, update: true, delete: true },
      startPartitionKey: 'm',
      endPartitionKey: 'n',
    })
    const owner = new TableClient(`${service.url}/${account}`, 'people', credential, options)
    await owner.createEntity({ partitionKey: 'a', rowKey: '1' })
    const limited = new TableClient(
      `${service.url}/${account}`,
      'people',
      new AzureSASCredential(token),
      options,
    )
    await limited.createEntity({ partitionKey: 'm', rowKey: '1' })
    await limited.submitTransaction([
      ['upsert', { partitionKey: 'm', rowKey: '2' }],
      ['delete', { partitionKey: 'm', rowKey: '1' }],
    ])
    const refused = { statusCode: 403, message: /not authorized to perform this operation/ }
    await assert.rejects(limited.createEntity({ partitionKey: 'a', rowKey: '2' }), refused)
    await assert.rejects(limited.submitTransaction([['create', { partitionKey: 'a', rowKey: '2' }]]), refused)
    await assert.rejects(limited.getEntity('a', '1'), { statusCode: 404, message: /ResourceNotFound/ })
    const rows: string[] = []
    for await (const { partitionKey, rowKey } of limited.listEntities()) rows.push(`${partitionKey}${rowKey}`)
    assert.deepEqual(rows, ['m2'])
  })
})

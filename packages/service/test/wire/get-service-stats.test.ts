import { after } from 'node:test'
import { startTestedService } from '../support/tested-service.ts'
import { developmentKey, endpointOf, get, wireTable } from './wire.ts'

const onSecondary = { ...get('/devstoreaccount1-secondary/?restype=service&comp=stats'), wholeTarget: true }
const onPrimary = get('/?restype=service&comp=stats')
const live =
  /^\ufeff<\?xml version="1.0" encoding="utf-8"\?><StorageServiceStats><GeoReplication><Status>live<\/Status><LastSyncTime>[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT<\/LastSyncTime><\/GeoReplication><\/StorageServiceStats>$/
const found = { 'content-type': 'application/xml', 'cache-control': undefined, body: live }
const invalid = { 'content-type': 'application/xml', 'x-ms-error-code': 'InvalidQueryParameterValue' }

const account = 'devstoreaccount1'
const service = await startTestedService({
  data: ':memory:',
  accounts: `${account}:${developmentKey}`,
  statsOnPrimary: true,
})
after(() => service.close())
const endpoint = endpointOf(service.url, account, developmentKey)

wireTable('Get Table Service Stats', [
  [onSecondary, 200, found],
  [{ ...onSecondary, path: '/devstoreaccount1-secondary?restype=service&comp=stats' }, 200, found],
  [
    { ...get('/?restype=service&comp=stats'), host: 'devstoreaccount1-secondary.table.example.org' },
    200,
    found,
  ],
  [onPrimary, 400, 'InvalidQueryParameterValue', invalid],
  [
    { ...onSecondary, path: '/devstoreaccount1-secondary/people?restype=service&comp=stats' },
    400,
    'InvalidQueryParameterValue',
    invalid,
  ],
  [{ ...onSecondary, sign: 'nothing' }, 403, 'AuthenticationFailed', { 'content-type': 'application/xml' }],
])

wireTable('Get Table Service Stats: on the primary where that was asked for', [
  [{ ...onPrimary, endpoint }, 200, found],
  [{ ...onSecondary, endpoint }, 200, found],
])

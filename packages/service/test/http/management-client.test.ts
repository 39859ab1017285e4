/** The official client against policies, properties and statistics. */
import { strict as assert } from 'node:assert'
import { after, describe, it } from 'node:test'
import { RestError, TableClient, TableServiceClient } from '@azure/data-tables'
import { startTestedService } from '../support/tested-service.ts'

const service = await startTestedService({ data: ':memory:', statsOnPrimary: true })
after(() => service.close())
const insecure = { allowInsecureConnection: true }
const people = TableClient.fromConnectionString(service.connectionString, 'people', insecure)
const tables = TableServiceClient.fromConnectionString(service.connectionString, insecure)
await people.createTable()

describe('the official client', () => {
  it('sets, gets and clears access policies', async () => {
    assert.deepEqual(policiesOf(await people.getAccessPolicy()), [])
    const start = new Date('2021-06-08T02:10:09Z')
    const expiry = new Date('2031-06-08T02:10:09Z')
    await people.setAccessPolicy([
      { id: 'full', accessPolicy: { start, expiry, permission: 'raud' } },
      { id: 'part', accessPolicy: { permission: 'r' } },
      { id: 'bare' },
    ])
    assert.deepEqual(policiesOf(await people.getAccessPolicy()), [
      {
        id: 'full',
        accessPolicy: { start: start.toISOString(), expiry: expiry.toISOString(), permission: 'raud' },
      },
      { id: 'part', accessPolicy: { permission: 'r' } },
      { id: 'bare', accessPolicy: {} },
    ])
    await people.setAccessPolicy([])
    assert.deepEqual(policiesOf(await people.getAccessPolicy()), [])
  })

  it('is told the code of a refused policy', async () => {
    const six = Array.from({ length: 6 }, (_, index) => ({ id: `p${index}` }))
    await assert.rejects(people.setAccessPolicy(six), hasCode('InvalidXmlDocument'))
    const nobody = TableClient.fromConnectionString(service.connectionString, 'nobody', insecure)
    await assert.rejects(nobody.getAccessPolicy(), hasCode('TableNotFound'))
  })

  it('sets and gets properties', async () => {
    const retentionPolicy = { enabled: true, days: 5 }
    const properties = {
      logging: { version: '1.0', read: true, write: true, delete: true, retentionPolicy },
      hourMetrics: { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy },
      minuteMetrics: { version: '1.0', enabled: false, retentionPolicy: { enabled: false } },
      cors: [
        {
          allowedOrigins: 'https://app.example.org',
          allowedMethods: 'GET,PUT',
          allowedHeaders: 'content-type,x-ms-*',
          exposedHeaders: 'x-ms-*',
          maxAgeInSeconds: 60,
        },
      ],
    }
    await tables.setProperties(properties)
    const { logging, hourMetrics, minuteMetrics, cors } = await tables.getProperties()
    assert.deepEqual(plain(logging), properties.logging)
    assert.deepEqual(plain(hourMetrics), properties.hourMetrics)
    assert.deepEqual(plain(minuteMetrics), properties.minuteMetrics)
    assert.deepEqual(plain(cors), properties.cors)
    await tables.setProperties({ cors: [] })
  })

  it('is told the code of refused properties', async () => {
    const retentionPolicy = { enabled: true, days: 366 }
    const minuteMetrics = { version: '1.0', enabled: false, retentionPolicy }
    await assert.rejects(tables.setProperties({ minuteMetrics }), hasCode('InvalidXmlDocument'))
  })

  it('gets statistics', async () => {
    const { geoReplication } = await tables.getStatistics()
    assert.equal(geoReplication?.status, 'live')
    const agoMs = Date.now() - (geoReplication?.lastSyncTime?.getTime() ?? 0)
    assert(agoMs >= 0 && agoMs < 60_000)
  })
})

function policiesOf(response: object): unknown {
  return plain(Object.values(response).filter((entry) => typeof entry === 'object' && 'id' in entry))
}

/** Dates as text, and nothing that is undefined. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** The client reads no XML errors; it keeps the header. */
function hasCode(code: string): (error: Error) => boolean {
  return (error) => {
    assert(error instanceof RestError)
    assert.equal(error.response?.headers.get('x-ms-error-code'), code)
    return true
  }
}

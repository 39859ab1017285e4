/** A service of the test's own, over real sockets, whose pages are cut short and oddly. */
import { TableClient, TableServiceClient } from '@azure/data-tables'
import { startService } from 'partita'
import { connectionString, startAzurite } from './azurite.ts'
import type { Faults } from './faults.ts'

export interface TestService {
  readonly connectionString: string
  /** A client for a new table, each with a name of its own. */
  newTable(faults?: Pick<Faults, 'policy'>): Promise<TableClient>
  /** Another client of the same table. */
  clientOf(table: string, faults?: Pick<Faults, 'policy'>): TableClient
  close(): Promise<void>
}

/** `PATTERNS_TABLES=azurite` takes Azurite instead; `PATTERNS_CONNECTION_STRING` points the suite at any service. */
export async function startTestService(): Promise<TestService> {
  if (process.env['PATTERNS_TABLES'] === 'azurite') {
    const azurite = await startAzurite()
    return testService(connectionString(azurite), () => azurite.stop())
  }
  const elsewhere = process.env['PATTERNS_CONNECTION_STRING']
  if (elsewhere !== undefined) return testService(elsewhere, async () => undefined)
  const service = await startService({ data: ':memory:', realism: true })
  return testService(service.connectionString, () => service.close())
}

function testService(connectionString: string, close: () => Promise<void>): TestService {
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 3, retryDelayInMs: 1 } }
  const prefix = `t${Date.now().toString(36)}x`
  const made: string[] = []
  return { connectionString, newTable, clientOf, close: dropAndClose }

  async function newTable(faults?: Pick<Faults, 'policy'>): Promise<TableClient> {
    const name = `${prefix}${made.length}`
    made.push(name)
    await TableServiceClient.fromConnectionString(connectionString, options).createTable(name)
    return clientOf(name, faults)
  }

  function clientOf(table: string, faults?: Pick<Faults, 'policy'>): TableClient {
    const client = TableClient.fromConnectionString(connectionString, table, options)
    // Inside the retries, so that each attempt can fail on its own.
    if (faults !== undefined) client.pipeline.addPolicy(faults.policy, { phase: 'Sign' })
    return client
  }

  async function dropAndClose(): Promise<void> {
    const service = TableServiceClient.fromConnectionString(connectionString, options)
    await Promise.all(made.map((name) => service.deleteTable(name)))
    await close()
  }
}

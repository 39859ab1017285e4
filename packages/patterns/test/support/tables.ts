/** Tables of a Partita in this process: pages are cut short at random, and names stay taken if asked. */
import { TableClient, TableServiceClient } from '@azure/data-tables'
import { startService } from 'partita'

export interface Tables {
  readonly account: string
  open(name: string): TableClient
  service(): TableServiceClient
  close(): Promise<void>
}

export async function startTables(options: { readonly deletedNameSeconds?: number } = {}): Promise<Tables> {
  const service = await startService({ data: ':memory:', realism: true, ...options })
  const insecure = { allowInsecureConnection: true }
  return {
    account: 'devstoreaccount1',
    open: (name) => TableClient.fromConnectionString(service.connectionString, name, insecure),
    service: () => TableServiceClient.fromConnectionString(service.connectionString, insecure),
    close: async () => await service.close(),
  }
}

/**
 * Tables for tests: of a Partita in this process, where pages are cut short at random and names stay taken if asked;
 * or of Azurite, when PATTERNS_TABLES says so.
 */
import { TableClient, TableServiceClient } from '@azure/data-tables'
import { startService } from 'partita'
import { connectionString, developmentAccount, startAzurite } from './azurite.ts'

export interface Tables {
  readonly account: string
  open(name: string): TableClient
  service(): TableServiceClient
  close(): Promise<void>
}

export async function startTables(): Promise<Tables> {
  return await (process.env['PATTERNS_TABLES'] === 'azurite' ? startAzuriteTables() : startPartitaTables())
}

/** Azurite frees the name of a dropped table at once, so tests of that need this one. */
export async function startPartitaTables(
  options: { readonly deletedNameSeconds?: number } = {},
): Promise<Tables> {
  const service = await startService({ data: ':memory:', realism: true, ...options })
  return tablesAt(service.connectionString, async () => await service.close())
}

async function startAzuriteTables(): Promise<Tables> {
  const azurite = await startAzurite()
  return tablesAt(connectionString(azurite), async () => await azurite.stop())
}

function tablesAt(address: string, close: () => Promise<void>): Tables {
  const insecure = { allowInsecureConnection: true }
  return {
    account: developmentAccount.name,
    open: (name) => TableClient.fromConnectionString(address, name, insecure),
    service: () => TableServiceClient.fromConnectionString(address, insecure),
    close,
  }
}

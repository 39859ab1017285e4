/** Where the chapters play: the services, the tables, and a way to say what something cost. */
import { TableClient, TableServiceClient } from '@azure/data-tables'
import { aesKey, encryptedProperties, keyRing, openTable, type Table } from '@partita/patterns'
import { largeProperties, largeValues } from '@partita/patterns/large-values'
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { QueueServiceClient } from '@azure/storage-queue'
import { randomBytes } from 'node:crypto'
import { startService } from 'partita'
import type * as azuriteModule from '../../packages/patterns/test/support/azurite.ts'
import { managerOfDepartment, staffOfDepartment } from './definitions.ts'
import { newMeter } from './meter.ts'

export interface Stage {
  readonly company: Table
  readonly photos: ContainerClient
  readonly queues: QueueServiceClient
  readonly service: TableServiceClient
  client(table: string): TableClient
  title(text: string): void
  /** Does the work, and prints one line: what it was and what it cost. */
  show<T>(what: string, work: () => Promise<T>, tell?: (result: T) => string): Promise<T>
  close(): Promise<void>
}

const insecure = { allowInsecureConnection: true }

export async function openStage(): Promise<Stage> {
  console.log(
    'Tables: Partita, in memory. Queues and blobs: Azurite, from npm into a folder for scratch files.',
  )
  console.log(
    'Requests are those to tables; rows examined are what queries looked at, and for how many rows.',
  )
  const partita = await startService({ data: ':memory:' })
  const { startAzurite, connectionString } = await azurite()
  const blobsAndQueues = await startAzurite()
  const blobs = BlobServiceClient.fromConnectionString(connectionString(blobsAndQueues))
  const queues = QueueServiceClient.fromConnectionString(connectionString(blobsAndQueues))
  const photos = blobs.getContainerClient('photos')
  await photos.create()
  const meter = newMeter()
  const service = meter.watch(TableServiceClient.fromConnectionString(partita.connectionString, insecure))
  await service.createTable('company')
  const company = openTable(client('company'), {
    copies: [managerOfDepartment],
    counts: [staffOfDepartment],
    seals: [
      encryptedProperties({ account: 'devstoreaccount1', keys: keyRing(aesKey('2026', randomBytes(32))) }),
      largeProperties(largeValues(photos)),
    ],
  })
  return { company, photos, queues, service, client, title, show, close }

  function client(table: string): TableClient {
    return meter.watch(TableClient.fromConnectionString(partita.connectionString, table, insecure))
  }

  function title(text: string): void {
    console.log(`\n${text}\n${'-'.repeat(text.length)}`)
  }

  async function show<T>(what: string, work: () => Promise<T>, tell?: (result: T) => string): Promise<T> {
    const { result, cost } = await meter.measure(work)
    const requests = `${String(cost.requests).padStart(4)} ${cost.requests === 1 ? 'request' : 'requests'}`
    const examined = cost.examined > 0 ? `, ${cost.examined} rows examined for ${cost.returned}` : ''
    console.log(`${what.padEnd(62)}${requests}${examined}${tell ? `\n    → ${tell(result)}` : ''}`)
    return result
  }

  async function close(): Promise<void> {
    await blobsAndQueues.stop()
    await partita.close()
  }
}

type AzuriteModule = typeof azuriteModule

/** The one the tests use. It is no part of what the library exports, so it is imported by its address. */
async function azurite(): Promise<AzuriteModule> {
  const file = new URL('../../../packages/patterns/dist/test/support/azurite.js', import.meta.url)
  return (await import(file.href)) as AzuriteModule
}

/** Lists in blobs, against real endpoints: they follow the entities, whoever dies or sleeps meanwhile. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { TableClient, TableServiceClient } from '@azure/data-tables'
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { digits, entity, Instant, int32, key, openTable, string, text } from '../../src/index.ts'
import { type Azurite, connectionString, startAzurite } from '../support/azurite.ts'
import { type Faults, newFaults } from '../support/faults.ts'
import { newGate } from '../support/gate.ts'

const Person = entity('Person', {
  properties: { department: string(), id: int32(), name: string() },
  partition: key(text('department')),
  row: key('empid_', digits('id', 6)),
  indexes: {
    byName: { partition: key('names'), row: key('name_', text('name')), list: true, container: 'lists' },
  },
})
const jones = { department: 'Sales', id: 1, name: 'Jones/&?' }
const cousin = { department: 'HR', id: 1, name: 'Jones/&?' }

let azurite: Azurite
let worlds = 0
before(async () => {
  azurite = await startAzurite()
})
after(() => azurite.stop())

describe('a list in a blob', () => {
  it('is read by its name, and follows', async () => {
    const { people, relay, blobs } = await newWorld()
    await people.insert(jones)
    await people.insert(cousin)
    await relay.runOnce()
    assert.deepEqual(
      (await people.by('byName').get({ name: jones.name })).map(({ department }) => department).toSorted(),
      ['HR', 'Sales'],
    )
    await people.change(cousin, (it) => it && { ...it, name: 'Smith' })
    await people.remove(jones)
    await relay.runOnce()
    assert.deepEqual(await people.by('byName').get({ name: jones.name }), [])
    assert.deepEqual(await people.by('byName').keys({ name: 'Smith' }), [
      { partitionKey: 'HR', rowKey: 'empid_000001' },
    ])
    assert.deepEqual(Object.values(await blobs()).toSorted(), ['["HR/empid_000001"]', '[]'])
  })

  it('is cleared away when nobody is left', async () => {
    const world = await newWorld()
    await world.people.insert(jones)
    await world.people.remove(jones)
    await world.relay.runOnce()
    assert.equal((await world.again(undefined, 3_600_000).relay.runOnce()).cleared, 1)
    assert.deepEqual(await world.blobs(), {})
  })

  it('comes right after a death at any request', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let request = 1, met = true; met; request++) {
        const world = await newWorld()
        await world.people.insert(jones)
        await world.relay.runOnce()
        await world.people.change(jones, (it) => it && { ...it, name: 'Smith' })
        const faults = newFaults()
        faults.dieAt(request, moment)
        await world
          .again(faults)
          .relay.runOnce()
          .catch(() => undefined)
        met = faults.requests >= request
        await world.relay.runOnce()
        assert.equal((await world.people.by('byName').keys({ name: 'Smith' })).length, 1)
        assert.deepEqual(await world.people.by('byName').keys({ name: jones.name }), [])
        assert.equal(await world.relay.lag(), undefined)
      }
    }
  })

  it('gets nothing old back from a relay that has slept', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let request = 1, met = true; met; request++) {
        const world = await newWorld()
        await world.people.insert(jones)
        const gate = newGate(request, moment)
        const sleeper = world.again(gate).relay.runOnce()
        met = await Promise.race([gate.asleep.then(() => true), sleeper.then(() => false)])
        await world.people.remove(jones)
        await world.relay.runOnce()
        gate.wake()
        await sleeper
        assert.deepEqual(await world.people.by('byName').keys({ name: jones.name }), [])
        assert.equal(await world.relay.lag(), undefined)
      }
    }
  })
})

async function newWorld() {
  worlds += 1
  const table = `people${worlds}`
  const connection = connectionString(azurite)
  const insecure = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } }
  await TableServiceClient.fromConnectionString(connection, insecure).createTable(table)
  const container = containerOf()
  await container.create()
  return { ...open(), again: open, blobs }

  function open(fault?: Pick<Faults, 'policy'>, aheadMs = 0) {
    const client = TableClient.fromConnectionString(connection, table, insecure)
    if (fault !== undefined) client.pipeline.addPolicy(fault.policy, { phase: 'Sign' })
    const opened = openTable(client, {
      containers: { lists: containerOf(fault) },
      clock: () => Instant.from(new Date(Date.now() + aheadMs)),
    })
    return { people: opened.of(Person), relay: opened.relay([Person]) }
  }

  function containerOf(fault?: Pick<Faults, 'policy'>): ContainerClient {
    const blobService = BlobServiceClient.fromConnectionString(connection, { retryOptions: { maxTries: 1 } })
    const client = blobService.getContainerClient(`lists${worlds}`)
    if (fault === undefined) return client
    // Its pipeline is not open to policies, so the fault stands before its transport.
    return new Proxy(client, {
      get(target, name, receiver) {
        if (name !== 'getBlockBlobClient') return Reflect.get(target, name, receiver) as unknown
        return (blob: string) => faulty(target.getBlockBlobClient(blob), fault)
      },
    })
  }

  async function blobs(): Promise<Record<string, string>> {
    const found: Record<string, string> = {}
    for await (const { name } of container.listBlobsFlat()) {
      found[name] = (await container.getBlockBlobClient(name).downloadToBuffer()).toString()
    }
    return found
  }
}

/** Each call of a blob's client is one request of its own. */
function faulty<T extends object>(client: T, { policy }: Pick<Faults, 'policy'>): T {
  return new Proxy(client, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function' || !['download', 'upload', 'delete'].includes(String(name)))
        return value
      return async (...args: unknown[]): Promise<unknown> => {
        let result: unknown
        const next = async (): Promise<never> => {
          result = await (value as (...each: unknown[]) => Promise<unknown>).apply(target, args)
          return undefined as never
        }
        await policy.sendRequest(undefined as never, next)
        return result
      }
    },
  })
}

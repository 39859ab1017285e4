import { strict as assert } from 'node:assert'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { RestError, type TableClient } from '@azure/data-tables'
import type { ContainerClient } from '@azure/storage-blob'
import {
  type LargeValue,
  largeValueCells,
  largeValueOf,
  type LargeValues,
  largeValues,
  type Owner,
} from '../../src/large-values/large-values.ts'
import { type Azurite, startAzurite } from '../support/azurite.ts'
import { type Death, Died, type Mortal, mortal } from '../support/mortal.ts'
import { startTables, type Tables } from '../support/tables.ts'

let azurite: Azurite
let tables: Tables
let places = 0

before(async () => {
  azurite = await startAzurite()
  tables = await startTables()
})
after(async () => {
  await azurite.stop()
  await tables.close()
})

const dayMs = 24 * 3_600_000
const old = Buffer.from('the old photo')
const fresh = Buffer.from('the fresh photo')

describe('a large value', () => {
  it('is a blob, and its entity says where and what', async () => {
    const place = await newPlace()
    const value = await place.put(old, 'image/png')
    const row = await place.table.getEntity('Sales', '1')
    assert.deepEqual(largeValueOf('Photo', row), value)
    assert.deepEqual(value, {
      blob: value.blob,
      bytes: old.length,
      type: 'image/png',
      hash: createHash('sha256').update(old).digest('hex'),
    })
    assert.match(value.blob, new RegExp(`^${place.table.tableName}/[0-9a-f-]{36}$`))
    const { contentType } = await place.container.getBlobClient(value.blob).getProperties()
    assert.equal(contentType, 'image/png')
    assert.deepEqual(await place.read(), old)
  })

  it('may be a stream of any length', async () => {
    const place = await newPlace()
    const chunks = Array.from({ length: 9 }, () => randomBytes(1_000_000))
    const value = await place.put(
      (async function* () {
        yield* chunks
      })(),
      'application/octet-stream',
    )
    assert.equal(value.bytes, 9_000_000)
    assert.deepEqual(await place.read(), Buffer.concat(chunks))
  })

  it('of an entity that has none, or does not exist, is nothing', async () => {
    const place = await newPlace()
    assert.equal(await place.read(), undefined)
    await place.table.createEntity({ partitionKey: 'Sales', rowKey: '1' })
    assert.equal(await place.read(), undefined)
  })

  it('is refused when the blob is not what the entity says', async () => {
    const place = await newPlace()
    const { blob } = await place.put(old, 'text/plain')
    await place.container.getBlockBlobClient(blob).uploadData(Buffer.from('the odd photo'))
    await assert.rejects(place.read(), {
      code: 'UnreadableRow',
      message: /does not hold what its entity says/,
    })
    await place.container.deleteBlob(blob)
    await assert.rejects(place.read(), { code: 'UnreadableRow', message: /still names it/ })
  })

  it('that is replaced while it is read comes as the new one, and one that is removed as none', async () => {
    const place = await newPlace()
    await place.put(old, 'text/plain')
    const { values, valueOf } = place.parts()
    let reads = 0
    const opened = await values.open(async () => {
      const found = await valueOf()
      reads += 1
      if (reads === 1) await place.put(fresh, 'text/plain')
      return found
    })
    assert.deepEqual(await opened?.bytes(), fresh)
    const gone = await values.open(async () => {
      const found = await valueOf()
      await place.parts().remove()
      return found
    })
    assert.equal(gone, undefined)
  })

  it('that waited too long cannot be named any more, because the sweep may have come', async () => {
    const place = await newPlace()
    let nowMs = Date.now()
    const values = largeValues(place.container, { clock: () => nowMs })
    const staged = await values.stage(place.owner, old)
    nowMs += dayMs / 2 + 1
    let written = false
    const commit = values.commit([staged], async () => {
      written = true
      return []
    })
    await assert.rejects(commit, { code: 'InvalidValue' })
    assert.equal(written, false)
  })

  it('is swept only when it is old, ours, and named by nobody', async () => {
    const place = await newPlace()
    const { valueOf } = place.parts()
    const named = await place.put(old, 'text/plain')
    let nowMs = Date.now()
    const values = largeValues(place.container, { clock: () => nowMs })
    const orphan = await values.stage(place.owner, fresh)
    const foreign = `${place.table.tableName}/foreign`
    await place.container.getBlockBlobClient(foreign).uploadData(Buffer.from('?'))
    nowMs += dayMs - 60_000
    const sweep = async () => await values.sweep(place.table.tableName, valueOf)
    assert.deepEqual(await sweep(), { examined: 3, deleted: 0 })
    nowMs += 120_000
    assert.deepEqual(await sweep(), { examined: 3, deleted: 1 })
    assert.deepEqual(await place.blobs(), [foreign, named.blob].toSorted())
    assert(!(await place.blobs()).includes(orphan.value.blob))
  })
})

describe('a write of a large value that dies', () => {
  // Upload, read the entity, write it, delete the old blob.
  const requests = 4

  it('needs four requests', async () => {
    const place = await newPlace()
    await place.put(old, 'text/plain')
    const alive = mortal()
    await place.put(fresh, 'text/plain', alive)
    assert.equal(alive.sent, requests)
  })

  it('at any request leaves the old value or the new one, and the sweep leaves one blob', async () => {
    await Promise.all(
      deathsWithin(requests).map(async (death) => {
        const place = await newPlace()
        const label = JSON.stringify(death)
        await place.put(old, 'text/plain')
        const lastRequest = death.request === requests
        const writing = place.put(fresh, 'text/plain', mortal(death))
        // Whoever dies while clearing up has done what was asked.
        if (lastRequest) await writing
        else await assert.rejects(writing, Died, label)
        const done = death.when === 'after' ? death.request : death.request - 1
        assert.deepEqual(await place.read(), done >= 3 ? fresh : old, label)
        await place.sweepTomorrow()
        assert.equal((await place.blobs()).length, 1, label)
        assert.deepEqual(await place.read(), done >= 3 ? fresh : old, label)
        await place.put(fresh, 'text/plain')
        assert.deepEqual(await place.read(), fresh, label)
      }),
    )
  })
})

describe('a removal of a large value that dies', () => {
  // Read the entity, delete it, delete the blob.
  const requests = 3

  it('at any request leaves the value whole or no entity, and the sweep leaves no blob', async () => {
    await Promise.all(
      deathsWithin(requests).map(async (death) => {
        const place = await newPlace()
        const label = JSON.stringify(death)
        await place.put(old, 'text/plain')
        await place
          .parts(mortal(death))
          .remove()
          .catch((error: unknown) => assert(error instanceof Died))
        const done = death.when === 'after' ? death.request : death.request - 1
        assert.deepEqual(await place.read(), done >= 2 ? undefined : old, label)
        await place.parts().remove()
        await place.sweepTomorrow()
        assert.deepEqual(await place.blobs(), [], label)
      }),
    )
  })
})

describe('two writers of a large value at once', () => {
  it('leave one of the two, whole, and the other is swept', async () => {
    const place = await newPlace()
    await place.put(old, 'text/plain')
    const contents = Array.from({ length: 6 }, (_, index) => Buffer.from(`photo ${index}`))
    const results = await Promise.allSettled(contents.map(async (it) => await place.put(it, 'text/plain')))
    assert(results.some(({ status }) => status === 'fulfilled'))
    for (const result of results)
      if (result.status === 'rejected') assert.equal((result.reason as RestError).statusCode, 412)
    const found = await place.read()
    assert(contents.some((content) => found?.equals(content)))
    await place.sweepTomorrow()
    assert.equal((await place.blobs()).length, 1)
  })
})

function deathsWithin(requests: number): Death[] {
  return Array.from({ length: requests }, (_, index) => index + 1).flatMap((request): Death[] => [
    { request, when: 'before' },
    { request, when: 'after' },
  ])
}

interface Place {
  readonly table: TableClient
  readonly container: ContainerClient
  readonly owner: Owner
  put(content: Parameters<LargeValues['stage']>[1], type: string, owner?: Mortal): Promise<LargeValue>
  parts(owner?: Mortal): Parts
  read(): Promise<Buffer | undefined>
  blobs(): Promise<string[]>
  sweepTomorrow(): Promise<void>
}

interface Parts {
  readonly table: TableClient
  readonly values: LargeValues
  valueOf(): Promise<LargeValue | undefined>
  remove(): Promise<void>
}

/** An employee's photo, kept as an application would keep it. */
async function newPlace(): Promise<Place> {
  places += 1
  const number = places
  const tableName = `Employees${number}`
  const key = { partitionKey: 'Sales', rowKey: '1' }
  const owner: Owner = { table: tableName, ...key, property: 'Photo' }
  const container = mortal().container(`${azurite.blobUrl}/photos-${number}`)
  const table = tables.open(tableName)
  await Promise.all([container.create(), table.createTable()])
  return { table, container, owner, put, parts, read, blobs, sweepTomorrow }

  function parts(life: Mortal = mortal()): Parts {
    const client = life.table(tables.open(tableName))
    const values = largeValues(life.container(container.url))
    return { table: client, values, valueOf, remove }

    async function valueOf(): Promise<LargeValue | undefined> {
      const row = await rowOf(client)
      return row && largeValueOf('Photo', row)
    }

    async function remove(): Promise<void> {
      await values.remove(async () => {
        const row = await rowOf(client)
        if (row === undefined) return []
        await client.deleteEntity('Sales', '1', { etag: row.etag })
        return [largeValueOf('Photo', row)].filter((value) => value !== undefined)
      })
    }
  }

  async function put(content: Parameters<LargeValues['stage']>[1], type: string, life: Mortal = mortal()) {
    const { table: client, values } = parts(life)
    return await values.write(owner, content, type, async (value) => {
      const row = await rowOf(client)
      const entity = { ...key, ...largeValueCells('Photo', value) }
      if (row === undefined) await client.createEntity(entity)
      else await client.updateEntity(entity, 'Replace', { etag: row.etag })
      const before = row && largeValueOf('Photo', row)
      return before === undefined ? [] : [before]
    })
  }

  async function read(): Promise<Buffer | undefined> {
    const { values, valueOf } = parts()
    return await (await values.open(valueOf))?.bytes()
  }

  async function blobs(): Promise<string[]> {
    const found: string[] = []
    for await (const { name } of container.listBlobsFlat()) found.push(name)
    return found
  }

  async function sweepTomorrow(): Promise<void> {
    const values = largeValues(container, { clock: () => Date.now() + 2 * dayMs })
    await values.sweep(tableName, parts().valueOf)
  }
}

async function rowOf(table: TableClient) {
  try {
    return await table.getEntity('Sales', '1')
  } catch (error) {
    if (error instanceof RestError && error.statusCode === 404) return undefined
    throw error
  }
}

import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { TableClient } from '@azure/data-tables'
import { type Cells, decryptRow, encryptRow, type EncryptionPolicy } from '../../src/encryption/encryption.ts'
import { aesKey, type KeyRing, keyRing } from '../../src/encryption/key-ring.ts'
import { rewrap } from '../../src/encryption/rewrap.ts'
import { readExactly } from '../../src/exact-row.ts'
import { type Death, Died, mortal } from '../support/mortal.ts'
import { startTables, type Tables } from '../support/tables.ts'

let tables: Tables
let names = 0

before(async () => {
  tables = await startTables()
})
after(async () => await tables.close())

const [older, newer] = [
  aesKey("the older's key", randomBytes(32)),
  aesKey("the newer's key", randomBytes(32)),
]
const both = keyRing(newer, older)

describe('encrypted properties', () => {
  it('are Binary in the table, and come back as they were', async () => {
    const place = await newPlace(1)
    const raw = await place.table.getEntity('Sales', '0')
    assert(raw['Salary'] instanceof Uint8Array)
    assert(raw['EncryptionKey'] instanceof Uint8Array)
    assert.equal(raw['EncryptionKeyId'], older.id)
    assert.equal(raw['Name'], 'n0')
    assert.deepEqual(await place.read('0', both), row(0))
  })
})

describe('rewrapping', () => {
  it('wraps every content key by the current key, and touches no value', async () => {
    const place = await newPlace(50)
    await place.table.createEntity({ partitionKey: 'Sales', rowKey: 'plain', Name: 'not encrypted' })
    const before = await place.table.getEntity('Sales', '7')
    const progress: number[] = []
    assert.deepEqual(await rewrap(place.table, both, { observe: (it) => progress.push(it.rewrapped) }), {
      rewrapped: 50,
    })
    assert.equal(progress.length, 50)
    const after = await place.table.getEntity('Sales', '7')
    assert.deepEqual(after['Salary'], before['Salary'])
    assert.notDeepEqual(after['EncryptionKey'], before['EncryptionKey'])
    for (let id = 0; id < 50; id += 1) assert.deepEqual(await place.read(String(id), keyRing(newer)), row(id))
    assert.deepEqual(await rewrap(place.table, both), { rewrapped: 0 })
  })

  it('takes along an entity that is written meanwhile, and one that is deleted is let go', async () => {
    const place = await newPlace(3)
    const table = tables.open(place.table.tableName)
    const meddle = ['0', '1']
    table.pipeline.addPolicy({
      name: 'somebody else is quicker',
      async sendRequest(request, next) {
        const target = meddle.find((id) => request.url.includes(`RowKey='${id}'`) && request.method !== 'GET')
        if (target !== undefined) meddle.splice(meddle.indexOf(target), 1)
        if (target === '0') await place.write('0', { ...row(0), Salary: { type: 'String', value: 'raised' } })
        if (target === '1') await place.table.deleteEntity('Sales', '1')
        return await next(request)
      },
    })
    assert.deepEqual(await rewrap(table, both), { rewrapped: 2 })
    assert.deepEqual((await place.read('0', keyRing(newer)))['Salary'], { type: 'String', value: 'raised' })
    assert.deepEqual(await place.read('2', keyRing(newer)), row(2))
  })

  it('that dies at any request leaves every entity readable, and the next run ends it', async () => {
    const entities = 3
    const counting = mortal()
    const counted = await newPlace(entities)
    await rewrap(counting.table(tables.open(counted.table.tableName)), both, { concurrency: 1 })
    assert(counting.sent > entities)
    for (let request = 1; request <= entities + 1; request += 1) {
      for (const when of ['before', 'after'] as const) {
        const death: Death = { request, when }
        const place = await newPlace(entities)
        const victim = mortal(death).table(tables.open(place.table.tableName))
        await assert.rejects(rewrap(victim, both, { concurrency: 1 }), Died, JSON.stringify(death))
        for (let id = 0; id < entities; id += 1)
          assert.deepEqual(await place.read(String(id), both), row(id), JSON.stringify(death))
        await rewrap(place.table, both)
        for (let id = 0; id < entities; id += 1)
          assert.deepEqual(await place.read(String(id), keyRing(newer)), row(id), JSON.stringify(death))
      }
    }
  })

  it('by two at once does no harm', async () => {
    const place = await newPlace(40)
    const done = await Promise.all([rewrap(place.table, both), rewrap(place.table, both)])
    assert(done.reduce((sum, { rewrapped }) => sum + rewrapped, 0) >= 40)
    for (let id = 0; id < 40; id += 1) assert.deepEqual(await place.read(String(id), keyRing(newer)), row(id))
  })

  it('stops when it is told to', async () => {
    const place = await newPlace(3)
    await assert.rejects(rewrap(place.table, both, { signal: AbortSignal.abort() }), { name: 'AbortError' })
    assert.deepEqual(await place.read('0', keyRing(older)), row(0))
  })

  it('names the entity whose key nobody has', async () => {
    const place = await newPlace(1)
    await assert.rejects(rewrap(place.table, keyRing(newer)), {
      code: 'UnreadableRow',
      message: /\(Sales, 0\)/,
    })
  })
})

function row(id: number): Cells {
  return { Name: { type: 'String', value: `n${id}` }, Salary: { type: 'String', value: `${id} €` } }
}

interface Place {
  readonly table: TableClient
  read(id: string, keys: KeyRing): Promise<Cells>
  write(id: string, cells: Cells): Promise<void>
}

/** Employees with a secret salary, encrypted by the older key. */
async function newPlace(entities: number): Promise<Place> {
  names += 1
  const table = tables.open(`Employees${names}`)
  const policy: EncryptionPolicy = {
    account: tables.account,
    table: table.tableName,
    properties: ['Salary'],
    keys: keyRing(older),
  }
  await table.createTable()
  for (let id = 0; id < entities; id += 1) await write(String(id), row(id))
  return { table, read, write }

  async function write(id: string, cells: Cells): Promise<void> {
    const key = { partitionKey: 'Sales', rowKey: id }
    await table.upsertEntity({ ...key, ...(await encryptRow(policy, key, cells)) }, 'Replace')
  }

  async function read(id: string, keys: KeyRing): Promise<Cells> {
    const key = { partitionKey: 'Sales', rowKey: id }
    const found = await readExactly(table, key)
    assert(found)
    const { partitionKey: _, rowKey: __, ...cells } = found.row
    return await decryptRow({ ...policy, keys }, key, cells as unknown as Cells)
  }
}

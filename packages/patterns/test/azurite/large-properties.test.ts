/** `.large()` on a property: a blob for each row that holds it, and never a row whose blob is missing. */
import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import type { TableClient } from '@azure/data-tables'
import {
  binary,
  digits,
  entity,
  int32,
  isPatternsError,
  key,
  openTable,
  string,
  text,
} from '../../src/index.ts'
import { largeProperties, largeValues, namedIn } from '../../src/large-values/large-values.ts'
import { type Azurite, connectionString, startAzurite } from '../support/azurite.ts'
import { Died, mortal } from '../support/mortal.ts'
import { startTables, type Tables } from '../support/tables.ts'

const Employee = entity('Employee', {
  properties: {
    department: string(),
    id: int32(),
    name: string(),
    photo: binary().large().optional(),
    letter: string().large().optional(),
  },
  partition: key(text('department')),
  row: key(digits('id', 6)),
})
const jones = { department: 'Sales', id: 1, name: 'Jones' }
const [old, next] = [randomBytes(300_000), randomBytes(200_000)]
const dayMs = 24 * 3_600_000

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

describe('a large property', () => {
  it('is in a blob, and itself again when it is read', async () => {
    const place = await newPlace()
    const letter = 'Łódź '.repeat(40_000)
    await place.employees.insert({ ...jones, photo: old, letter })
    const found = await place.employees.get(jones)
    assert.deepEqual(Buffer.from(found?.photo ?? []), old)
    assert.equal(found?.letter, letter)
    const row = await place.table.getEntity('Sales', '000001')
    assert.deepEqual(Object.keys(row).filter((name) => /photo|letter/.test(name)).length, 8)
    assert.equal(row['photo'], undefined)
  })

  it('is fetched only if it is asked for', async () => {
    const place = await newPlace()
    await place.employees.insert({ ...jones, photo: old })
    await place.container.delete()
    assert.deepEqual((await place.employees.get(jones, { select: ['name'] }))?.name, 'Jones')
    await assert.rejects(place.employees.get(jones), { code: 'UnreadableRow' })
  })

  it('that is replaced or removed leaves a blob for the sweep', async () => {
    const place = await newPlace()
    await place.employees.insert({ ...jones, photo: old })
    await place.employees.change(jones, (it) => it && { ...it, photo: next })
    assert.deepEqual(Buffer.from((await place.employees.get(jones))?.photo ?? []), next)
    assert.equal(await place.blobs(), 2)
    assert.deepEqual(await place.sweep(), { examined: 2, deleted: 1 })
    await place.employees.remove(jones)
    assert.deepEqual(await place.sweep(), { examined: 1, deleted: 1 })
    assert.equal(await place.blobs(), 0)
  })

  it('that is replaced and swept while it is read is read again', async () => {
    const place = await newPlace()
    await place.employees.insert({ ...jones, photo: old })
    let meddled = false
    const slow = {
      ...place.values,
      open: async (...given: Parameters<typeof place.values.open>) => {
        if (!meddled) {
          meddled = true
          await place.employees.upsert({ ...jones, photo: next })
          await place.sweep()
        }
        return place.values.open(...given)
      },
    }
    const reader = openTable(place.table, { seals: [largeProperties(slow)] }).of(Employee)
    assert.deepEqual(Buffer.from((await reader.get(jones))?.photo ?? []), next)
    meddled = false
    assert.deepEqual((await reader.query({ department: 'Sales' }).toArray()).length, 1)
  })
})

describe('a client that dies while it writes a large property', () => {
  it('leaves an entity whose blob is there, and the sweep ends it', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let request = 1; ; request += 1) {
        const place = await newPlace()
        await place.employees.insert({ ...jones, photo: old })
        const victim = mortal({ request, when })
        const container = victim.container(place.container.url)
        const table = victim.table(tables.open(place.table.tableName))
        const seals = [largeProperties(largeValues(container))]
        const error = await openTable(table, { seals })
          .of(Employee)
          .upsert({ ...jones, photo: next })
          .then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
        const photo = Buffer.from((await place.employees.get(jones))?.photo ?? [])
        assert(photo.equals(old) || photo.equals(next))
        await place.sweep()
        assert.equal(await place.blobs(), 1)
        assert.deepEqual(Buffer.from((await place.employees.get(jones))?.photo ?? []), photo)
        if (error === undefined) {
          assert(request > 2, 'the fault was never met')
          break
        }
        assert(error instanceof Died || isPatternsError(error, 'OutcomeUnknown'), inspect(error))
      }
    }
  })
})

interface Place {
  readonly table: TableClient
  readonly container: ContainerClient
  readonly values: ReturnType<typeof largeValues>
  readonly employees: ReturnType<typeof employeesOf>
  blobs(): Promise<number>
  /** As if it were two days later. */
  sweep(): Promise<unknown>
}

async function newPlace(): Promise<Place> {
  places += 1
  const table = tables.open(`Photos${places}`)
  const container = BlobServiceClient.fromConnectionString(connectionString(azurite)).getContainerClient(
    `photos${places}`,
  )
  await Promise.all([table.createTable(), container.create()])
  const values = largeValues(container)
  const later = largeValues(container, { clock: () => Date.now() + 2 * dayMs })
  return {
    table,
    container,
    values,
    employees: employeesOf(table, values),
    async blobs() {
      let count = 0
      for await (const _ of container.listBlobsFlat()) count += 1
      return count
    },
    sweep: () => later.sweep(table.tableName, namedIn(table)),
  }
}

function employeesOf(table: TableClient, values: ReturnType<typeof largeValues>) {
  return openTable(table, { seals: [largeProperties(values)] }).of(Employee)
}

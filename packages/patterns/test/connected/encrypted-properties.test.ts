/** `.encrypted()` on a property: Binary in every row that holds it, and itself again in every read. */
import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { TableClient } from '@azure/data-tables'
import {
  aesKey,
  binary,
  digits,
  encryptedProperties,
  entity,
  int32,
  key,
  keyRing,
  openTable,
  rewrap,
  string,
  text,
  wide,
} from '../../src/index.ts'
import { startTestService, type TestService } from '../support/service.ts'

const Patient = entity('Patient', {
  properties: {
    ward: string(),
    id: int32(),
    name: string(),
    illness: string().encrypted(),
    scan: binary().encrypted().optional(),
    bed: int32().optional(),
  },
  partition: key(text('ward')),
  row: key('id_', digits('id', 6)),
  indexes: { byName: { row: key('name_', text('name')), copy: ['illness'] } },
})
const File = wide('File', {
  properties: { ward: string(), id: int32(), open: string(), secret: string().encrypted() },
  partition: key(text('ward')),
  row: key('file_', digits('id', 6)),
  parts: [['open'], ['secret']],
})
const ada = { ward: 'A', id: 1, name: 'Ada', illness: 'measles', scan: new Uint8Array([1, 2, 3]), bed: 4 }
const [older, newer] = [aesKey('older', randomBytes(32)), aesKey('newer', randomBytes(32))]

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('an encrypted property', () => {
  it('is unreadable in the table, and comes back by every way of reading', async () => {
    const { client, patients } = await hospital()
    await patients.insert(ada)
    for (const rowKey of ['id_000001', 'name_Ada']) {
      const row = await client.getEntity('A', rowKey)
      assert(row['illness'] instanceof Uint8Array)
      assert(!Buffer.from(row['illness']).includes('measles'))
    }
    const { etag: _, timestamp: __, ...found } = (await patients.get(ada)) ?? {}
    assert.deepEqual(found, ada)
    assert.equal((await patients.by('byName').get(ada))?.illness, 'measles')
    const [selected] = await patients.query({ ward: 'A' }, { select: ['illness'] }).toArray()
    assert.equal(selected?.illness, 'measles')
    const [bare] = await patients.query({ ward: 'A' }, { select: ['bed'] }).toArray()
    assert.equal(bare?.bed, 4)
  })

  it('has one content key in each row, whatever writes it', async () => {
    const { client, patients } = await hospital()
    await patients.insert(ada)
    const envelope = async () =>
      Buffer.from((await client.getEntity('A', 'id_000001'))['EncryptionKey'] as Uint8Array)
    const first = await envelope()
    await patients.patch(ada, { bed: 5 })
    assert.deepEqual(await envelope(), first)
    await patients.upsertMerge({ ward: 'A', id: 1, name: 'Ada', illness: 'mumps' })
    assert.notDeepEqual(await envelope(), first)
    await patients.change(ada, (it) => it && { ...it, illness: 'flu' })
    const found = await patients.get(ada)
    assert.deepEqual([found?.illness, found?.scan, found?.bed], ['flu', ada.scan, 5])
    await assert.rejects(patients.patch(ada, { illness: 'x' } as never), { code: 'InvalidValue' })
  })

  it('that was moved to another entity is refused', async () => {
    const { client, patients } = await hospital()
    await patients.insert(ada)
    await patients.insert({ ...ada, id: 2, name: 'Bob', illness: 'flu' })
    const { illness, EncryptionKey, EncryptionKeyId } = await client.getEntity('A', 'id_000001')
    await client.updateEntity(
      { partitionKey: 'A', rowKey: 'id_000002', illness, EncryptionKey, EncryptionKeyId },
      'Merge',
    )
    await assert.rejects(patients.get({ ward: 'A', id: 2 }), { code: 'UnreadableRow' })
  })

  it('is read with the new key alone, once all are rewrapped', async () => {
    const { client, patients } = await hospital()
    await patients.insert(ada)
    assert.deepEqual(await rewrap(client, keyRing(newer, older)), { rewrapped: 2 })
    assert.equal((await hospitalOf(client, newer).patients.get(ada))?.illness, 'measles')
    await assert.rejects(patients.get(ada), { code: 'UnreadableRow' })
  })

  it('may be in a part of a wide entity', async () => {
    const { client, files } = await hospital()
    const file = { ward: 'A', id: 1, open: 'o', secret: 's' }
    await files.insert(file)
    assert((await client.getEntity('A', 'file_000001_01'))['secret'] instanceof Uint8Array)
    await files.change(file, (it) => it && { ...it, secret: 't' })
    assert.equal((await files.get(file))?.secret, 't')
    assert.deepEqual(await files.get(file, { select: ['secret'] }), { secret: 't' })
  })

  it('cannot have a name that belongs to the envelope', async () => {
    const Taken = entity('Taken', {
      properties: { id: string(), EncryptionKey: string(), secret: string().encrypted() },
      partition: key('p'),
      row: key(text('id')),
    })
    const { table } = await hospital()
    assert.throws(() => table.of(Taken), { code: 'InvalidDefinition', message: /EncryptionKey is kept/ })
    const both = { id: string(), x: string().encrypted().large() }
    assert.throws(() => entity('Both', { properties: both, partition: key('p'), row: key(text('id')) }), {
      code: 'InvalidDefinition',
      message: 'Both: x cannot be both encrypted and large',
    })
  })
})

async function hospital() {
  const client = await service.newTable()
  return hospitalOf(client, older)
}

function hospitalOf(client: TableClient, current: typeof older) {
  const table = openTable(client, {
    seals: [encryptedProperties({ account: 'devstoreaccount1', keys: keyRing(current) })],
  })
  return { client, table, patients: table.of(Patient), files: table.wide(File) }
}

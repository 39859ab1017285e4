/** What a seal does to rows is seen by the service and by nobody else. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import type { TableClient } from '@azure/data-tables'
import {
  type Cell,
  digits,
  entity,
  type EntityTable,
  int32,
  key,
  openTable,
  type Row,
  type Seal,
  string,
  text,
} from '../../src/index.ts'
import { startTestService, type TestService } from '../support/service.ts'

const Patient = entity('Patient', {
  properties: {
    ward: string(),
    id: int32(),
    name: string(),
    illness: string().encrypted(),
    remark: string().encrypted().optional(),
    bed: int32().optional(),
  },
  partition: key(text('ward')),
  row: key('id_', digits('id', 6)),
  indexes: { byName: { row: key('name_', text('name')), copy: ['illness'] } },
})
const ada = { ward: 'A', id: 1, name: 'Ada', illness: 'measles', remark: 'allergic' }

/** Turns texts round, and needs a cell of its own to turn them back: as a cipher would, but legible in a failure. */
const mirror: Seal = {
  flag: 'encrypted',
  cellsFor: () => ['Mirrored'],
  async seal({ partitionKey, rowKey, definition, row }) {
    const sealed = mapSealed(row, definition.properties, turn)
    if (sealed === undefined) return row
    return { ...sealed, Mirrored: { type: 'String', value: `${partitionKey} ${rowKey}` } }
  },
  async open({ partitionKey, rowKey, definition, row: { Mirrored, ...row } }) {
    const opened = mapSealed(row, definition.properties, turn)
    if (opened !== undefined) assert.equal(Mirrored?.value, `${partitionKey} ${rowKey}`)
    return opened ?? row
  },
}

let service: TestService
let client: TableClient
let patients: EntityTable<typeof Patient>
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a sealed property', () => {
  it('is sealed in the row and in its copies, and comes back as it was', async () => {
    await open()
    await patients.insert(ada)
    assert.deepEqual(await stored('id_000001'), ['selsaem', 'cigrella'])
    assert.deepEqual(await stored('name_Ada'), ['selsaem', undefined])
    assert.equal((await patients.get(ada))?.illness, 'measles')
    assert.equal((await patients.by('byName').get(ada))?.illness, 'measles')
    const [selected] = await patients.query({ ward: 'A' }, { select: ['illness'] }).toArray()
    assert.equal(selected?.illness, 'measles')
    const [bare] = await patients.query({ ward: 'A' }, { select: ['name'] }).toArray()
    assert.equal(bare?.name, 'Ada')
  })

  it('is written by every write that writes the whole row', async () => {
    await open()
    await patients.insert(ada)
    await patients.change(ada, (it) => it && { ...it, illness: 'mumps' })
    assert.deepEqual(await stored('id_000001'), ['spmum', 'cigrella'])
    await patients.upsertMerge({ ward: 'A', id: 1, name: 'Ada', illness: 'flu' })
    assert.deepEqual(await stored('id_000001'), ['ulf', 'cigrella'])
    await patients.upsert({ ward: 'A', id: 1, name: 'Ada', illness: 'cold' })
    assert.deepEqual(await stored('id_000001'), ['dloc', undefined])
    assert.deepEqual(await stored('name_Ada'), ['dloc', undefined])
    await patients.patch(ada, { bed: 5 })
    assert.equal((await patients.get(ada))?.illness, 'cold')
    await assert.rejects(patients.patch(ada, { illness: 'x' } as never), { code: 'InvalidValue' })
  })

  it('is never written in clear because nobody was there to seal it', async () => {
    await open()
    assert.throws(() => openTable(client).of(Patient), {
      code: 'InvalidDefinition',
      message: 'Patient.illness is encrypted, but the table has no seal for that',
    })
  })
})

async function open(): Promise<void> {
  client = await service.newTable()
  patients = openTable(client, { seals: [mirror] }).of(Patient)
}

async function stored(rowKey: string): Promise<readonly unknown[]> {
  const row = await client.getEntity('A', rowKey)
  return [row['illness'], row['remark']]
}

/** Undefined if there is nothing to seal. */
function mapSealed(
  row: Row,
  properties: typeof Patient.properties | object,
  map: (cell: Cell) => Cell,
): Row | undefined {
  const flagged = Object.entries(properties as typeof Patient.properties).filter(([, { flags }]) =>
    (flags as readonly string[]).includes('encrypted'),
  )
  const sealed = flagged.flatMap(([name]) => (row[name] ? [[name, map(row[name])] as const] : []))
  return sealed.length === 0 ? undefined : { ...row, ...Object.fromEntries(sealed) }
}

function turn(cell: Cell): Cell {
  assert(cell.type === 'String')
  return { type: 'String', value: cell.value.split('').toReversed().join('') }
}

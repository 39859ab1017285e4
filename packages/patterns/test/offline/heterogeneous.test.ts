/** Rows and the types they are taken for, without a network. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { TableClient } from '@azure/data-tables'
import { entity, Instant, key, openTable, string, text } from '../../src/index.ts'
import type { StoredRow } from '../../src/row/row.ts'
import { Department, Employee } from '../support/company.ts'

const table = openTable(TableClient.fromConnectionString('UseDevelopmentStorage=true', 'company'))
const timestamp = Instant.parse('2026-11-15T00:00:00Z')
const cell = (value: string) => ({ type: 'String', value }) as const

function row(rowKey: string, cells: StoredRow['cells']): StoredRow {
  return { partitionKey: 'Sales', rowKey, etag: 'e', timestamp, cells }
}

describe('a row of a table of several types', () => {
  const any = table.anyOf(Department, Employee)
  const sales = row('dept', { title: cell('All sales'), staff: { type: 'Int32', value: 3 } })

  it('is of the type that its key begins like', async () => {
    assert.deepEqual(await any.resolve(sales), {
      type: 'Department',
      department: 'Sales',
      title: 'All sales',
      staff: 3,
      etag: 'e',
      timestamp,
    })
    const jones = await any.resolve(row('empid_000223', { email: cell('j@x'), name: cell('Jones') }))
    assert.equal(jones.type, 'Employee')
    assert.equal(jones.type === 'Employee' && jones.id, 223)
  })

  it('that is of none is handed over as it is', async () => {
    for (const rowKey of ['', 'depts', 'empid_', 'empid_22', 'review_000223_2026', 'email_j@x']) {
      const stranger = row(rowKey, { anything: cell('at all') })
      assert.deepEqual(await any.resolve(stranger), { type: undefined, row: stranger }, rowKey)
    }
  })

  it('is told by its mark where keys are alike, and is of none without one', async () => {
    const person = <Name extends string>(name: Name) =>
      entity(name, {
        properties: { city: string(), id: string() },
        partition: key(text('city')),
        row: key('p_', text('id')),
        typedBy: { property: 'EntityType' },
      })
    const marked = table.anyOf(person('Customer'), person('Colleague'))
    const typeOf = async (cells: StoredRow['cells']) => (await marked.resolve(row('p_1', cells))).type
    assert.equal(await typeOf({ EntityType: cell('Customer') }), 'Customer')
    assert.equal(await typeOf({ EntityType: cell('Colleague') }), 'Colleague')
    assert.equal(await typeOf({ EntityType: cell('Stranger') }), undefined)
    assert.equal(await typeOf({}), undefined)
  })

  it('must be tellable by its definitions', () => {
    const again = entity('Section', {
      properties: { department: string(), title: string() },
      partition: key(text('department')),
      row: key('dept'),
    })
    assert.throws(() => table.anyOf(Department, again), { code: 'InvalidDefinition', message: /told apart/ })
    assert.throws(() => table.anyOf(Department, Department), { code: 'InvalidDefinition' })
  })
})

describe('the newest rows', () => {
  it('are asked for only where a key begins with desc', async () => {
    await assert.rejects(async () => await table.of(Department).latest({ department: 'Sales' }, 3), {
      code: 'InvalidDefinition',
      message: /latest needs a row key that begins with desc/,
    })
  })
})

import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { inspect, sampleWrites } from '../../src/inspect.ts'
import { startTables, type Tables } from '../support/tables.ts'

let tables: Tables

before(async () => {
  tables = await startTables()
})
after(async () => await tables.close())

describe('inspecting a table', () => {
  it('finds keys that only grow, by the times of the entities', async () => {
    const table = tables.open('Hours')
    await table.createTable()
    // Written in this order; the rows of an hour are in no order.
    for (let index = 0; index < 120; index += 1)
      await table.createEntity({
        partitionKey: `hour${100 + Math.floor(index / 10)}`,
        rowKey: `${(index * 7) % 10}`,
      })
    const report = await inspect(table)
    assert.deepEqual([report.sampled, report.partitions, report.complete], [120, 12, true])
    assert.deepEqual(
      report.findings.map(({ kind }) => kind),
      ['appending'],
    )
    const part = await inspect(table, { examineMax: 60 })
    assert.deepEqual([part.seen, part.complete], [60, false])
  })

  it('finds nothing in keys that were written in no order', async () => {
    const table = tables.open('Departments')
    await table.createTable()
    for (let index = 0; index < 120; index += 1)
      await table.createEntity({ partitionKey: `department${(index * 7) % 12}`, rowKey: String(index) })
    assert.deepEqual((await inspect(table)).findings, [])
  })
})

describe('sampling the writes of an official client', () => {
  it('notes every entity that is written, one by one and in transactions', async () => {
    const table = tables.open('Written')
    const sampler = sampleWrites()
    table.pipeline.addPolicy(sampler.policy)
    await table.createTable()
    const key = { partitionKey: "it's 100 % (a,b)", rowKey: "RowKey='x'" }
    await table.createEntity({ ...key, text: '{"PartitionKey":"no"}' })
    await table.updateEntity({ ...key, a: 1 }, 'Merge')
    await table.upsertEntity({ ...key, a: 2 }, 'Replace')
    await table.getEntity(key.partitionKey, key.rowKey)
    await table.deleteEntity(key.partitionKey, key.rowKey)
    const four = sampler.report()
    assert.deepEqual([four.seen, four.partitions], [4, 1])
    assert.equal(four.hottest?.partitionKey, key.partitionKey)
    await table.submitTransaction([
      ['create', { partitionKey: 'p', rowKey: '1', text: 'PUT http://a HTTP/1.1' }],
      ['upsert', { partitionKey: 'p', rowKey: '2' }, 'Merge'],
      ['upsert', { partitionKey: 'p', rowKey: '3' }, 'Replace'],
    ])
    await table.submitTransaction([
      ['update', { partitionKey: 'p', rowKey: '1', a: 1 }, 'Replace'],
      ['delete', { partitionKey: 'p', rowKey: '2' }],
    ])
    for await (const _ of table.listEntities()) assert(_)
    sampler.note({ partitionKey: 'q', rowKey: '' })
    const all = sampler.report()
    assert.deepEqual([all.seen, all.partitions], [10, 3])
    assert.deepEqual(all.hottest, { partitionKey: 'p', share: 0.5 })
  })

  it('tells of a hot partition', async () => {
    const table = tables.open('Hot')
    const sampler = sampleWrites()
    table.pipeline.addPolicy(sampler.policy)
    await table.createTable()
    const rows = Array.from({ length: 90 }, (_, index) => ({
      partitionKey: 'today',
      rowKey: String(1000 + index),
    }))
    await table.submitTransaction(rows.map((row) => ['create', row]))
    assert.deepEqual(
      sampler.report().findings.map(({ text }) => text),
      ['100 % of the writes go to partition "today", at its end'],
    )
  })
})

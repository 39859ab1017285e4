/** Lists of the entities that have a value: long ones, contended ones, and those in one transaction with others. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { digits, entity, insert, int32, key, openTable, string, text } from '../../src/index.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Its ids are so long that a row of a list holds about eighty of them. */
const Member = entity('Member', {
  properties: { club: string(), id: string(), name: string() },
  partition: key(text('club')),
  row: key('id_', text('id')),
  indexes: { namesakes: { row: key('name_', text('name')), list: true } },
})
const club = 'chess'
const idOf = (number: number): string => `${number.toString().padStart(3, '0')}${'x'.repeat(400)}`

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a list in the partition', () => {
  it('goes on in further rows, and gives up those it no longer needs', async () => {
    const client = await service.newTable()
    const members = openTable(client).of(Member)
    for (let number = 0; number < 180; number++)
      await members.insert({ club, id: idOf(number), name: 'Jones' })
    const rows = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { rowKey } of client.listEntities())
        if (rowKey?.startsWith('name_')) found.push(rowKey)
      return found
    }
    assert.deepEqual(await rows(), ['name_Jones 0000', 'name_Jones 0001', 'name_Jones 0002'])
    const key_ = { club, name: 'Jones' }
    const all = await members.by('namesakes').get(key_)
    assert.deepEqual(
      all.map(({ id }) => id.slice(0, 3)),
      Array.from({ length: 180 }, (_, number) => idOf(number).slice(0, 3)),
    )
    for (let number = 5; number < 180; number++) await members.remove({ club, id: idOf(number) })
    assert.deepEqual(await rows(), ['name_Jones 0000'])
    assert.equal((await members.by('namesakes').keys(key_)).length, 5)
    await members.change({ club, id: idOf(0) }, (it) => it && { ...it, name: 'Jones 0000' })
    assert.deepEqual(await rows(), ['name_Jones 0000', 'name_Jones!00000 0000'])
    for (let number = 0; number < 5; number++) await members.remove({ club, id: idOf(number) })
    assert.deepEqual(await rows(), [])
    assert.deepEqual(await members.by('namesakes').get(key_), [])
  })

  it('misses nobody when many join at once', async () => {
    const { tableName } = await service.newTable()
    const writers = Array.from({ length: 4 }, () => openTable(service.clientOf(tableName)).of(Member))
    await Promise.all(
      writers.map(async (members, writer) => {
        for (let step = 0; step < 5; step++)
          await members.insert({ club, id: `${writer}-${step}`, name: 'Jones' })
      }),
    )
    const [members] = writers
    assert.equal((await members?.by('namesakes').get({ club, name: 'Jones' }))?.length, 20)
  })

  it('is refused twice in one transaction, and loaded one by one', async () => {
    const table = openTable(await service.newTable())
    const people = ['a', 'b', 'c'].map((id) => ({ club, id, name: 'Jones' }))
    await assert.rejects(table.transaction(people.map((each) => insert(Member, each))), {
      code: 'LimitExceeded',
      message: /Member\.namesakes: one transaction writes a row once/,
    })
    for await (const result of table.of(Member).load(people)) assert.equal('error' in result, false)
    assert.equal((await table.of(Member).by('namesakes').keys({ club, name: 'Jones' })).length, 3)
  })
})

describe('a list in another partition', () => {
  const Person = entity('Person', {
    properties: { department: string(), id: int32(), name: string() },
    partition: key(text('department')),
    row: key('empid_', digits('id', 6)),
    indexes: { byName: { partition: key('names'), row: key('name_', text('name')), list: true } },
  })

  it('takes many at once, from many partitions, and lets them go', async () => {
    const table = openTable(await service.newTable())
    const people = table.of(Person)
    const relay = table.relay([Person])
    const everybody = Array.from({ length: 80 }, (_, id) => ({ department: `d${id % 2}`, id, name: 'Jones' }))
    for await (const result of people.load(everybody)) assert.equal('error' in result, false)
    assert.equal((await relay.runOnce()).applied, 80)
    assert.equal((await people.by('byName').get({ name: 'Jones' })).length, 80)
    const [first] = await people.by('byName').keys({ name: 'Jones' })
    assert.match(`${first?.partitionKey} ${first?.rowKey}`, /^d[01] empid_0000\d\d$/)
    for (const each of everybody) await people.remove(each)
    assert.deepEqual(await people.by('byName').get({ name: 'Jones' }), [])
    assert.equal((await people.by('byName').keys({ name: 'Jones' })).length, 80)
    await relay.runOnce()
    assert.deepEqual(await people.by('byName').keys({ name: 'Jones' }), [])
  })
})

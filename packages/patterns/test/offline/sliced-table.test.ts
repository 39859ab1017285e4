/** Times and the exact tables they come to, without a network. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { type Period, sliced, type SlicedOptions } from '../../src/index.ts'

const now = new Date('2026-11-15T13:14:15Z')

/** A sliced table whose tables are their names, over a service that writes down what it is asked. */
function newSliced(by: Period, keep: number, tables: readonly string[] = []) {
  const asked: string[] = []
  const service = {
    createTable: async (name: string) => void asked.push(`create ${name}`),
    deleteTable: async (name: string) => void asked.push(`delete ${name}`),
    async *listTables(options: { queryOptions?: { filter?: string } }) {
      asked.push(`list ${options.queryOptions?.filter}`)
      for (const name of tables) yield { name }
    },
  } as unknown as SlicedOptions<string>['service']
  const table = sliced('Signins', { by, keep, service, open: (name) => name, clock: () => now })
  return { table, asked }
}

describe('a sliced table', () => {
  // biome-ignore format: a table reads in columns
  const names: readonly (readonly [by: Period, at: string, name: string])[] = [
    ['hour',  '2026-11-15T23:59:59.999Z', 'Signins2026111523'],
    ['day',   '2026-11-15T23:59:59.999Z', 'Signins20261115'],
    ['day',   '2026-11-16T00:00:00.000Z', 'Signins20261116'],
    ['month', '2026-12-31T23:59:59.999Z', 'Signins202612'],
    ['year',  '2027-01-01T00:00:00.000Z', 'Signins2027'],
  ]
  for (const [by, at, name] of names) {
    it(`by ${by} keeps ${at} in ${name}`, () => {
      assert.equal(newSliced(by, 2).table.nameOf(new Date(at)), name)
    })
  }

  it('creates a slice before its first write, and only then', async () => {
    const { table, asked } = newSliced('day', 2)
    for (let i = 0; i < 2; i++) {
      await table.write(now, async (name) => void asked.push(`write ${name}`))
    }
    const write = 'write Signins20261115'
    assert.deepEqual(asked, ['create Signins20261115', write, write])
  })

  it('asks nothing for a time that is not kept any more', async () => {
    const { table, asked } = newSliced('day', 2)
    const late = table.write(new Date('2026-11-13T23:59:59Z'), async () => undefined)
    await assert.rejects(late, { code: 'InvalidValue', message: /Signins20261113 is not kept any more/ })
    assert.deepEqual(asked, [])
  })

  it('prepares the present period and those to come', async () => {
    const { table, asked } = newSliced('month', 1)
    assert.deepEqual(await table.prepare(2), ['Signins202611', 'Signins202612', 'Signins202701'])
    assert.deepEqual(asked, ['create Signins202611', 'create Signins202612', 'create Signins202701'])
  })

  it('drops what is not kept, oldest first, and nothing that only looks like a slice', async () => {
    const strangers = ['Signins2026111', 'Signins20261399', 'Signins20261113x']
    const { table, asked } = newSliced('day', 2, [
      'Signins20261114',
      'Signins20261113',
      ...strangers,
      'Signins20251231',
      'Signins20261115',
    ])
    assert.deepEqual(await table.prune(), ['Signins20251231', 'Signins20261113'])
    assert.deepEqual(asked, [
      `list TableName ge 'Signins0' and TableName lt 'Signins:'`,
      'delete Signins20251231',
      'delete Signins20261113',
    ])
  })

  it('reads the slices that a range touches, in the order asked for', async () => {
    const { table } = newSliced('day', 4, [
      'Signins20261112',
      'Signins20261113',
      'Signins20261114',
      'Signins20261115',
    ])
    const range = { from: new Date('2026-11-13T12:00:00Z'), until: new Date('2026-11-15T00:00:00Z') }
    const seen = async (order: 'oldest-first' | 'newest-first') => {
      const names: string[] = []
      for await (const name of table.query({ ...range, order }, (each) => only(each))) names.push(name)
      return names
    }
    assert.deepEqual(await seen('oldest-first'), ['Signins20261113', 'Signins20261114'])
    assert.deepEqual(await seen('newest-first'), ['Signins20261114', 'Signins20261113'])
  })

  it('has a name that leaves room for its periods, and keeps something', () => {
    const { service } = { service: {} as SlicedOptions<string>['service'] }
    const open = (name: string) => name
    for (const name of ['', '1a', 'a1', 'a-b', 'x'.repeat(56)]) {
      assert.throws(() => sliced(name, { by: 'day', keep: 1, service, open }), { code: 'InvalidDefinition' })
    }
    for (const keep of [0, -1, 1.5]) {
      assert.throws(() => sliced('Log', { by: 'day', keep, service, open }), { code: 'InvalidDefinition' })
    }
  })
})

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value
}

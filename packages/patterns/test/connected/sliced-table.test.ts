import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { odata, type TableClient } from '@azure/data-tables'
import { type Period, sliced, type Sliced, type SlicedOptions } from '../../src/sliced-table.ts'
import { type Death, Died, type Mortal, mortal } from '../support/mortal.ts'
import { startPartitaTables, startTables, type Tables } from '../support/tables.ts'

let tables: Tables
let families = 0

before(async () => {
  tables = await startTables()
})
after(async () => await tables.close())

const noon = new Date('2026-11-15T12:34:56.789Z')

describe('a slice', () => {
  // biome-ignore format: a table reads in columns
  const named: readonly [Period, string][] = [
    ['hour', 'Signins2026111512'], ['day', 'Signins20261115'], ['month', 'Signins202611'], ['year', 'Signins2026'],
  ]
  for (const [by, name] of named) {
    it(`by ${by} is called ${name}`, () => {
      const signins = sliced('Signins', { by, keep: 1, service: tables.service(), open: (it) => it })
      assert.equal(signins.nameOf(noon), name)
    })
  }

  for (const name of ['', '1st', 'Log2', 'Sign-ins', 'x'.repeat(56)])
    it(`cannot be made of ${JSON.stringify(name)}`, () => {
      const options = { by: 'day', keep: 1, service: tables.service(), open: (it: string) => it } as const
      assert.throws(() => sliced(name, options), { code: 'InvalidDefinition' })
      if (name.length === 56) sliced(name.slice(1), options)
    })

  it('is kept for at least one period', () => {
    const options = { by: 'day', service: tables.service(), open: (it: string) => it } as const
    for (const keep of [0, -1, 1.5, Number.NaN])
      assert.throws(() => sliced('Signins', { ...options, keep }), { code: 'InvalidDefinition' })
  })

  it('is created on first use, by any number of writers at once, and only once', async () => {
    const owner = mortal()
    const family = newFamily({ owner })
    await Promise.all(
      Array.from({ length: 5 }, async (_, index) => await family.add('2026-11-15', `${index}`)),
    )
    await family.add('2026-11-15', 'again')
    assert.equal(owner.sent, 1, 'one request to create it')
    assert.deepEqual(await family.names(), ['20261115'])
  })

  it('that somebody else has dropped is created again', async () => {
    const family = newFamily({})
    await family.add('2026-11-15', 'a')
    await tables.service().deleteTable(family.table('20261115').tableName)
    await family.add('2026-11-15', 'b')
    assert.deepEqual(await family.read({}), ['b'])
  })

  it('that is not kept any more is refused, so that it does not come back', async () => {
    const family = newFamily({ keep: 2 })
    await family.add('2026-11-14', 'kept')
    await assert.rejects(family.add('2026-11-13', 'too old'), { code: 'InvalidValue', message: /20261113/ })
    assert.deepEqual(await family.names(), ['20261114'])
  })

  it('whose name is still taken is waited for', async () => {
    const slow = await startPartitaTables({ deletedNameSeconds: 1 })
    try {
      const patient = newFamily({ on: slow })
      await patient.add('2026-11-15', 'a')
      await slow.service().deleteTable(patient.table('20261115').tableName)
      await patient.add('2026-11-15', 'b')
      assert.deepEqual(await patient.read({}), ['b'])
      const impatient = newFamily({ on: slow, nameWaitMs: 50 })
      await impatient.add('2026-11-15', 'a')
      await slow.service().deleteTable(impatient.table('20261115').tableName)
      await assert.rejects(impatient.add('2026-11-15', 'b'), /TableBeingDeleted/)
    } finally {
      await slow.close()
    }
  })
})

describe('slices', () => {
  it('are read in the order of time, and only those of the range', async () => {
    const family = newFamily({ keep: 400 })
    for (const day of ['2026-11-15', '2026-10-31', '2026-11-01', '2025-12-31']) {
      await family.add(day, `${day} b`)
      await family.add(day, `${day} a`)
    }
    assert.deepEqual(await family.read({}), [
      '2025-12-31 a',
      '2025-12-31 b',
      '2026-10-31 a',
      '2026-10-31 b',
      '2026-11-01 a',
      '2026-11-01 b',
      '2026-11-15 a',
      '2026-11-15 b',
    ])
    const range = { from: new Date('2026-10-31T23:00:00Z'), until: new Date('2026-11-15T00:00:00Z') }
    assert.deepEqual(await family.read(range), [
      '2026-10-31 a',
      '2026-10-31 b',
      '2026-11-01 a',
      '2026-11-01 b',
    ])
    assert.deepEqual(await family.read({ ...range, order: 'newest-first' }), [
      '2026-11-01 a',
      '2026-11-01 b',
      '2026-10-31 a',
      '2026-10-31 b',
    ])
  })

  it('leave other tables alone, however alike their names', async () => {
    const family = newFamily({ keep: 1 })
    const others = ['20261', '20261399', '2026111512', '2026111', '20261114x'].map((end) => family.table(end))
    for (const other of others) await other.createTable()
    await family.add('2026-11-15', 'a')
    assert.deepEqual(await family.slices.prune(), [])
    assert.deepEqual(
      (await family.slices.slices()).map(({ name }) => name),
      [family.table('20261115').tableName],
    )
  })

  it('are left out when they are dropped while others are read', async () => {
    const family = newFamily({ keep: 5 })
    for (const day of ['2026-11-13', '2026-11-14', '2026-11-15']) await family.add(day, day)
    const found: string[] = []
    for await (const item of family.query({})) {
      found.push(item)
      await tables.service().deleteTable(family.table('20261114').tableName)
    }
    assert.deepEqual(found, ['2026-11-13', '2026-11-15'])
  })

  it('are prepared ahead of their time', async () => {
    const family = newFamily({ by: 'month' })
    await family.slices.prepare(2)
    assert.deepEqual(await family.names(), ['202611', '202612', '202701'])
    assert.deepEqual(await family.slices.prepare(0), [family.table('202611').tableName])
  })

  it('are pruned whole, oldest first', async () => {
    const family = newFamily({ keep: 30 })
    for (const day of ['2026-11-01', '2026-11-15', '2026-11-10']) await family.add(day, day)
    family.moveTo(new Date('2026-12-10T00:00:00Z'))
    assert.deepEqual(await family.slices.prune(), [
      family.table('20261101').tableName,
      family.table('20261110').tableName,
    ])
    assert.deepEqual(await family.read({}), ['2026-11-15'])
    assert.deepEqual(await family.slices.prune(), [])
  })

  it('are pruned by two at once without harm', async () => {
    const family = newFamily({ keep: 9 })
    for (const day of ['2026-11-07', '2026-11-08', '2026-11-15']) await family.add(day, day)
    family.moveTo(new Date('2026-11-20T00:00:00Z'))
    await Promise.all([family.slices.prune(), family.slices.prune()])
    assert.deepEqual(await family.names(), ['20261115'])
  })

  it('whose prune dies at any request are never seen again, and the next prune ends it', async () => {
    // List, then drop three.
    for (let request = 1; request <= 4; request += 1) {
      for (const when of ['before', 'after'] as const) {
        const label = JSON.stringify({ request, when } satisfies Death)
        const family = newFamily({ keep: 9 })
        for (const day of ['2026-11-07', '2026-11-08', '2026-11-09', '2026-11-15']) await family.add(day, day)
        const later = new Date('2026-11-20T00:00:00Z')
        const doomed = family.beside({ owner: mortal({ request, when }), at: later })
        await assert.rejects(doomed.prune(), Died, label)
        family.moveTo(later)
        assert.deepEqual(await family.read({}), ['2026-11-15'], label)
        const dropped = Math.max(0, (when === 'after' ? request : request - 1) - 1)
        assert.equal((await family.names()).length, 4 - dropped, label)
        await family.slices.prune()
        assert.deepEqual(await family.names(), ['20261115'], label)
      }
    }
  })

  it('whose preparation dies at any request are there after the next', async () => {
    for (const death of [1, 2].flatMap((request): Death[] => [
      { request, when: 'before' },
      { request, when: 'after' },
    ])) {
      const family = newFamily({})
      const doomed = family.beside({ owner: mortal(death), at: noon })
      await assert.rejects(doomed.prepare(), Died)
      await family.slices.prepare()
      assert.deepEqual(await family.names(), ['20261115', '20261116'])
    }
  })
})

interface FamilyOptions {
  readonly by?: Period
  readonly keep?: number
  readonly nameWaitMs?: number
  readonly on?: Tables
  /** Of the service client; entities are written and read by clients that do not die. */
  readonly owner?: Mortal
}

/** A family's name must not end in a digit. */
const letters = 'abcdefghij'

/** Sliced tables under a name of their own, with the clock at noon until it is moved. */
function newFamily({ by = 'day', keep = 30, on = tables, ...rest }: FamilyOptions) {
  families += 1
  const name = `Signins${String(families).replaceAll(/\d/g, (digit) => letters[Number(digit)] ?? '')}s`
  let now = noon
  const slices = slicesOf(() => now, rest.owner)
  return { slices, moveTo, add, query, read, names, table, beside }

  function moveTo(time: Date): void {
    now = time
  }

  function slicesOf(clock: () => Date, owner: Mortal = mortal()): Sliced<TableClient> {
    const options: SlicedOptions<TableClient> = {
      by,
      keep,
      service: owner.table(on.service()),
      open: (tableName) => on.open(tableName),
      clock,
      ...(rest.nameWaitMs === undefined ? {} : { nameWaitMs: rest.nameWaitMs }),
    }
    return sliced(name, options)
  }

  /** Another process with the same slices. */
  function beside({ owner, at }: { owner: Mortal; at: Date }): Sliced<TableClient> {
    return slicesOf(() => at, owner)
  }

  async function add(day: string, rowKey: string): Promise<void> {
    await slices.write(new Date(`${day}T08:00:00Z`), async (table) => {
      await table.createEntity({ partitionKey: 'p', rowKey })
    })
  }

  function query(range: Parameters<Sliced<TableClient>['query']>[0]): AsyncIterable<string> {
    return slices.query(range, async function* (table) {
      const filter = odata`PartitionKey eq ${'p'}`
      for await (const { rowKey } of table.listEntities({ queryOptions: { filter } })) yield rowKey as string
    })
  }

  async function read(range: Parameters<Sliced<TableClient>['query']>[0]): Promise<string[]> {
    const found: string[] = []
    for await (const item of query(range)) found.push(item)
    return found
  }

  /** Of all tables of the family, without the family's name. */
  async function names(): Promise<string[]> {
    const found: string[] = []
    for await (const { name: tableName = '' } of on.service().listTables())
      if (tableName.startsWith(name)) found.push(tableName.slice(name.length))
    return found.toSorted()
  }

  function table(end: string): TableClient {
    return on.open(name + end)
  }
}

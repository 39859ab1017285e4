/** What is known of rows from earlier scans spares looking at them, and changes no answer. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Records } from '../../src/model/records.ts'
import { type AccountName, parseTableName, type TableId } from '../../src/model/table.ts'
import { ticksOfUnixMs } from '../../src/model/ticks.ts'
import type { Value } from '../../src/model/values.ts'
import { type Comparison, type Filter, formatFilter, group } from '../../src/query/filter.ts'
import { entitySchema, parseFilter } from '../../src/query/parse-filter.ts'
import { planFilter } from '../../src/query/plan-filter.ts'
import { type Page, type PageRequest, readPage } from '../../src/query/read-page.ts'
import { openMemory, sieveOf } from '../../src/query/sieve.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import {
  any,
  binary,
  commit,
  int32,
  keyAt,
  type Properties,
  put,
  recordsTogether,
  remove,
  text,
} from '../support/entities.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'
import * as arbitrary from './arbitraries.ts'
import { type PlainEntity, recordOf, satisfies } from './naive-filter.ts'

describe('a sieve', () => {
  it('never excludes a row that matches', () => {
    const memory = openMemory()
    let place = 0
    const rows = fc.array(arbitrary.entity, { minLength: 1, maxLength: 5 })
    const picks = fc.array(fc.tuple(fc.nat(), arbitrary.operator, fc.boolean()), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(rows, picks, arbitrary.filter, (entities, picked, filter) => {
        const records = placed(recordsTogether(entities.map(recordOf)), ++place, 1)
        const terms = comparisonsWith(entities, picked)
        const filters = [filter, ...terms, ...groupsOf(terms)]
        for (const asked of [...filters, ...filters]) {
          const sieve = sieveOf(asked, memory)
          if (sieve === undefined) continue
          const isExcluded = sieve.excludes(records)
          const isMatched = entities.some((entity) => satisfies(entity, asked))
          assert(!(isExcluded && isMatched), formatFilter(asked))
          sieve.learn(records)
        }
      }),
      { numRuns: arbitrary.runs(5_000) },
    )
  })

  it('keeps the order of every type', () => {
    const memory = openMemory()
    let place = 0
    fc.assert(
      fc.property(fc.array(arbitrary.value, { minLength: 15, maxLength: 15 }), (values) => {
        for (const value of values) {
          const entity = entityOf({ A: value })
          const records = placed(recordsTogether([recordOf(entity)]), ++place, 1)
          for (const literal of values) {
            if (literal.type !== value.type) continue
            for (const operator of arbitrary.operators) {
              const filter = { kind: 'comparison', property: 'A', operator, literal } as const
              const sieve = sieveOf(filter, memory)
              sieve?.learn(records)
              if (sieve?.excludes(records)) assert(!satisfies(entity, filter), formatFilter(filter))
            }
          }
        }
      }),
      { numRuns: arbitrary.runs(300) },
    )
  })

  it('excludes what no row can match, once it has seen them', () => {
    const rows = [1, 8, 2, 7].map((number) => ({
      ...entityOf({ N: int32(number), S: text(`s${number}`), D: day(number), L: int64(number) }),
    }))
    const otherRows = [
      [6, 2 ** 40],
      [5 + 2 ** 18, 2 ** 40],
      [5, 2 ** 40 + 1],
      [5, 0],
    ] as const
    // biome-ignore format: a table reads in columns
    const expected: readonly (readonly [filter: string, isExcluded: boolean])[] = [
      ['N eq 3', true],                 ['N eq 8', false],
      ['N gt 8', false],                ['N gt 9', true],
      ['N gt 3 and N lt 7', false],     ['N gt 4 and N lt 6', true],
      ['N eq 3 or N eq 4', true],       ['N eq 3 or N eq 1', false],
      ["N eq 3 and S ne 's'", true],    ["N eq 1 and S eq 's3'", true],
      ["S eq 's3'", true],              ["S eq 's8'", false],
      ["S gt 's9'", false],             ['N ne 1', false],
      ["D eq datetime'2020-01-03T00:00:00Z'", true],
      ["D lt datetime'2019-12-31T00:00:00Z'", true],
      ["D ge datetime'2020-01-08T00:00:00Z'", false],
      ['L eq 3L', true],                ['L ge 8L', false],
      ['L eq 3', false],                ['not (N eq 1)', false],
      ['Absent eq 3', true],            ["RowKey eq 'x'", false],
    ]
    for (const [filter, isExcluded] of expected) {
      const sieve = sieveOf(parseFilter(filter, entitySchema), openMemory())
      const records = placed(recordsTogether(rows.map(recordOf)), 5, 2 ** 40)
      assert(!sieve?.excludes(records), `${filter} before it has seen anything`)
      sieve?.learn(records)
      assert.equal(sieve?.excludes(records) ?? false, isExcluded, filter)
      for (const [place, written] of otherRows)
        assert(!sieve?.excludes(placed(records, place, written)), `${filter} of other rows`)
    }
  })
})

describe('what is known', () => {
  const [first, rival] = [5, 5 + 2 ** 18]
  const records = recordsTogether([recordOf(entityOf({ N: int32(1) }))])

  it('stays while it is asked for, and gives way when it is not', () => {
    const sieve = sieveOf(parseFilter('N eq 2', entitySchema), openMemory())
    sieve?.learn(placed(records, first, 1))
    for (let turn = 0; turn < 20; turn++) {
      sieve?.learn(placed(records, rival, 1))
      assert.equal(sieve?.excludes(placed(records, rival, 1)), false)
      assert.equal(sieve?.excludes(placed(records, first, 1)), true)
    }
    for (let turn = 0; turn < 20; turn++) sieve?.learn(placed(records, rival, 1))
    assert.equal(sieve?.excludes(placed(records, rival, 1)), true)
    assert.equal(sieve?.excludes(placed(records, first, 1)), false)
  })

  it('gives way at once to what is written in its place', () => {
    const sieve = sieveOf(parseFilter('N eq 2', entitySchema), openMemory())
    for (const written of [1, 2]) {
      sieve?.learn(placed(records, first, written))
      assert.equal(sieve?.excludes(placed(records, first, written)), true)
    }
  })
})

describe('pages of rows seen before', () => {
  it('are those of the memory store, to the last counter, while rows change', async (t) => {
    const { read: clock } = testClock()
    const memory = openMemoryStore({ clock })
    const lmdb = await openLmdbStore({ path: await temporaryFolder(), clock, durability: 'memory' })
    t.after(() => lmdb.close())
    let passed = 0
    const counted: Store = {
      ...lmdb,
      scan: (table, ranges, visit, passes) =>
        lmdb.scan(table, ranges, visit, (records) => {
          const isPassed = passes?.(records) ?? false
          if (isPassed) passed += records.count
          return isPassed
        }),
    }
    const random = seededRandom(11)
    const [table, same] = [await tableIn(counted), await tableIn(memory)]
    for (let round = 0; round < 40; round++) {
      const partition = `p${random.below(4)}`
      const mutations = changes(random, partition)
      await commit(counted, table, partition, mutations)
      await commit(memory, same, partition, mutations)
      for (let i = 0; i < 5; i++) {
        const filter = filters(random)
        const top = random.pick([1, 3, 1000])
        const budgets = random.pick([{}, {}, { scanRowsMax: 1 + random.below(300) }, { bytesMax: 2 }])
        const pages = []
        for (const [store, id] of [
          [counted, table],
          [counted, table],
          [memory, same],
        ] as const)
          pages.push(await allPages(store, { table: id, top, budgets }, filter))
        assert.deepEqual(pages[0], pages[2], filter)
        assert.deepEqual(pages[1], pages[2], filter)
      }
    }
    assert(passed > 1000, `only ${passed} rows were passed over`)
  })
})

async function tableIn(store: Store): Promise<TableId> {
  const table = await store.create('sieves' as AccountName, parseTableName('seen'))
  assert(table !== undefined)
  return table
}

/** Large enough for several leaves; a few longer than one. */
function changes(random: Random, partition: string) {
  const rows = random.shuffled(Array.from({ length: 150 }, (_, i) => i)).slice(0, 60)
  return rows.map((i) => {
    const key = keyAt(partition, `r${i}`)
    if (random.below(6) === 0) return remove(key, any)
    const filler = random.below(40) === 0 ? binary(9000) : binary(random.below(400))
    const number = random.below(20)
    const properties: Properties = random.below(3) === 0 ? { S: text(`s${number}`) } : { N: int32(number) }
    return put(key, { filler, ...properties, D: day(1 + number) })
  })
}

function filters(random: Random): string {
  const number = random.below(22)
  return random.pick([
    `N eq ${number}`,
    `N ge ${number} and N lt ${number + 2}`,
    `S eq 's${number}'`,
    `S eq 's${number}' or N eq ${number}`,
    `D gt datetime'2020-01-${String(number + 1).padStart(2, '0')}T00:00:00Z'`,
    `PartitionKey eq 'p1' and N eq ${number}`,
  ])
}

async function allPages(store: Store, request: Omit<PageRequest, 'plan' | 'nowMs'>, filter: string) {
  const plan = planFilter(parseFilter(filter, entitySchema))
  const pages: Page[] = []
  do {
    const from = pages.at(-1)?.next as PageRequest['from']
    pages.push(await readPage(store, { ...request, plan, from, nowMs: () => 0 }, () => 1))
  } while (pages.at(-1)?.next !== undefined)
  return pages
}

function placed(records: Records, place: number, written: number): Records {
  return { ...records, place, written }
}

/** Comparisons with the very values that rows have, so that some match. */
function comparisonsWith(
  entities: readonly PlainEntity[],
  picked: readonly (readonly [number, Comparison['operator'], boolean])[],
): Comparison[] {
  const properties = entities.flatMap((entity) => entity.properties)
  if (properties.length === 0) return []
  return picked.map(([pick, operator, isOwn]) => {
    const { name, value } = properties[pick % properties.length] as (typeof properties)[number]
    const other = properties[(pick >>> 8) % properties.length]?.name
    return { kind: 'comparison', property: isOwn ? name : (other ?? name), operator, literal: value }
  })
}

function groupsOf(terms: readonly Comparison[]): Filter[] {
  return terms.length < 2 ? [] : [group('and', [...terms]), group('or', [...terms])]
}

function entityOf(properties: Properties): PlainEntity {
  const list = Object.entries(properties).map(([name, value]) => ({ name, value }))
  return { key: keyAt('p', 'r'), version: 1n as PlainEntity['version'], properties: list }
}

function day(number: number): Value {
  return { type: 'Edm.DateTime', value: ticksOfUnixMs(Date.UTC(2020, 0, number)) }
}

function int64(number: number): Value {
  return { type: 'Edm.Int64', value: BigInt(number) }
}

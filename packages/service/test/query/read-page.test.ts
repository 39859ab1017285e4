import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  compareKeys,
  type EntityKey,
  everything,
  type KeyPosition,
  parsePartitionKey,
} from '../../src/model/keys.ts'
import { encodeContent, keysText } from '../../src/model/content.ts'
import { keyOf } from '../../src/model/record.ts'
import type { AccountName, TableId, TableName } from '../../src/model/table.ts'
import { decodeContinuation, encodeToken } from '../../src/query/continuation.ts'
import { type Filter, formatFilter } from '../../src/query/filter.ts'
import { entitySchema, parseFilter } from '../../src/query/parse-filter.ts'
import { type Plan, planFilter } from '../../src/query/plan-filter.ts'
import { type Page, type PageBudgets, type PageRequest, readPage } from '../../src/query/read-page.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { keyAt, listOf, remove, text } from '../support/entities.ts'
import { seededRandom } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'
import * as arbitrary from './arbitraries.ts'
import { byKey, type PlainEntity, satisfies } from './naive-filter.ts'

const account = 'devstoreaccount1' as AccountName

pagesOf('memory', arbitrary.runs(10_000), async () => openMemoryStore({ clock: testClock().read }))
pagesOf('lmdb', arbitrary.runs(3_000), async () =>
  openLmdbStore({ path: await temporaryFolder(), clock: testClock().read, durability: 'memory' }),
)

interface Query {
  readonly filter: Filter
  readonly top: number
  readonly budgets: Partial<PageBudgets>
  /** Of the realism that cuts pages; none if undefined. */
  readonly realismSeed: number | undefined
  /** Ranges the planner may use; none at all for the plan that reads everything. */
  readonly rangesMax: number
}

function pagesOf(name: string, runs: number, open: () => Promise<Store>): void {
  describe(`pages from the ${name} store`, () => {
    let store: Store
    before(async () => {
      store = await open()
    })
    after(() => store.close())

    it('put together are the matching entities in order, however they are cut', async () => {
      const queriesPerTable = 10
      let tables = 0
      const query = fc.record({
        filter: arbitrary.filter,
        top: fc.oneof(fc.constant(1000), fc.integer({ min: 1, max: 5 })),
        budgets: fc.oneof(
          fc.constant({}),
          fc.record({ scanRowsMax: fc.integer({ min: 1, max: 7 }) }),
          fc.record({ bytesMax: fc.integer({ min: 1, max: 7 }) }),
          fc.record({ missesBeforeSeek: fc.integer({ min: 1, max: 2 }) }),
        ),
        realismSeed: fc.option(fc.nat(), { nil: undefined }),
        rangesMax: fc.constantFrom(1000, 1000, 3, 1, 0),
      })
      const rows = fc.uniqueArray(arbitrary.entity, {
        maxLength: 40,
        selector: ({ key }) => `${key.partition}\u0000${key.row}`,
      })
      const queries = fc.array(query, { minLength: queriesPerTable, maxLength: queriesPerTable })
      await fc.assert(
        fc.asyncProperty(rows, queries, async (drawn, asked) => {
          const table = await newTable(store, `table${tables++}`)
          const entities = await fill(store, table, drawn)
          for (const each of asked) {
            const expected = entities.filter((entity) => satisfies(entity, each.filter)).map(({ key }) => key)
            assert.deepEqual(await readAll(store, table, each), expected, formatFilter(each.filter))
          }
        }),
        { numRuns: Math.ceil(runs / queriesPerTable), endOnFailure: true },
      )
    })

    it('lose only what is deleted while they are read', async () => {
      let tables = 0
      await fc.assert(
        fc.asyncProperty(fc.nat(), arbitrary.filter, async (seed, filter) => {
          const random = seededRandom(seed)
          const table = await newTable(store, `deleting${tables++}`)
          const entities = await fill(store, table, someEntities)
          const removed = new Set<string>()
          const found = await readAll(store, table, { ...plainQuery, filter, top: 2 }, async (next, read) => {
            const victim = random.below(2) === 0 ? random.pick(entities).key : entityAt(entities, next)
            if (victim === undefined) return
            await store.commit(table, victim.partition, [remove(victim, { kind: 'any' })])
            if (!read.some((key) => nameOf(key) === nameOf(victim))) removed.add(nameOf(victim))
          })
          const expected = entities
            .filter((entity) => satisfies(entity, filter) && !removed.has(nameOf(entity.key)))
            .map(({ key }) => key)
          assert.deepEqual(found, expected)
        }),
        { numRuns: Math.ceil(runs / 25) },
      )
    })

    it('end without a token exactly when nothing is left', async () => {
      const table = await newTable(store, 'ends')
      await fill(store, table, grid(['a', 'b'], ['1', '2', '3', '4']))
      const first = await page(store, table, "PartitionKey eq 'a'", { top: 2 })
      assert.deepEqual([first.stop, first.next], ['top', { partition: 'a', row: '3' }])
      const last = await page(store, table, "PartitionKey eq 'a'", { top: 2, from: keyAt('a', '3') })
      assert.deepEqual([last.stop, last.next, last.counters.returned], ['exhausted', undefined, 2])
      const full = await page(store, table, "PartitionKey eq 'a' and RowKey eq '1'", { top: 1 })
      assert.deepEqual([full.stop, full.next], ['exhausted', undefined])
      const searching = await page(store, table, "Name eq 'a1'", { top: 1 })
      assert.deepEqual([searching.stop, searching.next], ['exhausted', undefined])
      assert.equal(searching.counters.scanned, 8)
    })

    it('end when a budget is spent, at the next row', async () => {
      const table = await newTable(store, 'budgets')
      await fill(store, table, grid(['a', 'b'], many(100)))
      const rows = await page(store, table, "Name eq 'x'", { budgets: { scanRowsMax: 7 } })
      assert.deepEqual([rows.stop, rows.next], ['scanBudget', { partition: 'a', row: '107' }])
      assert.deepEqual([rows.counters.scanned, rows.counters.returned], [7, 0])
      const bytes = await page(store, table, undefined, { budgets: { bytesMax: 3 } })
      assert.deepEqual([bytes.stop, bytes.counters.returned], ['bytes', 3])
      let nowMs = 0
      const time = await page(store, table, undefined, { nowMs: () => (nowMs += 2500) })
      assert.deepEqual([time.stop, time.counters.scanned], ['time', 128])
    })

    it('end when the client hangs up', async () => {
      const table = await newTable(store, 'aborted')
      await fill(store, table, grid(['a', 'b'], many(100)))
      const gone = await page(store, table, undefined, { hungUp: () => true })
      assert.deepEqual([gone.stop, gone.counters.seeks, gone.counters.scanned], ['aborted', 0, 0])
      let hungUp = false
      const going = await page(store, table, undefined, { hungUp: () => hungUp }, () => {
        hungUp = true
      })
      assert.equal(going.stop, 'aborted')
      assert(going.counters.scanned < 200)
    })

    it('cost one seek for a point, and none for nothing', async () => {
      const table = await newTable(store, 'points')
      await fill(store, table, grid(['a', 'b'], ['1', '2', '3']))
      const calls: string[] = []
      const counted: Store = {
        ...store,
        get: (...given) => {
          calls.push('get')
          return store.get(...given)
        },
        scan: (...given) => {
          calls.push('scan')
          return store.scan(...given)
        },
      }
      const point = await page(counted, table, "PartitionKey eq 'a' and RowKey eq '2' and Name eq 'a2'")
      assert.deepEqual([calls, point.counters.seeks, point.counters.returned], [['get'], 1, 1])
      const missing = await page(counted, table, "PartitionKey eq 'a' and RowKey eq '9'")
      assert.deepEqual([missing.stop, missing.counters.seeks, missing.counters.scanned], ['exhausted', 1, 0])
      const nothing = await page(counted, table, "PartitionKey eq 'a' and PartitionKey eq 'b'")
      assert.deepEqual([calls, nothing.counters.seeks], [['get', 'get'], 0])
      const two = await page(counted, table, "PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '3')")
      assert.deepEqual([calls.at(-1), two.counters.seeks, two.counters.scanned], ['scan', 2, 2])
    })

    it('skip the rows of large partitions that cannot match', async () => {
      const table = await newTable(store, 'skips')
      await fill(store, table, grid(['a', 'b', 'c'], many(90)))
      const skipped = await page(store, table, "RowKey eq '150'", { countsDetails: true })
      assert.equal(skipped.counters.returned, 3)
      assert.equal(skipped.counters.partitions, 3)
      assert(skipped.counters.scanned < 80, `${skipped.counters.scanned} rows scanned`)
      assert(skipped.counters.seeks > 1)
    })

    it('are cut short, empty and at partitions when realism is asked for', async () => {
      const table = await newTable(store, 'realism')
      await fill(store, table, grid(['a', 'b', 'c'], many(10)))
      const [seen, random] = [new Set<string>(), seededRandom(7)]
      for (let i = 0; i < 60; i++) {
        const realism = { random: () => random.below(2 ** 30) / 2 ** 30 }
        const { stop, next, counters } = await page(store, table, undefined, { realism })
        if (stop !== 'injected') seen.add(stop)
        else {
          seen.add(counters.returned === 0 ? 'empty' : 'short')
          seen.add(next?.row === undefined ? 'token without row' : 'token with row')
          if (counters.returned % 10 === 0 && counters.returned > 0) seen.add('at the end of a partition')
        }
      }
      assert.deepEqual(
        [...seen].toSorted(),
        [
          'at the end of a partition',
          'empty',
          'exhausted',
          'short',
          'token with row',
          'token without row',
        ].toSorted(),
      )
    })
  })
}

const plainQuery: Query = {
  filter: { kind: 'constant', value: true },
  top: 1000,
  budgets: {},
  realismSeed: undefined,
  rangesMax: 1000,
}

const someEntities = grid(['', 'a', 'b', 'ab'], ['', '1', '2', 'a', 'b'])

/** Every page in turn, each found by the token of the one before. */
async function readAll(
  store: Store,
  table: TableId,
  query: Query,
  between?: (next: KeyPosition, read: readonly EntityKey[]) => Promise<void>,
): Promise<EntityKey[]> {
  const random = query.realismSeed === undefined ? undefined : seededRandom(query.realismSeed)
  const plan: Plan =
    query.rangesMax === 0
      ? {
          class: 'table-scan',
          ranges: [{ ...everything, rows: undefined, residual: query.filter, hull: false }],
        }
      : planFilter(query.filter, query.rangesMax)
  const read: EntityKey[] = []
  let from: KeyPosition | undefined
  for (let pages = 0; pages < 1000; pages++) {
    const page = await readPage(
      store,
      {
        table,
        plan,
        from,
        top: query.top,
        nowMs: () => 0,
        budgets: query.budgets,
        realism: random && { random: () => random.below(2 ** 30) / 2 ** 30 },
      },
      (record) => read.push(keyOf(record)),
    )
    assert(page.counters.returned <= query.top)
    assert(page.counters.scanned >= page.counters.matched)
    assert.equal(page.next === undefined, page.stop === 'exhausted')
    if (page.next === undefined) return read
    const { partition, row } = page.next
    const next = decodeContinuation(encodeToken(partition), row === undefined ? undefined : encodeToken(row))
    assert(next !== undefined && (from === undefined || compareKeys(from, next) < 0), 'a page got no further')
    from = next
    await between?.(next, read)
  }
  throw new Error(`no end: ${formatFilter(query.filter)} from ${JSON.stringify(from)}`)
}

async function page(
  store: Store,
  table: TableId,
  filter: string | undefined,
  options: Partial<PageRequest> = {},
  onTake?: () => void,
): Promise<Page> {
  const plan = planFilter(parseFilter(filter, entitySchema))
  return await readPage(store, { table, plan, top: 1000, nowMs: () => 0, ...options }, () => {
    onTake?.()
    return 1
  })
}

async function newTable(store: Store, name: string): Promise<TableId> {
  const id = await store.create(account, name as TableName)
  assert(id !== undefined)
  return id
}

/** Writes the entities and returns them in order, with the versions they were given. */
async function fill(store: Store, table: TableId, drawn: readonly PlainEntity[]): Promise<PlainEntity[]> {
  const written: PlainEntity[] = []
  for (const partition of new Set(drawn.map(({ key }) => key.partition))) {
    const entities = drawn.filter(({ key }) => key.partition === partition)
    const mutations = entities.map(({ key, properties }) => {
      const change = { kind: 'put', when: { kind: 'any' }, row: key.row } as const
      return { ...change, keys: keysText(key), content: encodeContent(properties) }
    })
    const outcome = await store.commit(table, parsePartitionKey(partition), mutations)
    assert(outcome.kind === 'committed')
    for (const [index, entity] of entities.entries()) {
      const version = outcome.versions[index]
      assert(version !== undefined)
      written.push({ ...entity, version })
    }
  }
  return written.toSorted(byKey)
}

function grid(partitions: readonly string[], rows: readonly string[]): PlainEntity[] {
  return partitions.flatMap((partition) =>
    rows.map((row) => ({
      key: keyAt(partition, row),
      version: 0n as PlainEntity['version'],
      properties: listOf({ Name: text(partition + row) }),
    })),
  )
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${100 + index}`)
}

function entityAt(entities: readonly PlainEntity[], position: KeyPosition): EntityKey | undefined {
  return entities.find(({ key }) => nameOf(key) === nameOf(position))?.key
}

function nameOf({ partition, row }: KeyPosition): string {
  return JSON.stringify([partition, row])
}

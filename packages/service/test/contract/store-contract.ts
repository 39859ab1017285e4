/** What every store promises, as tests. A store that passes may serve; none passes with less. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { entityBytes } from '../../src/model/entity.ts'
import {
  compareKeys,
  type EntityKey,
  everything,
  firstPosition,
  type KeyPosition,
  type KeyRange,
  successor,
} from '../../src/model/keys.ts'
import { limits } from '../../src/model/limits.ts'
import type { Condition, Mutation, Refusal } from '../../src/model/mutation.ts'
import { byName, type Property, propertyText } from '../../src/model/content.ts'
import {
  type EntityRecord,
  keyOf,
  membersOf,
  propertiesOf,
  etagOfRecord,
  versionOf,
} from '../../src/model/record.ts'
import {
  type AccountName,
  catalogue,
  deletions,
  firstTableId,
  parseTableName,
  partitionOfAccount,
  type TableId,
} from '../../src/model/table.ts'
import { type Clock, type Ticks } from '../../src/model/ticks.ts'
import type { Value } from '../../src/model/values.ts'
import { etagOf, type Version } from '../../src/model/version.ts'
import { catalogueEntryOf, findTable } from '../../src/store/catalogue.ts'
import type { Store } from '../../src/store/store.ts'
import {
  absent,
  any,
  at,
  binary,
  commit,
  eachRecord,
  int32,
  keyAt,
  keysOf,
  listOf,
  merge,
  present,
  type Properties,
  put,
  putOne,
  recordsOf,
  remove,
  seen,
  shown,
  sorted,
  text,
  valueIn,
  assertSame,
  wholePartition,
} from '../support/entities.ts'
import { seededRandom } from '../support/random.ts'
import { testClock, ticksAt } from '../support/test-clock.ts'

const account = 'contract' as AccountName

/** Two keys of exactly 1,990 bytes at three bytes and one byte a unit. */
export const longestKey = `${'\u4e00'.repeat(663)}a`

export function storeContract(name: string, open: (clock: Clock) => Promise<Store>): void {
  describe(`${name} keeps the contract`, () => {
    const clock = testClock()
    let store: Store
    let tables = 0
    before(async () => {
      store = await open(clock.read)
    })
    after(() => store.close())

    async function newTable(): Promise<TableId> {
      const id = await store.create(account, parseTableName(`table${++tables}`))
      assert(id !== undefined)
      return id
    }

    async function tableOf(keys: readonly EntityKey[]): Promise<TableId> {
      const table = await newTable()
      await Promise.all(keys.map((key) => putOne(store, table, key)))
      return table
    }

    function judge(table: TableId, key: EntityKey, mutation: Mutation): Promise<string> {
      return store.commit(table, key.partition, [mutation]).then(shown)
    }

    async function checkSeek(
      table: TableId,
      ranges: readonly KeyRange[],
      from: EntityKey,
      to: KeyPosition,
    ): Promise<void> {
      const met: EntityKey[] = []
      await store.scan(
        table,
        ranges,
        eachRecord((record) => {
          met.push(keyOf(record))
          return compareKeys(keyOf(record), from) === 0 ? to : 'next'
        }),
      )
      const reached = within(from, ranges)
      const expected = fewKeys.filter(
        (key) =>
          within(key, ranges) && (!reached || compareKeys(key, from) <= 0 || compareKeys(key, to) >= 0),
      )
      assert.deepEqual(
        met,
        expected,
        `from ${JSON.stringify(from)} to ${shownPosition(to)} in ${ranges.map(shownRange).join(' ')}`,
      )
    }

    /** Rows over a few partitions, written in groups. */
    async function longTable(rows: number): Promise<TableId> {
      const table = await newTable()
      for (const partition of longPartitions) {
        const mutations = longRows
          .slice(0, rows / longPartitions.length)
          .map((row) => put(keyAt(partition, row), { filler: text('x'.repeat(100)) }))
        await commit(store, table, partition, mutations)
      }
      return table
    }

    /** Takes rows away, changes some and adds some, all over the partition. */
    function disturb(table: TableId, partition: string): Promise<unknown> {
      const mutations = longRows.map((row, i) =>
        i % 3 === 0
          ? remove(keyAt(partition, row), any)
          : put(keyAt(partition, i % 3 === 1 ? row : `${row}+`), { i: int32(i) }),
      )
      return commit(store, table, partition, mutations)
    }

    describe('get', () => {
      it('finds what was put, and nothing else', async () => {
        const table = await newTable()
        const other = await newTable()
        const key = keyAt('p', 'r')
        const version = await putOne(store, table, key, { b: int32(1), a: text('two') })
        const record = await store.get(table, key)
        assert(record !== undefined)
        assert.deepEqual(seen(record), {
          key,
          version,
          properties: [
            { name: 'b', value: int32(1) },
            { name: 'a', value: text('two') },
          ],
        })
        assert.equal(etagOfRecord(record), etagOf(version))
        for (const elsewhere of [
          keyAt('p', ''),
          keyAt('', 'r'),
          keyAt('p', 'rr'),
          keyAt('pr', ''),
          keyAt('P', 'r'),
        ]) {
          assert.equal(await store.get(table, elsewhere), undefined)
        }
        assert.equal(await store.get(other, key), undefined)
      })

      it('gives records that stay as they were', async () => {
        const table = await newTable()
        const first = await write('first')
        const copy = Buffer.from(first)
        const second = await write('second, and longer')
        await recordsOf(store, table)
        assert.deepEqual(first, copy)
        assert.equal(valueIn(second, 'value'), 'second, and longer')

        async function write(value: string): Promise<EntityRecord> {
          const key = keyAt('p', 'r')
          await putOne(store, table, key, { value: text(value) })
          const record = await store.get(table, key)
          assert(record !== undefined)
          return record
        }
      })

      it('sees every acknowledged change, as scan does', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        for (let i = 0; i < 40; i++) {
          await putOne(store, table, key, { i: int32(i) })
          assert.equal(valueIn(await store.get(table, key), 'i'), i)
          assert.deepEqual(
            (await recordsOf(store, table)).map((record) => valueIn(record, 'i')),
            [i],
          )
          if (i % 4 !== 3) continue
          await commit(store, table, 'p', [remove(key)])
          assert.equal(await store.get(table, key), undefined)
          assert.deepEqual(await recordsOf(store, table), [])
        }
      })
    })

    describe('scan', () => {
      it('visits by partition, then row, by UTF-16 code unit', async () => {
        const keys = seededRandom(1).shuffled(
          awkwardTexts.flatMap((partition) => awkwardTexts.map((row) => keyAt(partition, row))),
        )
        const table = await tableOf(keys)
        assert.deepEqual(await keysOf(store, table), sorted(keys))
        for (const key of keys) {
          const record = await store.get(table, key)
          assert.deepEqual(record && keyOf(record), key)
        }
      })

      it('finds nothing in an empty table, or in no ranges', async () => {
        const table = await newTable()
        assert.deepEqual(await recordsOf(store, table), [])
        await putOne(store, table, keyAt('p', 'r'))
        assert.deepEqual(await recordsOf(store, table, []), [])
      })

      it('visits whole records, as get gives them', async () => {
        const table = await newTable()
        const sizes = [0, 30_000, 1, 4000, 8100, 8192, 20, 16_384, 32_768, 3]
        for (const [i, size] of sizes.entries()) {
          await putOne(store, table, keyAt('p', `r${i}`), {
            s: text('\u00e9x'.repeat(size / 2)),
            n: int32(i),
          })
        }
        for (const record of await recordsOf(store, table)) {
          assert.deepEqual(record, await store.get(table, keyOf(record)))
        }
      })

      it('takes from inside and until outside, wherever the bounds lie', async () => {
        const table = await tableOf(fewKeys)
        for (const from of positions) {
          for (const until of [...positions, undefined]) {
            const expected = fewKeys.filter((key) => within(key, [{ from, until }]))
            assert.deepEqual(
              await keysOf(store, table, [{ from, until }]),
              expected,
              shownRange({ from, until }),
            )
          }
        }
      })

      it('visits one partition whole and nothing of its neighbours', async () => {
        const table = await tableOf(fewKeys)
        for (const partition of new Set(fewKeys.map((key) => key.partition))) {
          assert.deepEqual(
            await keysOf(store, table, [wholePartition(partition)]),
            fewKeys.filter((key) => key.partition === partition),
          )
        }
      })

      it('visits several ranges in order', async () => {
        const table = await tableOf(fewKeys)
        const random = seededRandom(2)
        for (let round = 0; round < 60; round++) {
          const ranges = someRanges(random)
          assert.deepEqual(
            await keysOf(store, table, ranges),
            fewKeys.filter((key) => within(key, ranges)),
          )
        }
      })

      it('stops where the visitor says so', async () => {
        const table = await tableOf(fewKeys)
        const ranges = [
          { from: firstPosition, until: { partition: 'ab', row: '' } },
          { from: { partition: 'ab', row: 'a' }, until: undefined },
        ]
        const all = fewKeys.filter((key) => within(key, ranges))
        for (let count = 1; count <= all.length; count++) {
          const met: EntityKey[] = []
          await store.scan(
            table,
            ranges,
            eachRecord((record) => {
              met.push(keyOf(record))
              return met.length === count ? 'stop' : 'next'
            }),
          )
          assert.deepEqual(met, all.slice(0, count))
        }
      })

      it('goes on at any later position', async () => {
        const table = await tableOf(fewKeys)
        for (const key of fewKeys) {
          for (const position of positions) {
            if (compareKeys(position, key) > 0) await checkSeek(table, [everything], key, position)
          }
        }
      })

      it('goes on at a later position in the range that holds it', async () => {
        const table = await tableOf(fewKeys)
        const random = seededRandom(3)
        for (let round = 0; round < 300; round++) {
          const key = random.pick(fewKeys)
          const position = random.pick(positions)
          if (compareKeys(position, key) > 0) await checkSeek(table, someRanges(random), key, position)
        }
      })

      it('skips from partition to partition', async () => {
        const table = await tableOf(fewKeys)
        const met: EntityKey[] = []
        await store.scan(
          table,
          [everything],
          eachRecord((record) => {
            const key = keyOf(record)
            met.push(key)
            return { partition: successor(key.partition), row: '' }
          }),
        )
        const expected = fewKeys.filter((key, i) => key.partition !== fewKeys[i - 1]?.partition)
        assert.deepEqual(met, expected)
      })

      it('fails as its visitor fails, and the store goes on', async () => {
        const table = await tableOf(fewKeys)
        const failure = new Error('enough')
        const failing = store.scan(table, [everything], () => {
          throw failure
        })
        await assert.rejects(failing, failure)
        assert.deepEqual(await keysOf(store, table), fewKeys)
        await putOne(store, table, keyAt('after', 'failure'))
        assert.equal((await keysOf(store, table)).length, fewKeys.length + 1)
      })

      it('shows one moment while commits go on', async () => {
        const table = await longTable(400)
        const before = await recordsOf(store, table)
        for (const startAt of [0, 1, 100, 399]) {
          const now = await recordsOf(store, table)
          const commits: Promise<unknown>[] = []
          const met: EntityRecord[] = []
          await store.scan(
            table,
            [everything],
            eachRecord((record) => {
              if (met.length === startAt)
                for (const partition of longPartitions) commits.push(disturb(table, partition))
              met.push(Buffer.from(record))
              if (met.length % 120 === 0) burn(6)
              return 'next'
            }),
          )
          await Promise.all(commits)
          assertSame(met, now)
        }
        assert.notEqual((await recordsOf(store, table)).length, before.length)
      })

      it('shows one moment also to scans that overlap', async () => {
        const table = await longTable(400)
        const versions = await Promise.all(
          Array.from({ length: 6 }, async () => {
            const met: Version[] = []
            const scan = store.scan(
              table,
              [everything],
              eachRecord((record) => {
                met.push(versionOf(record))
                if (met.length % 120 === 0) burn(6)
                return 'next'
              }),
            )
            const change = commit(
              store,
              table,
              'p0',
              longRows.map((row) => put(keyAt('p0', row), {}, any)),
            )
            await Promise.all([scan, change])
            return met.slice(0, longRows.length)
          }),
        )
        const groups = versions.map((met) => met.map((version, i) => version - (met[0] ?? 0n) - BigInt(i)))
        // One commit gives its rows consecutive versions while the clock stands still.
        for (const group of groups)
          assert.deepEqual(
            group,
            longRows.map(() => 0n),
          )
      })

      it('shows the rows of a table that is dropped meanwhile', async () => {
        const name = parseTableName(`dropped${++tables}`)
        const table = await store.create(account, name)
        assert(table !== undefined)
        await commit(
          store,
          table,
          'p',
          longRows.map((row) => put(keyAt('p', row), { filler: text('x'.repeat(3000)) })),
        )
        const before = await recordsOf(store, table)
        const met: EntityRecord[] = []
        let dropped: Promise<boolean> | undefined
        const visit = eachRecord((record) => {
          dropped ??= store.drop(account, name)
          met.push(Buffer.from(record))
          burn(1)
          return 'next'
        })
        await store.scan(table, [everything], visit)
        assert.equal(await dropped, true)
        assertSame(met, before)
      })

      it('runs many times at once, each at its own moment', async () => {
        const table = await longTable(200)
        const creates: Promise<unknown>[] = []
        const scans: Promise<number>[] = []
        for (let i = 0; i < 150; i++) {
          // A table made before each scan gives each a state of its own to look at.
          creates.push(store.create(account, parseTableName(`many${i}`)))
          let rows = 0
          const visit = eachRecord(() => {
            if (++rows === 127) burn(5)
            return 'next'
          })
          const scan = store.scan(table, [everything], visit)
          scans.push(scan.then(() => rows))
        }
        const settled = await Promise.allSettled(scans)
        await Promise.all(creates)
        assert.deepEqual(
          settled.filter((result) => result.status === 'rejected').map((result) => String(result.reason)),
          [],
        )
        assert(settled.every((result) => result.status === 'fulfilled' && result.value === 200))
      })
    })

    describe('commit', () => {
      // biome-ignore format: a table reads in columns
      const outcomes: readonly (readonly [Mutation['kind'], keyof typeof conditions, present: string, absent: string])[] = [
        ['put',    'any',       'committed',  'committed'],
        ['put',    'absent',    '0: exists',  'committed'],
        ['put',    'present',   'committed',  '0: missing'],
        ['put',    'current',   'committed',  '0: missing'],
        ['put',    'former',    '0: changed', '0: missing'],
        ['put',    'following', '0: changed', '0: missing'],
        ['merge',  'any',       'committed',  'committed'],
        ['merge',  'absent',    '0: exists',  'committed'],
        ['merge',  'present',   'committed',  '0: missing'],
        ['merge',  'current',   'committed',  '0: missing'],
        ['merge',  'former',    '0: changed', '0: missing'],
        ['merge',  'following', '0: changed', '0: missing'],
        ['remove', 'any',       'committed',  'committed'],
        ['remove', 'absent',    '0: exists',  'committed'],
        ['remove', 'present',   'committed',  '0: missing'],
        ['remove', 'current',   'committed',  '0: missing'],
        ['remove', 'former',    '0: changed', '0: missing'],
        ['remove', 'following', '0: changed', '0: missing'],
      ]
      const conditions = {
        any: () => any,
        absent: () => absent,
        present: () => present,
        current: (_former: Version, current: Version) => at(current),
        former: (former: Version) => at(former),
        following: (_former: Version, current: Version) => at((current + 1n) as Version),
      } satisfies Record<string, (former: Version, current: Version) => Condition>

      for (const [kind, condition, whenPresent, whenAbsent] of outcomes) {
        it(`${kind} when ${condition}: ${whenPresent} if present, ${whenAbsent} if absent`, async () => {
          const table = await newTable()
          const key = keyAt('p', 'r')
          const former = await putOne(store, table, key, { a: int32(1) })
          const current = await putOne(store, table, key, { a: int32(1), b: int32(2) })
          const when = conditions[condition](former, current)
          const before = await store.get(table, key)

          assert.equal(await judge(table, key, mutation()), whenPresent)
          if (whenPresent === 'committed') assert.deepEqual(await left(), afterwards[kind].present)
          else assert.deepEqual(await store.get(table, key), before)

          await commit(store, table, 'p', [remove(key, any)])
          assert.equal(await judge(table, key, mutation()), whenAbsent)
          if (whenAbsent === 'committed') assert.deepEqual(await left(), afterwards[kind].absent)
          else assert.equal(await store.get(table, key), undefined)

          function mutation(): Mutation {
            if (kind === 'remove') return remove(key, when)
            return (kind === 'put' ? put : merge)(key, { a: text('new'), c: int32(3) }, when)
          }

          async function left(): Promise<readonly Property[] | undefined> {
            const record = await store.get(table, key)
            return record && propertiesOf(record)
          }
        })
      }

      it('knows an entity made again from the one removed', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        const former = await putOne(store, table, key)
        await commit(store, table, 'p', [remove(key)])
        await putOne(store, table, key)
        assert.equal(await judge(table, key, remove(key, at(former))), '0: changed')
      })

      it('applies all mutations or none, and names the first refused', async () => {
        const table = await newTable()
        const keys = Array.from({ length: 10 }, (_, i) => keyAt('p', `r${i}`))
        const [first, ...others] = keys as [EntityKey, ...EntityKey[]]
        await commit(
          store,
          table,
          'p',
          keys.slice(0, 5).map((key) => put(key, { n: int32(1) })),
        )
        const before = await recordsOf(store, table)
        for (let refused = 0; refused < others.length; refused++) {
          const group = others.map((key, i) => {
            if (i < refused) return i % 2 === 0 ? put(key, { n: int32(2) }) : merge(key, { m: int32(2) })
            return i === refused ? put(key, {}, at(1n as Version)) : remove(key, at(1n as Version))
          })
          const reason = refused < 4 ? 'changed' : 'missing'
          const outcome = await store.commit(table, first.partition, [remove(first), ...group])
          assert.deepEqual(outcome, { kind: 'refused', index: refused + 1, reason })
          assertSame(await recordsOf(store, table), before)
        }
      })

      it('refuses the last of a hundred and leaves nothing of the others', async () => {
        const table = await newTable()
        await putOne(store, table, keyAt('p', 'taken'))
        const before = await recordsOf(store, table)
        const group = Array.from({ length: 99 }, (_, i) => put(keyAt('p', `r${i}`)))
        const outcome = await store.commit(table, keyAt('p', '').partition, [
          ...group,
          put(keyAt('p', 'taken'), {}, absent),
        ])
        assert.deepEqual(outcome, { kind: 'refused', index: 99, reason: 'exists' })
        assertSame(await recordsOf(store, table), before)
      })

      it('leaves no insert of a group that is refused, also to a commit asked with it', async () => {
        const table = await newTable()
        const inserts = Array.from({ length: 20 }, (_, i) =>
          put(keyAt('p', `r${i}`), { n: int32(1) }, absent),
        )
        await putOne(store, table, keyAt('p', 'taken'))
        const before = await recordsOf(store, table)
        const refusals: [Mutation, Refusal][] = [
          [put(keyAt('p', 'taken'), {}, absent), 'exists'],
          [put(keyAt('p', 'nowhere'), {}, present), 'missing'],
          [remove(keyAt('p', 'taken'), at(1n as Version)), 'changed'],
        ]
        for (const [last, reason] of refusals) {
          const outcome = await store.commit(table, keyAt('p', '').partition, [...inserts, last])
          assert.deepEqual(outcome, { kind: 'refused', index: inserts.length, reason })
          assertSame(await recordsOf(store, table), before)
        }
        const outcomes = await Promise.all(
          refusals.flatMap(([last], i) => [
            store.commit(table, keyAt('p', '').partition, [...inserts, last]),
            store.commit(table, keyAt('p', '').partition, [inserts[i] as Mutation]),
          ]),
        )
        const kinds = outcomes.map(({ kind }) => kind)
        // In whatever order they come, each group meets its refusal, and no single insert meets a group's row.
        assert.deepEqual(kinds, ['refused', 'committed', 'refused', 'committed', 'refused', 'committed'])
        assert.equal((await recordsOf(store, table)).length, before.length + refusals.length)
      })

      it('names the first refused also where rows are long, of whatever kind it is', async () => {
        const table = await newTable()
        const long = { text: text('x'.repeat(600)) }
        const keys = Array.from({ length: 100 }, (_, i) => keyAt('p', `r${100 + i}`))
        const taken = new Set([30, 31, 70, 99])
        await Promise.all([...taken].map((i) => putOne(store, table, keys[i] as EntityKey, long)))
        const before = await recordsOf(store, table)
        for (const first of [0, 1, 17, 30, 31, 50, 70, 98, 99]) {
          // Behind the first there are refusals of every other kind.
          const group = keys.map((key, i) => {
            if (i === first || (i > first && i % 3 === 0))
              return put(key, long, taken.has(i) ? absent : present)
            if (i > first && i % 3 === 1) return merge(key, long, at(1n as Version))
            return put(key, long, taken.has(i) ? any : absent)
          })
          const outcome = await store.commit(table, keyAt('p', '').partition, group)
          const reason = taken.has(first) ? 'exists' : 'missing'
          assert.deepEqual(outcome, { kind: 'refused', index: first, reason })
          assertSame(await recordsOf(store, table), before)
        }
      })

      it('hands out versions in the order of the mutations, also where rows are long', async () => {
        const table = await newTable()
        const keys = Array.from({ length: 100 }, (_, i) => keyAt('p', `r${100 + ((i * 37) % 100)}`))
        const group = keys.map((key, i) => put(key, { text: text('x'.repeat(300 + 5 * i)) }, absent))
        const versions = await commit(store, table, 'p', group)
        assert.deepEqual(
          versions,
          versions.toSorted((a, b) => Number(a - b)),
        )
        assert.equal(new Set(versions).size, 100)
        for (const [i, key] of keys.entries()) {
          const record = await store.get(table, key)
          assert(record !== undefined)
          assert.equal(versionOf(record), versions[i])
          assert.equal(valueIn(record, 'text'), 'x'.repeat(300 + 5 * i))
        }
      })

      it('applies a hundred mutations at once', async () => {
        const table = await newTable()
        const keys = Array.from({ length: 100 }, (_, i) => keyAt('p', `r${i}`))
        const versions = await commit(
          store,
          table,
          'p',
          keys.map((key, i) => put(key, { i: int32(i) })),
        )
        assert.equal(versions.length, 100)
        for (const [i, key] of keys.entries()) {
          const record = await store.get(table, key)
          assert(record !== undefined)
          assert.equal(versionOf(record), versions[i])
          assert.equal(valueIn(record, 'i'), i)
        }
        await commit(
          store,
          table,
          'p',
          keys.map((key, i) => (i % 2 ? remove(key) : merge(key, { j: int32(i) }))),
        )
        assert.equal((await recordsOf(store, table)).length, 50)
      })

      it('is never seen half done', async () => {
        const table = await newTable()
        const rows = ['a', 'm', 'z'].map((row) => keyAt('p', row))
        await commit(
          store,
          table,
          'p',
          rows.map((key) => put(key, { n: int32(-1) })),
        )
        const writing = (async () => {
          for (let n = 0; n < 60; n++) {
            await commit(
              store,
              table,
              'p',
              rows.map((key) => put(key, { n: int32(n) })),
            )
          }
        })()
        for (let round = 0; round < 60; round++) {
          const met = (await recordsOf(store, table)).map((record) => valueIn(record, 'n'))
          assert.equal(met.length, 3)
          assert.equal(new Set(met).size, 1, `saw ${met.join()}`)
        }
        await writing
      })

      it('lets exactly one of many make the same entity', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        const outcomes = await Promise.all(
          Array.from({ length: 64 }, (_, i) => judge(table, key, put(key, { winner: int32(i) }, absent))),
        )
        assert.equal(outcomes.filter((outcome) => outcome === 'committed').length, 1)
        assert.equal(outcomes.filter((outcome) => outcome === '0: exists').length, 63)
        assert.equal(valueIn(await store.get(table, key), 'winner'), outcomes.indexOf('committed'))
      })

      it('loses no step of a counter guarded by its version', async () => {
        const table = await newTable()
        const key = keyAt('p', 'counter')
        await putOne(store, table, key, { count: int32(0) })
        let refusals = 0
        await Promise.all(
          Array.from({ length: 12 }, async () => {
            for (let step = 0; step < 8; step++) while (!(await increment())) refusals++
          }),
        )
        assert.equal(valueIn(await store.get(table, key), 'count'), 96)
        assert(refusals > 0, 'nobody met anybody: the test shows nothing')

        async function increment(): Promise<boolean> {
          const record = await store.get(table, key)
          assert(record !== undefined)
          const count = int32(Number(valueIn(record, 'count')) + 1)
          const outcome = await judge(table, key, put(key, { count }, at(versionOf(record))))
          if (outcome !== 'committed') assert.equal(outcome, '0: changed')
          return outcome === 'committed'
        }
      })

      it('keeps partitions and tables apart', async () => {
        const [one, two] = [await newTable(), await newTable()]
        for (const table of [one, two]) {
          for (const partition of ['', 'p', 'q'])
            await putOne(store, table, keyAt(partition, 'r'), { n: int32(1) })
        }
        await commit(store, one, 'p', [put(keyAt('p', 'r'), { n: int32(2) })])
        await commit(store, two, 'q', [remove(keyAt('q', 'r'))])
        const values = async (table: TableId) =>
          (await recordsOf(store, table)).map((record) => valueIn(record, 'n'))
        assert.deepEqual(await values(one), [1, 2, 1])
        assert.deepEqual(await values(two), [1, 1])
      })
    })

    describe('versions', () => {
      it('are the time of the change when the clock has moved on', async () => {
        const table = await newTable()
        clock.move(1_000_000_000n)
        assert.equal(await putOne(store, table, keyAt('p', 'r')), clock.read())
      })

      it('are unique and grow while the clock stands still or jumps back', async () => {
        const table = await newTable()
        const versions: Version[] = []
        const moves = [0n, 0n, 1n, -600_000_000n, 0n, -1n, 864_000_000_000n, -864_000_000_000n, 3n]
        for (const [i, move] of moves.entries()) {
          clock.move(move)
          versions.push(
            ...(await commit(store, table, 'p', [put(keyAt('p', 'r'), {}), put(keyAt('p', `r${i}`))])),
          )
          versions.push(
            ...(await commit(store, table, 'p', [merge(keyAt('p', 'r'), {}), remove(keyAt('p', `r${i}`))])),
          )
        }
        assertGrowing(versions)
        assert.equal(versions.length, moves.length * 4)
      })

      it('are unique and grow under many commits at once', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        const all = await Promise.all(Array.from({ length: 100 }, () => putOne(store, table, key)))
        assert.equal(new Set(all).size, 100)
        const record = await store.get(table, key)
        assert(record !== undefined)
        assert.equal(versionOf(record), all.toSorted(byVersion).at(-1))
      })

      it('change also when nothing else does', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        const first = await putOne(store, table, key, { a: int32(1) })
        const [second] = await commit(store, table, 'p', [merge(key, {}, at(first))])
        assert(second !== undefined && second > first)
        const record = await store.get(table, key)
        assert.equal(record && versionOf(record), second)
        assert.equal(await judge(table, key, put(key, {}, at(first))), '0: changed')
      })
    })

    describe('merge', () => {
      it('keeps what it does not name, overwrites what it names, and sorts', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        await putOne(store, table, key, {
          z: int32(1),
          b: text('old'),
          B: int32(2),
          '\u00e4': binary(3),
          _: int32(5),
        })
        await commit(store, table, 'p', [
          merge(key, { y: int32(6), b: { type: 'Edm.Int64', value: 7n }, a: text('') }),
        ])
        const record = await store.get(table, key)
        assert(record !== undefined)
        assert.deepEqual(propertiesOf(record), [
          { name: 'B', value: int32(2) },
          { name: '_', value: int32(5) },
          { name: 'a', value: text('') },
          { name: 'b', value: { type: 'Edm.Int64', value: 7n } },
          { name: 'y', value: int32(6) },
          { name: 'z', value: int32(1) },
          { name: '\u00e4', value: binary(3) },
        ])
        assert.deepEqual(membersOf(record), membersOf(record).toSorted(byName))
      })

      it('holds to 252 properties for what it leaves', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        await putOne(store, table, key, manyProperties('a', 200))
        assert.equal(await judge(table, key, merge(key, manyProperties('b', 53))), '0: too many properties')
        assert.equal(await judge(table, key, merge(key, manyProperties('b', 52))), 'committed')
        assert.equal(await judge(table, key, merge(key, manyProperties('a', 200))), 'committed')
        assert.equal(await judge(table, key, merge(key, manyProperties('c', 1))), '0: too many properties')
        const record = await store.get(table, key)
        assert.equal(record && propertiesOf(record).length, limits.propertiesMax)
      })

      it('holds to 1 MiB for what it leaves', async () => {
        const table = await newTable()
        const key = keyAt('p', 'r')
        const half: Properties = Object.fromEntries(
          Array.from({ length: 15 }, (_, i) => [`a${i}`, binary(limits.binaryBytesMax)]),
        )
        await putOne(store, table, key, half)
        const rest = limits.entityBytesMax - entityBytes(key, listOf(half).map(propertyText))
        const before = await store.get(table, key)
        // A binary counts four more than its bytes, a property ten more when its name is one letter.
        assert.equal(await judge(table, key, merge(key, { f: binary(rest - 14 + 1) })), '0: too large')
        assert.deepEqual(await store.get(table, key), before)
        assert.equal(await judge(table, key, merge(key, { f: binary(rest - 14) })), 'committed')
        assert.equal(await judge(table, key, merge(key, { f: binary(0) })), 'committed')
      })
    })

    describe('tables', () => {
      it('are found in any case and keep the case they were made with', async () => {
        const name = parseTableName('MixedCase')
        const id = await store.create(account, name)
        assert(id !== undefined && id >= firstTableId)
        for (const other of ['MixedCase', 'mixedcase', 'MIXEDCASE']) {
          assert.equal(await store.create(account, parseTableName(other)), undefined)
          assert.deepEqual(await findTable(store, account, parseTableName(other)), { id, name })
        }
        assert.equal(await store.drop(account, parseTableName('mIXEDcASE')), true)
        assert.equal(await findTable(store, account, name), undefined)
        assert.equal(await store.drop(account, name), false)
      })

      it('refuse commits once dropped, or when they never were', async () => {
        const name = parseTableName('dying')
        const id = await store.create(account, name)
        assert(id !== undefined)
        const key = keyAt('p', 'r')
        await putOne(store, id, key)
        await store.drop(account, name)
        assert.equal(await judge(id, key, put(key)), 'no table')
        assert.equal(await judge(id, key, remove(key, any)), 'no table')
        for (const unknown of [firstTableId - 1 === deletions ? 15 : 14, 4_000_000_000]) {
          if (unknown >= firstTableId)
            assert.equal(await judge(unknown as TableId, key, put(key)), 'no table')
        }
      })

      it('start empty under a new id when made again', async () => {
        const name = parseTableName('phoenix')
        const ids = new Set<TableId>()
        const key = keyAt('p', 'r')
        for (let life = 0; life < 5; life++) {
          const id = await store.create(account, name)
          assert(id !== undefined)
          ids.add(id)
          assert.deepEqual(await recordsOf(store, id), [])
          await commit(
            store,
            id,
            'p',
            Array.from({ length: 100 }, (_, i) => put(keyAt('p', `r${i}`))),
          )
          for (const former of ids)
            if (former !== id) assert.equal(await judge(former, key, put(key)), 'no table')
          assert.equal(await store.drop(account, name), true)
        }
        assert.equal(ids.size, 5)
      })

      it('with common beginnings are told apart, and fall alone', async () => {
        const names = Array.from({ length: 40 }, (_, i) => parseTableName(`abc${'a'.repeat(i)}`))
        const ids: TableId[] = []
        for (const name of names) {
          const id = await store.create(account, name)
          assert(id !== undefined)
          ids.push(id)
          await putOne(store, id, keyAt('p', name), { name: text(name) })
        }
        assert.equal(new Set(ids).size, names.length)
        for (const [i, name] of names.entries())
          if (i % 2) assert.equal(await store.drop(account, name), true)
        for (const [i, name] of names.entries()) {
          assert.equal((await findTable(store, account, name))?.id, i % 2 ? undefined : ids[i])
          if (i % 2) continue
          assert.deepEqual(await keysOf(store, ids[i] as TableId), [keyAt('p', name)])
        }
      })

      it('belong to one account', async () => {
        const accounts = ['acc', 'acc1', 'ac'] as AccountName[]
        const name = parseTableName('shared')
        const ids = await Promise.all(accounts.map((owner) => store.create(owner, name)))
        assert.equal(new Set(ids).size, 3)
        assert(!ids.includes(undefined))
        assert.equal(await store.drop('acc' as AccountName, name), true)
        assert.equal(await findTable(store, 'acc' as AccountName, name), undefined)
        for (const i of [1, 2]) {
          assert.equal((await findTable(store, accounts[i] as AccountName, name))?.id, ids[i])
          await putOne(store, ids[i] as TableId, keyAt('p', 'r'))
        }
      })

      it('are listed by account in the order of their lower-case names', async () => {
        const owner = 'lister' as AccountName
        const names = ['Zebra', 'apple', 'Apples', 'mango', 'APP', 'b00', 'Boo'].map(parseTableName)
        for (const name of names) await store.create(owner, name)
        await store.drop(owner, parseTableName('MANGO'))
        const rows = await recordsOf(store, catalogue, [wholePartition(partitionOfAccount(owner))])
        assert.deepEqual(
          rows.map((row) => catalogueEntryOf(row).name),
          ['APP', 'apple', 'Apples', 'b00', 'Boo', 'Zebra'],
        )
      })

      it('are made and dropped by exactly one of many', async () => {
        const name = parseTableName('contested')
        const made = await Promise.all(Array.from({ length: 20 }, () => store.create(account, name)))
        assert.equal(made.filter((id) => id !== undefined).length, 1)
        const dropped = await Promise.all(Array.from({ length: 20 }, () => store.drop(account, name)))
        assert.equal(dropped.filter(Boolean).length, 1)
      })

      it('that come and go at once leave what the catalogue says', async () => {
        const random = seededRandom(4)
        for (let round = 0; round < 10; round++) {
          const name = parseTableName(`churn${round}`)
          const ids: TableId[] = []
          await Promise.all(
            Array.from({ length: 24 }, async () => {
              for (let pause = random.below(8); pause > 0; pause--) await Promise.resolve()
              if (random.below(2)) return store.drop(account, name)
              const id = await store.create(account, name)
              if (id !== undefined) ids.push(id)
              return true
            }),
          )
          const living = (await findTable(store, account, name))?.id
          const key = keyAt('p', 'r')
          for (const id of ids) {
            assert.equal(await judge(id, key, put(key)), id === living ? 'committed' : 'no table')
          }
          assert.equal(new Set(ids).size, ids.length)
        }
      })

      it('of our own exist from the start', async () => {
        const key = keyAt('someone', 'something')
        assert.equal(await judge(deletions, key, put(key, { until: int32(1) }, absent)), 'committed')
        assert.equal(valueIn(await store.get(deletions, key), 'until'), 1)
        assert.equal(await judge(deletions, key, remove(key)), 'committed')
      })
    })

    describe('sizes', () => {
      it('keeps entities of 1 MiB, of any text and of bytes', async () => {
        const table = await newTable()
        const contents: Record<string, Properties> = {
          ascii: filled((i) => text(String.fromCharCode(97 + i).repeat(limits.stringCharactersMax))),
          bytes: filled(() => binary(limits.binaryBytesMax)),
          // Six characters of JSON for each unit: the longest records there are.
          wide: filled((i) => text(String.fromCharCode(0x4e00 + i).repeat(limits.stringCharactersMax))),
        }
        for (const [row, properties] of Object.entries(contents)) {
          await putOne(store, table, keyAt('p', row), properties)
          await putOne(store, table, keyAt('p', `${row}+`), { small: int32(1) })
        }
        for (const [row, properties] of Object.entries(contents)) {
          const record = await store.get(table, keyAt('p', row))
          assert(record !== undefined)
          assert.equal(propertiesOf(record).length, 15)
          for (const { name, value } of propertiesOf(record)) assert.deepEqual(value, properties[name])
        }
        const scanned = await recordsOf(store, table)
        assert.deepEqual(
          scanned.map((record) => keyOf(record).row),
          ['ascii', 'ascii+', 'bytes', 'bytes+', 'wide', 'wide+'],
        )
        for (const record of scanned) assertSame([record], [await store.get(table, keyOf(record))])
      })

      it('commits groups of 4 MiB', async () => {
        const table = await newTable()
        const group = Array.from({ length: 64 }, (_, i) =>
          put(keyAt('p', `r${i}`), { b: binary(limits.binaryBytesMax) }),
        )
        await commit(store, table, 'p', group)
        assert.equal((await keysOf(store, table)).length, 64)
      })

      it('keeps the longest keys apart from their neighbours', async () => {
        const texts = [
          longestKey,
          longestKey.slice(0, -1),
          `${longestKey.slice(0, -1)}b`,
          'k'.repeat(limits.keyCharactersMax),
          'k'.repeat(limits.keyCharactersMax - 1),
          '\u00e9'.repeat(995),
          '',
        ]
        const keys = sorted(texts.flatMap((partition) => texts.map((row) => keyAt(partition, row))))
        const table = await tableOf(keys)
        assert.deepEqual(await keysOf(store, table), keys)
        for (const [i, key] of keys.entries()) {
          const record = await store.get(table, key)
          assert.deepEqual(record && keyOf(record), key)
          const afterKey = { partition: key.partition, row: successor(key.row) }
          assert.deepEqual(await keysOf(store, table, [{ from: key, until: afterKey }]), [key])
          assert.deepEqual(
            await keysOf(store, table, [{ from: firstPosition, until: key }]),
            keys.slice(0, i),
          )
          assert.deepEqual(
            await keysOf(store, table, [{ from: afterKey, until: undefined }]),
            keys.slice(i + 1),
          )
          const beyond = { partition: key.partition, row: key.row + longestKey }
          assert.deepEqual(
            await keysOf(store, table, [{ from: beyond, until: undefined }]),
            keys.filter((other) => compareKeys(other, beyond) >= 0),
          )
        }
      })
    })
  })
}

/**
 * What a store promises that outlives its process. `open` is called again on the same place after a close.
 */
export function persistentStoreContract(
  name: string,
  open: (place: string, clock: Clock) => Promise<Store>,
  newPlace: () => Promise<string>,
): void {
  describe(`${name} outlives a restart`, () => {
    const key = keyAt('p', 'r')

    it('with all its records, byte for byte', async () => {
      const place = await newPlace()
      const clock = testClock()
      let store = await open(place, clock.read)
      const table = await store.create(account, parseTableName('lasting'))
      assert(table !== undefined)
      for (const partition of ['', 'a', '\ud83d\ude00', longestKey]) {
        const rows = Array.from({ length: 50 }, (_, i) =>
          put(keyAt(partition, `r${i}`), { n: int32(i), s: text('\u00e9') }),
        )
        await commit(store, table, partition, rows)
      }
      const before = await recordsOf(store, table)
      await store.close()
      store = await open(place, clock.read)
      assertSame(await recordsOf(store, table), before)
      assert.deepEqual(await findTable(store, account, parseTableName('LASTING')), {
        id: table,
        name: 'lasting',
      })
      assert.equal(await store.create(account, parseTableName('Lasting')), undefined)
      await store.close()
    })

    it('without using an id again or waking a dead one', async () => {
      const place = await newPlace()
      const clock = testClock()
      const ids: TableId[] = []
      for (let life = 0; life < 4; life++) {
        const store = await open(place, clock.read)
        for (const dead of ids)
          assert.equal(shown(await store.commit(dead, key.partition, [put(key)])), 'no table')
        const id = await store.create(account, parseTableName('phoenix'))
        assert(id !== undefined)
        assert.deepEqual(await recordsOf(store, id), [])
        await putOne(store, id, key)
        ids.push(id)
        assert.equal(await store.drop(account, parseTableName('phoenix')), true)
        await store.close()
      }
      assert.equal(new Set(ids).size, ids.length)
    })

    it('with versions that go on growing, though the clock went back', async () => {
      const place = await newPlace()
      const versions: Version[] = []
      let table: TableId | undefined
      for (const day of ['2030-01-01', '2020-01-01', '2029-12-31', '1990-01-01']) {
        const clock = testClock(`${day}T00:00:00Z`)
        const store = await open(place, clock.read)
        table ??= await store.create(account, parseTableName('growing'))
        assert(table !== undefined)
        versions.push(...(await commit(store, table, 'p', [put(key), put(keyAt('p', 's'))])))
        versions.push(...(await commit(store, table, 'p', [remove(key), put(keyAt('p', 't'))])))
        await store.close()
      }
      assertGrowing(versions)
      assert(versions.every((version) => version > ticksAt('2030-01-01T00:00:00Z')))
    })
  })
}

const afterwards = {
  put: {
    present: [
      { name: 'a', value: text('new') },
      { name: 'c', value: int32(3) },
    ],
    absent: [
      { name: 'a', value: text('new') },
      { name: 'c', value: int32(3) },
    ],
  },
  merge: {
    present: [
      { name: 'a', value: text('new') },
      { name: 'b', value: int32(2) },
      { name: 'c', value: int32(3) },
    ],
    absent: [
      { name: 'a', value: text('new') },
      { name: 'c', value: int32(3) },
    ],
  },
  remove: { present: undefined, absent: undefined },
} as const satisfies Record<Mutation['kind'], Record<'present' | 'absent', readonly Property[] | undefined>>

/** Texts at every edge of the order: prefixes, unit and byte lengths, surrogates alone and in pairs. */
const awkwardTexts = [
  '',
  ' ',
  '  ',
  '!',
  'A',
  'a',
  'a ',
  'aa',
  'ab',
  'b',
  '~',
  '\u00a0',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ud800',
  '\ud800a',
  '\ud83d\ude00',
  '\udbff\udfff',
  '\udc00',
  '\ue000',
  '\uffff',
  '\uffff\uffff',
]

const fewKeys = sorted(
  ['', 'a', 'a!', 'ab', '\ud83d\ude00', '\uffff'].flatMap((partition) =>
    ['', 'a', '\ud83d\ude00', '\uffff'].map((row) => keyAt(partition, row)),
  ),
)

/** Places at, between and beyond those keys, also such as no key can be. */
const positions: readonly KeyPosition[] = ['', 'a', '\ud83d\ude00', '\uffff']
  .flatMap((partition): KeyPosition[] => [
    { partition, row: '' },
    { partition, row: 'a' },
    { partition, row: 'a\u0000' },
    { partition, row: '\ud83d' },
    { partition, row: 'a'.repeat(5000) },
    { partition: successor(partition), row: '' },
  ])
  .concat([
    { partition: 'a\u0000b', row: 'c' },
    { partition: 'a', row: '\u0000' },
    { partition: 'a', row: 'a\u0000b' },
    { partition: 'a\u0001', row: '' },
    { partition: '\u4e00'.repeat(3000), row: 'a' },
    { partition: 'a'.repeat(5000), row: '' },
    { partition: `a\u0000${'\uffff'.repeat(5000)}`, row: '' },
    { partition: 'a!', row: '\uffff'.repeat(1500) },
  ])
  .toSorted(compareKeys)

const longPartitions = ['p0', 'p1', 'p2', 'p3']
const longRows = Array.from({ length: 100 }, (_, i) => `r${String(i).padStart(3, '0')}`)

function within(key: KeyPosition, ranges: readonly KeyRange[]): boolean {
  return ranges.some(
    ({ from, until }) => compareKeys(key, from) >= 0 && (until === undefined || compareKeys(key, until) < 0),
  )
}

/** Two to five ranges that ascend and do not touch. */
function someRanges(random: ReturnType<typeof seededRandom>): KeyRange[] {
  const chosen = [...new Set(Array.from({ length: 4 + 2 * random.below(4) }, () => random.pick(positions)))]
  const bounds = chosen.toSorted(compareKeys)
  const ranges: KeyRange[] = []
  for (let i = 0; i + 1 < bounds.length; i += 2)
    ranges.push({ from: bounds[i] as KeyPosition, until: bounds[i + 1] })
  if (bounds.length % 2 === 1) ranges.push({ from: bounds.at(-1) as KeyPosition, until: undefined })
  return ranges
}

function shownPosition(position: KeyPosition | undefined): string {
  if (position === undefined) return 'the end'
  return JSON.stringify([position.partition.slice(0, 20), position.row.slice(0, 20)])
}

function shownRange({ from, until }: KeyRange): string {
  return `[${shownPosition(from)}, ${shownPosition(until)})`
}

function manyProperties(prefix: string, count: number): Properties {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, int32(i)]))
}

function filled(value: (i: number) => Value): Properties {
  return Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`property${i}`, value(i)]))
}

function assertGrowing(versions: readonly Version[]): void {
  for (const [i, version] of versions.entries()) {
    if (i > 0) assert(version > (versions[i - 1] as Ticks), `version ${i} does not grow`)
  }
}

function byVersion(a: Version, b: Version): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Keeps the thread, as a visitor with much to do would. */
function burn(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

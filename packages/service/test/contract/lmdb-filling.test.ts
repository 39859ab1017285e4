/** How full the leaves of the file are after rows came in groups. Counted in the LMDB file itself, behind the store. */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { open } from 'lmdb'
import { type AccountName, parseTableName, type TableId } from '../../src/model/table.ts'
import { pageBytes } from '../../src/store/lmdb/environment.ts'
import { fillingOrder } from '../../src/store/lmdb/filling-order.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import type { Store } from '../../src/store/store.ts'
import { commit, keyAt, put, recordsOf, text } from '../support/entities.ts'
import { seededRandom } from '../support/random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const account = 'filling' as AccountName
const groups = 60

describe('rows that come in groups of a hundred fill their leaves', () => {
  // In the order of their keys they fill 0.52 to 0.70.
  const cases: readonly [title: string, textBytes: readonly [number, number], least: number][] = [
    ['of one size', [480, 480], 0.72],
    ['of about one size', [400, 560], 0.7],
    ['of a small size', [200, 200], 0.7],
    ['of sizes that differ by half', [500, 900], 0.7],
  ]
  const orders: readonly [title: string, placeOf: (group: number) => number][] = [
    ['behind all others', (group) => group],
    ['between others', (group) => (group * 37) % groups],
  ]
  for (const [title, textBytes, least] of cases) {
    for (const [where, placeOf] of orders) {
      it(`${title}, ${where}`, async () => {
        const full = await fullness(textBytes, placeOf)
        assert(full >= least, `leaves are full to ${full.toFixed(2)}`)
      })
    }
  }
})

it('the order of a group has each place once, whatever its rows are', () => {
  const rows = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 2, max: 5000 })), {
    minLength: 1,
    maxLength: 100,
  })
  fc.assert(
    fc.property(rows, fc.integer({ min: 6, max: 4000 }), (sizes, keyBytes) => {
      const mutations = sizes.map(([isRemoved, contentBytes]) => ({
        key: new Uint8Array(keyBytes),
        change: isRemoved
          ? ({ kind: 'remove', when: { kind: 'present' } } as const)
          : ({ kind: 'put', when: { kind: 'any' }, keys: '', content: Buffer.alloc(contentBytes) } as const),
      }))
      assert.deepEqual(
        [...fillingOrder(mutations)].toSorted((a, b) => a - b),
        [...mutations.keys()],
      )
    }),
  )
})

/** Which part of its leaves the rows of a table take. */
async function fullness(
  [bytesMin, bytesMax]: readonly [number, number],
  placeOf: (group: number) => number,
): Promise<number> {
  const path = await temporaryFolder()
  const random = seededRandom(1)
  const store = await openLmdbStore({ path, clock: testClock().read })
  const table = await store.create(account, parseTableName('filled'))
  assert(table !== undefined)
  for (let group = 0; group < groups; group++) {
    const partition = `p${100 + placeOf(group)}`
    const rows = Array.from({ length: 100 }, (_, i) => {
      const bytes = bytesMin + random.below(bytesMax - bytesMin + 1)
      return put(keyAt(partition, `r${100 + i}`), { text: text('x'.repeat(bytes)) })
    })
    await commit(store, table, partition, rows)
  }
  const bytes = await recordBytes(store, table)
  await store.close()
  const file = open({ path: join(path, 'tables'), readOnly: true, pageSize: pageBytes })
  const { treeLeafPageCount } = file.getStats() as { treeLeafPageCount: number }
  await file.close()
  return bytes / (treeLeafPageCount * pageBytes)
}

async function recordBytes(store: Store, table: TableId): Promise<number> {
  const records = await recordsOf(store, table)
  return records.reduce((sum, record) => sum + record.length, 0)
}

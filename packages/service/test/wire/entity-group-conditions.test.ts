/** Every write under every condition, in a group: as alone, and with the rest of the group undone. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import {
  type Batch,
  changeSet,
  contentsOf,
  direct,
  insert,
  merge,
  type Operation,
  read,
  remove,
  replace,
  startTables,
  type TestTables,
} from '../support/batch.ts'

type Answer = 'done' | 'exists' | 'missing' | 'changed' | 'malformed' | 'unmet' | 'forbidden' | 'needed'

const codes: Readonly<Record<Answer, readonly [status: number, code: string | undefined]>> = {
  done: [204, undefined],
  exists: [409, 'EntityAlreadyExists'],
  missing: [404, 'ResourceNotFound'],
  changed: [412, 'UpdateConditionNotSatisfied'],
  malformed: [400, 'InvalidInput'],
  unmet: [412, 'ConditionNotMet'],
  forbidden: [400, 'InvalidInput'],
  needed: [400, 'InvalidInput'],
}

const conditions = ['none', '*', 'right', 'wrong', 'malformed', 'unreadable'] as const
type Write = (row: string, headers: Record<string, string>) => Operation

// biome-ignore format: a table reads in columns
const matrix: readonly [what: string, write: Write, present: readonly Answer[], absent: readonly Answer[]][] = [
  //                                                      none      *          right      wrong      malformed  unreadable
  ['insert',        (row, h) => insert(row, {}, { Prefer: 'return-no-content', ...h }),
                                                         ['exists', 'forbidden', 'forbidden', 'forbidden', 'forbidden', 'forbidden'],
                                                         ['done',   'forbidden', 'forbidden', 'forbidden', 'forbidden', 'forbidden']],
  ['replace',       (row, h) => replace(row, { a: 1 }, h), ['done', 'done',    'done',    'changed', 'malformed', 'unmet'],
                                                         ['done',   'missing', 'missing', 'missing', 'malformed', 'unmet']],
  ['merge',         (row, h) => merge(row, { a: 1 }, h), ['done',   'done',    'done',    'changed', 'malformed', 'unmet'],
                                                         ['done',   'missing', 'missing', 'missing', 'malformed', 'unmet']],
  ['patch',         (row, h) => ({ ...merge(row, { a: 1 }, h), method: 'PATCH' }),
                                                         ['done',   'done',    'done',    'changed', 'malformed', 'unmet'],
                                                         ['done',   'missing', 'missing', 'missing', 'malformed', 'unmet']],
  ['tunnelled put', (row, h) => ({ ...replace(row, { a: 1 }, { 'X-HTTP-Method': 'PUT', ...h }), method: 'POST' }),
                                                         ['done',   'done',    'done',    'changed', 'malformed', 'unmet'],
                                                         ['done',   'missing', 'missing', 'missing', 'malformed', 'unmet']],
  ['delete',        (row, h) => remove(row, h),          ['needed', 'done',    'done',    'changed', 'malformed', 'unmet'],
                                                         ['needed', 'missing', 'missing', 'missing', 'malformed', 'unmet']],
]

describe('Entity group transactions: conditions', () => {
  let tables: TestTables
  before(async () => {
    tables = await startTables()
  })
  after(() => tables.close())

  for (const [what, write, present, absent] of matrix) {
    for (const [i, condition] of conditions.entries()) {
      for (const exists of [true, false]) {
        const expected = (exists ? present : absent)[i] as Answer
        it(`${what}, If-Match ${condition}, ${exists ? 'present' : 'absent'}: ${expected}`, async () => {
          await tables.seed(exists ? ['it', 'other'] : ['other'])
          const headers = await conditionHeaders(condition, exists ? 'it' : 'other')
          const operation = write('it', headers)
          const before = await contentsOf(tables.store, tables.id)
          const [status, code] = codes[expected]
          const groups: Batch[] = [
            changeSet([operation]),
            changeSet([insert('first'), operation]),
            changeSet([operation, insert('last')]),
            changeSet([insert('first'), operation, insert('last')]),
          ]
          for (const group of expected === 'done' ? groups.slice(3) : groups) {
            const { parts } = await tables.batch(group)
            if (expected === 'done') {
              assert.deepEqual(
                parts.map((part) => part.status),
                [204, 204, 204],
              )
            } else {
              assert.deepEqual([parts.length, parts[0]?.status, parts[0]?.code], [1, status, code])
              assert.deepEqual(await contentsOf(tables.store, tables.id), before)
            }
          }
        })
      }
    }
  }

  async function conditionHeaders(
    condition: (typeof conditions)[number],
    row: string,
  ): Promise<Record<string, string>> {
    switch (condition) {
      case 'none':
        return {}
      case '*':
        return { 'If-Match': '*' }
      case 'right':
        return { 'If-Match': (await tables.batch(direct(read(row)))).parts[0]?.header('ETag') as string }
      case 'wrong':
        return { 'If-Match': `W/"datetime'2001-01-01T00%3A00%3A00Z'"` }
      case 'malformed':
        return { 'If-Match': '"strong"' }
      case 'unreadable':
        return { 'If-Match': 'W/"wrong"' }
    }
  }
})

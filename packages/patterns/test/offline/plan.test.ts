/** Intents and the exact writes they come to, without a network. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  change,
  entity,
  dateTime,
  digits,
  insert,
  Instant,
  int32,
  type Intent,
  key,
  patch,
  remove,
  replace,
  type Step,
  string,
  type Stored,
  text,
  upsert,
  upsertMerge,
} from '../../src/index.ts'
import type { Known } from '../../src/write/facet.ts'
import { facetsOf } from '../../src/write/facets.ts'
import { changeOf, checkSteps, complete, type Sources, stepsOf } from '../../src/write/plan.ts'
import { Claim, Department, Employee, Member, Review } from '../support/company.ts'

const at = Instant.parse('2026-11-15T00:00:00Z')
const sources: Sources = { clock: () => at, newGuid: () => '00000000-0000-4000-8000-000000000001' }
const timestamp = at

const jones = { department: 'Sales', id: 223, email: 'j@x', name: 'Jones' }
const known: Known = { values: jones, etag: 'e1' }
const stored = { ...jones, etag: 'e1', timestamp } as Stored<typeof Employee>
const text_ = (value: string) => ({ type: 'String', value }) as const
const number = (value: number) => ({ type: 'Int32', value }) as const

const own = { of: 'Employee', partitionKey: 'Sales', rowKey: 'empid_000223' }
const ownRow = { email: text_('j@x'), name: text_('Jones') }
const byEmail = { of: 'Employee.byEmail', partitionKey: 'Sales', rowKey: 'email_j@x' }
const byEmailRow = { id: number(223), name: text_('Jones') }
const byName = { of: 'Employee.byName', partitionKey: 'Sales', rowKey: 'name_Jones 000223' }
const byNameRow = { email: text_('j@x') }

describe('an entity without indexes', () => {
  const sales = { department: 'Sales', title: 'All sales', staff: 3 }
  const place = { of: 'Department', partitionKey: 'Sales', rowKey: 'dept' }
  const row = { title: text_('All sales'), staff: number(3) }
  const cases: readonly (readonly [Intent, Step])[] = [
    [insert(Department, sales), { kind: 'insert', ...place, row }],
    [replace(Department, sales, { etag: 'e' }), { kind: 'replace', ...place, row, etag: 'e' }],
    [upsert(Department, sales), { kind: 'replace', ...place, row, etag: undefined }],
    [upsertMerge(Department, sales), { kind: 'merge', ...place, row, etag: undefined }],
    [
      patch(Department, sales, { staff: 4 }),
      { kind: 'merge', ...place, row: { staff: number(4) }, etag: '*' },
    ],
    [remove(Department, sales, { etag: 'e' }), { kind: 'delete', ...place, etag: 'e' }],
  ]
  for (const [intent, step] of cases) {
    it(`needs one step to ${intent.kind}, and reads nothing`, () => assert.deepEqual(plan(intent), [step]))
  }
})

describe('an intra-partition index', () => {
  it('is written with the entity', () => {
    assert.deepEqual(plan(insert(Employee, jones)), [
      { kind: 'insert', ...own, row: ownRow },
      { kind: 'insert', ...byEmail, row: byEmailRow },
      { kind: 'insert', ...byName, row: byNameRow },
    ])
  })

  it('moves a copy whose value has changed, and leaves alone what is the same', () => {
    assert.deepEqual(plan(change(Employee, stored, { ...jones, name: 'Smith' })), [
      { kind: 'replace', ...own, row: { ...ownRow, name: text_('Smith') }, etag: 'e1' },
      { kind: 'replace', ...byEmail, row: { ...byEmailRow, name: text_('Smith') }, etag: '*' },
      { kind: 'delete', ...byName, etag: '*' },
      { kind: 'insert', ...byName, rowKey: 'name_Smith 000223', row: byNameRow },
    ])
    assert.deepEqual(plan(change(Employee, stored, { ...jones, age: 40 })), [
      { kind: 'replace', ...own, row: { ...ownRow, age: number(40) }, etag: 'e1' },
      { kind: 'replace', ...byEmail, row: { ...byEmailRow, age: number(40) }, etag: '*' },
    ])
  })

  it('follows an entity whose key has changed', () => {
    assert.deepEqual(plan(change(Employee, stored, { ...jones, id: 224 })), [
      { kind: 'delete', ...own, etag: 'e1' },
      { kind: 'insert', ...own, rowKey: 'empid_000224', row: ownRow },
      { kind: 'replace', ...byEmail, row: { ...byEmailRow, id: number(224) }, etag: '*' },
      { kind: 'delete', ...byName, etag: '*' },
      { kind: 'insert', ...byName, rowKey: 'name_Jones 000224', row: byNameRow },
    ])
  })

  it('goes with the entity', () => {
    const all = [
      { kind: 'delete', ...own, etag: 'e1' },
      { kind: 'delete', ...byEmail, etag: '*' },
      { kind: 'delete', ...byName, etag: '*' },
    ]
    assert.deepEqual(plan(change(Employee, stored, undefined)), all)
    assert.deepEqual(plan(remove(Employee, jones), known), [{ ...all[0], again: true }, ...all.slice(1)])
    assert.deepEqual(plan(remove(Employee, jones, { etag: 'e1' }), known), all)
  })

  it('is told by what is stored when an entity is replaced', () => {
    const next = { ...jones, email: 'jj@x' }
    const steps = [
      { kind: 'replace', ...own, row: { ...ownRow, email: text_('jj@x') }, etag: 'e1', again: true },
      { kind: 'delete', ...byEmail, etag: '*' },
      { kind: 'insert', ...byEmail, rowKey: 'email_jj@x', row: byEmailRow },
      { kind: 'replace', ...byName, row: { email: text_('jj@x') }, etag: '*' },
    ]
    assert.deepEqual(plan(upsert(Employee, next), known), steps)
    assert.deepEqual(plan(replace(Employee, next, { etag: '*' }), known), steps)
    assert.equal(plan(upsert(Employee, next), 'absent').length, 3)
    assert.throws(() => plan(replace(Employee, next, { etag: '*' }), 'absent'), { code: 'NotFound' })
    assert.throws(() => plan(replace(Employee, next, { etag: 'e0' }), known), { code: 'Changed' })
    assert.throws(() => plan(remove(Employee, next, { etag: 'e0' }), known), { code: 'Changed' })
  })

  it('keeps what an upsertMerge leaves out', () => {
    const [step] = plan(upsertMerge(Employee, { ...jones, name: 'Smith' }), {
      values: { ...jones, age: 40 },
      etag: 'e1',
    })
    assert.deepEqual(step, {
      kind: 'replace',
      ...own,
      row: { email: text_('j@x'), name: text_('Smith'), age: number(40) },
      etag: 'e1',
      again: true,
    })
  })

  it('does not hinder a patch of what it does not hold', () => {
    assert.deepEqual(plan(patch(Member, { club: 'c', id: 1 }, { points: 5 })), [
      {
        kind: 'merge',
        of: 'Member',
        partitionKey: 'c',
        rowKey: 'id_000001',
        row: { points: number(5) },
        etag: '*',
      },
    ])
    for (const wrong of [{ nick: 'x' }, { city: 'x' }, { id: 2 }]) {
      const intent = patch(Member, { club: 'c', id: 1 }, wrong as never)
      assert.throws(() => plan(intent), {
        code: 'InvalidValue',
        message: /Member\.\w+ feeds a key or an index/,
      })
    }
  })
})

describe('a plan', () => {
  it('makes what is fresh', () => {
    const [step] = plan(insert(Claim, { office: 'a', at, amount: 5n }))
    assert.equal(step?.rowKey, '2516075999999999999_00000000-0000-4000-8000-000000000001')
  })

  it('makes a fresh value in an upsertMerge only where there is no entity yet', () => {
    const Visit = entity('Visit', {
      properties: { group: string(), id: int32(), since: dateTime().fresh(), last: string().optional() },
      partition: key(text('group')),
      row: key(digits('id', 6)),
    })
    const since = Instant.parse('2020-01-01T00:00:00Z')
    const merged = plan(upsertMerge(Visit, { group: 'g', id: 1, last: 'x' }), {
      values: { group: 'g', id: 1, since },
      etag: 'e',
    })
    assert.deepEqual(sinceOf(merged), since.toString())
    assert.deepEqual(sinceOf(plan(upsertMerge(Visit, { group: 'g', id: 1 }), 'absent')), at.toString())

    function sinceOf([step]: readonly Step[]): unknown {
      assert(step !== undefined && step.kind !== 'delete')
      return step.row['since']?.value
    }
  })

  it('refuses values before anything is sent', () => {
    const wrong = { ...jones, name: 5 } as never
    assert.throws(() => plan(insert(Employee, wrong)), {
      code: 'InvalidValue',
      message: 'Employee.name 5 is no String',
    })
    assert.throws(() => plan(insert(Employee, { ...jones, shoe: 44 } as never)), {
      message: 'Employee has no property shoe',
    })
    assert.throws(() => plan(change(Employee, stored, { ...jones, department: 'HR' })), {
      message: /cannot move an entity to another partition/,
    })
  })

  it('refuses what no transaction can do', () => {
    const review = (employee: number, department = 'Sales', remark = ''): readonly Step[] =>
      plan(insert(Review, { department, employee, year: 2026, rating: 1, remark }))
    const many = (count: number, remark?: string): readonly Step[] =>
      Array.from({ length: count }, (_, index) => review(index, 'Sales', remark)).flat()
    checkSteps(many(100))
    assert.throws(() => checkSteps(many(101)), { code: 'LimitExceeded', message: /101 steps/ })
    assert.throws(() => checkSteps([...review(1), ...review(2, 'HR')]), {
      message: /one partition: Review is in Sales/,
    })
    assert.throws(() => checkSteps([...review(1), ...review(1)]), { message: /not review_000001_2026 twice/ })
    assert.throws(() => checkSteps(many(90, 'é'.repeat(32_000))), { message: /bytes in one transaction/ })
  })
})

/** `before` is what the table would have told, for those who ask. */
function plan(intent: Intent, before: Known | 'absent' | 'unread' = 'unread'): readonly Step[] {
  const facets = facetsOf(intent.definition)
  const wanted = complete(intent, sources)
  const asked = wanted.kind !== 'change' && facets.some((facet) => facet.needsBefore(wanted))
  assert.equal(asked, before !== 'unread', `${intent.kind} must ${asked ? '' : 'not '}read the entity first`)
  return stepsOf(changeOf(wanted, before, sources), facets, [])
}

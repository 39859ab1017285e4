/** What a copied entity and the ones that hold its copies write, as data. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { copyFacets } from '../../src/denormalisation.ts'
import {
  change,
  formatFilter,
  insert,
  Instant,
  type Intent,
  patch,
  type Row,
  type Step,
  type Stored,
  type StoredRow,
} from '../../src/index.ts'
import type { Known } from '../../src/write/facet.ts'
import { facetsOf } from '../../src/write/facets.ts'
import { changeOf, complete, stepsOf, systemSources } from '../../src/write/plan.ts'
import { Employee, leadOfTeam, Team } from '../support/company.ts'

const department = 'Sales'
const timestamp = Instant.ofTicks(0n)
const jones = { department, id: 1, email: 'j@x', name: 'Jones', age: 40 }
const word = (value: string) => ({ type: 'String', value }) as const
const number = (value: number) => ({ type: 'Int32', value }) as const
const stored = (rowKey: string, cells: Row, etag: string): StoredRow => ({
  partitionKey: department,
  rowKey,
  cells,
  etag,
  timestamp,
})
const ownRow = stored('empid_000001', { email: word('j@x'), name: word('Jones'), age: number(40) }, 'e1')
const red = stored(
  'team_red',
  { lead: number(1), leadName: word('Jones'), leadAge: number(40), budget: number(5) },
  't1',
)

describe('an entity that holds copies', () => {
  it('is written with them, and its source under its ETag', () => {
    const { asked, steps } = plan(insert(Team, { department, team: 'red', lead: 1 }), 'unread', [ownRow])
    assert.deepEqual(asked, ['empid_000001'])
    assert.deepEqual(steps, [
      {
        kind: 'insert',
        of: 'Team',
        partitionKey: department,
        rowKey: 'team_red',
        row: { lead: number(1), leadName: word('Jones'), leadAge: number(40) },
      },
      {
        kind: 'merge',
        of: 'Employee',
        partitionKey: department,
        rowKey: 'empid_000001',
        row: {},
        etag: 'e1',
        again: true,
      },
    ])
  })

  it('needs nothing without a link, nor for a patch of its own', () => {
    assert.deepEqual(plan(insert(Team, { department, team: 'red' })).asked, [])
    assert.equal(plan(patch(Team, { department, team: 'red' }, { budget: 1 })).steps.length, 1)
  })
})

describe('an entity that is copied', () => {
  const before = { ...jones, etag: 'e1', timestamp } as Stored<typeof Employee>
  const team = { of: 'Team', partitionKey: department, rowKey: 'team_red', etag: 't1', again: true } as const

  it('changes the copies with it, and leaves the rest of their rows alone', () => {
    const { asked, steps } = plan(change(Employee, before, { ...jones, name: 'Mrs Jones' }), 'unread', [red])
    assert.deepEqual(asked, ["RowKey ge 'team_' and RowKey lt 'team`' and lead eq 1"])
    assert.deepEqual(of('Team', steps), [
      { kind: 'replace', ...team, row: { ...red.cells, leadName: word('Mrs Jones') } },
    ])
  })

  it('does not write copies that are right', () => {
    const { steps } = plan(change(Employee, before, { ...jones, email: 'other@x' }), 'unread', [red])
    assert.deepEqual(of('Team', steps), [])
  })

  it('takes the copies with it when it goes, or moves away', () => {
    const emptied = { kind: 'replace', ...team, row: { lead: number(1), budget: number(5) } }
    assert.deepEqual(of('Team', plan(change(Employee, before, undefined), 'unread', [red]).steps), [emptied])
    const moved = plan(change(Employee, before, { ...jones, id: 2 }), 'unread', [red], [])
    assert.equal(moved.asked.length, 2)
    assert.deepEqual(of('Team', moved.steps), [emptied])
  })
})

/** `found` answers what the facets of the copies ask for, in order. */
function plan(intent: Intent, before: Known | 'absent' | 'unread' = 'unread', ...found: StoredRow[][]) {
  const own = facetsOf(intent.definition)
  const facets = [...own, ...copyFacets([leadOfTeam], intent.definition)]
  const change = changeOf(complete(intent, systemSources), before, systemSources)
  const needs = facets.flatMap((facet) => facet.needs?.(change) ?? [])
  const asked = needs.map((need) => ('rowKey' in need ? need.rowKey : formatFilter(need.where)))
  return { asked, steps: stepsOf(change, facets, [...own.map(() => []), found]) }
}

function of(name: string, steps: readonly Step[]): readonly Step[] {
  return steps.filter((step) => step.of === name)
}

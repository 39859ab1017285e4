/** What counts write, what joins read, and what subtypes are, as data. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  byKey,
  change,
  counts,
  digits,
  entity,
  insert,
  Instant,
  int32,
  type Intent,
  join,
  key,
  lookup,
  patch,
  remove,
  type Row,
  type Step,
  string,
  subtypes,
  text,
  upsert,
} from '../../src/index.ts'
import { countFacets } from '../../src/relationships.ts'
import type { Known } from '../../src/write/facet.ts'
import { facetsOf } from '../../src/write/facets.ts'
import { changeOf, complete, stepsOf, systemSources } from '../../src/write/plan.ts'
import { Desk, desksOfOffice, Office, Person } from '../support/shapes.ts'

const department = 'Sales'
const timestamp = Instant.ofTicks(0n)
const desk = { department, number: 7, office: 'A' }
const number = (value: number) => ({ type: 'Int32', value }) as const
const office = (name: string, desks: number) => ({
  partitionKey: department,
  rowKey: `office_${name}`,
  etag: `${name}1`,
  timestamp,
  cells: { desks: number(desks) } as Row,
})
const countStep = (name: string, desks: number): Step => ({
  kind: 'merge',
  of: 'Office',
  partitionKey: department,
  rowKey: `office_${name}`,
  row: { desks: number(desks) },
  etag: `${name}1`,
  again: true,
})

describe('a child', () => {
  const known: Known = { values: desk, etag: 'd1' }
  it('counts when it comes and when it goes, under the ETag of its parent', () => {
    assert.deepEqual(of('Office', plan(insert(Desk, desk), 'unread', [office('A', 4)])), [countStep('A', 5)])
    assert.deepEqual(of('Office', plan(upsert(Desk, desk), 'absent', [office('A', 4)])), [countStep('A', 5)])
    assert.deepEqual(of('Office', plan(remove(Desk, desk), known, [office('A', 4)])), [countStep('A', 3)])
  })

  it('that stays with its parent changes no count', () => {
    assert.deepEqual(of('Office', plan(upsert(Desk, { ...desk, colour: 'red' }), known)), [])
    assert.deepEqual(of('Office', plan(patch(Desk, desk, { colour: 'red' }))), [])
  })

  it('that moves counts in both', () => {
    const intent = change(Desk, { ...desk, etag: 'd1', timestamp }, { ...desk, office: 'B' })
    const steps = plan(intent, 'unread', [office('A', 4)], [office('B', 0)])
    assert.deepEqual(of('Office', steps), [countStep('A', 3), countStep('B', 1)])
  })

  it('without a parent is refused, and so is a patch of the link', () => {
    assert.throws(() => plan(insert(Desk, desk), 'unread', []), {
      code: 'NotFound',
      message: 'Desk: there is no Office',
    })
    assert.throws(() => plan(patch(Desk, desk, { office: 'B' })), { code: 'InvalidValue' })
  })
})

describe('a parent', () => {
  const own = { department, office: 'A' }
  const full: Known = { values: { ...own, desks: 4 }, etag: 'o1' }
  it('begins with no children, and keeps its count whatever the caller gives', () => {
    const [created] = plan(insert(Office, { ...own, desks: 99 }))
    assert.deepEqual(created && 'row' in created && created.row, { desks: number(0) })
    const [replaced] = plan(upsert(Office, { ...own, floor: 2, desks: 99 }), full)
    assert.deepEqual(replaced && 'row' in replaced && replaced.row, { floor: number(2), desks: number(4) })
    assert.throws(() => plan(patch(Office, own, { desks: 5 })), { code: 'InvalidValue' })
  })

  it('stays while it has children', () => {
    assert.throws(() => plan(remove(Office, own), full), {
      code: 'InUse',
      message: 'Office still has 4 of Desk',
    })
    const before = { ...own, desks: 4, etag: 'o1', timestamp }
    assert.throws(() => plan(change(Office, before, { ...own, office: 'B' })), { code: 'InUse' })
    assert.equal(plan(remove(Office, own), { ...full, values: { ...own, desks: 0 } }).length, 1)
  })
})

describe('counts that contradict their definitions', () => {
  it('are refused where they are made', () => {
    const partition = key(text('department'))
    const Elsewhere = entity('Elsewhere', {
      properties: { department: string(), n: int32(), office: string() },
      partition: key('e_', text('department')),
      row: key(digits('n', 3)),
    })
    const Indexed = entity('Indexed', {
      properties: { department: string(), office: string(), desks: int32() },
      partition,
      row: key('i_', text('office')),
      indexes: { all: { row: key('j_', text('office')) } },
    })
    const link = { office: 'office' } as const
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [
        () => counts({ parent: Office, children: Elsewhere, link, count: 'desks' }),
        /PartitionKey in the same way/,
      ],
      [() => counts({ parent: Indexed, children: Desk, link, count: 'desks' }), /copied by the index all/],
      [() => counts({ parent: Office, children: Office, link, count: 'desks' }), /its own kind/],
      [
        () => counts({ parent: Office, children: Desk, link: {} as typeof link, count: 'desks' }),
        /which office/,
      ],
      [
        () => counts({ parent: Office, children: Desk, link: { office: 'colour' }, count: 'desks' }),
        /always be there/,
      ],
    ]
    for (const [make, message] of cases) assert.throws(make, { code: 'InvalidDefinition', message })
  })
})

describe('a join', () => {
  it('gives items in order, reads ahead no further than asked, and stops with its reader', async () => {
    const started: number[] = []
    const relation = async (item: { readonly n: number }) => {
      started.push(item.n)
      await new Promise((resolve) => setTimeout(resolve, (5 - item.n) * 2))
      return item.n * 10
    }
    const numbers = Array.from({ length: 6 }, (_, n) => ({ n }))
    const found: unknown[] = []
    for await (const each of join(numbers, { tenfold: relation }, { concurrency: 3 })) {
      found.push(each)
      if (found.length === 2) break
    }
    assert.deepEqual(found, [
      { n: 0, tenfold: 0 },
      { n: 1, tenfold: 10 },
    ])
    assert.deepEqual(started, [0, 1, 2, 3])
  })

  it('reads each key once, and hands failures to its reader', async () => {
    const asked: unknown[] = []
    const offices = {
      definition: Office,
      async get(each: { readonly department: string; readonly office: string }) {
        asked.push(each.office)
        if (each.office === 'broken') throw new Error('no answer')
        return { ...each, etag: 'e', timestamp }
      },
    }
    const items = ['A', 'B', 'A', undefined].map((name) => ({ name }))
    const relation = () =>
      byKey(offices, ({ name }: { name: string | undefined }) =>
        name ? { department, office: name } : undefined,
      )
    const found: unknown[] = []
    for await (const { office: joined } of join(items, { office: relation() })) found.push(joined?.office)
    assert.deepEqual(found, ['A', 'B', 'A', undefined])
    assert.deepEqual(asked, ['A', 'B'])
    const failing = join([{ name: 'broken' }], { office: relation() })
    await assert.rejects(failing.next(), { message: 'no answer' })
  })
})

describe('a lookup', () => {
  it('reads once, again when it is too old or told to forget, and never keeps a failure', async () => {
    let [now, reads, fails] = [0, 0, false]
    const names = lookup(
      async function* () {
        reads += 1
        if (fails) throw new Error('no answer')
        yield { id: 1, name: `read ${reads}` }
      },
      { keyOf: ({ id }) => id, expiresAfterMs: 1000, clock: () => now },
    )
    assert.deepEqual(await Promise.all([names.get(1), names.get(2), names.get(1)]), [
      { id: 1, name: 'read 1' },
      undefined,
      { id: 1, name: 'read 1' },
    ])
    now = 999
    assert.equal((await names.get(1))?.name, 'read 1')
    now = 1000
    fails = true
    await assert.rejects(names.get(1), { message: 'no answer' })
    fails = false
    assert.equal((await names.get(1))?.name, 'read 3')
    names.forget()
    assert.equal((await names.get(1))?.name, 'read 4')
  })
})

describe('subtypes', () => {
  it('are definitions of what is shared and what is their own', () => {
    assert.deepEqual(Object.keys(Person), ['Customer', 'Colleague'])
    assert.deepEqual(Object.keys(Person.Customer.properties), ['city', 'id', 'name', 'credit'])
    assert.deepEqual(Person.Colleague.type, { property: 'Kind', value: 'Colleague' })
    const shared = {
      properties: { id: string() },
      partition: key('p'),
      row: key(text('id')),
      typedBy: { property: 'K' },
    }
    assert.throws(() => subtypes(shared, { A: { id: int32() } }), {
      code: 'InvalidDefinition',
      message: 'A: id is shared by all types already',
    })
  })
})

/** `found` has the rows for each need of the count, in order. */
function plan(
  intent: Intent,
  before: Known | 'absent' | 'unread' = 'unread',
  ...found: readonly (readonly ReturnType<typeof office>[])[]
): readonly Step[] {
  const own = facetsOf(intent.definition)
  const wanted = complete(intent, systemSources)
  const facets = [...own, ...countFacets([desksOfOffice], intent.definition)]
  return stepsOf(changeOf(wanted, before, systemSources), facets, [...own.map(() => []), found])
}

function of(name: string, steps: readonly Step[]): readonly Step[] {
  return steps.filter((step) => step.of === name)
}

/** What writes leave in the outbox, and what a relay then writes elsewhere, as data. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { editList } from '../../src/index-entities.ts'
import {
  change,
  digits,
  entity,
  insert,
  Instant,
  int32,
  type Intent,
  key,
  patch,
  remove,
  type Row,
  type Step,
  string,
  type Stored,
  type StoredRow,
  text,
} from '../../src/index.ts'
import type { Claim, Elsewhere, Place } from '../../src/outbox/elsewhere.ts'
import { readEntry } from '../../src/outbox/outbox.ts'
import { openAnnouncer, trustMs } from '../../src/outbox/registry.ts'
import type { Rows } from '../../src/client/rows.ts'
import type { Known } from '../../src/write/facet.ts'
import { elsewhereOf, facetsOf } from '../../src/write/facets.ts'
import { changeOf, complete, type Sources, stepsOf } from '../../src/write/plan.ts'
import { Colleague, Employee, managerOfSite, Site } from '../support/company.ts'

const at = Instant.parse('2026-11-15T00:00:00Z')
const sources: Sources = { clock: () => at, newGuid: () => '0001' }
const entryKey = `~outbox_entry_${at.ticks.toString().padStart(19, '0')}_0001`
const jones = { department: 'Sales', id: 1, email: 'j@x', name: 'Jones', age: 40 }
const known: Known = { values: jones, etag: 'e1' }
const stored = { ...jones, etag: 'e1', timestamp: at } as Stored<typeof Colleague>
const word = (value: string) => ({ type: 'String', value }) as const
const number = (value: number) => ({ type: 'Int32', value }) as const
const rowAt = (partitionKey: string, rowKey: string, cells: Row, etag: string): StoredRow => ({
  partitionKey,
  rowKey,
  cells,
  etag,
  timestamp: at,
})

const mail = ['byEmail', 'mail_0', 'mail_j@x']
const age = ['byAge', 'ages', 'Jones Sales 000001']
const list = ['allNamesakes', 'names', 'name_Jones ']

describe('a write', () => {
  it('leaves an entry that names every place where it shows', () => {
    assert.deepEqual(plan(insert(Colleague, jones)), [
      {
        kind: 'insert',
        of: 'Colleague',
        partitionKey: 'Sales',
        rowKey: 'empid_000001',
        row: { email: word('j@x'), name: word('Jones'), age: number(40) },
      },
      {
        kind: 'insert',
        of: 'Colleague.namesakes',
        partitionKey: 'Sales',
        rowKey: 'name_Jones 0000',
        row: { ids: word('["empid_000001"]') },
        again: true,
      },
      {
        kind: 'insert',
        of: 'Colleague.outbox',
        partitionKey: 'Sales',
        rowKey: entryKey,
        row: {
          outboxDefinition: word('Colleague'),
          outboxEntities: word('["empid_000001"]'),
          outboxPlaces: word(JSON.stringify([mail, age, list])),
        },
      },
    ])
  })

  const cases: Readonly<Record<string, readonly [Intent, Known | 'unread', unknown]>> = {
    'that changes one value names the old place and the new': [
      change(Colleague, stored, { ...jones, email: 'k@x' }),
      'unread',
      [mail, ['byEmail', 'mail_0', 'mail_k@x']],
    ],
    'that changes a copied value names the place': [
      change(Colleague, stored, { ...jones, age: 41 }),
      'unread',
      [mail, age],
    ],
    'that moves names the places that show the key': [
      change(Colleague, stored, { ...jones, id: 2 }),
      'unread',
      [mail, age, ['byAge', 'ages', 'Jones Sales 000002'], list],
    ],
    'that removes names all': [remove(Colleague, jones), known, [mail, age, list]],
    'of what is shown nowhere leaves none': [
      change(Colleague, stored, { ...jones, remark: 'x' }),
      'unread',
      undefined,
    ],
    'by a patch of that leaves none, and reads nothing': [
      patch(Colleague, jones, { remark: 'x' }),
      'unread',
      undefined,
    ],
  }
  for (const [name, [intent, before, places]] of Object.entries(cases)) {
    it(name, () => {
      const entry = plan(intent, before).find(({ rowKey }) => rowKey === entryKey)
      assert.deepEqual(entry && placesOf(entry)?.toSorted(), (places as unknown[] | undefined)?.toSorted())
    })
  }

  it('of an entity that others hold copies of names itself, also by a patch', () => {
    const Plain = entity('Plain', {
      properties: { department: string(), id: int32(), name: string(), age: int32().optional() },
      partition: key(text('department')),
      row: key('empid_', digits('id', 6)),
    })
    const link = { from: Plain, into: Site, link: managerOfSite.link, properties: managerOfSite.properties }
    const facets = facetsOf(Plain, [link])
    const wanted = complete(patch(Plain, { department: 'Sales', id: 1 }, { name: 'New' }), sources)
    assert(facets.some((facet) => facet.needsBefore(wanted)))
    const steps = stepsOf(changeOf(wanted, known, sources), facets, [])
    assert.deepEqual(steps.slice(1).map(placesOf), [
      [['source Plain Site managerDepartment,manager', 'Sales', 'empid_000001']],
    ])
    const other = complete(patch(Employee, { department: 'Sales', id: 1 }, {}), sources)
    assert(!facetsOf(Employee, [managerOfSite]).some((facet) => facet.needsBefore(other)))
  })
})

describe('a place of an index', () => {
  const part = partOf('byEmail')
  const place = { label: 'byEmail', partitionKey: 'mail_0', rowKey: 'mail_j@x' }
  const [shown] = part.shown(jones)
  const us = { partitionKey: 'Sales', rowKey: 'empid_000001' }
  const ours: Claim = { entity: us, shown }
  const notOurs: Claim = { entity: us, shown: undefined }
  const row = { department: word('Sales'), id: number(1), name: word('Jones'), age: number(40) }
  const gone = { outboxGone: { type: 'Boolean', value: true } } as const
  const there = { of: 'Colleague.byEmail', partitionKey: 'mail_0', rowKey: 'mail_j@x' }
  const found = (cells: Row): StoredRow[] => [rowAt('mail_0', 'mail_j@x', cells, 't1')]

  const cases: Readonly<Record<string, readonly [readonly StoredRow[], Claim, Step]>> = {
    'is filled': [[], ours, { kind: 'insert', ...there, row }],
    'is written again': [found(row), ours, { kind: 'replace', ...there, row, etag: 't1' }],
    'is filled where it was gone': [found(gone), ours, { kind: 'replace', ...there, row, etag: 't1' }],
    'gets a mark instead of a copy': [
      found(row),
      notOurs,
      { kind: 'replace', ...there, row: gone, etag: 't1' },
    ],
    'gets a mark instead of nothing': [[], notOurs, { kind: 'insert', ...there, row: gone }],
    'gets a new mark for an old one': [
      found(gone),
      notOurs,
      { kind: 'replace', ...there, row: gone, etag: 't1' },
    ],
    'stays with another, under a new ETag': [
      found({ ...row, id: number(2) }),
      notOurs,
      { kind: 'merge', ...there, row: {}, etag: 't1' },
    ],
  }
  for (const [name, [rows, claim, step]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(part.steps(place, rows, [claim]), [step]))
  }
})

describe('a list', () => {
  const page = (rowKey: string, ids: readonly string[], etag: string): StoredRow =>
    rowAt('p', rowKey, { ids: word(JSON.stringify(ids)) }, etag)
  const place = {
    of: 'L',
    partitionKey: 'p',
    charactersMax: 20,
    rowKey: (number_: number) => `l ${number_}`,
    pageOf: (rowKey: string) => Number(rowKey.slice(2)),
  }
  const edit = (found: readonly StoredRow[], leaves: readonly string[], joins: readonly string[]) =>
    editList(place, found, leaves, joins).steps.map((step) => [
      step.kind,
      step.rowKey,
      step.kind === 'delete' ? undefined : step.row['ids']?.value,
    ])

  it('begins with its first row', () => {
    assert.deepEqual(edit([], [], ['a']), [['insert', 'l 0', '["a"]']])
  })
  it('goes on in a further row when one is full, and always writes the first', () => {
    const full = page('l 0', ['aaaaa', 'bbbbb'], 'e0')
    assert.deepEqual(edit([full], [], ['ccccc']), [
      ['merge', 'l 0', undefined],
      ['insert', 'l 1', '["ccccc"]'],
    ])
    assert.deepEqual(edit([full, page('l 1', ['ccccc'], 'e1')], ['aaaaa'], ['ddddd']), [
      ['replace', 'l 0', '["bbbbb","ddddd"]'],
    ])
  })
  it('drops rows that are empty, but for the first', () => {
    const pages = [page('l 0', ['a'], 'e0'), page('l 1', ['b'], 'e1'), page('l 2', ['c'], 'e2')]
    assert.deepEqual(edit(pages, ['a', 'b'], []), [
      ['replace', 'l 0', '[]'],
      ['delete', 'l 1', undefined],
    ])
    assert.deepEqual(edit(pages, ['a', 'b', 'c'], []), [
      ['replace', 'l 0', undefined],
      ['delete', 'l 1', undefined],
      ['delete', 'l 2', undefined],
    ])
  })
  it('lists nobody twice', () => {
    assert.deepEqual(edit([page('l 0', ['a'], 'e0')], [], ['a']), [['merge', 'l 0', undefined]])
  })
  it('that cannot be read is refused, not written over', () => {
    const broken = rowAt('p', 'l 0', { ids: word('{') }, 'e0')
    assert.throws(() => edit([broken], [], ['a']), { code: 'UnreadableRow' })
  })
})

describe('a writer', () => {
  it('registers a partition before its first entry, and again when it no longer trusts that', async () => {
    const registered: string[] = []
    const rows: Pick<Rows, 'commit'> = {
      async commit(steps) {
        registered.push(
          ...steps.map((step) => String(step.kind !== 'delete' && step.row['outboxPartition']?.value)),
        )
        return { kind: 'committed', etags: [] }
      },
    }
    let nowMs = 0
    const announce = openAnnouncer(rows as Rows, () => nowMs)
    const steps = plan(insert(Colleague, jones))
    await announce(steps.slice(0, 2))
    assert.deepEqual(registered, [])
    await announce(steps)
    await announce(steps)
    assert.deepEqual(registered, ['Sales'])
    nowMs = trustMs
    await announce(steps)
    assert.deepEqual(registered, ['Sales', 'Sales'])
  })

  it('does not trust a registration that failed', async () => {
    let calls = 0
    const commit = async (): Promise<never> => {
      calls += 1
      throw new Error('no connection')
    }
    const announce = openAnnouncer({ commit } as unknown as Rows)
    const steps = plan(insert(Colleague, jones))
    await assert.rejects(announce(steps), /no connection/)
    await assert.rejects(announce(steps), /no connection/)
    assert.equal(calls, 2)
  })
})

describe('an index elsewhere', () => {
  const shape = { properties: { a: string(), b: string() }, partition: key(text('a')) }
  const wrong: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
    'must be told from the entity': [
      () =>
        entity('X', {
          ...shape,
          row: key('r_', text('b')),
          indexes: { i: { partition: key('p'), row: key('r_', text('b')) } },
        }),
      /must begin differently, not with "r_" and "r_"/,
    ],
    'needs rows that are told from those of the library': [
      () =>
        entity('X', {
          ...shape,
          row: key(text('b')),
          indexes: { i: { partition: key('p'), row: key('i_', text('b')), table: 't' } },
        }),
      /must begin differently, not with "" and "~"/,
    ],
    'needs a partition': [
      () =>
        entity('X', {
          ...shape,
          row: key('r_', text('b')),
          indexes: { i: { row: key('i_'), table: 't' } as never },
        }),
      /X\.indexes\.i: what lives elsewhere needs a partition/,
    ],
    'in blobs is a list': [
      () =>
        entity('X', {
          ...shape,
          row: key('r_'),
          indexes: { i: { partition: key('p'), row: key('i_'), container: 'c' } as never },
        }),
      /X\.indexes\.i: only lists live in blobs/,
    ],
    'in blobs has names that begin with a text': [
      () =>
        entity('X', {
          ...shape,
          row: key('r_'),
          indexes: { i: { partition: key(text('a')), row: key('i_'), container: 'c', list: true } },
        }),
      /X\.indexes\.i: both keys must begin with a text/,
    ],
    'that is a list copies nothing': [
      () =>
        entity('X', {
          ...shape,
          row: key('r_'),
          indexes: { i: { row: key('i_'), list: true, copy: ['b'] } as never },
        }),
      /X\.indexes\.i: a list holds no copies/,
    ],
  }
  for (const [name, [make, message]] of Object.entries(wrong)) {
    it(name, () => assert.throws(make, { code: 'InvalidDefinition', message }))
  }
})

/** `before` is what the table would have told, for those who ask. */
function plan(intent: Intent, before: Known | 'unread' = 'unread'): readonly Step[] {
  const facets = facetsOf(intent.definition)
  const wanted = complete(intent, sources)
  const asked = wanted.kind !== 'change' && facets.some((facet) => facet.needsBefore(wanted))
  assert.equal(asked, before !== 'unread', `${intent.kind} must ${asked ? '' : 'not '}read the entity first`)
  return stepsOf(changeOf(wanted, before, sources), facets, [])
}

function placesOf(step: Step): unknown[] | undefined {
  if (step.kind === 'delete') return undefined
  const { places } = readEntry({ ...step, cells: step.row, etag: '', timestamp: at })
  return places.map(({ label, partitionKey, rowKey }: Place) => [label, partitionKey, rowKey])
}

function partOf(label: string): Elsewhere & { readonly kind: 'settles' } {
  const part = elsewhereOf(Colleague).find((each) => each.label === label)
  assert(part?.kind === 'settles')
  return part
}

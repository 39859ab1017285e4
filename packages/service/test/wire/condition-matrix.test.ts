/**
 * Every write under every condition, on an entity that is there and on one that is not. Without `If-Match` a
 * replace is an insert-or-replace and a merge an insert-or-merge; the tunnelled forms stand for those two.
 */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  badEtagText,
  del,
  early,
  entity,
  errorOf,
  etagNeededText,
  exchange,
  type Expected,
  get,
  late,
  merge,
  oldEtag,
  post,
  put,
  type Request,
  type RequestHeaders,
  table,
  texts,
} from './wire.ts'

const people = await table('people')

type Outcome =
  | 'written'
  | 'created'
  | 'removed'
  | 'exists'
  | 'missing'
  | 'changed'
  | 'unmet'
  | 'badEtag'
  | 'noEtag'
  | 'onPost'

const malformed = 'GolangRocksOnAzure'
const malformedWeak = `W/"datetime''2020-01-01T00%3A00%3A00Z''"`
const conditions = ['none', '*', 'right', 'wrong', 'malformed', 'malformed weak'] as const

// biome-ignore format: a table reads in columns
const matrix: Readonly<Record<string, readonly Outcome[]>> = {
  //                             none        *          right      wrong      malformed  malformed weak
  'insert, present':            ['exists',   'onPost',  'onPost',  'onPost',  'onPost',  'onPost'],
  'insert, absent':             ['created',  'onPost',  'onPost',  'onPost',  'onPost',  'onPost'],
  'replace, present':           ['written',  'written', 'written', 'changed', 'badEtag', 'unmet'],
  'replace, absent':            ['written',  'missing', 'missing', 'missing', 'badEtag', 'unmet'],
  'merge, present':             ['written',  'written', 'written', 'changed', 'badEtag', 'unmet'],
  'merge, absent':              ['written',  'missing', 'missing', 'missing', 'badEtag', 'unmet'],
  'insert or replace, present': ['written',  'written', 'written', 'changed', 'badEtag', 'unmet'],
  'insert or replace, absent':  ['written',  'missing', 'missing', 'missing', 'badEtag', 'unmet'],
  'insert or merge, present':   ['written',  'written', 'written', 'changed', 'badEtag', 'unmet'],
  'insert or merge, absent':    ['written',  'missing', 'missing', 'missing', 'badEtag', 'unmet'],
  'delete, present':            ['noEtag',   'removed', 'removed', 'changed', 'badEtag', 'unmet'],
  'delete, absent':             ['noEtag',   'missing', 'missing', 'missing', 'badEtag', 'unmet'],
}

// biome-ignore format: a table reads in columns
const outcomes: Readonly<Record<Outcome, readonly [status: number, code?: string, text?: string | undefined, headers?: Expected]>> = {
  written: [204],
  created: [201],
  removed: [204],
  exists:  [409, 'EntityAlreadyExists', texts['EntityAlreadyExists'], late],
  missing: [404, 'ResourceNotFound', texts['ResourceNotFound'], late],
  changed: [412, 'UpdateConditionNotSatisfied', texts['UpdateConditionNotSatisfied'], late],
  unmet:   [412, 'ConditionNotMet', texts['ConditionNotMet'], early],
  badEtag: [400, 'InvalidInput', badEtagText(malformed), early],
  noEtag:  [400, 'InvalidInput', etagNeededText(people), early],
  onPost:  [400, 'InvalidInput', 'If-Match or If-None-Match HTTP headers cannot be specified for POST operations.', early],
}

const writes: Readonly<Record<string, (row: string, headers: RequestHeaders) => Request>> = {
  insert: (row, headers) => post(`/${people}`, { PartitionKey: 'p', RowKey: row, after: 1 }, headers),
  replace: (row, headers) => put(entity(people, 'p', row), { after: 1 }, headers),
  merge: (row, headers) => merge(entity(people, 'p', row), { after: 1 }, headers),
  'insert or replace': (row, headers) =>
    post(entity(people, 'p', row), { after: 1 }, { 'X-HTTP-Method': 'PUT', ...headers }),
  'insert or merge': (row, headers) =>
    post(entity(people, 'p', row), { after: 1 }, { 'X-HTTP-Method': 'PATCH', ...headers }),
  delete: (row, headers) => del(entity(people, 'p', row), headers),
}

describe('writes under conditions', () => {
  let rows = 0
  for (const [situation, expected] of Object.entries(matrix)) {
    const [write = '', presence] = situation.split(', ')
    for (const [column, condition] of conditions.entries()) {
      const outcome = expected[column] as Outcome
      it(`${situation}, If-Match ${condition}: ${outcome}`, async () => {
        const row = `${rows++}`
        const etag = await prepare(row, presence === 'present')
        const answer = await exchange(
          (writes[write] as (typeof writes)[string])(row, ifMatch(condition, etag)),
        )
        const [status, code, text, headers] = outcomes[outcome]
        assert.equal(answer.status, status, answer.text)
        if (code !== undefined) {
          const error = errorOf(answer)
          assert.deepEqual([error.code, error.text], [code, text])
        }
        for (const [name, value] of Object.entries(headers ?? {})) assert.equal(answer.header(name), value)
        assert.equal(await shown(row), membersAfter(outcome, write, presence === 'present'))
      })
    }
  }
})

/** Leaves an entity with one property, or none at all; gives the ETag it has or had. */
async function prepare(row: string, present: boolean): Promise<string> {
  const answer = await exchange(put(entity(people, 'p', row), { before: 1 }))
  if (!present) await exchange(del(entity(people, 'p', row), { 'If-Match': '*' }))
  return answer.header('etag') ?? ''
}

function ifMatch(condition: (typeof conditions)[number], etag: string): RequestHeaders {
  switch (condition) {
    case 'none':
      return {}
    case '*':
      return { 'If-Match': '*' }
    case 'right':
      return { 'If-Match': etag }
    case 'wrong':
      return { 'If-Match': oldEtag }
    case 'malformed':
      return { 'If-Match': malformed }
    case 'malformed weak':
      return { 'If-Match': malformedWeak }
  }
}

/** The names of the properties, or undefined without an entity. */
async function shown(row: string): Promise<string | undefined> {
  const answer = await exchange(
    get(entity(people, 'p', row), { Accept: 'application/json;odata=nometadata' }),
  )
  if (answer.status === 404) return undefined
  return Object.keys(JSON.parse(answer.text) as object)
    .slice(3)
    .join()
}

/** What the write must have left: nothing changes unless it was carried out. */
function membersAfter(outcome: Outcome, write: string, present: boolean): string | undefined {
  if (outcome === 'removed') return undefined
  if (outcome !== 'written' && outcome !== 'created') return present ? 'before' : undefined
  return present && write.endsWith('merge') ? 'after,before' : 'after'
}

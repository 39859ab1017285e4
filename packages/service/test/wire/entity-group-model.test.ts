/**
 * Groups of any make, judged by a model small enough to be believed: a map of rows. A group it refuses must
 * leave the table as it was, byte for byte; one it accepts must leave what the model holds.
 */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import {
  changeSet,
  contentsOf,
  insert,
  merge,
  type Operation,
  type PartAnswer,
  remove,
  replace,
  startTables,
  type TestTables,
} from '../support/batch.ts'

const runs = process.env['PARTITA_NIGHTLY'] === undefined ? 200 : 2_000
const rows = ['a', 'b', "c'd", 'é', '']
const staleEtag = `W/"datetime'2001-01-01T00%3A00%3A00Z'"`

interface Row {
  readonly etag: string
  readonly properties: Readonly<Record<string, number>>
}

type Model = ReadonlyMap<string, Row>

interface Step {
  readonly kind: 'insert' | 'replace' | 'merge' | 'delete'
  readonly row: string
  readonly condition: 'none' | '*' | 'current' | 'stale'
  readonly properties: Readonly<Record<string, number>>
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'merge', 'delete'),
  row: fc.constantFrom(...rows),
  // Mostly what succeeds, so that groups of several get through.
  condition: fc.constantFrom('none', 'none', 'none', '*', 'current', 'stale'),
  properties: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: -9, max: 9 }), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
})

describe('Entity group transactions against a model', () => {
  let tables: TestTables
  before(async () => {
    tables = await startTables()
  })
  after(() => tables.close())

  it('agree on outcome, index and what is left', async () => {
    let accepted = 0
    let refused = 0
    const groups = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(groups, async (history) => {
        await tables.seed([])
        let model: Model = new Map()
        for (const steps of history) {
          const bytes = await contentsOf(tables.store, tables.id)
          const operations = steps.map((each) => operationOf(each, model))
          const { parts } = await tables.batch(changeSet(operations))
          const expected = apply(model, steps)
          if (typeof expected === 'string') {
            refused++
            assert.equal(parts.length, 1)
            assert.equal(refusalOf(parts[0]), expected)
            assert.deepEqual(await contentsOf(tables.store, tables.id), bytes)
          } else {
            accepted++
            assert.deepEqual(
              parts.map((part) => part.status),
              steps.map(() => 204),
            )
            model = withEtags(
              expected,
              steps,
              parts.map((part) => part.header('ETag')),
            )
            assert.deepEqual(
              await shown(),
              [...model].toSorted(([a], [b]) => (a < b ? -1 : 1)),
            )
          }
        }
      }),
      { numRuns: runs },
    )
    assert(accepted > runs / 4 && refused > runs / 4, `${accepted} accepted, ${refused} refused`)
  })

  async function shown(): Promise<[string, Row][]> {
    const records = await contentsOf(tables.store, tables.id)
    return records.map((record) => {
      const json = record.slice(record.indexOf('"odata.etag"'))
      const {
        'odata.etag': etag,
        RowKey,
        PartitionKey,
        Timestamp,
        ...properties
      } = JSON.parse(`{${json}}`) as {
        readonly [name: string]: string
      }
      assert(PartitionKey === 'p' && Timestamp !== undefined)
      return [
        RowKey as string,
        { etag: etag as string, properties: properties as unknown as Row['properties'] },
      ]
    })
  }
})

function operationOf({ kind, row, condition, properties }: Step, model: Model): Operation {
  const etag = condition === 'current' ? (model.get(row)?.etag ?? staleEtag) : staleEtag
  const headers: Record<string, string> =
    condition === 'none' ? {} : { 'If-Match': condition === '*' ? '*' : etag }
  switch (kind) {
    case 'insert':
      return insert(row, properties)
    case 'replace':
      return replace(row, properties, headers)
    case 'merge':
      return merge(row, properties, headers)
    case 'delete':
      return remove(row, condition === 'none' ? { 'If-Match': '*' } : headers)
  }
}

/** What the group leaves, without ETags for what it wrote; or its refusal, as index and code. */
function apply(model: Model, steps: readonly Step[]): Map<string, Row> | string {
  const seen = new Set<string>()
  for (const [index, { row }] of steps.entries()) {
    if (seen.has(row)) return `${index} InvalidDuplicateRow`
    seen.add(row)
  }
  const next = new Map(model)
  for (const [index, { kind, row, condition, properties }] of steps.entries()) {
    const current = model.get(row)
    if (kind === 'insert' && current !== undefined) return `${index} EntityAlreadyExists`
    const needed = kind === 'delete' || (kind !== 'insert' && condition !== 'none')
    if (needed && current === undefined) return `${index} ResourceNotFound`
    if (kind !== 'insert' && condition === 'stale') return `${index} UpdateConditionNotSatisfied`
    if (kind === 'delete') next.delete(row)
    else if (kind === 'merge')
      next.set(row, { etag: '', properties: { ...current?.properties, ...properties } })
    else next.set(row, { etag: '', properties })
  }
  return next
}

/** A write alone has no index in its message when the store refuses it. */
function refusalOf(part: PartAnswer | undefined): string {
  return `${/^(\d+):/.exec(part?.message ?? '')?.[1] ?? 0} ${part?.code}`
}

function withEtags(
  model: Map<string, Row>,
  steps: readonly Step[],
  etags: readonly (string | undefined)[],
): Model {
  for (const [i, { row }] of steps.entries()) {
    const written = model.get(row)
    if (written !== undefined) model.set(row, { ...written, etag: etags[i] as string })
  }
  return model
}

/** Ranges of rows by the leading parts of a compound key, as the filter that is sent. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { rowsInRange, type RowRange } from '../../src/compound-key.ts'
import { formatFilter, type KeyTemplate } from '../../src/index.ts'
import { Claim, Department, Employee, Review } from '../support/company.ts'

const sent = (
  { row, properties }: { row: KeyTemplate; properties: typeof Review.properties | object },
  range: RowRange,
) => {
  const filter = rowsInRange(row, properties as typeof Review.properties, range)
  return filter && formatFilter(filter)
}

describe('a range of rows', () => {
  it('is half-open, and written as texts', () => {
    const cases: readonly (readonly [RowRange, string])[] = [
      [{}, "RowKey ge 'review_' and RowKey lt 'review`'"],
      [{ prefix: { employee: 123 } }, "RowKey ge 'review_000123' and RowKey lt 'review_000124'"],
      [
        { prefix: { employee: 123, year: 2012 } },
        "RowKey ge 'review_000123_2012' and RowKey lt 'review_000123_2013'",
      ],
      [
        { from: { employee: 100 }, until: { employee: 200 } },
        "RowKey ge 'review_000100' and RowKey lt 'review_000200'",
      ],
      [{ from: { employee: 100 } }, "RowKey ge 'review_000100' and RowKey lt 'review`'"],
      [
        { prefix: { employee: 123 }, from: { employee: 1 }, until: { employee: 123, year: 2013 } },
        "RowKey ge 'review_000123' and RowKey lt 'review_000123_2013'",
      ],
    ]
    for (const [range, filter] of cases) assert.equal(sent(Review, range), filter)
  })

  it('may be open at the end of a text', () => {
    const { byEmail, byName } = Employee.indexes
    const of = (index: { row: KeyTemplate }) => ({ row: index.row, properties: Employee.properties })
    assert.equal(
      sent(of(byEmail), { startsWith: { email: 'a' } }),
      "RowKey ge 'email_a' and RowKey lt 'email_b'",
    )
    assert.equal(
      sent(of(byName), { prefix: { name: 'Jo' } }),
      "RowKey ge 'name_Jo ' and RowKey lt 'name_Jo!'",
    )
    assert.equal(
      sent(of(byName), { startsWith: { name: 'Jo' } }),
      "RowKey ge 'name_Jo' and RowKey lt 'name_Jp'",
    )
  })

  it('is all rows for a key without a beginning, and one for a key without parts', () => {
    assert.equal(sent(Claim, {}), undefined)
    assert.equal(sent(Department, {}), "RowKey ge 'dept' and RowKey lt 'depu'")
  })

  it('refuses parts that do not lead', () => {
    assert.throws(() => sent(Review, { prefix: { year: 2012 } }), {
      code: 'InvalidValue',
      message: /year is no leading part/,
    })
    assert.throws(() => sent(Review, { startsWith: { employee: 1 } }), {
      code: 'InvalidValue',
      message: /only a text/,
    })
  })
})

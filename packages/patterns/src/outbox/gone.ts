/**
 * Marks: what stands at a place where nothing is shown any more. A place that was simply emptied could not be told from
 * one that was never filled, and a relay that had slept since then would fill it with what it knew. Marks are cleared
 * away once no relay can have slept so long.
 */
import type { Rows } from '../client/rows.ts'
import type { Row, StoredRow } from '../row/row.ts'
import type { Step } from '../write/step.ts'

const goneCell = 'outboxGone'

export const goneRow: Row = { [goneCell]: { type: 'Boolean', value: true } }

export function isGone({ cells }: StoredRow): boolean {
  return goneCell in cells
}

export function leavesMark(step: Step): boolean {
  return step.kind !== 'delete' && goneCell in step.row
}

/** As readers see it: what is gone is not there. */
export function withoutGone(rows: Rows): Rows {
  return {
    ...rows,
    async get(partitionKey, rowKey, select) {
      const row = await rows.get(partitionKey, rowKey, select && [...select, goneCell])
      return row === undefined || isGone(row) ? undefined : row
    },
    async page(query, at) {
      const select = query.select && [...query.select, goneCell]
      const page = await rows.page({ ...query, select }, at)
      return { ...page, rows: page.rows.filter((row) => !isGone(row)) }
    },
  }
}

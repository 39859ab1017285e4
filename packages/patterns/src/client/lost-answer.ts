/** Whether a write whose answer was lost took place, judged by what the rows hold now. */
import type { StoredRow } from '../row/row.ts'
import { holds, holdsExactly } from '../row/same-cells.ts'
import type { Step } from '../write/step.ts'
import { unreachable } from '../patterns-error.ts'

export interface Judgement {
  readonly outcome: Outcome
  readonly etags: readonly (string | undefined)[]
}

type Outcome = 'written' | 'not written' | 'undecided'

/**
 * All steps stand or fall together. An ETag that still stands proves that none was written. Otherwise all rows must say
 * the same: one that says something else was changed by another, who may have done so before us or after us.
 *
 * A row that holds exactly what was written counts as written by us: nobody could tell it from one that was.
 */
export async function judgeOutcome(
  steps: readonly Step[],
  get: (partitionKey: string, rowKey: string) => Promise<StoredRow | undefined>,
): Promise<Judgement> {
  const rows = await Promise.all(steps.map(({ partitionKey, rowKey }) => get(partitionKey, rowKey)))
  const etags = steps.map(({ kind }, index) => (kind === 'delete' ? undefined : rows[index]?.etag))
  if (steps.some((step, index) => step.kind !== 'insert' && rows[index] && rows[index].etag === step.etag)) {
    return { outcome: 'not written', etags }
  }
  const [first = 'undecided', ...rest] = steps.map((step, index) => judgeStep(step, rows[index]))
  return { outcome: rest.every((each) => each === first) ? first : 'undecided', etags }
}

/** REQUIRES: the step's ETag is not the row's. */
function judgeStep(step: Step, row: StoredRow | undefined): Outcome {
  switch (step.kind) {
    case 'insert':
      return row !== undefined && holdsExactly(row.cells, step.row) ? 'written' : 'not written'
    case 'replace':
    case 'merge': {
      if (row === undefined) return step.etag === undefined ? 'undecided' : 'not written'
      const isThere = step.kind === 'merge' ? holds(row.cells, step.row) : holdsExactly(row.cells, step.row)
      return isThere ? 'written' : 'undecided'
    }
    case 'delete':
      return row === undefined ? 'written' : 'undecided'
    default:
      return unreachable(step)
  }
}

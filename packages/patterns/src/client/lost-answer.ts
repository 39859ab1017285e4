/** Whether a write whose answer was lost took place, judged by what the rows hold now. */
import type { Cell, Row, StoredRow } from '../row/row.ts'
import type { Step } from '../write/step.ts'

export interface Judgement {
  readonly outcome: Outcome
  readonly etags: readonly (string | undefined)[]
}

type Outcome = 'written' | 'not written' | 'undecided'

/**
 * All steps stand or fall together, so the first row that tells, tells for all. A row that holds exactly what was
 * written counts as written by us: nobody could tell it from one that was.
 */
export async function judgeOutcome(
  steps: readonly Step[],
  get: (partitionKey: string, rowKey: string) => Promise<StoredRow | undefined>,
): Promise<Judgement> {
  let outcome: Outcome = 'undecided'
  const etags: (string | undefined)[] = []
  for (const step of steps) {
    const row = await get(step.partitionKey, step.rowKey)
    etags.push(step.kind === 'delete' ? undefined : row?.etag)
    if (outcome === 'undecided') outcome = judgeStep(step, row)
    if (outcome === 'not written') break
  }
  return { outcome, etags }
}

function judgeStep(step: Step, row: StoredRow | undefined): Outcome {
  switch (step.kind) {
    case 'insert':
      if (row === undefined) return 'not written'
      // Another's row, which ours could not have been written over; or ours, changed since, which now is a conflict too.
      return holdsExactly(row.cells, step.row) ? 'written' : 'not written'
    case 'replace':
    case 'merge':
      if (row === undefined) return step.etag === undefined ? 'undecided' : 'not written'
      if (row.etag === step.etag) return 'not written'
      if (step.kind === 'merge') return holds(row.cells, step.row) ? 'written' : 'undecided'
      return holdsExactly(row.cells, step.row) ? 'written' : 'undecided'
    case 'delete':
      if (row === undefined) return 'written'
      return row.etag === step.etag ? 'not written' : 'undecided'
  }
}

function holdsExactly(stored: Row, written: Row): boolean {
  return Object.keys(stored).length === Object.keys(written).length && holds(stored, written)
}

function holds(stored: Row, written: Row): boolean {
  return Object.entries(written).every(([name, cell]) => isSameCell(stored[name], cell))
}

/** The client cannot tell whole doubles from Int32, and the service shortens the fraction of a time. */
function isSameCell(stored: Cell | undefined, written: Cell): boolean {
  if (stored === undefined) return false
  if (written.type === 'DateTime')
    return stored.type === 'DateTime' && timeText(stored.value) === timeText(written.value)
  if (written.type === 'Guid') return String(stored.value).toLowerCase() === written.value.toLowerCase()
  return stored.value === written.value || Object.is(Number(stored.value), written.value)
}

function timeText(text: string): string {
  return text.replace(/\.?0*Z$/, 'Z')
}

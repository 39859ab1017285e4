/** The physical writes an intent comes to: what is sent, as data. All steps of a plan are of one partition. */
import type { Row } from '../row/row.ts'

export type Step = Place & (InsertStep | UpdateStep | DeleteStep)

interface Place {
  /** What it is written for, for messages: `Employee`, `Employee.byEmail`. */
  readonly of: string
  readonly partitionKey: string
  readonly rowKey: string
  /** Planned from what the library itself has read: if it is refused, reading and planning again may help. */
  readonly again?: true
}

interface InsertStep {
  readonly kind: 'insert'
  readonly row: Row
}

interface UpdateStep {
  readonly kind: 'replace' | 'merge'
  readonly row: Row
  /** `*` asks for the row to be there; undefined also lets it be new. */
  readonly etag: string | undefined
}

interface DeleteStep {
  readonly kind: 'delete'
  readonly etag: string
}

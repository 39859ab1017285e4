/**
 * A pattern that changes rows on their way: encryption, values kept elsewhere. It sees every row of an entity, copies
 * included, after planning and before the limits are checked, and again on its way back.
 */
import type { Definition } from '../definition/entity.ts'
import type { Flag } from '../definition/properties.ts'
import type { Row } from '../row/row.ts'

export interface Seal {
  /** The flag of the properties it looks after. */
  readonly flag: Extract<Flag, 'encrypted' | 'large'>
  /** Cells it adds to rows, which a selection of properties must ask for besides. */
  readonly cells: readonly string[]
  seal(row: SealedRow): Promise<Row>
  /** The inverse of seal, for all cells or for a selection of them. */
  open(row: SealedRow): Promise<Row>
}

export interface SealedRow {
  readonly table: string
  readonly definition: Definition
  readonly partitionKey: string
  readonly rowKey: string
  readonly row: Row
}

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
  seal(row: SealedRow): Promise<Row>
  /** The inverse of seal. Cells it does not know it leaves as they are; with `select`, some may be missing. */
  open(row: SealedRow): Promise<Row>
}

export interface SealedRow {
  readonly table: string
  readonly definition: Definition
  readonly partitionKey: string
  readonly rowKey: string
  readonly row: Row
}

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
  /** Cells it adds to rows for these properties, which a selection of them must ask for besides. */
  cellsFor(definition: Definition, names: readonly string[]): readonly string[]
  seal(row: SealedRow): Promise<Row>
  /**
   * The inverse of seal, for all cells or for a selection of them. `overtaken` if what the row names elsewhere is no
   * longer there: then the row must have changed as well.
   */
  open(row: SealedRow): Promise<Row | 'overtaken'>
}

/** The properties of a definition that a seal of this flag looks after. */
export function flaggedNames({ properties }: Definition, flag: Seal['flag']): readonly string[] {
  return Object.keys(properties).filter((name) => properties[name]?.flags.includes(flag))
}

export interface SealedRow {
  readonly table: string
  readonly definition: Definition
  readonly partitionKey: string
  readonly rowKey: string
  readonly row: Row
}

/**
 * What `.large()` on a property of a definition asks for: the value in a blob, and its address in the row.
 *
 * Each write of a row writes the blobs of its large values anew, before the row. Those that no row names any more are
 * left for the sweep; so are those of a write that was refused.
 */
import type { TableClient } from '@azure/data-tables'
import type { Definition } from '../definition/entity.ts'
import { readExactly } from '../exact-row.ts'
import type { Cell, Row } from '../row/row.ts'
import { flaggedNames, type Seal, type SealedRow } from '../write/seal.ts'
import { type LargeValue, largeValueCells, largeValueOf } from './cells.ts'
import type { LargeValues, Owner } from './large-values.ts'

/** Give it to `openTable` as one of the `seals`. */
export function largeProperties(values: Pick<LargeValues, 'stage' | 'open'>): Seal {
  return { flag: 'large', cellsFor, seal, open }

  function cellsFor(definition: Definition, names: readonly string[]): readonly string[] {
    return flaggedNames(definition, 'large')
      .filter((name) => names.includes(name))
      .flatMap(cellNames)
  }

  async function seal({ table, definition, partitionKey, rowKey, row }: SealedRow): Promise<Row> {
    const sealed = await Promise.all(
      Object.entries(row).map(async ([property, cell]) => {
        if (!flaggedNames(definition, 'large').includes(property)) return { [property]: cell }
        const owner = { table, partitionKey, rowKey, property }
        const { value } = await values.stage(
          owner,
          bytesOf(cell),
          contentTypes[definition.properties[property]?.edm ?? ''],
        )
        return largeValueCells(property, value)
      }),
    )
    return Object.assign({}, ...sealed) as Row
  }

  async function open({ definition, row }: SealedRow): Promise<Row | 'overtaken'> {
    const opened: Record<string, Cell> = { ...row }
    for (const property of flaggedNames(definition, 'large')) {
      const value = largeValueOf(property, row)
      for (const name of cellNames(property)) delete opened[name]
      if (value === undefined) continue
      const bytes = await contentOf(value)
      if (bytes === undefined) return 'overtaken'
      opened[property] =
        definition.properties[property]?.edm === 'String'
          ? { type: 'String', value: bytes.toString() }
          : { type: 'Binary', value: bytes.toString('base64') }
    }
    return opened
  }

  /** Undefined if the blob is not there: whoever has the row reads it again. */
  async function contentOf(value: LargeValue): Promise<Buffer | undefined> {
    const asked = [value]
    const content = await values.open(async () => asked.pop())
    return content?.bytes()
  }
}

/** What the rows of a table name: for `sweep`. */
export function namedIn(table: TableClient): (owner: Owner) => Promise<LargeValue | undefined> {
  return async (owner) => {
    const found = await readExactly(table, owner)
    return found && largeValueOf(owner.property, found.row)
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  String: 'text/plain; charset=utf-8',
  Binary: 'application/octet-stream',
}

function bytesOf({ type, value }: Cell): Buffer {
  return Buffer.from(String(value), type === 'Binary' ? 'base64' : 'utf8')
}

function cellNames(property: string): readonly string[] {
  return Object.keys(largeValueCells(property, { blob: '', bytes: 0, type: '', hash: '' }))
}

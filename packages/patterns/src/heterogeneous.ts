/**
 * Heterogeneous entity types: several types in one table, told apart by how their RowKeys begin or by a property that
 * names the type. No guarantee is needed: it is pure design of keys and rows.
 *
 *   PartitionKey  RowKey        EntityType    holds
 *   Sales         dept          Department    the department
 *   Sales         empid_000223  Employee      one of its employees
 *
 * `anyOf` reads them together as a union with `type`; copies in an index of these types are left out, since the entity
 * itself is there, and so are rows that patterns keep for themselves. A row that is none of them is handed over as it is, never dropped.
 */
import {
  type Definition,
  type KeyOf,
  libraryRows,
  type PartitionOf,
  type Stored,
} from './definition/entity.ts'
import {
  formatAllBuckets,
  formatKey,
  type KeyTemplate,
  leadingLiteral,
  type Values,
} from './definition/key-template.ts'
import { allOf, compare } from './filter/filter.ts'
import { PatternsError } from './patterns-error.ts'
import { type Behind, fanOut, rowsBehind } from './read/fan-out.ts'
import { openReading, type Reading } from './read/reading.ts'
import { checkSomeValues, indexLayout, isOfLayout, ownLayout } from './row/codec.ts'
import type { Row, StoredRow } from './row/row.ts'
import { openEntityReader, type ReaderContext } from './table/entity-reader.ts'

export interface UnknownEntity {
  readonly type: undefined
  readonly row: StoredRow
}

/** A union told apart by `type`, the name of the definition. */
export type AnyOf<D extends Definition> =
  | (D extends Definition ? Stored<D> & { readonly type: D['name'] } : never)
  | UnknownEntity

export interface AnyOfReader<D extends Definition> {
  /** One point read, whichever type it is. All definitions must make their keys in the same way. */
  get(key: KeyOf<D>): Promise<AnyOf<D> | undefined>
  /** One partition. All definitions must make their PartitionKey in the same way. */
  query(partition: PartitionOf<D>, options?: { readonly take?: number }): Reading<AnyOf<D>>
  scan(options?: { readonly take?: number }): Reading<AnyOf<D>>
  /** For rows that came another way. */
  resolve(row: StoredRow): Promise<AnyOf<D>>
}

export function openAnyOf<D extends Definition>(
  context: ReaderContext,
  definitions: readonly D[],
): AnyOfReader<D> {
  checkTellable(definitions)
  const { rows } = context
  const readers = definitions.map((definition) => ({
    definition,
    reader: openEntityReader(context, definition, ownLayout(definition)),
  }))
  return { get, query, scan, resolve }

  async function get(key: KeyOf<D>): Promise<AnyOf<D> | undefined> {
    const { name, properties, partition, row } = definitions[0] as D
    const other = definitions.find(
      (each) => !isSameKey(each.row, row) || !isSameKey(each.partition, partition),
    )
    if (other !== undefined)
      throw new PatternsError(
        'InvalidValue',
        `${name} and ${other.name} have keys of their own: read one of them`,
      )
    const values: Values = checkSomeValues(definitions[0] as D, key)
    const found = await rows.get(formatKey(partition, properties, values), formatKey(row, properties, values))
    return found && present(found)
  }

  function query(partition: PartitionOf<D>, { take }: { readonly take?: number } = {}): Reading<AnyOf<D>> {
    const first = definitions[0] as D
    const values: Values = checkSomeValues(first, partition)
    const partitionKeys = formatAllBuckets(first.partition, first.properties, values)
    if (partitionKeys.length === 1) return reading(partitionKeys[0] as string, take)
    return fanOut({
      partitionKeys,
      take,
      query: definitions.map(({ name }) => name),
      open: (partitionKey, behind) => reading(partitionKey, undefined, behind),
    })
  }

  function scan({ take }: { readonly take?: number } = {}): Reading<AnyOf<D>> {
    return openReading({ rows, filter: undefined, select: undefined, take, decode: resolveOrSkip })
  }

  function reading(partitionKey: string, take: number | undefined, behind?: Behind): Reading<AnyOf<D>> {
    const filter = allOf([
      compare('PartitionKey', 'eq', { type: 'String', value: partitionKey }),
      behind && rowsBehind(behind),
    ])
    return openReading({ rows, filter, select: undefined, take, decode: resolveOrSkip })
  }

  async function resolveOrSkip(row: StoredRow): Promise<AnyOf<D> | undefined> {
    const isOurs =
      row.rowKey.startsWith(libraryRows) || definitions.some((definition) => isCopy(definition, row))
    return isOurs && !definitions.some((definition) => isOf(definition, row)) ? undefined : present(row)
  }

  async function resolve(row: StoredRow): Promise<AnyOf<D>> {
    return (await present(row)) ?? { type: undefined, row }
  }

  /** Undefined if the entity has gone since. */
  async function present(row: StoredRow): Promise<AnyOf<D> | undefined> {
    const known = readers.find(({ definition }) => isOf(definition, row))
    if (known === undefined) return { type: undefined, row }
    const found = await known.reader.decode(row)
    return found && ({ ...found, type: known.definition.name } as unknown as AnyOf<D>)
  }
}

/** Reads and writes rows without knowing their type. */
export interface DynamicTable {
  get(partitionKey: string, rowKey: string): Promise<StoredRow | undefined>
  /** Changes only these cells. */
  patch(row: Pick<StoredRow, 'partitionKey' | 'rowKey' | 'etag'>, cells: Row): Promise<string | undefined>
}

export function openDynamic({ rows }: ReaderContext): DynamicTable {
  return {
    get: (partitionKey, rowKey) => rows.get(partitionKey, rowKey),
    async patch({ partitionKey, rowKey, etag }, cells) {
      const commit = await rows.commit([{ kind: 'merge', of: 'row', partitionKey, rowKey, row: cells, etag }])
      if (commit.kind === 'committed') return commit.etags[0]
      const code = commit.reason === 'missing' ? 'NotFound' : 'Changed'
      throw new PatternsError(code, `the row at (${partitionKey}, ${rowKey}) is not as it was read`, {
        cause: commit.cause,
      })
    },
  }
}

/** A type mark must be there to count: a row without one may be anybody's. */
function isOf(definition: Definition, row: StoredRow): boolean {
  const { type } = definition
  if (type !== undefined && row.cells[type.property]?.value !== type.value) return false
  return isOfLayout(definition, ownLayout(definition), row)
}

function isCopy(definition: Definition, row: StoredRow): boolean {
  return Object.keys(definition.indexes).some((label) =>
    isOfLayout(definition, indexLayout(definition, label), row),
  )
}

/** Two types in one table need different beginnings of their RowKeys, or a type mark each. */
function checkTellable(definitions: readonly Definition[]): void {
  const names = definitions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (definitions.length === 0) throw new PatternsError('InvalidDefinition', 'anyOf needs a definition')
  if (twice !== undefined) throw new PatternsError('InvalidDefinition', `two definitions are called ${twice}`)
  for (const [index, one] of definitions.entries()) {
    for (const other of definitions.slice(index + 1)) {
      if (!isTellable(one, other)) {
        throw new PatternsError(
          'InvalidDefinition',
          `${one.name} and ${other.name} cannot be told apart: let their RowKeys begin differently, or use typedBy`,
        )
      }
    }
  }
}

function isSameKey(one: KeyTemplate, other: KeyTemplate): boolean {
  return JSON.stringify(one.parts) === JSON.stringify(other.parts)
}

function isTellable(one: Definition, other: Definition): boolean {
  if (one.type !== undefined && other.type !== undefined) {
    return one.type.property === other.type.property && one.type.value !== other.type.value
  }
  const [a, b] = [leadingLiteral(one.row), leadingLiteral(other.row)]
  return !a.startsWith(b) && !b.startsWith(a)
}

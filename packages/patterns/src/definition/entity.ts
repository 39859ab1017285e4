/** What a kind of entity looks like, as one plain value that all types and all writes follow from. */
import { PatternsError } from '../patterns-error.ts'
import { checkTemplate, type KeyTemplate, leadingLiteral, recoverableNames } from './key-template.ts'
import type { Instant } from './instant.ts'
import type { EdmType, Property, PropertyMap, ReadAs, WriteAs } from './properties.ts'

export interface Index<N extends readonly string[] = readonly string[]> {
  readonly row: KeyTemplate<N>
  /** Left out, the rows live in the entity's own partition and change with it; otherwise they follow a moment later. */
  readonly partition?: KeyTemplate
  /** With `partition`: the table the rows live in, by its name in `openTable`; left out, the entity's own. */
  readonly table?: string
  /** The properties a copy holds besides the keys; left out, all of them. */
  readonly copy?: readonly string[]
  /** Values may repeat: there are no copies, but lists of the entities that have the value. */
  readonly list?: true
  /** With `partition` and `list`: the container that has a blob for each list, by its name in `openTable`. */
  readonly container?: string
}

export type IndexMap = Readonly<Record<string, Index>>

/** Where the type of a row is written down, for tables that hold several types. */
export interface TypeMark {
  readonly property: string
  readonly value: string
}

export interface Definition<
  N extends string = string,
  P extends PropertyMap = PropertyMap,
  PK extends readonly string[] = readonly string[],
  RK extends readonly string[] = readonly string[],
  I extends IndexMap = IndexMap,
> {
  readonly name: N
  readonly properties: P
  readonly partition: KeyTemplate<PK>
  readonly row: KeyTemplate<RK>
  readonly indexes: I
  readonly type: TypeMark | undefined
}

export interface EntityOptions<
  P extends PropertyMap,
  PK extends readonly string[],
  RK extends readonly string[],
  I extends IndexMap,
> {
  readonly properties: P
  readonly partition: KeyTemplate<PK>
  readonly row: KeyTemplate<RK>
  readonly indexes?: I & CopiesOnly<P, I>
  /** A property of each row that names its type, with an optional version: `Employee`, `Employee@2`. */
  readonly typedBy?: { readonly property: string; readonly version?: number }
}

/** An index may be made only of what there is, and say only what its kind can do. */
type CopiesOnly<P extends PropertyMap, I extends IndexMap> = {
  readonly [K in keyof I]: {
    readonly row: KeyTemplate<readonly (keyof P & string)[]>
    readonly partition?: KeyTemplate<readonly (keyof P & string)[]>
    readonly copy?: readonly (keyof P & string)[]
  } & (I[K] extends { readonly list: true } ? { readonly copy?: never } : { readonly container?: never }) &
    (I[K] extends { readonly partition: KeyTemplate }
      ? unknown
      : { readonly table?: never; readonly container?: never })
}

export function entity<
  const N extends string,
  P extends PropertyMap,
  PK extends readonly (keyof P & string)[],
  RK extends readonly (keyof P & string)[],
  // Without indexes there is nothing that a patch could not touch.
  const I extends IndexMap = { readonly [K in never]: Index },
>(name: N, options: EntityOptions<P, PK, RK, I>): Definition<N, P, PK, RK, I> {
  const { properties, partition, row, typedBy } = options
  const definition: Definition<N, P, PK, RK, I> = {
    name,
    properties: Object.freeze({ ...properties }),
    partition,
    row,
    indexes: Object.freeze({ ...options.indexes }) as IndexMap as I,
    type: typedBy && {
      property: typedBy.property,
      value: typedBy.version === undefined ? name : `${name}@${typedBy.version}`,
    },
  }
  checkDefinition(definition)
  return Object.freeze(definition)
}

// ---------------------------------------------------------------- types that follow

type FlagsOf<Q extends Property> = Q['flags'][number]
type NamesWith<P extends PropertyMap, F> = {
  [K in keyof P]: F extends FlagsOf<P[K]> ? K : never
}[keyof P]
type Flat<T> = { [K in keyof T]: T[K] }

type MayBeLeftOut<P extends PropertyMap> = NamesWith<P, 'optional'> | NamesWith<P, 'fresh'>

type ReadOf<P extends PropertyMap> = Flat<
  { readonly [K in Exclude<keyof P, NamesWith<P, 'optional'>>]: ReadAs[P[K]['edm']] } & {
    readonly [K in NamesWith<P, 'optional'>]?: ReadAs[P[K]['edm']] | undefined
  }
>
type WriteOf<P extends PropertyMap> = Flat<
  { readonly [K in Exclude<keyof P, MayBeLeftOut<P>>]: WriteAs[P[K]['edm']] } & {
    readonly [K in MayBeLeftOut<P>]?: WriteAs[P[K]['edm']] | undefined
  }
>
type PartsOf<P extends PropertyMap, N> = Flat<{ readonly [K in N & keyof P]: WriteAs[P[K]['edm']] }>

/** What a read gives. */
export type Entity<D extends Definition> = ReadOf<D['properties']>

export interface Concurrency {
  readonly etag: string
  readonly timestamp: Instant
}

export type Stored<D extends Definition> = Entity<D> & Concurrency

/** What insert, replace and upsert take. */
export type Write<D extends Definition> = WriteOf<D['properties']>

type PartitionNames<D extends Definition> = D['partition']['names'][number]
type RowNames<D extends Definition> = D['row']['names'][number]

export type PartitionOf<D extends Definition> = PartsOf<D['properties'], PartitionNames<D>>
export type KeyOf<D extends Definition> = PartsOf<D['properties'], PartitionNames<D> | RowNames<D>>

export type IndexName<D extends Definition> = keyof D['indexes'] & string
export type IndexKeyOf<D extends Definition, X extends IndexName<D>> = PartsOf<
  D['properties'],
  IndexPartitionNames<D, X> | D['indexes'][X]['row']['names'][number]
>
export type IndexPartitionOf<D extends Definition, X extends IndexName<D>> = PartsOf<
  D['properties'],
  IndexPartitionNames<D, X>
>
type IndexPartitionNames<D extends Definition, X extends IndexName<D>> = D['indexes'][X] extends {
  readonly partition: KeyTemplate<infer N>
}
  ? N[number]
  : PartitionNames<D>

/** The properties a copy in the index holds: those chosen, and those of all keys. */
export type IndexCopy<D extends Definition, X extends IndexName<D>> = D['indexes'][X] extends {
  readonly copy: readonly (infer C)[]
}
  ? Pick<
      Stored<D>,
      (C | PartitionNames<D> | RowNames<D> | IndexNames<D, X> | 'etag' | 'timestamp') & keyof Stored<D>
    >
  : Stored<D>

/** The properties that the keys of an index are made of. */
type IndexNames<D extends Definition, X extends keyof D['indexes'] & string> =
  | IndexPartitionNames<D, X>
  | D['indexes'][X]['row']['names'][number]

/** Properties that feed an index, by its key or by what its copies hold. */
type IndexFeeds<D extends Definition> = {
  [X in keyof D['indexes'] & string]: D['indexes'][X] extends { readonly list: true }
    ? IndexNames<D, X>
    : D['indexes'][X] extends { readonly copy: readonly (infer C)[] }
      ? C | IndexNames<D, X>
      : keyof D['properties']
}[keyof D['indexes'] & string]

type NotPatchable<D extends Definition> =
  | PartitionNames<D>
  | RowNames<D>
  | IndexFeeds<D>
  | NamesWith<D['properties'], 'encrypted'>
  | NamesWith<D['properties'], 'large'>

/** What patch takes: nothing that feeds a key or an index, and nothing that a merge could not write. */
export type Patch<D extends Definition> = {
  readonly [K in keyof D['properties']]?: K extends NotPatchable<D>
    ? never
    : WriteAs[D['properties'][K]['edm']]
}

/** The leading parts of a key: the first ones, without a gap. */
export type Leading<D extends Definition, N extends readonly string[]> = N extends readonly [
  infer First extends string,
  ...infer Rest extends readonly string[],
]
  ? { readonly [K in N[number]]?: never } | Flat<PartsOf<D['properties'], First> & Leading<D, Rest>>
  : { readonly [K in never]: never }

/** Properties a filter may name: stored in the row itself, and in clear. */
export type Filterable<D extends Definition> = Exclude<
  keyof D['properties'] & string,
  RecoverableFrom<D> | NamesWith<D['properties'], 'encrypted'> | NamesWith<D['properties'], 'large'>
>
/** Hash and spread keep their properties in the row, but no query needs to filter by what its keys already say. */
type RecoverableFrom<D extends Definition> = PartitionNames<D> | RowNames<D>

export type EdmOf<D extends Definition, K extends keyof D['properties']> = D['properties'][K]['edm'] & EdmType

// ---------------------------------------------------------------- checks

/** RowKeys of rows that patterns keep beside the entities, such as messages on their way, begin so. */
export const libraryRows = '~'

/** The SDK gives these names a meaning of its own, or the service does. */
const reservedNames = [
  'PartitionKey',
  'RowKey',
  'Timestamp',
  'partitionKey',
  'rowKey',
  'timestamp',
  'etag',
  'type',
]
const namePattern = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*$/u
const propertiesMax = 252
const nameCharactersMax = 255

function checkDefinition(definition: Definition): void {
  const { name, properties, partition, row, indexes, type } = definition
  const names = Object.keys(properties)
  for (const each of names) checkName(name, each)
  const both = names.find((each) =>
    ['encrypted', 'large'].every((flag) => flagsOf(properties, each).includes(flag)),
  )
  // A blob is not encrypted: what should be would lie there in clear.
  if (both !== undefined) throw invalid(name, `${both} cannot be both encrypted and large`)
  if (type !== undefined) {
    checkName(name, type.property)
    if (type.property in properties) throw invalid(name, `${type.property} is a property and tells the type`)
  }
  checkTemplate(`${name}.partition`, partition, properties)
  checkTemplate(`${name}.row`, row, properties)
  const twice = recoverableNames(partition).find((each) => recoverableNames(row).includes(each))
  if (twice !== undefined) throw invalid(name, `${twice} stands in both keys`)
  if (names.length > propertiesMax)
    throw invalid(name, `${names.length} properties; a row holds ${propertiesMax}`)
  for (const [label, index] of Object.entries(indexes)) checkIndex(definition, label, index)
  for (const each of [row, ...Object.values(indexes).map((index) => index.row)]) {
    if (leadingLiteral(each).startsWith(libraryRows)) {
      throw invalid(name, `RowKeys that begin with ${libraryRows} are kept for the library`)
    }
  }
  checkApart(name, homesOf(definition))
}

/** Which rows a definition has in one table, by how their keys begin. */
interface Home {
  readonly table: string | undefined
  readonly partition: string
  readonly row: string
}

function homesOf({ partition, row, indexes }: Definition): readonly Home[] {
  const home = (of: Pick<Index, 'partition' | 'row' | 'table'>): Home => ({
    table: of.table,
    partition: leadingLiteral(of.partition ?? partition),
    row: leadingLiteral(of.row),
  })
  const inRows = Object.values(indexes).filter(({ container }) => container === undefined)
  const isEventual = Object.values(indexes).some((index) => index.partition !== undefined)
  const ownRows = { table: undefined, partition: '', row: libraryRows }
  return [home({ row }), ...inRows.map(home), ...(isEventual ? [ownRows] : [])]
}

function flagsOf(properties: PropertyMap, name: string): readonly string[] {
  return properties[name]?.flags ?? []
}

function checkName(entityName: string, name: string): void {
  if (reservedNames.includes(name)) throw invalid(entityName, `${name} is a reserved name`)
  if (name.length > nameCharactersMax || !namePattern.test(name)) {
    throw invalid(entityName, `${JSON.stringify(name)} is no name for a property`)
  }
}

function checkIndex({ name, properties }: Definition, label: string, index: Index): void {
  const where = `${name}.indexes.${label}`
  checkTemplate(where, index.row, properties)
  if (index.partition !== undefined) checkTemplate(`${where}.partition`, index.partition, properties)
  const unknown = index.copy?.find((each) => !(each in properties))
  if (unknown !== undefined) throw invalid(where, `${unknown} is no property`)
  if (index.list === true && index.copy !== undefined) throw invalid(where, 'a list holds no copies')
  if (index.list !== true && index.container !== undefined) throw invalid(where, 'only lists live in blobs')
  if (index.partition === undefined && (index.table ?? index.container) !== undefined) {
    throw invalid(where, 'what lives elsewhere needs a partition of its own')
  }
  if (
    index.container !== undefined &&
    [index.row, index.partition].some((each) => each && leadingLiteral(each) === '')
  ) {
    // A value of dots alone would name another folder.
    throw invalid(where, 'both keys must begin with a text, since they become the name of a blob')
  }
}

/** Rows of one table are told apart by how one of their keys begins. */
function checkApart(name: string, homes: readonly Home[]): void {
  for (const [index, one] of homes.entries()) {
    for (const other of homes.slice(index + 1)) {
      if (one.table !== other.table) continue
      if (!beginDifferently(one.partition, other.partition) && !beginDifferently(one.row, other.row)) {
        throw invalid(
          name,
          `the row and its indexes must begin differently, not with ${JSON.stringify(one.row)} and ${JSON.stringify(other.row)}`,
        )
      }
    }
  }
}

function beginDifferently(one: string, other: string): boolean {
  return !one.startsWith(other) && !other.startsWith(one)
}

function invalid(where: string, text: string): PatternsError {
  return new PatternsError('InvalidDefinition', `${where}: ${text}`)
}

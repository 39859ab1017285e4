/**
 * Relationships between entities, where the service knows none.
 *
 *   one-to-many   in one partition, with a count that is always right: `counts`, atomic
 *                 in partitions of their own: a key of the one in the many; eventual, through what keeps it
 *                 as one entity: `copies`, atomic
 *   one-to-one    the same keys but for how the RowKey begins; or the key of the other as properties: `byKey`
 *   join          in the client: `join`, over `byKey` for point reads and `lookup` for small tables; no guarantee
 *   inheritance   several types with what they share said once: `subtypes`, read as a union by `anyOf`
 *
 *   PartitionKey  RowKey        holds
 *   Sales         dept          staff: 2
 *   Sales         empid_000223  one of them
 *   Sales         empid_000224  the other
 *
 * With counts, no child is without its parent, and no parent goes while it has children.
 *
 * Given up: every insert and removal of a child also writes its parent's row, so those of one parent go one by one, and
 * one transaction holds one of them for each parent.
 */
import { type Definition, entity, type KeyOf, type Stored } from './definition/entity.ts'
import { formatKey, type KeyTemplate, recoverableNames, type Values } from './definition/key-template.ts'
import type { PropertyMap } from './definition/properties.ts'
import { PatternsError } from './patterns-error.ts'
import { decodeEntity, encodeCells, ownLayout } from './row/codec.ts'
import type { StoredRow } from './row/row.ts'
import type { Change, Facet, Wanted } from './write/facet.ts'
import type { Step } from './write/step.ts'

// ---------------------------------------------------------------- one-to-many in one partition

/** How many children a parent has, kept in the parent. */
export interface Counts {
  readonly parent: Definition
  readonly children: Definition
  /** For each property in the RowKey of the parent, the property of the children that names it. */
  readonly link: Readonly<Record<string, string>>
  /** The property of the parent that holds the count. */
  readonly count: string
}

type NamesOfType<D extends Definition, E> = {
  [K in keyof D['properties']]: D['properties'][K]['edm'] extends E ? K : never
}[keyof D['properties']]

export interface CountsOptions<P extends Definition, C extends Definition> {
  readonly parent: P
  readonly children: C
  readonly link: {
    readonly [K in P['row']['names'][number]]: NamesOfType<C, P['properties'][K]['edm']> & string
  }
  readonly count: NamesOfType<P, 'Int32'> & string
}

/** A plain value; give it to `openTable` with all tables that hold the two. */
export function counts<P extends Definition, C extends Definition>(options: CountsOptions<P, C>): Counts {
  const { parent, children, link, count } = options
  const declared: Counts = { parent, children, link, count }
  checkCounts(declared)
  return Object.freeze(declared)
}

/** The part that counts play in the writes of a definition. */
export function countFacets(all: readonly Counts[], definition: Definition): readonly Facet[] {
  return all.flatMap((each) => [
    ...(each.parent === definition ? [parentFacet(each)] : []),
    ...(each.children === definition ? [childFacet(each)] : []),
  ])
}

function parentFacet({ parent, children, count }: Counts): Facet {
  return {
    needsBefore: ({ kind }) => kind !== 'insert' && kind !== 'patch',
    /** Only the writes of children change it. */
    fill: (after, { before }) => ({ ...after, [count]: countOf(before) }),
    steps({ wanted, before, after }) {
      if (wanted.kind === 'patch' && count in wanted.changes)
        throw new PatternsError('InvalidValue', `${parent.name}.${count} counts ${children.name}`)
      if (countOf(before) === 0) return []
      if (after === undefined && wanted.kind !== 'patch')
        throw new PatternsError('InUse', `${parent.name} still has ${countOf(before)} of ${children.name}`)
      if (
        wanted.kind === 'change' &&
        rowKeyOf(parent, wanted.before.values) !== rowKeyOf(parent, after ?? {})
      )
        throw new PatternsError('InUse', `${parent.name} cannot move while it has ${children.name}`)
      return []
    },
  }

  function countOf(before: Change['before']): number {
    return typeof before === 'object' ? Number(before.values[count] ?? 0) : 0
  }
}

function childFacet({ parent, children, link, count }: Counts): Facet {
  const linkNames = Object.values(link)
  return {
    needsBefore: ({ kind }) => kind !== 'insert' && kind !== 'patch',
    needs: (change) => changesOf(change).map(({ rowKey }) => ({ rowKey })),
    steps(change, found) {
      if (change.wanted.kind === 'patch') refusePatch(change.wanted)
      return changesOf(change).map(({ by }, index) => countStep(found[index]?.[0], by))
    },
  }

  /** By how much, and whose count. A child that stays with its parent changes none. */
  function changesOf({ wanted, before, after }: Change): readonly { rowKey: string; by: number }[] {
    if (wanted.kind === 'patch') return []
    const old = typeof before === 'object' ? parentKey(before.values) : undefined
    const next = after && parentKey(after)
    if (old === next) return []
    return [
      ...(old === undefined ? [] : [{ rowKey: old, by: -1 }]),
      ...(next === undefined ? [] : [{ rowKey: next, by: 1 }]),
    ]
  }

  function countStep(row: StoredRow | undefined, by: number): Step {
    if (row === undefined) throw new PatternsError('NotFound', `${children.name}: there is no ${parent.name}`)
    const { partitionKey, rowKey, etag } = row
    const now = Number(decodeEntity(parent, ownLayout(parent), row, [count])[count]) + by
    const cells = encodeCells(parent, { [count]: now })
    return { kind: 'merge', of: parent.name, partitionKey, rowKey, row: cells, etag, again: true }
  }

  function parentKey(child: Values): string {
    const named = Object.entries(link).map(([own, theirs]) => [own, child[theirs]])
    return formatKey(parent.row, parent.properties, Object.fromEntries(named) as Values)
  }

  function refusePatch({ changes }: Wanted & { readonly kind: 'patch' }): void {
    const touched = Object.keys(changes).find((name) => linkNames.includes(name))
    if (touched !== undefined)
      throw new PatternsError(
        'InvalidValue',
        `${children.name}.${touched} names its ${parent.name}: use change`,
      )
  }
}

function rowKeyOf({ row, properties }: Definition, values: Values): string {
  return formatKey(row, properties, values)
}

function checkCounts({ parent, children, link, count }: Counts): void {
  const where = `counts of ${children.name} in ${parent.name}`
  if (parent === children) throw invalid(where, 'an entity cannot count its own kind')
  if (JSON.stringify(parent.partition.parts) !== JSON.stringify(children.partition.parts))
    throw invalid(where, 'both must make their PartitionKey in the same way')
  for (const name of parent.row.names) {
    const theirs = children.properties[link[name] ?? '']
    if (theirs === undefined) throw invalid(where, `the link does not say which ${name}`)
    if (theirs.edm !== parent.properties[name]?.edm)
      throw invalid(where, `${name} and ${link[name]} differ in type`)
    if (theirs.flags.length > 0) throw invalid(where, `${link[name]} must always be there, and in clear`)
  }
  const own = parent.properties[count]
  if (own?.edm !== 'Int32' || own.flags.some((flag) => flag !== 'optional'))
    throw invalid(where, `${count} is no Int32 of ${parent.name}`)
  if ([...recoverableNames(parent.partition), ...recoverableNames(parent.row)].includes(count))
    throw invalid(where, `${count} stands in a key`)
  for (const [label, { copy }] of Object.entries(parent.indexes))
    if (copy?.includes(count) ?? true) throw invalid(where, `${count} is copied by the index ${label}`)
}

// ---------------------------------------------------------------- joins in the client

/** What belongs to an item, by a point read or from a lookup. */
export type Relation<T, R> = (item: T) => R | undefined | Promise<R | undefined>

type Joined<T, R extends Readonly<Record<string, Relation<T, unknown>>>> = T & {
  readonly [K in keyof R]: Awaited<ReturnType<R[K]>>
}

/** Each item with what belongs to it, in the order of the items; several items ahead are joined in parallel. */
export async function* join<T extends object, R extends Readonly<Record<string, Relation<T, unknown>>>>(
  items: AsyncIterable<T> | Iterable<T>,
  relations: R,
  { concurrency = 8 }: { readonly concurrency?: number } = {},
): AsyncGenerator<Joined<T, R>> {
  const ahead: Promise<Joined<T, R>>[] = []
  try {
    for await (const item of items) {
      const joined = joinOne(item)
      // Awaited below, in order: until then its failure is nobody's surprise.
      joined.catch(() => undefined)
      ahead.push(joined)
      if (ahead.length >= concurrency) yield (await ahead.shift()) as Joined<T, R>
    }
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) yield await next
  } finally {
    await Promise.allSettled(ahead)
  }

  async function joinOne(item: T): Promise<Joined<T, R>> {
    const parts = await Promise.all(
      Object.entries(relations).map(async ([name, relation]) => [name, await relation(item)]),
    )
    return { ...item, ...Object.fromEntries(parts) } as Joined<T, R>
  }
}

/** The few methods of an entity table that a relation needs. */
export interface Readable<D extends Definition> {
  readonly definition: D
  get(key: KeyOf<D>): Promise<Stored<D> | undefined>
}

/**
 * The entity whose key the item holds, if it holds one. Remembers what it has read, also that there was nothing: make
 * one for each join.
 */
export function byKey<T, D extends Definition>(
  table: Readable<D>,
  keyOf: (item: T) => KeyOf<D> | undefined,
): Relation<T, Stored<D>> {
  const { partition, row, properties } = table.definition
  const known = new Map<string, Promise<Stored<D> | undefined>>()
  return (item) => {
    const key = keyOf(item)
    if (key === undefined) return undefined
    const values = key as Values
    const id = JSON.stringify([formatKey(partition, properties, values), formatKey(row, properties, values)])
    const found = known.get(id) ?? table.get(key)
    known.set(id, found)
    return found
  }
}

export interface Lookup<K, T> {
  get(key: K): Promise<T | undefined>
  /** The next `get` reads again. */
  forget(): void
}

export interface LookupOptions<K, T> {
  readonly keyOf: (item: T) => K
  /** How old an answer may be. */
  readonly expiresAfterMs: number
  readonly clock?: () => number
}

/** A small table as a map in memory: read whole at first use, and again once it is too old. */
export function lookup<K extends string | number | bigint, T>(
  read: () => AsyncIterable<T>,
  { keyOf, expiresAfterMs, clock = Date.now }: LookupOptions<K, T>,
): Lookup<K, T> {
  let current: { readonly sinceMs: number; readonly items: Promise<ReadonlyMap<K, T>> } | undefined
  return {
    async get(key) {
      if (current === undefined || clock() - current.sinceMs >= expiresAfterMs) {
        // As old as the beginning of its reading: what changed during it may be missing.
        const reading = { sinceMs: clock(), items: readAll() }
        current = reading
        // A failure is not kept: the next one tries again.
        reading.items.catch(() => (current = current === reading ? undefined : current))
      }
      return (await current.items).get(key)
    },
    forget: () => (current = undefined),
  }

  async function readAll(): Promise<ReadonlyMap<K, T>> {
    const items = new Map<K, T>()
    for await (const item of read()) items.set(keyOf(item), item)
    return items
  }
}

// ---------------------------------------------------------------- inheritance

export interface SubtypesOptions<
  P extends PropertyMap,
  PK extends readonly string[],
  RK extends readonly string[],
> {
  /** What all of them have. */
  readonly properties: P
  readonly partition: KeyTemplate<PK>
  readonly row: KeyTemplate<RK>
  /** The property of each row that names its type. */
  readonly typedBy: { readonly property: string; readonly version?: number }
}

type NoIndexes = { readonly [K in never]: never }

export type Subtypes<
  P extends PropertyMap,
  PK extends readonly string[],
  RK extends readonly string[],
  S extends Readonly<Record<string, PropertyMap>>,
> = { readonly [K in keyof S & string]: Definition<K, P & S[K], PK, RK, NoIndexes> }

/** A definition for each name, of what is shared and what is its own; an entity keeps its key among all of them. */
export function subtypes<
  P extends PropertyMap,
  PK extends readonly (keyof P & string)[],
  RK extends readonly (keyof P & string)[],
  const S extends Readonly<Record<string, PropertyMap>>,
>(shared: SubtypesOptions<P, PK, RK>, own: S): Subtypes<P, PK, RK, S> {
  const definitions = Object.entries(own).map(([name, properties]) => {
    const twice = Object.keys(properties).find((each) => each in shared.properties)
    if (twice !== undefined) throw invalid(name, `${twice} is shared by all types already`)
    return [name, entity(name, { ...shared, properties: { ...shared.properties, ...properties } as never })]
  })
  return Object.freeze(Object.fromEntries(definitions)) as Subtypes<P, PK, RK, S>
}

function invalid(where: string, text: string): PatternsError {
  return new PatternsError('InvalidDefinition', `${where}: ${text}`)
}

/**
 * Denormalisation: properties of one entity copied into another, so that one point read shows both. Atomic, for two
 * entities of the same partition.
 *
 *   PartitionKey  RowKey        holds
 *   Sales         dept          manager: 223, managerName: Jones, managerEmail: jonesj@contoso.com
 *   Sales         empid_000223  name: Jones, email: jonesj@contoso.com
 *
 * Whoever writes the department reads the manager, copies what was declared, and writes the manager's row again
 * unchanged under its ETag; whoever writes the manager finds the departments that name them, and writes these in the
 * same transaction. So each sees the other's write, and one of two that meet plans again.
 *
 * A link to an entity that is not there is refused. If the entity is removed later, the copies go and the link stays;
 * if it is inserted again, they come back.
 *
 * Given up: every write of the source also queries its partition, and all entities it is copied into must fit into its
 * transaction with it.
 */
import type { Definition } from './definition/entity.ts'
import {
  formatKey,
  formatLeading,
  leadingLiteral,
  recoverableNames,
  type Values,
} from './definition/key-template.ts'
import { holderFacet, isAcrossPartitions } from './denormalisation-elsewhere.ts'
import { allOf, beginsWith, compare, type Filter } from './filter/filter.ts'
import { PatternsError } from './patterns-error.ts'
import { decodeEntity, encodeCells, encodeValue, isOfLayout, ownLayout } from './row/codec.ts'
import type { Row, StoredRow } from './row/row.ts'
import { holdsExactly } from './row/same-cells.ts'
import type { Change, Facet, Wanted } from './write/facet.ts'
import type { Step } from './write/step.ts'
import type { Property, Value } from './definition/properties.ts'

/** These properties of `into` are copied from the entity `from` that its link names. */
export interface Copies {
  readonly from: Definition
  readonly into: Definition
  /** For each property in the RowKey of `from`, the property of `into` that names it. */
  readonly link: Readonly<Record<string, string>>
  /** For each property of `into` that is copied, the property of `from` it is a copy of. */
  readonly properties: Readonly<Record<string, string>>
}

type NamesOfType<D extends Definition, E> = {
  [K in keyof D['properties']]: D['properties'][K]['edm'] extends E ? K : never
}[keyof D['properties']]

export interface CopiesOptions<F extends Definition, I extends Definition> {
  readonly from: F
  readonly into: I
  readonly link: {
    readonly [K in F['row']['names'][number]]: NamesOfType<I, F['properties'][K]['edm']> & string
  } & {
    /** Given, the two may be in different partitions, and the copies follow a moment later. */
    readonly [K in F['partition']['names'][number]]?: NamesOfType<I, F['properties'][K]['edm']> & string
  }
  readonly properties: {
    readonly [K in keyof I['properties']]?: NamesOfType<F, I['properties'][K]['edm']> & string
  }
}

/** A plain value; give it to `openTable` with all tables that hold the two. */
export function copies<F extends Definition, I extends Definition>(options: CopiesOptions<F, I>): Copies {
  const { from, into, link, properties } = options
  const declared: Copies = { from, into, link, properties: properties as Readonly<Record<string, string>> }
  checkCopies(declared)
  return Object.freeze(declared)
}

/** The part that copies play in the writes of a definition. */
export function copyFacets(all: readonly Copies[], definition: Definition): readonly Facet[] {
  const [across, within] = [all.filter(isAcrossPartitions), all.filter((each) => !isAcrossPartitions(each))]
  const held = across.filter(({ into }) => into === definition).map(holderFacet)
  const atomic = within.flatMap((each) => [
    ...(each.into === definition ? [targetFacet(each)] : []),
    ...(each.from === definition ? [sourceFacet(each)] : []),
  ])
  return [...held, ...atomic]
}

// ---------------------------------------------------------------- writing the entity that holds copies

function targetFacet({ from, into, link, properties }: Copies): Facet {
  const linkNames = Object.values(link)
  return {
    // Whether a link is new, and a missing source a mistake, shows only beside the old one.
    needsBefore: ({ kind }) => kind === 'upsert' || kind === 'upsertMerge' || kind === 'replace',
    needs: ({ after }) => (after && isLinked(after) ? [{ rowKey: sourceKey(after) }] : []),
    fill(after, { before }, [found]) {
      const own = Object.fromEntries(Object.entries(after).filter(([name]) => !(name in properties)))
      if (!isLinked(after)) return own
      const [source] = found ?? []
      if (source !== undefined) return { ...own, ...copied(source) }
      const old = typeof before === 'object' ? before.values : {}
      if (linkNames.every((name) => old[name] === after[name])) return own
      throw new PatternsError('NotFound', `${into.name}.${linkNames.join()} names no ${from.name}`)
    },
    steps({ wanted }, [found]) {
      if (wanted.kind === 'patch') refusePatch(wanted)
      // Written unchanged: only if it is still as it was read, and so that its next writer sees this entity.
      return (found ?? []).map(
        ({ partitionKey, rowKey, etag }): Step => ({
          kind: 'merge',
          of: from.name,
          partitionKey,
          rowKey,
          row: {},
          etag,
          again: true,
        }),
      )
    },
  }

  function isLinked(values: Values): boolean {
    return linkNames.every((name) => values[name] !== undefined)
  }

  function sourceKey(values: Values): string {
    const key = Object.entries(link).map(([own, named]) => [own, values[named]])
    return formatKey(from.row, from.properties, Object.fromEntries(key) as Values)
  }

  function copied(row: StoredRow): Values {
    const source = decodeEntity(from, ownLayout(from), row)
    return Object.fromEntries(Object.entries(properties).map(([own, theirs]) => [own, source[theirs]]))
  }

  function refusePatch({ changes }: Wanted & { readonly kind: 'patch' }): void {
    const touched = Object.keys(changes).find((name) => linkNames.includes(name) || name in properties)
    if (touched !== undefined) {
      throw new PatternsError(
        'InvalidValue',
        `${into.name}.${touched} belongs to a copy of ${from.name}: use change`,
      )
    }
  }
}

// ---------------------------------------------------------------- writing the entity that is copied

function sourceFacet({ from, into, link, properties }: Copies): Facet {
  return {
    // Under the ETag of what was read: a new link writes this row again, and must not be overlooked.
    needsBefore: (wanted) =>
      wanted.kind === 'patch' ? touchesCopies(wanted.changes) : wanted.kind !== 'insert',
    needs: (change) => effectsOf(change).map(({ key }) => ({ where: linkedTo(key) })),
    steps: (change, found) =>
      effectsOf(change).flatMap(({ copy }, index) =>
        (found[index] ?? []).flatMap((target) => targetSteps(target, copy)),
      ),
  }

  /** A source that moves is gone for those who named its old key, and there for those who name the new one. */
  function effectsOf({ wanted, before, after }: Change): readonly Effect[] {
    const old = typeof before === 'object' ? before.values : undefined
    if (wanted.kind === 'patch') {
      const { key, changes } = wanted
      return touchesCopies(changes) ? [{ key, copy: copyOf({ ...old, ...changes }) }] : []
    }
    if (after === undefined) return [{ key: wanted.kind === 'remove' ? wanted.key : (old ?? {}), copy: {} }]
    const now = { key: after, copy: copyOf(after) }
    return old !== undefined && rowKeyOf(old) !== rowKeyOf(after) ? [{ key: old, copy: {} }, now] : [now]
  }

  function targetSteps(target: StoredRow, copy: Row): readonly Step[] {
    if (!isOfLayout(into, ownLayout(into), target)) return []
    const others = Object.entries(target.cells).filter(([name]) => !(name in properties))
    const row = { ...Object.fromEntries(others), ...copy }
    if (holdsExactly(target.cells, row)) return []
    const { partitionKey, rowKey, etag } = target
    return [{ kind: 'replace', of: into.name, partitionKey, rowKey, row, etag, again: true }]
  }

  function copyOf(source: Values): Row {
    const values = Object.entries(properties).map(([own, theirs]) => [own, source[theirs]])
    return encodeCells(into, Object.fromEntries(values) as Values)
  }

  function touchesCopies(changes: Values): boolean {
    return Object.values(properties).some((name) => name in changes)
  }

  function rowKeyOf(values: Values): string {
    return formatKey(from.row, from.properties, values)
  }

  function linkedTo(key: Values): Filter {
    const links = Object.entries(link).map(([own, named]) =>
      compare(named, 'eq', encodeValue((into.properties[named] as Property).edm, key[own] as Value)),
    )
    const inRange = beginsWith('RowKey', formatLeading(into.row, into.properties, {}))
    return allOf([inRange, ...links]) as Filter
  }
}

/** What becomes of the copies held by those who name this key. */
interface Effect {
  readonly key: Values
  readonly copy: Row
}

// ---------------------------------------------------------------- checks

function checkCopies({ from, into, link, properties }: Copies): void {
  const where = `copies of ${from.name} into ${into.name}`
  const invalid = (text: string): PatternsError => new PatternsError('InvalidDefinition', `${where}: ${text}`)
  if (from === into) throw invalid('an entity cannot hold copies of its own kind')
  const isAcross = isAcrossPartitions({ from, link })
  if (!isAcross && JSON.stringify(from.partition.parts) !== JSON.stringify(into.partition.parts)) {
    throw invalid('both must make their PartitionKey in the same way, or the link must say which partition')
  }
  if (isAcross && [from, into].some(({ row }) => leadingLiteral(row) === '')) {
    throw invalid('both rows must begin with a text, to be told from those of the library')
  }
  for (const name of from.row.names) {
    if (link[name] === undefined) throw invalid(`the link does not say which ${name}`)
  }
  const inKeys = [...recoverableNames(into.partition), ...recoverableNames(into.row)]
  for (const [theirs, own] of [
    ...Object.entries(link),
    ...Object.entries(properties).map(([a, b]) => [b, a] as const),
  ]) {
    if (into.properties[own] === undefined) throw invalid(`${own} is no property of ${into.name}`)
    if (from.properties[theirs]?.edm !== into.properties[own].edm)
      throw invalid(`${own} and ${theirs} differ in type`)
    if (inKeys.includes(own) && (!isAcross || own in properties))
      throw invalid(`${own} stands in a key of ${into.name}`)
  }
  for (const [own, theirs] of Object.entries(properties)) {
    if (!into.properties[own]?.flags.includes('optional')) throw invalid(`${own} must be optional`)
    if (from.properties[theirs]?.flags.some((flag) => flag === 'encrypted' || flag === 'large')) {
      throw invalid(`${theirs} is not stored in clear`)
    }
    for (const [label, index] of Object.entries(into.indexes)) {
      if (index.copy?.includes(own) ?? index.list !== true)
        throw invalid(`${own} is copied once more by the index ${label}`)
    }
  }
  if (
    Object.values(into.properties).some(({ flags }) => flags.includes('encrypted') || flags.includes('large'))
  ) {
    throw invalid(`${into.name} has properties that are not stored in clear`)
  }
}

/**
 * Denormalisation across partitions: the same as within one, but a moment later. Eventual, kept by the outbox and its
 * relay.
 *
 *   PartitionKey  RowKey                   holds
 *   dept          dept_Sales               manager: 223 of HR, managerName: Jones
 *   HR            empid_000223             name: Jones
 *   HR            ~outbox_link_<of>_<by>   that dept_Sales shows employee 223, kept as an inter-partition index is
 *
 * Whoever names another entity has a link put into that entity's partition, and then reads it. Whoever is named, and
 * changes, has the links read, and those who hold them read the entity again. A link stands before its holder reads, so
 * a change in between finds it.
 *
 * The entity named need not be there: the copies come with it, and go with it.
 */
import type { Definition } from './definition/entity.ts'
import { formatKey, type Values } from './definition/key-template.ts'
import type { Property, Value } from './definition/properties.ts'
import type { Copies } from './denormalisation.ts'
import { beginsWith, type Filter } from './filter/filter.ts'
import { copyStep } from './inter-partition-index.ts'
import type { Elsewhere, EntityPlace } from './outbox/elsewhere.ts'
import { linkPrefix, shortHash } from './outbox/keys.ts'
import { PatternsError } from './patterns-error.ts'
import { decodeEntity, encodeCells, encodeValue, isOfLayout, ownLayout } from './row/codec.ts'
import type { Row, StoredRow } from './row/row.ts'
import type { Facet } from './write/facet.ts'
import type { Step } from './write/step.ts'

/** Whether a link says which partition, so that no transaction can have both. */
export function isAcrossPartitions({ from, link }: Pick<Copies, 'from' | 'link'>): boolean {
  return from.partition.names.length > 0 && from.partition.names.every((name) => link[name] !== undefined)
}

/** The holder's own part: it keeps the copies it has while its link stays, and drops them with it. */
export function holderFacet({ from, into, link, properties }: Copies): Facet {
  const linkNames = Object.values(link)
  return {
    needsBefore: ({ kind }) => kind === 'upsert' || kind === 'upsertMerge' || kind === 'replace',
    fill(after, { before }) {
      const old: Values = typeof before === 'object' ? before.values : {}
      const staysLinked = linkNames.every(
        (name) => isSame(old[name], after[name]) && after[name] !== undefined,
      )
      const own = Object.entries(after).filter(([name]) => !(name in properties))
      const kept = staysLinked ? Object.keys(properties).map((name) => [name, old[name]]) : []
      return Object.fromEntries([...own, ...kept]) as Values
    },
    steps({ wanted }) {
      const changes = wanted.kind === 'patch' ? Object.keys(wanted.changes) : []
      const touched = changes.find((name) => linkNames.includes(name) || name in properties)
      if (touched === undefined) return []
      throw new PatternsError(
        'InvalidValue',
        `${into.name}.${touched} belongs to a copy of ${from.name}: use change`,
      )
    },
  }
}

export function copiesElsewhere(copies: Copies, definition: Definition): readonly Elsewhere[] {
  return [
    ...(copies.into === definition ? [links(copies), ownCopies(copies)] : []),
    ...(copies.from === definition ? [sources(copies)] : []),
  ]
}

/** Each holder has a link in the partition of the entity it names. */
function links(copies: Copies): Elsewhere {
  const { into, link } = copies
  const label = labelOf('link', copies)
  return {
    kind: 'settles',
    label,
    destination: {},
    feeds: Object.values(link),
    shown(values) {
      const source = sourcePlace(copies, values)
      if (source === undefined) return []
      const holder = placeOf(into, values)
      const rowKey = `${linksTo(copies, source)}${shortHash(holder.partitionKey, holder.rowKey)}`
      return [{ label, partitionKey: source.partitionKey, rowKey, row: holderCells(holder) }]
    },
    needs: ({ rowKey }) => ({ rowKey }),
    steps: (place, [found], claims) => [
      copyStep({ of: `${into.name}.${label}`, ...place }, found, claims, (row, { partitionKey, rowKey }) => {
        const holder = holderOf(row)
        return holder.partitionKey === partitionKey && holder.rowKey === rowKey
      }),
    ],
  }
}

/** A holder whose link has changed reads what it names now. */
function ownCopies(copies: Copies): Elsewhere {
  const { into, link } = copies
  const label = labelOf('copies', copies)
  return {
    ...following(copies),
    label,
    feeds: Object.values(link),
    links: () => undefined,
    shown(values) {
      if (sourcePlace(copies, values) === undefined) return []
      const named = Object.values(link).map((name) => [name, values[name]])
      return [
        { label, ...placeOf(into, values), row: encodeCells(into, Object.fromEntries(named) as Values) },
      ]
    },
  }
}

/** All who hold copies of an entity that has changed read it again. */
function sources(copies: Copies): Elsewhere {
  const { from } = copies
  const label = labelOf('source', copies)
  return {
    ...following(copies),
    label,
    feeds: Object.values(copies.properties),
    links: (place) => ({ where: beginsWith('RowKey', linksTo(copies, place)) as Filter }),
    shown: (values) => [{ label, ...placeOf(from, values), row: copiedCells(copies, values) }],
  }
}

function following(
  copies: Copies,
): Pick<
  Elsewhere & { readonly kind: 'follows' },
  'kind' | 'destination' | 'followerOf' | 'sourceOf' | 'steps'
> {
  const { from, into, properties } = copies
  const names = [...new Set(Object.values(properties))]
  return {
    kind: 'follows',
    destination: {},
    followerOf: holderOf,
    sourceOf(follower) {
      if (!isOfLayout(into, ownLayout(into), follower)) return undefined
      return sourcePlace(copies, decodeEntity(into, ownLayout(into), follower, Object.values(copies.link)))
    },
    steps({ partitionKey, rowKey, etag, cells }, source): readonly Step[] {
      const others = Object.entries(cells).filter(([name]) => !(name in properties))
      const shown = source && copiedCells(copies, decodeEntity(from, ownLayout(from), source, names))
      const row = { ...Object.fromEntries(others), ...shown }
      return [{ kind: 'replace', of: into.name, partitionKey, rowKey, row, etag }]
    },
  }
}

/** Where the entity is that a holder names; undefined if it names none. */
function sourcePlace({ from, link }: Copies, holder: Values): EntityPlace | undefined {
  const named = Object.entries(link).map(([theirs, own]) => [theirs, holder[own]] as const)
  if (named.some(([, value]) => value === undefined)) return undefined
  return placeOf(from, Object.fromEntries(named))
}

function placeOf({ partition, row, properties }: Definition, values: Values): EntityPlace {
  return {
    partitionKey: formatKey(partition, properties, values),
    rowKey: formatKey(row, properties, values),
  }
}

function linksTo(copies: Copies, source: EntityPlace): string {
  return `${linkPrefix}${shortHash(labelOf('link', copies), source.rowKey)}_`
}

function copiedCells({ into, properties }: Copies, source: Values): Row {
  const copied = Object.entries(properties).flatMap(([own, theirs]) => {
    const value = source[theirs]
    return value === undefined ? [] : [[own, encodeValue((into.properties[own] as Property).edm, value)]]
  })
  return Object.fromEntries(copied) as Row
}

function holderCells({ partitionKey, rowKey }: EntityPlace): Row {
  return {
    outboxPartition: { type: 'String', value: partitionKey },
    outboxRow: { type: 'String', value: rowKey },
  }
}

function holderOf({ cells }: StoredRow): EntityPlace {
  return {
    partitionKey: String(cells['outboxPartition']?.value),
    rowKey: String(cells['outboxRow']?.value),
  }
}

/** Two links between the same two types differ in what they are made of. */
function labelOf(kind: string, { from, into, link }: Copies): string {
  return `${kind} ${from.name} ${into.name} ${Object.values(link).join()}`
}

function isSame(one: Value | undefined, other: Value | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && String(one) === String(other))
}

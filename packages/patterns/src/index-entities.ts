/**
 * Index entities: all entities that have a value which is not unique. For each value there is a list of those that have
 * it; a reader takes the list first, then the entities in parallel.
 *
 *   where the list is       PartitionKey  RowKey            ids                                   guarantee
 *   the same partition      Sales         name_Jones 0000   ["empid_000152","empid_000223"]       atomic
 *   another one, or table   names         name_Jones 0000   ["Sales/empid_000152","HR/empid_…"]   eventual
 *   a blob for each value   names/name_Jones                the same                              eventual
 *
 * A list that has outgrown a row goes on in the next, `name_Jones 0001`. A row holds one property of at most 32,768
 * characters: larger rows would be read in no fewer requests, but every change would send more. The first row is
 * written with every change of the list, so its ETag is that of the whole list. A blob holds its list alone.
 *
 * In the same partition the list changes in the transaction of the entity, under the ETag it was read with; if another
 * was faster, both are planned again. Elsewhere it follows by the outbox. Readers leave out entities that do not have
 * the value any more, so what is listed too long is never seen.
 *
 * Given up: every write that joins or leaves a list reads all of it, and two such writes of one list cannot happen at
 * once, nor be in one transaction. For long lists of a busy value let an ordinary index end in the id instead.
 */
import type { Definition } from './definition/entity.ts'
import { formatKey, formatLeading, type Values } from './definition/key-template.ts'
import { beginsWith, type Filter } from './filter/filter.ts'
import { mapConcurrently } from './map-concurrently.ts'
import type { Elsewhere, EntityPlace } from './outbox/elsewhere.ts'
import { goneRow } from './outbox/gone.ts'
import { PatternsError } from './patterns-error.ts'
import type { Rows } from './client/rows.ts'
import { checkSomeValues, indexLayout, indexOf, listPageDigits, ownLayout } from './row/codec.ts'
import { limits } from './row/limits.ts'
import type { Row, StoredRow } from './row/row.ts'
import { openEntityReader, type ReaderContext } from './table/entity-reader.ts'
import { readNeed } from './write/execute.ts'
import type { Change, Facet, Need } from './write/facet.ts'
import type { Step } from './write/step.ts'

// ---------------------------------------------------------------- in the same partition

export function listInPartition(definition: Definition, label: string): Facet {
  const list = listOf(definition, label)
  const of = `${definition.name}.${label}`
  return {
    needsBefore: ({ kind }) => kind !== 'insert' && kind !== 'patch',
    needs: (change) => editsOf(change).map(({ key }) => list.needs(key)),
    steps: (change, found) =>
      editsOf(change)
        .flatMap(({ key, leaves, joins }, index) => {
          const { partitionKey } = key
          const edited = editList(list.place(of, partitionKey, key.rowKey), found[index] ?? [], leaves, joins)
          return edited.isEmpty ? withoutFirst(edited.steps) : edited.steps
        })
        .map((step) => ({ ...step, again: true as const })),
  }

  /** One for each list that changes: the old value's, the new one's, or both at once if they are the same. */
  function editsOf({ wanted, before, after }: Change): readonly Edit[] {
    if (wanted.kind === 'patch') return []
    const old = typeof before === 'object' ? standing(before.values) : undefined
    const next = after && standing(after)
    if (old === undefined || next === undefined) {
      const [one, edit] = old
        ? [old, { leaves: [old.id], joins: [] }]
        : [next, { leaves: [], joins: [next?.id ?? ''] }]
      return one === undefined ? [] : [{ key: one.key, ...edit }]
    }
    const isSameList = old.key.rowKey === next.key.rowKey
    if (isSameList && old.id === next.id) return []
    if (isSameList) return [{ key: old.key, leaves: [old.id], joins: [next.id] }]
    return [
      { key: old.key, leaves: [old.id], joins: [] },
      { key: next.key, leaves: [], joins: [next.id] },
    ]
  }

  function standing(values: Values): { readonly key: EntityPlace; readonly id: string } {
    return { key: list.keyOf(values), id: formatKey(definition.row, definition.properties, values) }
  }
}

interface Edit {
  readonly key: EntityPlace
  readonly leaves: readonly string[]
  readonly joins: readonly string[]
}

/** Nobody else can fill the place of an emptied list, since all who would must read it first: no mark is needed. */
function withoutFirst(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    if (step.kind === 'delete') return [step]
    if (step.kind === 'insert' || step.etag === undefined) return []
    const { of, partitionKey, rowKey, etag } = step
    return [{ kind: 'delete', of, partitionKey, rowKey, etag }]
  })
}

// ---------------------------------------------------------------- elsewhere

export function listElsewhere(definition: Definition, label: string): Elsewhere {
  const { table, container } = indexOf(definition, label)
  const list = listOf(definition, label)
  const of = `${definition.name}.${label}`
  return {
    kind: 'settles',
    label,
    destination: { table, container },
    feeds: indexLayout(definition, label).names,
    shown: (values) => [
      { label, ...list.keyOf(values), row: { id: { type: 'String', value: idOf(values) } } },
    ],
    needs: (place) => list.needs(place),
    steps(place, found, claims) {
      const ids = (shows: boolean): readonly string[] =>
        claims.filter(({ shown }) => (shown !== undefined) === shows).map(({ entity }) => remoteId(entity))
      return editList(list.place(of, place.partitionKey, place.rowKey), found, ids(false), ids(true)).steps
    },
  }

  function idOf(values: Values): string {
    const { partition, row, properties } = definition
    return remoteId({
      partitionKey: formatKey(partition, properties, values),
      rowKey: formatKey(row, properties, values),
    })
  }
}

/** No key can hold a slash. */
function remoteId({ partitionKey, rowKey }: EntityPlace): string {
  return `${partitionKey}/${rowKey}`
}

// ---------------------------------------------------------------- the list itself

/** Where a list's rows are, and how much one of them takes. */
interface ListPlace {
  readonly of: string
  readonly partitionKey: string
  readonly charactersMax: number
  rowKey(page: number): string
  pageOf(rowKey: string): number
}

interface List {
  /** The partition, and what the RowKeys of all its rows begin with. */
  keyOf(values: Values): EntityPlace
  needs(key: EntityPlace): Need
  place(of: string, partitionKey: string, beginning: string): ListPlace
}

function listOf(definition: Definition, label: string): List {
  const { properties } = definition
  const { container, row } = indexOf(definition, label)
  const layout = indexLayout(definition, label)
  const inBlob = container !== undefined
  return {
    keyOf(values) {
      const named = Object.fromEntries(row.names.map((name) => [name, values[name]]))
      return {
        partitionKey: formatKey(layout.partition, properties, values),
        rowKey: inBlob ? formatKey(row, properties, values) : formatLeading(layout.row, properties, named),
      }
    },
    needs: ({ rowKey }) => (inBlob ? { rowKey } : { where: beginsWith('RowKey', rowKey) as Filter }),
    place: (of, partitionKey, beginning) => ({
      of,
      partitionKey,
      charactersMax: inBlob ? Number.POSITIVE_INFINITY : limits.stringCharactersMax,
      rowKey: (page) => (inBlob ? beginning : `${beginning}${pageText(page)}`),
      pageOf: (rowKey) => (inBlob ? 0 : Number(rowKey.slice(beginning.length))),
    }),
  }
}

/**
 * The steps that take some ids out of a list and put others in, under the ETags of what was found; the first row is
 * always among them, and has a mark if nothing is left.
 */
export function editList(
  place: ListPlace,
  found: readonly StoredRow[],
  leaves: readonly string[],
  joins: readonly string[],
): { readonly steps: readonly Step[]; readonly isEmpty: boolean } {
  const pages = found.map((row) => ({ number: place.pageOf(row.rowKey), row, ids: idsOf(row) }))
  const listed = new Set(pages.flatMap(({ ids }) => ids))
  const left = new Set(leaves)
  const next = new Map(pages.map(({ number, ids }) => [number, ids.filter((id) => !left.has(id))]))
  for (const id of joins) if (!listed.has(id) || left.has(id)) addTo(next, id, place.charactersMax)
  const isEmpty = [...next.values()].every((ids) => ids.length === 0)
  const numbers = [...new Set([0, ...next.keys()])].toSorted((a, b) => a - b)
  const steps = numbers.flatMap((number) => {
    const old = pages.find((page) => page.number === number)
    const ids = next.get(number) ?? []
    return pageSteps({ ...place, rowKey: place.rowKey(number) }, old?.row, ids, number === 0, isEmpty)
  })
  return { steps, isEmpty }
}

function pageSteps(
  {
    of,
    partitionKey,
    rowKey,
  }: { readonly of: string; readonly partitionKey: string; readonly rowKey: string },
  old: StoredRow | undefined,
  ids: readonly string[],
  isFirst: boolean,
  isEmpty: boolean,
): readonly Step[] {
  const place = { of, partitionKey, rowKey }
  const row: Row = isEmpty ? goneRow : { ids: { type: 'String', value: JSON.stringify(ids) } }
  if (old === undefined) return isFirst || ids.length > 0 ? [{ kind: 'insert', ...place, row }] : []
  const { etag } = old
  if (ids.length === 0 && !isFirst) return [{ kind: 'delete', ...place, etag }]
  const isSame = !isEmpty && old.cells['ids']?.value === row['ids']?.value
  if (!isSame) return [{ kind: 'replace', ...place, row, etag }]
  return isFirst ? [{ kind: 'merge', ...place, row: {}, etag }] : []
}

/** Into the first row that has room, or a new one. */
function addTo(pages: Map<number, string[]>, id: string, charactersMax: number): void {
  for (let number = 0; number < pagesMax; number++) {
    const ids = pages.get(number) ?? []
    if (ids.length > 0 && JSON.stringify([...ids, id]).length > charactersMax) continue
    pages.set(number, [...ids, id])
    return
  }
  throw new PatternsError('LimitExceeded', `a list of ${pagesMax} rows is full`)
}

function idsOf({ cells, partitionKey, rowKey }: StoredRow): string[] {
  const text = cells['ids']?.value
  if (text === undefined) return []
  try {
    return JSON.parse(String(text)) as string[]
  } catch (cause) {
    throw new PatternsError('UnreadableRow', `no list at (${partitionKey}, ${rowKey})`, { cause })
  }
}

function pageText(page: number): string {
  return page.toString().padStart(listPageDigits, '0')
}

const pagesMax = 10 ** listPageDigits

// ---------------------------------------------------------------- reading

export interface UntypedListReader {
  get(key: object, options?: { readonly concurrency?: number }): Promise<object[]>
  keys(key: object): Promise<readonly EntityPlace[]>
}

/** `lists` is where they live. */
export function openListReader(
  context: ReaderContext,
  lists: Rows,
  definition: Definition,
  label: string,
): UntypedListReader {
  const list = listOf(definition, label)
  const isRemote = indexOf(definition, label).partition !== undefined
  const own = openEntityReader(context, definition, ownLayout(definition))
  return { get, keys }

  async function keys(key: object): Promise<readonly EntityPlace[]> {
    const place = list.keyOf(checkSomeValues(definition, key))
    const rows = await readNeed(lists, place.partitionKey, list.needs(place))
    return rows.flatMap(idsOf).map((id) => entityPlace(place.partitionKey, id))
  }

  async function get(
    key: object,
    { concurrency = 16 }: { readonly concurrency?: number } = {},
  ): Promise<object[]> {
    const place = list.keyOf(checkSomeValues(definition, key))
    const found = new Map<number, object>()
    for await (const { at, entity } of mapConcurrently((await keys(key)).entries(), concurrency, read)) {
      if (entity !== undefined) found.set(at, entity)
    }
    return [...found].toSorted(([a], [b]) => a - b).map(([, entity]) => entity)

    async function read([at, { partitionKey, rowKey }]: [number, EntityPlace]) {
      const row = await context.rows.get(partitionKey, rowKey)
      const entity = row && (await own.decode(row))
      return { at, entity: entity && hasValue(entity) ? entity : undefined }
    }

    function hasValue(entity: object): boolean {
      const now = list.keyOf(entity as Values)
      return now.partitionKey === place.partitionKey && now.rowKey === place.rowKey
    }
  }

  function entityPlace(partitionKey: string, id: string): EntityPlace {
    if (!isRemote) return { partitionKey, rowKey: id }
    const slash = id.indexOf('/')
    return { partitionKey: id.slice(0, slash), rowKey: id.slice(slash + 1) }
  }
}

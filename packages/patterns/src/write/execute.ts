/** Carries intents out: reads what the facets ask for, plans, sends, and plans again where a read was overtaken. */
import { compare, allOf } from '../filter/filter.ts'
import type { Commit, Rows } from '../client/rows.ts'
import type { Definition } from '../definition/entity.ts'
import { formatKey } from '../definition/key-template.ts'
import type { Destination } from '../outbox/elsewhere.ts'
import { PatternsError } from '../patterns-error.ts'
import { decodeEntity, foreignCells, ownLayout } from '../row/codec.ts'
import type { Row, StoredRow } from '../row/row.ts'
import type { Change, Facet, Known, Need, Wanted } from './facet.ts'
import type { Intent } from './intent.ts'
import { changeOf, checkSteps, complete, type Sources, stepsOf } from './plan.ts'
import type { Seal } from './seal.ts'
import type { Step } from './step.ts'
import { type Backoff, waitBefore } from './backoff.ts'

export interface Written {
  /** The entity's own ETag; none after a removal. */
  readonly etag: string | undefined
}

export interface WriteContext extends Sources {
  readonly rows: Rows
  readonly backoff: Backoff
  readonly seals: readonly Seal[]
  /** Told of every transaction that was committed. */
  readonly onCommit?: ((steps: readonly Step[]) => void) | undefined
  facetsOf(definition: Definition): readonly Facet[]
  /** Before a transaction with an entry in the outbox: makes sure that a relay will find it. */
  announce(steps: readonly Step[]): Promise<void>
  /** Where an index or a list lives that is not in the table itself. */
  rowsAt(destination: Destination): Rows
}

/** One transaction, whatever the number of intents: all of them, or none. */
export async function write(context: WriteContext, intents: readonly Intent[]): Promise<readonly Written[]> {
  const wanted = intents.map((intent) => complete(intent, context))
  for (let attempt = 1; ; attempt++) {
    const planned = await Promise.all(wanted.map((each) => planOne(context, each)))
    const steps = planned.flat()
    checkSteps(steps)
    if (steps.length === 0) return wanted.map(() => ({ etag: undefined }))
    await context.announce(steps)
    const commit = await context.rows.commit(steps)
    if (commit.kind === 'committed') {
      context.onCommit?.(steps)
      return etagsOf(planned, commit.etags)
    }
    if (commit.step.again !== true || attempt >= context.backoff.attemptsMax) throw refusal(commit)
    await waitBefore(attempt, context.backoff)
  }
}

async function planOne(context: WriteContext, wanted: Wanted): Promise<readonly Step[]> {
  const facets = context.facetsOf(wanted.definition)
  const mustRead = wanted.kind !== 'change' && facets.some((facet) => facet.needsBefore(wanted))
  const before = mustRead ? await readBefore(context, wanted) : 'unread'
  const change = changeOf(wanted, before, context)
  const found = await Promise.all(
    facets.map((facet) => readNeeds(context, change, facet.needs?.(change) ?? [])),
  )
  const steps = stepsOf(change, facets, found)
  return Promise.all(
    steps.map((step) => sealStep(context.rows.table, context.seals, wanted.definition, step)),
  )
}

async function readBefore(context: WriteContext, wanted: Wanted): Promise<Known | 'absent'> {
  const { definition } = wanted
  const key = keyOf(wanted)
  const { properties, partition, row } = definition
  const stored = await context.rows.get(
    formatKey(partition, properties, key),
    formatKey(row, properties, key),
  )
  const opened = stored && (await openRow(context, definition, stored))
  if (opened === undefined) return 'absent'
  const values = decodeEntity(definition, ownLayout(definition), opened)
  return { values, etag: opened.etag, foreign: foreignCells(definition, opened) }
}

function readNeeds(context: WriteContext, change: Change, needs: readonly Need[]): Promise<StoredRow[][]> {
  const { definition } = change.wanted
  const partitionKey = formatKey(definition.partition, definition.properties, keyOf(change.wanted))
  return Promise.all(needs.map((need) => readNeed(context.rows, partitionKey, need)))
}

export async function readNeed(rows: Rows, partitionKey: string, need: Need): Promise<StoredRow[]> {
  if ('rowKey' in need) {
    const row = await rows.get(partitionKey, need.rowKey)
    return row === undefined ? [] : [row]
  }
  const inPartition = compare('PartitionKey', 'eq', { type: 'String', value: partitionKey })
  const query = { filter: allOf([inPartition, need.where]), select: undefined }
  const found: StoredRow[] = []
  let token: string | undefined
  do {
    const page = await rows.page(query, { size: 1000, token })
    found.push(...page.rows)
    token = page.token
  } while (token !== undefined)
  return found
}

/** Read again if it has changed while it was opened; undefined if it has gone. `select` as it was read with. */
export async function openRow(
  { rows, seals }: Pick<WriteContext, 'rows' | 'seals'>,
  definition: Definition,
  stored: StoredRow,
  select?: readonly string[],
): Promise<StoredRow | undefined> {
  for (let row = stored; ; ) {
    const cells = await openCells(rows.table, seals, definition, row)
    if (cells !== 'overtaken') return cells === row.cells ? row : { ...row, cells }
    const now = await rows.get(row.partitionKey, row.rowKey, select)
    if (now === undefined) return undefined
    if (now.etag === row.etag) {
      const place = `${definition.name} at (${row.partitionKey}, ${row.rowKey})`
      throw new PatternsError('UnreadableRow', `${place}: what it names elsewhere is not there`)
    }
    row = now
  }
}

async function openCells(
  table: string,
  seals: readonly Seal[],
  definition: Definition,
  stored: StoredRow,
): Promise<Row | 'overtaken'> {
  let { cells } = stored
  for (const seal of seals.toReversed()) {
    const opened = await seal.open({ ...stored, table, definition, row: cells })
    if (opened === 'overtaken') return opened
    cells = opened
  }
  return cells
}

export async function sealStep(
  table: string,
  seals: readonly Seal[],
  definition: Definition,
  step: Step,
): Promise<Step> {
  if (step.kind === 'delete') return step
  const { partitionKey, rowKey } = step
  let { row } = step
  for (const seal of seals) row = await seal.seal({ table, definition, partitionKey, rowKey, row })
  return { ...step, row }
}

function keyOf(wanted: Wanted): Known['values'] {
  if ('key' in wanted) return wanted.key
  return wanted.kind === 'change' ? wanted.before.values : wanted.values
}

/** The own row is each entity's first step, or, when it moves, its last with a row. */
function etagsOf(
  planned: readonly (readonly Step[])[],
  etags: readonly (string | undefined)[],
): readonly Written[] {
  let at = 0
  return planned.map((steps) => {
    const own = steps.findLastIndex((step) => step.of === steps[0]?.of && step.kind !== 'delete')
    const etag = own < 0 ? undefined : etags[at + own]
    at += steps.length
    return { etag }
  })
}

function refusal({ reason, step, cause }: Commit & { readonly kind: 'rejected' }): PatternsError {
  const place = `${step.of} at (${step.partitionKey}, ${step.rowKey})`
  switch (reason) {
    case 'exists':
      return new PatternsError('AlreadyExists', `${place}: there is one already`, { cause })
    case 'missing':
      return new PatternsError('NotFound', `${place}: there is none`, { cause })
    case 'changed':
      return new PatternsError('Changed', `${place}: it has changed since`, { cause })
  }
}

/** Sees to the entries of one partition: sets every place right, and only then removes them. */
import type { Definition } from '../definition/entity.ts'
import { type Clock, Instant } from '../definition/instant.ts'
import { mapConcurrently } from '../map-concurrently.ts'
import type { StoredRow } from '../row/row.ts'
import type { Step } from '../write/step.ts'
import type { Elsewhere, Place } from './elsewhere.ts'
import { clearPrefix, entryPrefix, idOf, timedKey } from './keys.ts'
import { type Entry, entryRow, isSamePlace, readEntry } from './outbox.ts'
import { clear, follow, settle, type SettleContext } from './settle.ts'

export interface EntriesContext extends SettleContext {
  readonly clock: Clock
  /** How long marks stay. */
  readonly graceMs: number
  /** Who looks after a place; refuses what nobody knows. */
  partOf(entry: Entry, place: Place): OwnedPart
  onFailed(row: StoredRow, error: unknown): void
}

export interface OwnedPart {
  readonly definition: Definition
  readonly part: Elsewhere
}

export interface Applied {
  readonly row: StoredRow
  readonly entry: Entry
}

/** Those that were seen to and removed; the others stay. Entries that name the same place are seen to together. */
export async function applyEntries(
  context: EntriesContext,
  stored: readonly StoredRow[],
): Promise<readonly Applied[]> {
  const jobs = stored.flatMap((row) => jobOf(context, row))
  const results = new Map<string, PromiseSettledResult<boolean>>()
  const tasks = [...merged(jobs.flatMap((job) => job.tasks)).values()]
  // Links are settled first: who follows an entity must be known before the entity is read for them.
  for (const kind of ['settles', 'follows'] as const) {
    const ofKind = tasks.filter(({ part }) => part.kind === kind)
    for await (const { name, result } of mapConcurrently(ofKind, placesAtOnce, attempt))
      results.set(name, result)
  }
  const finished = jobs.filter(({ row, tasks: own }) => {
    const failure = own.map(({ name }) => results.get(name)).find((each) => each?.status === 'rejected')
    if (failure?.status === 'rejected') context.onFailed(row, failure.reason)
    return failure === undefined
  })
  await removeAll(context, finished, (name) => {
    const result = results.get(name)
    return result?.status === 'fulfilled' && result.value
  })
  return finished

  async function attempt(
    task: Task,
  ): Promise<{ readonly name: string; readonly result: PromiseSettledResult<boolean> }> {
    const [result] = await Promise.allSettled([perform(context, task)])
    return { name: task.name, result }
  }
}

/** How many marks were cleared away. What has to wait, or fails, stays for another run. */
export async function clearDue(context: EntriesContext, row: StoredRow): Promise<number> {
  try {
    const entry = readEntry(row)
    let cleared = 0
    for (const place of entry.places) {
      const { part } = context.partOf(entry, place)
      const done = part.kind === 'settles' ? await clear(context, part, place, isOld) : 0
      if (done === undefined) return cleared
      cleared += done
    }
    const { partitionKey, rowKey, etag } = row
    await context.rows.commit([
      { kind: 'delete', of: `${entry.definition}.outbox`, partitionKey, rowKey, etag },
    ])
    return cleared
  } catch (error) {
    context.onFailed(row, error)
    return 0
  }

  function isOld({ timestamp }: StoredRow): boolean {
    return msBetween(timestamp, context.clock()) >= context.graceMs
  }
}

export function msBetween(from: Instant, until: Instant): number {
  return Number(until.ticks - from.ticks) / 10_000
}

// ---------------------------------------------------------------- what is to be done

interface Job extends Applied {
  readonly tasks: readonly Task[]
}

/** A place, and the entities that entries name with it. */
interface Task extends OwnedPart {
  readonly name: string
  readonly place: Place
  readonly partitionKey: string
  readonly rowKeys: readonly string[]
}

function jobOf(context: EntriesContext, row: StoredRow): readonly Job[] {
  try {
    const entry = readEntry(row)
    const tasks = entry.places.map((place) => ({
      ...context.partOf(entry, place),
      name: JSON.stringify([entry.definition, place.label, place.partitionKey, place.rowKey]),
      place,
      partitionKey: row.partitionKey,
      rowKeys: entry.entities,
    }))
    return [{ row, entry, tasks }]
  } catch (error) {
    context.onFailed(row, error)
    return []
  }
}

function merged(tasks: readonly Task[]): ReadonlyMap<string, Task> {
  const byName = new Map<string, Task>()
  for (const task of tasks) {
    const rowKeys = [...(byName.get(task.name)?.rowKeys ?? []), ...task.rowKeys]
    byName.set(task.name, { ...task, rowKeys: [...new Set(rowKeys)] })
  }
  return byName
}

/** Says whether a mark was left. */
async function perform(context: EntriesContext, task: Task): Promise<boolean> {
  const { part, definition, place, partitionKey, rowKeys } = task
  if (part.kind === 'follows') {
    await follow(context, definition, part, place)
    return false
  }
  let mark = false
  for (let at = 0; at < rowKeys.length; at += entitiesAtOnce) {
    const entities = rowKeys.slice(at, at + entitiesAtOnce).map((rowKey) => ({ partitionKey, rowKey }))
    mark = (await settle(context, definition, part, place, entities)).mark
  }
  return mark
}

// ---------------------------------------------------------------- and what is done

/** Another relay may have been faster with some of them: then each by itself. */
async function removeAll(
  context: EntriesContext,
  jobs: readonly Job[],
  hasMark: (task: string) => boolean,
): Promise<void> {
  const { rows } = context
  // The last entry that names a place remembers its mark; once is enough.
  const isLast = (job: Job, place: Place): boolean =>
    job === jobs.findLast(({ entry }) => entry.places.some((each) => isSamePlace(each, place)))
  const removals = jobs.map((job) => {
    const marks = job.tasks.filter(({ name, place }) => hasMark(name) && isLast(job, place))
    return removal(
      context,
      job,
      marks.map(({ place }) => place),
    )
  })
  for (let at = 0; at < removals.length; at += removalsAtOnce) {
    const some = removals.slice(at, at + removalsAtOnce)
    const commit = await rows.commit(some.flat())
    if (commit.kind === 'rejected') for (const each of some) await rows.commit(each)
  }
}

function removal(
  { clock, graceMs }: EntriesContext,
  { row, entry }: Job,
  marks: readonly Place[],
): readonly Step[] {
  const { partitionKey, rowKey, etag } = row
  const of = `${entry.definition}.outbox`
  const gone: Step = { kind: 'delete', of, partitionKey, rowKey, etag }
  if (marks.length === 0) return [gone]
  const due = Instant.ofTicks(clock().ticks + BigInt(graceMs) * 10_000n)
  const key = timedKey(clearPrefix, due, idOf(entryPrefix, rowKey))
  const cells = entryRow({ definition: entry.definition, entities: [], places: marks })
  return [gone, { kind: 'insert', of, partitionKey, rowKey: key, row: cells }]
}

const placesAtOnce = 8
/** So that a list that loses as many of them from as many rows is still one transaction. */
const entitiesAtOnce = 32
/** Two steps each, of the hundred a transaction takes. */
const removalsAtOnce = 50

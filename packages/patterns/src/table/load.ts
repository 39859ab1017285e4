/** Bulk writes: grouped by partition into transactions, several at a time, with a result for each entity. */
import type { Definition } from '../definition/entity.ts'
import { mapConcurrently } from '../map-concurrently.ts'
import { PatternsError } from '../patterns-error.ts'
import { limits } from '../row/limits.ts'
import { write, type WriteContext } from '../write/execute.ts'
import type { Intent } from '../write/intent.ts'
import { keyed } from '../write/own-row.ts'
import { changeOf, complete, stepBytes, stepsOf } from '../write/plan.ts'

export interface LoadOptions {
  /** `insert` fails for an entity that is there already. */
  readonly mode?: 'insert' | 'upsert'
  /** Transactions on their way at a time. */
  readonly concurrency?: number
  readonly onProgress?: (progress: LoadProgress) => void
}

export interface LoadProgress {
  readonly written: number
  readonly failed: number
}

export type LoadResult<E> =
  | { readonly entity: E; readonly etag: string | undefined; readonly error?: undefined }
  | { readonly entity: E; readonly error: unknown }

/**
 * An entity that is refused does not take others with it: its group is halved until it stands alone. An entity given
 * twice may end as either.
 */
export async function* load<E extends object>(
  context: WriteContext,
  definition: Definition,
  entities: Iterable<E> | AsyncIterable<E>,
  { mode = 'insert', concurrency = 8, onProgress }: LoadOptions = {},
): AsyncGenerator<LoadResult<E>> {
  const intentOf = (entity: E): Intent => ({ kind: mode, definition, entity })
  const groups = groupsOf(context, entities, intentOf)
  let [written, failed] = [0, 0]
  for await (const results of mapConcurrently(groups, concurrency, (group) => writeGroup(context, group))) {
    for (const result of results) {
      if ('error' in result) failed += 1
      else written += 1
      yield result
    }
    onProgress?.({ written, failed })
  }
}

interface Member<E> {
  readonly entity: E
  readonly intent: Intent
}

type Group<E> = readonly Member<E>[]

/** An entity that fits no row at all is a group of its own, and refused when it is written. */
async function* groupsOf<E extends object>(
  context: WriteContext,
  entities: Iterable<E> | AsyncIterable<E>,
  intentOf: (entity: E) => Intent,
): AsyncGenerator<Group<E>> {
  const open = new Map<string, { members: Member<E>[]; steps: number; bytes: number }>()
  let held = 0
  for await (const entity of entities) {
    const member = { entity, intent: intentOf(entity) }
    const cost = costOf(context, member.intent)
    if (cost === undefined) {
      yield [member]
      continue
    }
    const group = open.get(cost.partitionKey) ?? { members: [], steps: 0, bytes: 0 }
    const full =
      group.steps + cost.steps > limits.transactionStepsMax ||
      group.bytes + cost.bytes > limits.transactionBytesMax
    if (full && group.members.length > 0) {
      open.delete(cost.partitionKey)
      held -= group.members.length
      yield group.members
    }
    const next = full ? { members: [], steps: 0, bytes: 0 } : group
    next.members.push(member)
    next.steps += cost.steps
    next.bytes += cost.bytes
    open.set(cost.partitionKey, next)
    held += 1
    if (held < heldMax) continue
    const [partitionKey, oldest] = open.entries().next().value as [string, { members: Member<E>[] }]
    open.delete(partitionKey)
    held -= oldest.members.length
    yield oldest.members
  }
  for (const { members } of open.values()) yield members
}

/** Entities waiting for company, so that an endless load of many partitions stays within memory. */
const heldMax = 10_000

/** At most: as an insert, and one more step for each facet that may have to remove something old. */
function costOf(
  context: WriteContext,
  intent: Intent,
): { readonly partitionKey: string; readonly steps: number; readonly bytes: number } | undefined {
  try {
    const wanted = complete({ ...intent, kind: 'insert' } as Intent, context)
    const facets = context.facetsOf(intent.definition)
    const steps = stepsOf(changeOf(wanted, 'unread', context), facets, [])
    const removals = intent.kind === 'insert' ? 0 : facets.length - 1
    const { partitionKey } = keyed(intent.definition, 'values' in wanted ? (wanted.values ?? {}) : {})
    const bytes = steps.reduce((sum, step) => sum + stepBytes(step), 0)
    return { partitionKey, steps: steps.length + removals, bytes }
  } catch {
    return undefined
  }
}

async function writeGroup<E>(context: WriteContext, group: Group<E>): Promise<readonly LoadResult<E>[]> {
  try {
    const written = await write(
      context,
      group.map(({ intent }) => intent),
    )
    return group.map(({ entity }, index) => ({ entity, etag: written[index]?.etag }))
  } catch (error) {
    if (group.length === 1 || !isOfOneEntity(error)) return group.map(({ entity }) => ({ entity, error }))
    const middle = group.length >> 1
    return [
      ...(await writeGroup(context, group.slice(0, middle))),
      ...(await writeGroup(context, group.slice(middle))),
    ]
  }
}

/** A lost connection would be lost for each half as well. */
function isOfOneEntity(error: unknown): boolean {
  return error instanceof PatternsError && error.code !== 'OutcomeUnknown'
}

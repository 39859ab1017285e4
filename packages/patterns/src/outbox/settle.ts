/**
 * Sets one place right, however many relays try at once and wherever they die.
 *
 *   1  read what is at the place
 *   2  read the entities that have a say in it
 *   3  write the place under the ETag of 1, or as new if nothing was there
 *
 * The order is the whole of it. If an entity changes between 2 and 3, its change left an entry; whoever sees to that
 * entry writes the place too, and does so after the change. If that write comes before 3, the ETag of 1 no longer
 * holds and 3 is refused; if it comes after 3, it puts the place right. This needs every attempt to write, also where
 * nothing is to be changed, and a mark where nothing is to be shown: see gone.ts.
 */
import { type Rows } from '../client/rows.ts'
import type { Definition } from '../definition/entity.ts'
import { PatternsError } from '../patterns-error.ts'
import { decodeEntity, ownLayout } from '../row/codec.ts'
import type { StoredRow } from '../row/row.ts'
import { waitBefore } from '../write/backoff.ts'
import { openRow, readNeed, sealStep, type WriteContext } from '../write/execute.ts'
import type { Step } from '../write/step.ts'
import type { Claim, Elsewhere, EntityPlace, Place } from './elsewhere.ts'
import { isGone, leavesMark } from './gone.ts'
import { isSamePlace } from './outbox.ts'

export interface SettleContext extends Pick<WriteContext, 'rows' | 'seals' | 'backoff' | 'rowsAt'> {
  /** A relay that took longer from 1 to 3 begins again: marks may have been cleared away meanwhile. */
  readonly attemptMsMax: number
}

/** Says whether a mark was left, which must be cleared away later. */
export async function settle(
  context: SettleContext,
  definition: Definition,
  part: Elsewhere & { readonly kind: 'settles' },
  place: Place,
  entities: readonly EntityPlace[],
): Promise<{ readonly mark: boolean }> {
  const rows = context.rowsAt(part.destination)
  const steps = await untilCommitted(context, rows, definition, async () => {
    const found = await readNeed(rows, place.partitionKey, part.needs(place))
    const claims = await Promise.all(
      entities.map((entity) => claimOf(context, definition, part, place, entity)),
    )
    return part.steps(place, found, claims)
  })
  return { mark: steps.some(leavesMark) }
}

/** Each of those who show the entity at the place reads it again. */
export async function follow(
  context: SettleContext,
  definition: Definition,
  part: Elsewhere & { readonly kind: 'follows' },
  place: Place,
): Promise<void> {
  const { rows } = context
  const need = part.links(place)
  const links = need && (await readNeed(rows, place.partitionKey, need))
  const followers = links ? links.filter((link) => !isGone(link)).map(part.followerOf) : [place]
  // Followers are of other types, which have nothing sealed.
  const unsealed = { ...context, seals: [] }
  for (const { partitionKey, rowKey } of followers) {
    await untilCommitted(unsealed, rows, definition, async () => {
      const follower = await rows.get(partitionKey, rowKey)
      const from = follower && part.sourceOf(follower)
      if (follower === undefined || from === undefined) return []
      return part.steps(follower, await rows.get(from.partitionKey, from.rowKey))
    })
  }
}

/** How many marks it cleared away; undefined if one is there that must stay for a while. */
export async function clear(
  context: SettleContext,
  part: Elsewhere & { readonly kind: 'settles' },
  place: Place,
  isOld: (mark: StoredRow) => boolean,
): Promise<number | undefined> {
  const rows = context.rowsAt(part.destination)
  const marks = (await readNeed(rows, place.partitionKey, part.needs(place))).filter(isGone)
  if (!marks.every(isOld)) return undefined
  let cleared = 0
  for (const { partitionKey, rowKey, etag } of marks) {
    // Refused, it is no longer a mark or no longer there.
    const commit = await rows.commit([{ kind: 'delete', of: place.label, partitionKey, rowKey, etag }])
    if (commit.kind === 'committed') cleared += 1
  }
  return cleared
}

async function untilCommitted(
  context: SettleContext,
  rows: Rows,
  definition: Definition,
  plan: () => Promise<readonly Step[]>,
): Promise<readonly Step[]> {
  for (let attempt = 1; ; attempt++) {
    const began = performance.now()
    const planned = await plan()
    if (planned.length === 0) return planned
    const steps = await Promise.all(
      planned.map((step) => sealStep(rows.table, context.seals, definition, step)),
    )
    const inTime = performance.now() - began <= context.attemptMsMax
    const commit = inTime ? await rows.commit(steps) : undefined
    if (commit?.kind === 'committed') return steps
    if (attempt >= context.backoff.attemptsMax) {
      const [{ of, partitionKey, rowKey }] = steps as [Step]
      throw new PatternsError('Changed', `${of} at (${partitionKey}, ${rowKey}): others were always faster`, {
        cause: commit?.cause,
      })
    }
    await waitBefore(attempt, context.backoff)
  }
}

async function claimOf(
  context: SettleContext,
  definition: Definition,
  part: Elsewhere,
  place: Place,
  entity: EntityPlace,
): Promise<Claim> {
  const stored = await context.rows.get(entity.partitionKey, entity.rowKey)
  const opened = stored && (await openRow(context, definition, stored))
  if (opened === undefined) return { entity, shown: undefined }
  const values = decodeEntity(definition, ownLayout(definition), opened)
  return { entity, shown: part.shown(values).find((each) => isSamePlace(each, place)) }
}

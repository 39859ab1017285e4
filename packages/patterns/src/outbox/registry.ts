/**
 * Which partitions may have entries, so that a relay need not look through the table for them.
 *
 * A writer registers the partition before it commits an entry there, and trusts that registration for a while, so a
 * partition that is written all the time costs one more request every few minutes. A relay takes a registration away
 * when the partition has no entries left and the registration is older than any writer would still trust.
 *
 * REQUIRES: the clocks of relays and service differ by less than `forgetMs - trustMs`, and no request is under way for
 * so long. Where that cannot be promised, `sweep` finds what was overlooked by looking through the table.
 */
import type { Rows } from '../client/rows.ts'
import { allOf, beginsWith, compare, type Filter } from '../filter/filter.ts'
import type { StoredRow } from '../row/row.ts'
import type { Step } from '../write/step.ts'
import { entryPrefix, outboxPrefix, registeredPrefix, registryKey, registryPartition } from './keys.ts'

/** How long a writer relies on its registration, and how old one must be to be taken away. */
export const trustMs = 5 * 60_000
export const forgetMs = 15 * 60_000

const trustedMax = 10_000

export interface Registration {
  readonly partitionKey: string
  readonly row: StoredRow
}

/** What a writer calls before it commits. `nowMs` never goes back. */
export function openAnnouncer(
  rows: Rows,
  nowMs: () => number = () => performance.now(),
): (steps: readonly Step[]) => Promise<void> {
  const trusted = new Map<string, number>()
  return announce

  async function announce(steps: readonly Step[]): Promise<void> {
    const entry = steps.find(({ rowKey }) => rowKey.startsWith(entryPrefix))
    if (entry === undefined) return
    const { partitionKey } = entry
    const since = trusted.get(partitionKey)
    const now = nowMs()
    if (since !== undefined && now - since < trustMs) return
    await register(rows, partitionKey)
    if (trusted.size >= trustedMax) trusted.clear()
    trusted.set(partitionKey, now)
  }
}

export async function register(rows: Rows, partitionKey: string): Promise<void> {
  await rows.commit([
    {
      kind: 'replace',
      of: 'outbox registry',
      partitionKey: registryPartition,
      rowKey: registryKey(partitionKey),
      row: { outboxPartition: { type: 'String', value: partitionKey } },
      etag: undefined,
    },
  ])
}

export async function* registrations(rows: Rows): AsyncGenerator<Registration> {
  const filter = allOf([
    compare('PartitionKey', 'eq', { type: 'String', value: registryPartition }),
    beginsWith('RowKey', registeredPrefix),
  ])
  for await (const row of everyRow(rows, filter)) {
    yield { partitionKey: String(row.cells['outboxPartition']?.value), row }
  }
}

/** Says nothing if it was renewed meanwhile: then it must stay. */
export async function forget(rows: Rows, { row }: Registration): Promise<void> {
  const { partitionKey, rowKey, etag } = row
  await rows.commit([{ kind: 'delete', of: 'outbox registry', partitionKey, rowKey, etag }])
}

/** The whole table is looked through: every partition with an entry is registered again. */
export async function registerAgain(rows: Rows): Promise<number> {
  let last: string | undefined
  let found = 0
  for await (const { partitionKey } of everyRow(rows, beginsWith('RowKey', outboxPrefix), [])) {
    if (partitionKey === last || partitionKey === registryPartition) continue
    last = partitionKey
    found += 1
    await register(rows, partitionKey)
  }
  return found
}

export async function* everyRow(
  rows: Rows,
  filter: Filter | undefined,
  select?: readonly string[],
): AsyncGenerator<StoredRow> {
  let token: string | undefined
  do {
    const page = await rows.page({ filter, select }, { size: 1000, token })
    yield* page.rows
    token = page.token
  } while (token !== undefined)
}

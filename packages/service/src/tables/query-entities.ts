import type { KeyPosition } from '../model/keys.ts'
import type { TableId } from '../model/table.ts'
import type { Plan } from '../query/plan-filter.ts'
import { type Page, pageBudgets, type Realism, readPage, type Take } from '../query/read-page.ts'
import type { Store } from '../store/store.ts'

export interface EntityQuery {
  readonly plan: Plan
  readonly from: KeyPosition | undefined
  readonly top: number
  /** How long the client waits, in seconds. */
  readonly timeout: number
  readonly realism: Realism | undefined
  readonly countsDetails: boolean
}

export function queryEntities(
  store: Store,
  table: TableId,
  query: EntityQuery,
  hungUp: () => boolean,
  take: Take,
): Promise<Page> {
  const { plan, from, top, realism, countsDetails } = query
  const scanMs = Math.min(pageBudgets.scanMs, query.timeout * 1000)
  const nowMs = () => performance.now()
  const request = { table, plan, from, top, nowMs, budgets: { scanMs }, hungUp, realism, countsDetails }
  return readPage(store, request, take)
}

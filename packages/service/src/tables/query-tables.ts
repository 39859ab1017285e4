import { type AccountName, catalogue, type TableName } from '../model/table.ts'
import type { Filter } from '../query/filter.ts'
import { planTables } from '../query/plan-filter.ts'
import { readPage } from '../query/read-page.ts'
import { catalogueEntryOf } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

export interface TableQuery {
  readonly filter: Filter
  /** The lower-case name the page begins at. */
  readonly from: string | undefined
  readonly top: number
}

export interface TablePage {
  /** By name without regard to case, shown in the case each was created with. */
  readonly names: readonly TableName[]
  /** The lower-case name the next page begins at. */
  readonly next: string | undefined
}

export async function queryTables(
  store: Store,
  account: AccountName,
  { filter, from, top }: TableQuery,
): Promise<TablePage> {
  const names: TableName[] = []
  const request = {
    table: catalogue,
    plan: planTables(filter, account),
    from: from === undefined ? undefined : { partition: account, row: from },
    top,
    nowMs: () => performance.now(),
  }
  const page = await readPage(store, request, (record) => {
    names.push(catalogueEntryOf(record).name)
    return 0
  })
  return { names, next: page.next?.row }
}

import { wholePartition } from '../model/keys.ts'
import { type AccountName, catalogue, partitionOfAccount, type TableName } from '../model/table.ts'
import { catalogueEntryOf } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

export interface TablePage {
  /** By name without regard to case, shown in the case each was created with. */
  readonly names: readonly TableName[]
  /** The lower-case name the next page begins at. */
  readonly next: string | undefined
}

export async function queryTables(
  store: Store,
  account: AccountName,
  page: { readonly from: string; readonly rowsMax: number },
): Promise<TablePage> {
  const partition = partitionOfAccount(account)
  const names: TableName[] = []
  let next: string | undefined
  const range = { from: { partition, row: page.from }, until: wholePartition(partition).until }
  await store.scan(catalogue, [range], (record) => {
    const { name } = catalogueEntryOf(record)
    if (names.length === page.rowsMax) {
      next = name.toLowerCase()
      return 'stop'
    }
    names.push(name)
    return 'next'
  })
  return { names, next }
}

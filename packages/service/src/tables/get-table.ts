import { Fault } from '../model/faults.ts'
import type { AccountName, TableName } from '../model/table.ts'
import { findTable } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

/** The name in the case it was created with. */
export async function getTable(store: Store, account: AccountName, name: TableName): Promise<TableName> {
  const entry = await findTable(store, account, name)
  if (entry === undefined) throw new Fault('ResourceNotFound')
  return entry.name
}

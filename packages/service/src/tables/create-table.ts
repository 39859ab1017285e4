import { Fault } from '../model/faults.ts'
import { propertiesOf } from '../model/record.ts'
import { type AccountName, deletions, parseTableName, type TableName } from '../model/table.ts'
import type { Ticks } from '../model/ticks.ts'
import { catalogueKey } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

/** `name` is what the body says: judging it is part of carrying the operation out. */
export async function createTable(
  store: Store,
  account: AccountName,
  name: string | undefined,
  now: Ticks,
): Promise<TableName> {
  if (name === undefined) throw new Fault('PropertiesNeedValue')
  const table = parseTableName(name)
  if (await isBeingDeleted(store, account, table, now)) throw new Fault('TableBeingDeleted')
  if ((await store.create(account, table)) === undefined) throw new Fault('TableAlreadyExists')
  return table
}

/** Delete Table leaves a note while a name may not be used again; see delete-table.ts. */
async function isBeingDeleted(
  store: Store,
  account: AccountName,
  name: TableName,
  now: Ticks,
): Promise<boolean> {
  const note = await store.get(deletions, catalogueKey(account, name))
  if (note === undefined) return false
  const until = propertiesOf(note).find((property) => property.name === 'Until')?.value
  return until?.type === 'Edm.DateTime' && now < until.value
}

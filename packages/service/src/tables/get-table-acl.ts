import type { AccessPolicy } from '../model/access-policy.ts'
import { Fault } from '../model/faults.ts'
import type { AccountName, TableName } from '../model/table.ts'
import { findPolicies } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

/** In the order they were set. */
export async function getTableAcl(
  store: Store,
  account: AccountName,
  name: TableName,
): Promise<readonly AccessPolicy[]> {
  const policies = await findPolicies(store, account, name)
  if (policies === undefined) throw new Fault('TableNotFound')
  return policies
}

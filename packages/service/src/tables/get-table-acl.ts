import type { AccessPolicy } from '../model/access-policy.ts'
import { Fault } from '../model/faults.ts'
import { type EntityRecord, propertiesOf } from '../model/record.ts'
import { type AccountName, catalogue, type TableName } from '../model/table.ts'
import { catalogueKey } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

/** In the order they were set. */
export async function getTableAcl(
  store: Store,
  account: AccountName,
  name: TableName,
): Promise<AccessPolicy[]> {
  const record = await store.get(catalogue, catalogueKey(account, name))
  if (record === undefined) throw new Fault('TableNotFound')
  return accessPoliciesOf(record)
}

/** The policies in a table's catalogue row; see set-table-acl.ts. */
export function accessPoliciesOf(record: EntityRecord): AccessPolicy[] {
  const value = propertiesOf(record).find((property) => property.name === 'AccessPolicies')?.value
  if (value?.type !== 'Edm.String') return []
  const stored = JSON.parse(value.value) as StoredPolicy[]
  return stored.map(({ id, start, expiry, permission }) => ({ id, start, expiry, permission }))
}

type StoredPolicy = Pick<AccessPolicy, 'id'> & Partial<AccessPolicy>

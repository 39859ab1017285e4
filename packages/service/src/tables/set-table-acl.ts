import type { AccessPolicy } from '../model/access-policy.ts'
import { Fault } from '../model/faults.ts'
import { encodeContent, keysText } from '../model/content.ts'
import { type AccountName, catalogue, type TableName } from '../model/table.ts'
import { catalogueKey } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

/** Replaces the whole list. It lives in the table's catalogue row, and so ends with the table. */
export async function setTableAcl(
  store: Store,
  account: AccountName,
  name: TableName,
  policies: readonly AccessPolicy[],
): Promise<void> {
  const key = catalogueKey(account, name)
  const value = JSON.stringify(policies)
  const outcome = await store.commit(catalogue, key.partition, [
    {
      kind: 'merge',
      row: key.row,
      when: { kind: 'present' },
      keys: keysText(key),
      content: encodeContent([{ name: 'AccessPolicies', value: { type: 'Edm.String', value } }]),
    },
  ])
  if (outcome.kind !== 'committed') throw new Fault('TableNotFound')
}

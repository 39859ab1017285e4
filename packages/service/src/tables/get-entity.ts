import { Fault } from '../model/faults.ts'
import type { EntityKey } from '../model/keys.ts'
import type { EntityRecord } from '../model/record.ts'
import type { TableId } from '../model/table.ts'
import type { Store } from '../store/store.ts'

export async function getEntity(store: Store, table: TableId, key: EntityKey): Promise<EntityRecord> {
  const record = await store.get(table, key)
  if (record === undefined) throw new Fault('ResourceNotFound')
  return record
}

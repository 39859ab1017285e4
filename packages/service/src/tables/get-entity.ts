import { Fault } from '../model/faults.ts'
import type { EntityKey } from '../model/keys.ts'
import type { EntityRecord } from '../model/record.ts'
import { type Soon, soon } from '../model/soon.ts'
import type { TableId } from '../model/table.ts'
import type { Store } from '../store/store.ts'

export function getEntity(store: Store, table: TableId, key: EntityKey): Soon<EntityRecord> {
  return soon(store.get(table, key), (record) => {
    if (record === undefined) throw new Fault('ResourceNotFound')
    return record
  })
}

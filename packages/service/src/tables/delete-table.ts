import { Fault } from '../model/faults.ts'
import { encodeContent, keysText } from '../model/content.ts'
import { type AccountName, deletions, type TableName } from '../model/table.ts'
import type { Ticks } from '../model/ticks.ts'
import { catalogueKey, findTable } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'

/** Until when a deleted table's name is refused with TableBeingDeleted; undefined frees it at once. */
export type NameFreeAt = Ticks | undefined

export async function deleteTable(
  store: Store,
  account: AccountName,
  name: TableName,
  nameFreeAt: NameFreeAt,
): Promise<void> {
  if (nameFreeAt !== undefined) {
    // Looked for first: a name that no table has is not to be taken.
    if ((await findTable(store, account, name)) === undefined) throw new Fault('ResourceNotFound')
    await noteDeletion(store, account, name, nameFreeAt)
  }
  if (!(await store.drop(account, name))) throw new Fault('ResourceNotFound')
}

/** Written first: were it second, a crash in between would free the name too early. */
async function noteDeletion(
  store: Store,
  account: AccountName,
  name: TableName,
  until: Ticks,
): Promise<void> {
  const key = catalogueKey(account, name)
  await store.commit(deletions, key.partition, [
    {
      kind: 'put',
      row: key.row,
      when: { kind: 'any' },
      keys: keysText(key),
      content: encodeContent([{ name: 'Until', value: { type: 'Edm.DateTime', value: until } }]),
    },
  ])
}

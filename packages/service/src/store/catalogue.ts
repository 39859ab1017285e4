/** Catalogue rows: which tables an account has. Shared by all stores; read like any other table. */
import { strict as assert } from 'node:assert'
import { encodeContent, type EntityRecord, keysText, propertiesOf } from '../model/record.ts'
import type { EntityKey } from '../model/keys.ts'
import type { Change } from '../model/mutation.ts'
import {
  type AccountName,
  catalogue,
  partitionOfAccount,
  rowOfTable,
  type TableId,
  type TableName,
} from '../model/table.ts'
import type { Store } from './store.ts'

export interface CatalogueEntry {
  readonly id: TableId
  /** In the case it was created with. */
  readonly name: TableName
}

export function catalogueKey(account: AccountName, name: TableName): EntityKey {
  return { partition: partitionOfAccount(account), row: rowOfTable(name) }
}

export function newCatalogueEntry(account: AccountName, name: TableName, id: TableId): Change {
  return {
    kind: 'put',
    when: { kind: 'absent' },
    keys: keysText(catalogueKey(account, name)),
    content: encodeContent([
      { name: 'TableName', value: { type: 'Edm.String', value: name } },
      { name: 'TableId', value: { type: 'Edm.Int64', value: BigInt(id) } },
    ]),
  }
}

export function catalogueEntryOf(record: EntityRecord): CatalogueEntry {
  let id: TableId | undefined
  let name: TableName | undefined
  for (const property of propertiesOf(record)) {
    if (property.name === 'TableId') id = Number(property.value.value) as TableId
    if (property.name === 'TableName') name = property.value.value as TableName
  }
  assert(id !== undefined && name !== undefined, 'a catalogue row lacks its id or name')
  return { id, name }
}

export async function findTable(
  store: Store,
  account: AccountName,
  name: TableName,
): Promise<CatalogueEntry | undefined> {
  const record = await store.get(catalogue, catalogueKey(account, name))
  return record === undefined ? undefined : catalogueEntryOf(record)
}

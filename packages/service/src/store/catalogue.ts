/** Catalogue rows: which tables an account has. Shared by all stores; read like any other table. */
import { strict as assert } from 'node:assert'
import type { AccessPolicy } from '../model/access-policy.ts'
import { encodeContent, keysText } from '../model/content.ts'
import { type EntityRecord, type Member, membersOf, propertiesOf } from '../model/record.ts'
import type { EntityKey } from '../model/keys.ts'
import type { Change } from '../model/mutation.ts'
import { type Soon, soon } from '../model/soon.ts'
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

/** Both values are cut out of the text without parsing it. */
export function catalogueEntryOf(record: EntityRecord): CatalogueEntry {
  let id: string | undefined
  let name: string | undefined
  for (const member of membersOf(record)) {
    if (member.name === 'TableId') id = quoted(record, member)
    if (member.name === 'TableName') name = quoted(record, member)
  }
  assert(id !== undefined && name !== undefined, 'a catalogue row lacks its id or name')
  return { id: Number(id) as TableId, name: name as TableName }
}

/** Letters and digits need no unescaping. */
function quoted(record: EntityRecord, { valueFrom, until }: Member): string {
  return record.toString('latin1', valueFrom + 1, until - 1)
}

export function findTable(
  store: Store,
  account: AccountName,
  name: TableName,
): Soon<CatalogueEntry | undefined> {
  return soon(store.get(catalogue, catalogueKey(account, name)), entryOf)
}

function entryOf(record: EntityRecord | undefined): CatalogueEntry | undefined {
  if (record === undefined) return undefined
  // Every request looks for its table, and mostly finds what the one before it found.
  if (!lastFound?.record.equals(record)) lastFound = { record, entry: catalogueEntryOf(record) }
  return lastFound.entry
}

let lastFound: { readonly record: EntityRecord; readonly entry: CatalogueEntry } | undefined

/** The policies of a table, in the order they were set; undefined if there is no such table. */
export async function findPolicies(
  store: Store,
  account: AccountName,
  name: TableName,
): Promise<readonly AccessPolicy[] | undefined> {
  const record = await store.get(catalogue, catalogueKey(account, name))
  return record === undefined ? undefined : policiesOf(record)
}

/** The property AccessPolicies of a catalogue row is JSON: `[{"id":…,"start":…,"expiry":…,"permission":…}]`. */
export function policiesOf(record: EntityRecord): readonly AccessPolicy[] {
  const stored = propertiesOf(record).find((property) => property.name === 'AccessPolicies')?.value
  if (stored === undefined) return []
  assert(stored.type === 'Edm.String', 'stored policies are text')
  const policies = JSON.parse(stored.value) as readonly Partial<Record<keyof AccessPolicy, string>>[]
  return policies.map(({ id = '', start, expiry, permission }) => ({ id, start, expiry, permission }))
}

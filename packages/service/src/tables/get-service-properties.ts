import type { EntityKey, RowKey } from '../model/keys.ts'
import { type EntityRecord, propertiesOf } from '../model/record.ts'
import { defaultServiceProperties, type ServiceProperties } from '../model/service-properties.ts'
import type { Soon } from '../model/soon.ts'
import { type AccountName, partitionOfAccount, serviceSettings } from '../model/table.ts'
import type { Store } from '../store/store.ts'

export async function getServiceProperties(store: Store, account: AccountName): Promise<ServiceProperties> {
  return servicePropertiesOf(await readServiceSettings(store, account))
}

/** The row that holds an account's settings; undefined while it never set any. */
export function readServiceSettings(store: Store, account: AccountName): Soon<EntityRecord | undefined> {
  return store.get(serviceSettings, serviceSettingsKey(account))
}

/** Each setting is the JSON of its value, under its own name; what is missing is at its default. */
export function servicePropertiesOf(record: EntityRecord | undefined): ServiceProperties {
  const stored: Record<string, unknown> = {}
  for (const { name, value } of record === undefined ? [] : propertiesOf(record)) {
    if (value.type === 'Edm.String') stored[name] = JSON.parse(value.value)
  }
  return { ...defaultServiceProperties, ...stored }
}

export function serviceSettingsKey(account: AccountName): EntityKey {
  return { partition: partitionOfAccount(account), row: 'tables' as RowKey }
}

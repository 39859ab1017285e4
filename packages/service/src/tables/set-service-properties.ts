import { strict as assert } from 'node:assert'
import { byName, encodeContent, keysText } from '../model/content.ts'
import type { ServiceProperties } from '../model/service-properties.ts'
import { type AccountName, serviceSettings } from '../model/table.ts'
import type { Store } from '../store/store.ts'
import { serviceSettingsKey } from './get-service-properties.ts'

/** Leaves the settings that are not given as they were: a merge, so that two callers do not undo each other. */
export async function setServiceProperties(
  store: Store,
  account: AccountName,
  given: Partial<ServiceProperties>,
): Promise<void> {
  const key = serviceSettingsKey(account)
  const properties = Object.entries(given)
    .map(([name, value]) => ({ name, value: { type: 'Edm.String', value: JSON.stringify(value) } as const }))
    .toSorted(byName)
  const outcome = await store.commit(serviceSettings, key.partition, [
    {
      kind: 'merge',
      row: key.row,
      when: { kind: 'any' },
      keys: keysText(key),
      content: encodeContent(properties),
    },
  ])
  assert(outcome.kind === 'committed', 'settings are written under no condition')
}

/** Operations on the service and on a table's policies: XML in, XML out, whatever `Accept` says. */
import type { AccessPolicy } from '../model/access-policy.ts'
import { Fault } from '../model/faults.ts'
import type { ServiceProperties } from '../model/service-properties.ts'
import { unixMsOfTicks } from '../model/ticks.ts'
import { getServiceProperties } from '../tables/get-service-properties.ts'
import { getTableAcl } from '../tables/get-table-acl.ts'
import { setServiceProperties } from '../tables/set-service-properties.ts'
import { setTableAcl } from '../tables/set-table-acl.ts'
import { accessPoliciesXml, readAccessPolicies } from './access-policies-xml.ts'
import type { CollectionRoute, ServiceRoute } from './route.ts'
import { readServiceProperties, servicePropertiesXml } from './service-properties-xml.ts'
import type { Steps } from './steps.ts'
import { element, textElement, xmlReply } from './xml.ts'

export const getTableAclSteps: Steps<CollectionRoute, void, readonly AccessPolicy[]> = {
  writes: false,
  preferences: [],
  decode: () => undefined,
  execute: (_input, { store, account, route }) => getTableAcl(store, account, route.table),
  encode: (policies) => xmlReply(accessPoliciesXml(policies)),
}

export const setTableAclSteps: Steps<CollectionRoute, readonly AccessPolicy[], void> = {
  writes: true,
  preferences: [],
  decode: ({ body }) => readAccessPolicies(body),
  execute: (policies, { store, account, route }) => setTableAcl(store, account, route.table, policies),
  encode: () => ({ status: 204 }),
}

export const getServicePropertiesSteps: Steps<ServiceRoute, void, ServiceProperties> = {
  writes: false,
  preferences: [],
  decode: () => undefined,
  execute: (_input, { store, account }) => getServiceProperties(store, account),
  encode: (properties) => xmlReply(servicePropertiesXml(properties)),
}

export const setServicePropertiesSteps: Steps<ServiceRoute, Partial<ServiceProperties>, void> = {
  writes: true,
  preferences: [],
  decode: ({ body }) => readServiceProperties(body),
  async execute(given, { store, account, cors }) {
    await setServiceProperties(store, account, given)
    cors.forget(account)
  },
  encode: () => ({ status: 202 }),
}

/** The secondary is this very service, so it has always just been synchronised. */
export const getServiceStatsSteps: Steps<ServiceRoute, void, string> = {
  writes: false,
  preferences: [],
  decode({ target, statsOnPrimary }) {
    if (!target.secondary && !statsOnPrimary) throw new Fault('InvalidQueryParameterValue')
  },
  execute: async (_input, { clock }) => new Date(unixMsOfTicks(clock())).toUTCString(),
  encode(lastSync) {
    const replication = textElement('Status', 'live') + textElement('LastSyncTime', lastSync)
    return xmlReply(element('StorageServiceStats', element('GeoReplication', replication)))
  },
}

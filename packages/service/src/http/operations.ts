/** Every operation and its steps; the best first page to read. */
import {
  deleteEntitySteps,
  getEntitySteps,
  insertEntitySteps,
  mergeEntitySteps,
  replaceEntitySteps,
} from './entity-operations.ts'
import { entityGroupSteps } from './entity-group.ts'
import { queryEntitiesSteps } from './query-operations.ts'
import type { OperationKind } from './route.ts'
import {
  getServicePropertiesSteps,
  getServiceStatsSteps,
  getTableAclSteps,
  setServicePropertiesSteps,
  setTableAclSteps,
} from './service-operations.ts'
import { metadataSteps, serviceDocumentSteps } from './service-document.ts'
import type { Steps } from './steps.ts'
import { createTableSteps, deleteTableSteps, getTableSteps, queryTablesSteps } from './table-operations.ts'

// biome-ignore format: a table reads in columns
export const operations: Readonly<Record<OperationKind, Steps>> = {
  'service document':       serviceDocumentSteps,
  'metadata':               metadataSteps,
  'get service properties': getServicePropertiesSteps,
  'set service properties': setServicePropertiesSteps,
  'get service stats':      getServiceStatsSteps,
  'entity group':           entityGroupSteps,
  'query tables':           queryTablesSteps,
  'create table':           createTableSteps,
  'get table':              getTableSteps,
  'delete table':           deleteTableSteps,
  'get table acl':          getTableAclSteps,
  'set table acl':          setTableAclSteps,
  'query entities':         queryEntitiesSteps,
  'insert entity':          insertEntitySteps,
  'get entity':             getEntitySteps,
  'replace entity':         replaceEntitySteps,
  'merge entity':           mergeEntitySteps,
  'delete entity':          deleteEntitySteps,
}

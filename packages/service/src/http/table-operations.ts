/** How operations on tables are read from requests and written as answers. */
import { Fault, inputTexts } from '../model/faults.ts'
import type { TableName } from '../model/table.ts'
import type { Ticks } from '../model/ticks.ts'
import { decodeToken, encodeToken } from '../query/continuation.ts'
import { parseFilter, tableSchema } from '../query/parse-filter.ts'
import { createTable } from '../tables/create-table.ts'
import { deleteTable } from '../tables/delete-table.ts'
import { getTable } from '../tables/get-table.ts'
import { queryTables, type TablePage, type TableQuery } from '../tables/query-tables.ts'
import { placeOf } from './call.ts'
import { forbidConditions } from './conditions.ts'
import { requireJson } from './content-type.ts'
import { tableDocument, tableLink, tableList } from './entity-json.ts'
import { contentTypeOf, levelOf, type MetadataLevel } from './format.ts'
import { openJson, readMembers } from './json-reader.ts'
import { readTop, refuseUnsupportedOptions } from './options.ts'
import type { ServiceRoute, TableRoute } from './route.ts'
import type { Steps } from './steps.ts'

export const createTableSteps: Steps<ServiceRoute, string | undefined, TableName> = {
  writes: true,
  preferences: ['return-content', 'return-no-content'],
  decode(call) {
    forbidConditions(call.headers)
    requireJson(call.headers)
    if (call.preference !== 'return-no-content') levelOf(call.format)
    return readTableName(call.body)
  },
  execute: (name, { store, account, clock }) => createTable(store, account, name, clock()),
  encode(name, call) {
    const location = `${call.target.base}/${tableLink(name)}`
    const preferenceApplied = call.preference === undefined ? {} : { preferenceApplied: call.preference }
    if (call.preference === 'return-no-content') {
      return { status: 204, noCache: true, location, dataServiceId: location, ...preferenceApplied }
    }
    const level = levelOf(call.format)
    const body = tableDocument(name, level, placeOf(call, name))
    const contentType = contentTypeOf(level)
    return { status: 201, noCache: true, contentType, location, body, ...preferenceApplied }
  },
}

export const getTableSteps: Steps<TableRoute, MetadataLevel, { name: TableName; level: MetadataLevel }> = {
  writes: false,
  preferences: [],
  decode: ({ format }) => levelOf(format),
  async execute(level, { store, account, route }) {
    return { level, name: await getTable(store, account, route.name) }
  },
  encode: ({ name, level }, call) => ({
    status: 200,
    noCache: true,
    contentType: contentTypeOf(level),
    body: tableDocument(name, level, placeOf(call, name)),
  }),
}

export const deleteTableSteps: Steps<TableRoute, void, void> = {
  writes: true,
  preferences: [],
  decode: () => undefined,
  execute(_input, { store, account, route, clock, deletedNameSeconds }) {
    const nameFreeAt = deletedNameSeconds > 0 ? clock() + BigInt(deletedNameSeconds * 1e7) : undefined
    return deleteTable(store, account, route.name, nameFreeAt as Ticks | undefined)
  },
  encode: () => ({ status: 204, noCache: true }),
}

interface TableListInput extends TableQuery {
  readonly level: MetadataLevel
}

export const queryTablesSteps: Steps<
  ServiceRoute,
  TableListInput,
  { page: TablePage; level: MetadataLevel }
> = {
  writes: false,
  preferences: [],
  decode({ target, format }) {
    const { query } = target
    refuseUnsupportedOptions(query)
    const next = query.get('NextTableName')
    return {
      filter: parseFilter(query.get('$filter'), tableSchema),
      from: next === undefined ? undefined : decodeToken(next),
      top: readTop(query),
      level: levelOf(format),
    }
  },
  async execute(query, { store, account }) {
    return { page: await queryTables(store, account, query), level: query.level }
  },
  encode: ({ page, level }, call) => ({
    status: 200,
    noCache: true,
    contentType: contentTypeOf(level),
    ...(page.next === undefined
      ? {}
      : { continuation: [['x-ms-continuation-NextTableName', encodeToken(page.next)]] as const }),
    body: tableList(page.names, level, placeOf(call, 'Tables')),
  }),
}

/** The name in the body, whatever it is; undefined if there is none. */
function readTableName(body: Buffer): string | undefined {
  const named = readMembers(openJson(body)).filter(({ name }) => name === 'TableName')
  if (named.length > 1) throw new Fault('DuplicatePropertiesSpecified')
  const value = named[0]?.value
  if (value === undefined || value.kind === 'null') return undefined
  if (value.kind !== 'string') throw new Fault('InvalidInput', { text: inputTexts.conversion })
  return value.text
}

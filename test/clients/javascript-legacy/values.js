/** Values and pages that are shared with other clients and processes. */
import azure from 'azure-storage'
import { dateText, given, numberText, readValues } from '../javascript/contract.js'
import { entityOf, withPromises } from './tables.js'

const service = withPromises(azure.createTableService(given.connectionString))
const { EntityProperty } = azure.TableUtilities.entityGenerator
const pageRows = 7
const expectedTypes = new Map(readValues().map(({ name, type }) => [name, type]))

export async function writeValue(table, partition, { name, type, text }) {
  await service.insertEntity(
    table,
    entityOf(partition, name, { Value: EntityProperty(valueOf(type, text), type) }),
  )
}

/** What the client passes on as it is, where its own type does not hold every value. */
function valueOf(type, text) {
  switch (type) {
    case 'Edm.Boolean':
      return text === 'true'
    case 'Edm.Int32':
      return Number(text)
    case 'Edm.Double':
      return text.replace('INF', 'Infinity')
    case 'Edm.Binary':
      return Buffer.from(text, 'hex')
    default:
      return text
  }
}

export async function readValue(table, partition, name) {
  let found
  try {
    await service.retrieveEntity(table, partition, name, {
      // Is shown what arrived, before it is converted.
      propertyResolver(_partition, _row, property, raw, type) {
        if (property === 'Value') found = { raw, type }
        return type
      },
    })
  } catch (error) {
    if (error.statusCode === 404) return undefined
    throw error
  }
  const { raw, type } = found
  switch (type) {
    case 'Edm.DateTime':
      return { type, text: dateText(raw) }
    case 'Edm.Binary':
      return { type, text: Buffer.from(raw, 'base64').toString('hex') }
    case 'Edm.Double':
      return { type, text: raw.replace('Infinity', 'INF') }
    case undefined:
      return untyped(raw, name)
    default:
      return { type, text: raw }
  }
}

/** The service names no type where JSON has one of its own. */
function untyped(raw, name) {
  if (typeof raw === 'boolean') return { type: 'Edm.Boolean', text: String(raw) }
  if (typeof raw === 'string') return { type: 'Edm.String', text: raw }
  return numberText(raw, expectedTypes.get(name))
}

export async function pageFirst(table) {
  const { entries, continuationToken } = await page(table, null)
  return { rows: entries.map(({ RowKey }) => RowKey._), token: JSON.stringify(continuationToken) }
}

export async function pageRest(table, token) {
  const rows = []
  for (let next = JSON.parse(token); next !== null; ) {
    const { entries, continuationToken } = await page(table, next)
    rows.push(...entries.map(({ RowKey }) => RowKey._))
    next = continuationToken
  }
  return rows
}

async function page(table, token) {
  return await service.queryEntities(table, new azure.TableQuery().top(pageRows), token)
}

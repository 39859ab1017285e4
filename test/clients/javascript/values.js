/** Values and pages that are shared with other clients and processes. */
import { TableClient } from '@azure/data-tables'
import { dateText, given, numberText, readValues } from './contract.js'

const pageRows = 7
const expectedTypes = new Map(readValues().map(({ name, type }) => [name, type]))

function open(table) {
  return TableClient.fromConnectionString(given.connectionString, table, { allowInsecureConnection: true })
}

export async function writeValue(table, partitionKey, { name, type, text }) {
  await open(table).createEntity({ partitionKey, rowKey: name, Value: valueOf(type, text) })
}

/** As the client's own type where that holds every value, else as text with a type. */
function valueOf(type, text) {
  switch (type) {
    case 'Edm.Boolean':
      return text === 'true'
    case 'Edm.Int32':
      return Number(text)
    case 'Edm.Int64':
      return BigInt(text)
    case 'Edm.Double':
      return { type: 'Double', value: text.replace('INF', 'Infinity') }
    case 'Edm.String':
      return text
    case 'Edm.Guid':
      return { type: 'Guid', value: text }
    case 'Edm.DateTime':
      return { type: 'DateTime', value: text }
    case 'Edm.Binary':
      return Uint8Array.from(Buffer.from(text, 'hex'))
    default:
      throw new Error(`unknown type ${type}`)
  }
}

export async function readValue(table, partitionKey, name) {
  const client = open(table)
  let found
  try {
    found = await client.getEntity(partitionKey, name, { disableTypeConversion: true })
  } catch (error) {
    if (error.statusCode === 404) return undefined
    throw error
  }
  const { type, value } = found.Value
  switch (type) {
    case 'DateTime':
      return { type: 'Edm.DateTime', text: dateText(value) }
    case 'Binary':
      return { type: 'Edm.Binary', text: Buffer.from(value, 'base64').toString('hex') }
    case 'Double':
    case 'Int32':
      return await readNumber(client, partitionKey, name)
    default:
      return { type: `Edm.${type}`, text: value }
  }
}

/** Only converted numbers have a sign when they are zero. */
async function readNumber(client, partitionKey, name) {
  const { Value: number } = await client.getEntity(partitionKey, name)
  return typeof number === 'string'
    ? { type: 'Edm.Double', text: number.replace('Infinity', 'INF') }
    : numberText(number, expectedTypes.get(name))
}

export async function pageFirst(table) {
  const pages = open(table).listEntities().byPage({ maxPageSize: pageRows })
  for await (const page of pages)
    return { rows: page.map(({ rowKey }) => rowKey), token: page.continuationToken }
}

export async function pageRest(table, continuationToken) {
  const rows = []
  for await (const page of open(table).listEntities().byPage({ maxPageSize: pageRows, continuationToken }))
    rows.push(...page.map(({ rowKey }) => rowKey))
  return rows
}

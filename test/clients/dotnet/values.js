/** Values and pages that are shared with other clients and processes. */
import { strict as assert } from 'node:assert'
import { send } from './answers.js'
import { readEntity, typed } from './entity-json.js'
import { get, insert, query } from './requests.js'

const pageRows = 7

export async function writeValue(table, partition, { name, type, text }) {
  const answer = await send(
    insert(table, { PartitionKey: partition, RowKey: name, Value: typed(type, text) }),
  )
  assert.equal(answer.status, 204, answer.body)
}

export async function readValue(table, partition, name) {
  const answer = await send(get(table, partition, name))
  return answer.status === 404 ? undefined : readEntity(answer.body).Value
}

export async function pageFirst(table) {
  return await page(table)
}

export async function pageRest(table, token) {
  const rows = []
  for (let next = token; next !== undefined; ) {
    const found = await page(table, next)
    rows.push(...found.rows)
    next = found.token
  }
  return rows
}

/** The client keeps both parts of a continuation in one text, with a space between them. */
async function page(table, token) {
  const [NextPartitionKey, NextRowKey] = token?.split(' ') ?? []
  const next =
    token === undefined ? {} : NextRowKey === '' ? { NextPartitionKey } : { NextPartitionKey, NextRowKey }
  const { headers, body } = await send(query(table, { $top: pageRows, ...next }))
  const rows = JSON.parse(body).value.map(({ RowKey }) => RowKey)
  const partition = headers['x-ms-continuation-nextpartitionkey']
  if (partition === undefined) return { rows }
  const row = headers['x-ms-continuation-nextrowkey'] ?? ''
  assert(!`${partition}${row}`.includes(' '), 'the client would take the space for its own')
  return { rows, token: `${partition} ${row}` }
}

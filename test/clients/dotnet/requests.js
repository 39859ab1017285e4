/** Requests, byte for byte as the client composes them. */
import { createHmac, randomUUID } from 'node:crypto'
import { given } from '../javascript/contract.js'
import { entityJson } from './entity-json.js'

export const version = '12.11.0'

const apiVersion = '2020-12-06'
const formatParameter = ['$format', 'application/json;odata=minimalmetadata']
const accepts = {
  minimal: 'application/json;odata=minimalmetadata',
  plain: 'application/json',
  xml: 'application/xml',
}

export function createTable(name) {
  return post('/Tables', entityJson({ TableName: name }))
}

export function deleteTable(name) {
  return { method: 'DELETE', path: `/Tables('${escaped(name)}')`, headers: { Accept: accepts.plain } }
}

export function queryTables(filter) {
  return {
    method: 'GET',
    path: '/Tables',
    query: [formatParameter, ['$filter', filter]],
    headers: odata(accepts.minimal),
  }
}

export function insert(table, entity) {
  return post(`/${table}`, entityJson(entity), { Prefer: 'return-no-content' })
}

export function get(table, partition, row, select) {
  const query = select === undefined ? [formatParameter] : [formatParameter, ['$select', select]]
  return { method: 'GET', path: addressOf(table, partition, row), query, headers: odata(accepts.minimal) }
}

/** `options` in the order the client has for them: $top, $select, $filter, NextPartitionKey, NextRowKey. */
export function query(table, options = {}) {
  return {
    method: 'GET',
    path: `/${table}()`,
    query: [formatParameter, ...Object.entries(options)],
    headers: odata(accepts.minimal),
  }
}

/** Without an ETag, an upsert. */
export function replace(table, entity, etag) {
  return write('PUT', table, entity, etag)
}

/** Without an ETag, an upsert. */
export function merge(table, entity, etag) {
  return write('PATCH', table, entity, etag)
}

function write(method, table, entity, etag) {
  const condition = etag === undefined ? {} : { 'If-Match': etag }
  return {
    method,
    path: addressOf(table, entity.PartitionKey, entity.RowKey),
    query: [formatParameter],
    headers: {
      'x-ms-version': apiVersion,
      DataServiceVersion: '3.0',
      ...condition,
      Accept: accepts.plain,
      'Content-Type': 'application/json',
    },
    body: entityJson(entity),
  }
}

export function remove(table, partition, row, etag = '*') {
  return {
    method: 'DELETE',
    path: addressOf(table, partition, row),
    query: [formatParameter],
    headers: {
      'x-ms-version': apiVersion,
      DataServiceVersion: '3.0',
      'If-Match': etag,
      Accept: accepts.minimal,
    },
  }
}

export function group(operations) {
  const batch = `batch_${randomUUID()}`
  const changeset = `changeset_${randomUUID()}`
  const parts = operations.map(
    (operation) =>
      `--${changeset}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n` +
      `${operation.method} ${given.url}${targetOf(operation)} HTTP/1.1\r\n` +
      headerLines({ Host: new URL(given.url).host, ...operation.headers }) +
      `\r\n${operation.body ?? ''}\r\n`,
  )
  return {
    method: 'POST',
    path: '/$batch',
    headers: {
      'x-ms-version': apiVersion,
      DataServiceVersion: '3.0',
      Accept: accepts.plain,
      'Content-Type': `multipart/mixed; boundary=${batch}`,
    },
    body:
      `--${batch}\r\nContent-Type: multipart/mixed; boundary=${changeset}\r\n\r\n` +
      `${parts.join('')}--${changeset}--\r\n\r\n--${batch}--\r\n`,
  }
}

export function getPolicies(table) {
  return { method: 'GET', path: `/${table}`, query: [['comp', 'acl']], headers: { Accept: accepts.xml } }
}

export function setPolicies(table, xml) {
  return putXml(`/${table}`, [['comp', 'acl']], xml)
}

const propertiesQuery = [
  ['restype', 'service'],
  ['comp', 'properties'],
]

export function getProperties() {
  return { method: 'GET', path: '/', query: propertiesQuery, headers: { Accept: accepts.xml } }
}

export function setProperties(xml) {
  return putXml('/', propertiesQuery, xml)
}

export function getStatistics() {
  const statistics = [
    ['restype', 'service'],
    ['comp', 'stats'],
  ]
  return { method: 'GET', path: '/', query: statistics, headers: { Accept: accepts.xml }, secondary: true }
}

/** A signature for a table, with the parameters in the client's order. */
export function tableSas(
  table,
  { permissions = '', expiry = '', identifier = '', range = ['', '', '', ''] },
) {
  const signedVersion = '2019-07-07'
  const [startPartition, startRow, endPartition, endRow] = range
  const name = table.toLowerCase()
  const text = [
    permissions,
    '',
    expiry,
    `/table/${given.account}/${name}`,
    identifier,
    '',
    '',
    signedVersion,
    ...range,
  ].join('\n')
  const parameters = [
    ['sv', signedVersion],
    ['se', expiry],
    ['si', identifier],
    ['sp', permissions],
    ['tn', table],
    ['spk', startPartition],
    ['srk', startRow],
    ['epk', endPartition],
    ['erk', endRow],
    ['sig', sign(text)],
  ]
  return parameters
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}=${escaped(value)}`)
    .join('&')
}

/** The bytes of a request, signed with the account's key unless a signature is given. */
export function bytesOf(request, signature) {
  const { host, pathname: account } = new URL(given.url)
  const path = `${account}${request.secondary ? '-secondary' : ''}${request.path}`
  const search = [...queryTexts(request), ...(signature === undefined ? [] : [signature])].join('&')
  const date = new Date().toUTCString()
  const headers = {
    Host: host,
    'x-ms-version': apiVersion,
    ...request.headers,
    'x-ms-client-request-id': randomUUID(),
    'x-ms-return-client-request-id': 'true',
    'User-Agent': `azsdk-net-Data.Tables/${version} (.NET 8.0.11; Debian GNU/Linux 12 (bookworm))`,
    ...(signature === undefined
      ? { 'x-ms-date': date, Authorization: authorization(date, path, request) }
      : {}),
    traceparent: '00-511b223c16d573404d930b5202f6c5fd-983ad9fb9895bbdc-00',
    ...(request.body === undefined ? {} : { 'Content-Length': Buffer.byteLength(request.body) }),
  }
  const target = search === '' ? path : `${path}?${search}`
  return Buffer.from(
    `${request.method} ${target} HTTP/1.1\r\n${headerLines(headers)}\r\n${request.body ?? ''}`,
  )
}

function authorization(date, path, { query: parameters = [] }) {
  const comp = parameters.find(([name]) => name === 'comp')
  const resource = `/${given.account}${path}${comp === undefined ? '' : `?comp=${comp[1]}`}`
  return `SharedKeyLite ${given.account}:${sign(`${date}\n${resource}`)}`
}

function sign(text) {
  return createHmac('sha256', Buffer.from(given.key, 'base64')).update(text, 'utf8').digest('base64')
}

function post(path, body, headers = {}) {
  return {
    method: 'POST',
    path,
    query: [formatParameter],
    headers: {
      ...odata(undefined),
      ...headers,
      Accept: accepts.minimal,
      'Content-Type': 'application/json;odata=nometadata',
    },
    body,
  }
}

function putXml(path, parameters, xml) {
  const headers = { Accept: accepts.xml, 'Content-Type': 'application/xml' }
  return { method: 'PUT', path, query: parameters, headers, body: `\uFEFF${xml}` }
}

function odata(accept) {
  const headers = { 'x-ms-version': apiVersion, DataServiceVersion: '3.0' }
  return accept === undefined ? headers : { ...headers, Accept: accept }
}

function addressOf(table, partition, row) {
  return `/${escaped(table)}(PartitionKey='${escapedKey(partition)}',RowKey='${escapedKey(row)}')`
}

function escapedKey(key) {
  return escaped(key.replaceAll("'", "''"))
}

/** Leaves only unreserved characters as they are. */
function escaped(text) {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function targetOf(request) {
  return [request.path, queryTexts(request).join('&')].filter((part) => part !== '').join('?')
}

function queryTexts({ query: parameters = [] }) {
  return parameters.map(([name, value]) => `${name}=${escaped(String(value))}`)
}

function headerLines(headers) {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

/** Requests as bytes on the wire, signed with Shared Key Lite for the development account. */
import { createHmac } from 'node:crypto'
import { createdOf, nameOf, type RowAddress } from './rows.ts'

export const account = 'devstoreaccount1'
export const table = 'bench'
// The development key is public and the same everywhere; it protects nothing.
export const accountKey = Buffer.from(
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
  'base64',
)

/** Writes requests that all carry the date it was made with: good for the fifteen minutes servers allow. */
export interface RequestWriter {
  createTable(): string
  get(address: RowAddress): string
  insert(json: string): string
  merge(address: RowAddress, json: string): string
  remove(address: RowAddress): string
  /** The filter and anything after it, percent-encoded. */
  query(parameters: string): string
  group(jsons: readonly string[]): string
}

export function requestWriter(host: string): RequestWriter {
  const date = new Date().toUTCString()
  const tablePath = `/${account}/${table}`
  const common = `Host: ${host}\r\nx-ms-date: ${date}\r\nx-ms-version: 2019-02-02\r\nDataServiceVersion: 3.0\r\nAccept: application/json;odata=minimalmetadata\r\n`
  // These paths do not vary, so neither do their signatures.
  const insertHead = headOf('POST', tablePath, `Prefer: return-no-content\r\n${jsonType}`)
  const queryHead = signed(`${tablePath}()`)
  const groupHead = headOf(
    'POST',
    `/${account}/$batch`,
    'Content-Type: multipart/mixed; boundary=batch_b\r\n',
  )
  const groupPart = `--changeset_c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPOST http://${host}${tablePath} HTTP/1.1\r\n${jsonType}Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\nPrefer: return-no-content\r\n\r\n`
  return { createTable, get, insert, merge, remove, query, group }

  function createTable(): string {
    return withBody(headOf('POST', `/${account}/Tables`, jsonType), JSON.stringify({ TableName: table }))
  }

  function get(address: RowAddress): string {
    return `${headOf('GET', entityPath(address), '')}\r\n`
  }

  function insert(json: string): string {
    return withBody(insertHead, json)
  }

  function merge(address: RowAddress, json: string): string {
    return withBody(headOf('MERGE', entityPath(address), `If-Match: *\r\n${jsonType}`), json)
  }

  function remove(address: RowAddress): string {
    return `${headOf('DELETE', entityPath(address), 'If-Match: *\r\n')}\r\n`
  }

  function query(parameters: string): string {
    // The query string is not part of what Shared Key Lite signs.
    return `GET ${tablePath}()?${parameters} HTTP/1.1\r\n${queryHead}\r\n`
  }

  function group(jsons: readonly string[]): string {
    // Joined, not added up: the runtime writes a text of many pieces much slower than one.
    const parts = jsons.join(`\r\n${groupPart}`)
    return withBody(groupHead, `${groupsLead}${groupPart}${parts}\r\n--changeset_c--\r\n--batch_b--\r\n`)
  }

  function entityPath({ partition, row }: RowAddress): string {
    return `${tablePath}(PartitionKey='${partition}',RowKey='${row}')`
  }

  function headOf(method: string, path: string, headers: string): string {
    return `${method} ${path} HTTP/1.1\r\n${signed(path)}${headers}`
  }

  function signed(path: string): string {
    return `${common}Authorization: SharedKeyLite ${account}:${signatureOf(date, path)}\r\n`
  }
}

/** The signature of a request for `path`, percent-encoded as on the wire. */
export function signatureOf(date: string, path: string): string {
  return createHmac('sha256', accountKey).update(`${date}\n/${account}${path}`).digest('base64')
}

export function partitionQuery(partition: string): string {
  return filterOf(`PartitionKey eq '${partition}'`)
}

export function rowQuery(address: RowAddress): string {
  return filterOf(isRow(address))
}

export function twoRowsQuery(one: RowAddress, other: RowAddress): string {
  return filterOf(`(${isRow(one)}) or (${isRow(other)})`)
}

/** Filters that only a look at every row can answer; each matches loaded rows alone. */
export const scanFilters = {
  'Int32 equality': { matches: 1, text: (serial) => `Serial eq ${serial}` },
  'Int32 range': { matches: 10, text: (serial) => `Serial ge ${serial} and Serial lt ${serial + 10}` },
  'DateTime range': {
    matches: 10,
    text: (serial) =>
      `Created ge datetime'${createdOf(serial)}' and Created lt datetime'${createdOf(serial + 10)}'`,
  },
  'String equality': { matches: 1, text: (serial) => `Name eq '${nameOf(serial)}'` },
} as const satisfies Record<string, { matches: number; text(firstSerial: number): string }>

export type ScanFilter = keyof typeof scanFilters

export function scanQuery(filter: ScanFilter, firstSerial: number): string {
  return filterOf(scanFilters[filter].text(firstSerial))
}

function isRow({ partition, row }: RowAddress): string {
  return `PartitionKey eq '${partition}' and RowKey eq '${row}'`
}

function filterOf(text: string): string {
  return `$filter=${text.replaceAll(' ', '%20')}`
}

/** The text by which an answer is known to hold this row. */
export function markOf(address: RowAddress): string {
  return `"RowKey":"${address.row}"`
}

const jsonType = 'Content-Type: application/json\r\n'
const groupsLead = '--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n'

function withBody(head: string, body: string): string {
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

/** Batches for tests: how to write one, a service to send it to, and how to read what comes back. */
import { strict as assert } from 'node:assert'
import { developmentAccount, parseAccounts } from '../../src/auth/accounts.ts'
import type { AnswerContext } from '../../src/http/answer.ts'
import { openCorsRules } from '../../src/http/cors.ts'
import { createHttpServer, standardPatience } from '../../src/http/server.ts'
import { everything } from '../../src/model/keys.ts'
import type { AccountName, TableId, TableName } from '../../src/model/table.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import type { Store } from '../../src/store/store.ts'
import { eachRecord } from './entities.ts'
import { openRaw, type RawAnswer, type RawRequest, requestBytes } from './raw-http.ts'

export const account = developmentAccount.name as AccountName
/** What inner URLs begin with. Nobody checks their authority, so fixtures can name it. */
export const base = `http://127.0.0.1:10002/${account}`
export const table = 'people' as TableName
export const batchTarget = `/${account}/$batch`

const json = { Accept: 'application/json;odata=minimalmetadata', 'Content-Type': 'application/json' }
export const quiet = { Prefer: 'return-no-content' }

export interface Operation {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly mime?: Readonly<Record<string, string>>
  readonly body?: string
}

type Headers = Readonly<Record<string, string>>

export function keyUrl(row: string): string {
  return `${base}/${table}(PartitionKey='p',RowKey='${encodeURIComponent(row.replaceAll("'", "''"))}')`
}

export function insert(row: string, properties: object = {}, headers: Headers = quiet): Operation {
  const body = JSON.stringify({ PartitionKey: 'p', RowKey: row, ...properties })
  return { method: 'POST', url: `${base}/${table}`, headers: { ...json, ...headers }, body }
}

export function replace(row: string, properties: object = {}, headers: Headers = {}): Operation {
  const body = JSON.stringify(properties)
  return { method: 'PUT', url: keyUrl(row), headers: { ...json, ...headers }, body }
}

export function merge(row: string, properties: object = {}, headers: Headers = {}): Operation {
  return { ...replace(row, properties, headers), method: 'MERGE' }
}

export function remove(row: string, headers: Headers = { 'If-Match': '*' }): Operation {
  return { method: 'DELETE', url: keyUrl(row), headers: { Accept: json.Accept, ...headers } }
}

export function read(row: string, headers: Headers = {}): Operation {
  return { method: 'GET', url: keyUrl(row), headers: { Accept: json.Accept, ...headers } }
}

export interface Batch {
  readonly contentType: string
  readonly body: Buffer | string
}

/** The canonical form of §11.1 of the protocol's description. */
export function changeSet(operations: readonly Operation[]): Batch {
  const parts = operations.map((operation) => `--changeset_c\r\n${partText(operation)}`).join('')
  const body = `--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n${parts}--changeset_c--\r\n--batch_b--\r\n`
  return { contentType: 'multipart/mixed; boundary=batch_b', body }
}

/** Operations that stand in no change set. */
export function direct(...operations: readonly Operation[]): Batch {
  const parts = operations.map((operation) => `--batch_b\r\n${partText(operation)}`).join('')
  return { contentType: 'multipart/mixed; boundary=batch_b', body: `${parts}--batch_b--\r\n` }
}

export function partText({ method, url, headers = {}, mime, body = '' }: Operation): string {
  const outer = mime ?? { 'Content-Type': 'application/http', 'Content-Transfer-Encoding': 'binary' }
  return `${headerText(outer)}\r\n${method} ${url} HTTP/1.1\r\n${headerText(headers)}\r\n${body}\r\n`
}

function headerText(headers: Headers): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

export function batchRequest({ contentType, body }: Batch, headers: Headers = {}): RawRequest {
  return { method: 'POST', target: batchTarget, headers: { 'Content-Type': contentType, ...headers }, body }
}

/** A service around a store of the test's own, with the table `people` in it. */
export interface TestTables {
  readonly url: string
  readonly store: Store
  readonly id: TableId
  send(request: RawRequest): Promise<RawAnswer>
  /** Sends a batch and reads its answer. */
  batch(batch: Batch): Promise<BatchAnswer>
  /** Empties the table and leaves these rows in partition `p`. */
  seed(rows: readonly string[]): Promise<void>
  close(): Promise<void>
}

export function contextOf(store: Store): AnswerContext {
  const accounts = parseAccounts(`${developmentAccount.name}:${developmentAccount.key}`)
  const credentials = { clock: systemClock(), accounts, policies: async () => undefined, bearer: undefined }
  const cors = openCorsRules(store)
  return { store, ...credentials, deletedNameSeconds: 0, realism: false, statsOnPrimary: false, cors }
}

export async function startTables(
  store: Store = openMemoryStore({ clock: systemClock() }),
): Promise<TestTables> {
  let id = (await store.create(account, table)) as TableId
  const server = createHttpServer({
    ...contextOf(store),
    serverToken: 'test',
    log: ({ answer }) => assert(answer.reply.status < 500, String(answer.fault?.cause)),
    isReady: async () => true,
    certificates: undefined,
    patience: standardPatience,
  })
  const { port } = await server.listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${port}`
  let connection = await openRaw(url)
  return {
    url,
    store,
    send,
    batch,
    seed,
    close,
    get id() {
      return id
    },
  }

  async function send(request: RawRequest): Promise<RawAnswer> {
    const answer = await connection.send(requestBytes(request))
    if (answer.header('connection') === 'close') connection = await openRaw(url)
    return answer
  }

  async function batch(sent: Batch): Promise<BatchAnswer> {
    return readBatchAnswer(await send(batchRequest(sent)))
  }

  async function seed(rows: readonly string[]): Promise<void> {
    await store.drop(account, table)
    id = (await store.create(account, table)) as TableId
    if (rows.length === 0) return
    const { parts } = await batch(changeSet(rows.map((row) => insert(row, { seeded: true }))))
    assert(parts.every((part) => part.status === 204))
  }

  async function close(): Promise<void> {
    connection.close()
    await server.close()
    await store.close()
  }
}

export interface PartAnswer {
  readonly status: number
  /** Status line, headers and body as they stand in the part. */
  readonly text: string
  readonly headers: readonly string[]
  readonly body: string
  readonly code: string | undefined
  /** The first line of an error's message. */
  readonly message: string | undefined
  header(name: string): string | undefined
}

export interface BatchAnswer {
  readonly answer: RawAnswer
  readonly text: string
  /** In a change set, or directly in the batch. */
  readonly layout: 'change set' | 'operation'
  readonly parts: readonly PartAnswer[]
}

/** REQUIRES: a batch that was understood. */
export function readBatchAnswer(answer: RawAnswer): BatchAnswer {
  const text = answer.body.toString('latin1')
  assert.equal(answer.status, 202, `${answer.head}\n\n${text}`)
  const outer = /^--(batchresponse_[0-9a-f-]{36})\r\n/.exec(text)?.[1]
  assert(outer !== undefined && text.endsWith(`\r\n--${outer}--\r\n`), text)
  assert.equal(answer.header('content-type'), `multipart/mixed; boundary=${outer}`)
  const inner = /^Content-Type: multipart\/mixed; boundary=(changesetresponse_[0-9a-f-]{36})\r\n\r\n/m.exec(
    text,
  )?.[1]
  const boundary = inner ?? outer
  const pieces = text.split(`--${boundary}\r\n`).slice(1)
  const parts = pieces.map((piece) => readPart(piece.split(`\r\n--${boundary}--\r\n`)[0] as string))
  return { answer, text, layout: inner === undefined ? 'operation' : 'change set', parts }
}

function readPart(piece: string): PartAnswer {
  const mime = 'Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n'
  assert(piece.startsWith(mime), piece)
  const text = piece.slice(mime.length)
  const blank = text.indexOf('\r\n\r\n')
  const [line = '', ...headers] = text.slice(0, blank).split('\r\n')
  const body = text.slice(blank + 4).replace(/\r\n$/, '')
  const error = /"code":"(\w+)","message":\{"lang":"en-US","value":"(.*?)\\nRequestId:/.exec(body)
  const xml = /<code>(\w+)<\/code><message xml:lang="en-US">(.*?)\n/.exec(body)
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]),
    text,
    headers,
    body,
    code: error?.[1] ?? xml?.[1],
    message: error?.[2] ?? xml?.[2],
    header: (name) => headers.find((header) => header.startsWith(`${name}: `))?.slice(name.length + 2),
  }
}

/** Puts a word in the place of what differs from run to run. */
export function masked(text: string): string {
  return text
    .replaceAll(
      /(batchresponse|changesetresponse)_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      '$1_GUID',
    )
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d(?:\.\d{1,7})?Z/g, 'ETAG')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,7})?Z/g, 'TIME')
    .replaceAll(/RequestId:[0-9a-f-]{36}/g, 'RequestId:ID')
}

/** Every record of the table, byte for byte: keys, versions and properties. */
export async function contentsOf(store: Store, id: TableId): Promise<string[]> {
  const records: string[] = []
  const visit = eachRecord((record) => {
    records.push(record.toString('latin1'))
    return 'next'
  })
  await store.scan(id, [everything], visit)
  return records
}

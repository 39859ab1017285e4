/**
 * The frame of the wire suite: an endpoint, signed requests, and tables of exchanges that run against it.
 *
 * Each file starts a server of its own, in memory. The environment points it elsewhere:
 *
 *   PARTITA_WIRE_URL       an endpoint to test instead, with the account in its path where it belongs there:
 *                          http://127.0.0.1:10002/devstoreaccount1, https://acct.table.example.org
 *   PARTITA_WIRE_ACCOUNT   the account there, and
 *   PARTITA_WIRE_KEY       its key; the development account when left out
 *   PARTITA_WIRE_ENVELOPE  `off` to hold answers only to what each row says, for servers that do not even
 *                          send their headers in the recorded order
 *   PARTITA_WIRE_STORE     `lmdb` to keep the file's own server on disk instead of in memory
 *   PARTITA_TEST_WORKERS   to have it run as so many processes that share a store on disk
 */
import { strict as assert } from 'node:assert'
import { createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { testedWorkers } from '../support/server-process.ts'
import { startTestedService } from '../support/tested-service.ts'
import { type Answer, sendRaw } from './http-client.ts'

export type { Answer } from './http-client.ts'

/** Published for everyone to test with. */
export const developmentKey =
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

export interface Endpoint {
  /** Without a trailing slash: what links in answers begin with. */
  readonly base: string
  readonly url: URL
  readonly account: string
  readonly key: string
}

const checksEnvelope = process.env['PARTITA_WIRE_ENVELOPE'] !== 'off'
export const isRemote = process.env['PARTITA_WIRE_URL'] !== undefined
export const endpoint: Endpoint = await openEndpoint()
export const { account, base } = endpoint

async function openEndpoint(): Promise<Endpoint> {
  const remote = process.env['PARTITA_WIRE_URL']?.replace(/\/$/, '')
  const account = process.env['PARTITA_WIRE_ACCOUNT'] ?? 'devstoreaccount1'
  const key = process.env['PARTITA_WIRE_KEY'] ?? developmentKey
  if (remote !== undefined) return { base: remote, url: new URL(remote), account, key }
  // The runner takes every file of the folder for a test, this one too; it has none and needs no server.
  if (process.argv[1] === fileURLToPath(import.meta.url)) return endpointOf('http://127.0.0.1', account, key)
  const onDisk = process.env['PARTITA_WIRE_STORE'] === 'lmdb'
  const data = onDisk ? await mkdtemp(join(tmpdir(), 'partita-wire-')) : ':memory:'
  const service = await startTestedService({ data, accounts: `${account}:${key}` })
  after(async () => {
    await service.close()
    if (onDisk) await rm(data, { recursive: true })
  })
  return endpointOf(service.url, account, key)
}

/** In path style. */
export function endpointOf(url: string, account: string, key: string): Endpoint {
  return { base: `${url}/${account}`, url: new URL(`${url}/${account}`), account, key }
}

/** A table made for this file. On a shared server its name is its own. */
export async function table(name: string): Promise<string> {
  const unique = isRemote ? `${name}x${randomBytes(5).toString('hex')}` : name
  const answer = await exchange(post('/Tables', { TableName: unique }))
  assert.equal(answer.status, 201, answer.text)
  if (isRemote) after(() => exchange(del(`/Tables('${unique}')`)))
  return unique
}

/** Headers by name: undefined takes a default away, a list sends the header more than once. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface RequestOptions {
  readonly headers?: RequestHeaders
  readonly body?: string | Buffer
  readonly sign?: 'SharedKey' | 'SharedKeyLite' | 'nothing'
  /** Sent in place of the endpoint's authority; the path then carries no account. */
  readonly host?: string
  /** Sent as it stands: nothing is put before the path. */
  readonly wholeTarget?: boolean
  readonly endpoint?: Endpoint
  readonly date?: string
  /** Wait so long after the answer, where several processes serve: one has changed what others may remember. */
  readonly settleMs?: number
}

export interface Request extends RequestOptions {
  readonly method: string
  readonly path: string
}

export function request(method: string, path: string, options: RequestOptions = {}): Request {
  return { ...options, method, path }
}

export function get(path: string, headers: RequestHeaders = {}, options: RequestOptions = {}): Request {
  return { ...options, method: 'GET', path, headers }
}

export function del(path: string, headers: RequestHeaders = {}): Request {
  return { method: 'DELETE', path, headers }
}

type Body = string | Buffer | object

export function post(path: string, body: Body, headers: RequestHeaders = {}): Request {
  return withBody('POST', path, body, headers)
}

export function put(path: string, body: Body, headers: RequestHeaders = {}): Request {
  return withBody('PUT', path, body, headers)
}

export function merge(path: string, body: Body, headers: RequestHeaders = {}): Request {
  return withBody('MERGE', path, body, headers)
}

export function patch(path: string, body: Body, headers: RequestHeaders = {}): Request {
  return withBody('PATCH', path, body, headers)
}

function withBody(method: string, path: string, body: Body, headers: RequestHeaders): Request {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  return { method, path, headers, body: bytes }
}

/** A `POST` that stands for another method. */
export function tunnel(method: string, path: string, body: Body, headers: RequestHeaders = {}): Request {
  return post(path, body, { 'X-HTTP-Method': method, ...headers })
}

/** `/people(PartitionKey='p',RowKey='r')` */
export function entity(table: string, partition: string, row: string): string {
  return `/${table}(PartitionKey='${keyText(partition)}',RowKey='${keyText(row)}')`
}

function keyText(text: string): string {
  return encodeURIComponent(text.replaceAll("'", "''"))
}

/**
 * What a table's row asks of an answer: a header by name (undefined: absent), or one of `body`, `reason` and
 * `head`, the status line and all headers. Texts are compared after masking.
 */
export type Expected = Readonly<Record<string, string | RegExp | undefined>>

/** A request, or one made from the answers of the rows before. */
export type RowRequest = Request | ((seen: readonly Answer[]) => Request)

/** An error is named by its code; its text is that of `texts` unless the row gives another. */
export type Row =
  | readonly [request: RowRequest, status: number, expected?: Expected]
  | readonly [request: RowRequest, status: number, code: string, expected?: Expected]
  | readonly [request: RowRequest, status: number, code: string, text: string, expected?: Expected]

/** Runs exchanges in order. Every answer is also held to what all answers have in common. */
export function wireTable(name: string, rows: readonly Row[]): void {
  describe(name, () => {
    const seen: Answer[] = []
    for (const [index, row] of rows.entries()) {
      const [rowRequest, status, ...rest] = row
      const code = typeof rest[0] === 'string' ? rest[0] : undefined
      const text = typeof rest[1] === 'string' ? rest[1] : undefined
      const expected = (rest.find((part) => typeof part === 'object') ?? {}) as Expected
      it(`${index + 1}. ${titleOf(rowRequest)}: ${status}${code === undefined ? '' : ` ${code}`}`, async () => {
        const sent = typeof rowRequest === 'function' ? rowRequest(seen) : rowRequest
        const answer = await exchange(sent, 'connection' in expected)
        seen.push(answer)
        const told = `${masked(answer.head)}\n\n${masked(answer.text)}`.slice(0, 2000)
        assert.equal(answer.status, status, told)
        if (code !== undefined) checkError(answer, code, text ?? texts[code])
        for (const [name, value] of Object.entries(expected)) checkExpected(answer, name, value)
      })
    }
  })
}

function titleOf(rowRequest: RowRequest): string {
  if (typeof rowRequest === 'function') return 'then'
  const { method, path } = rowRequest
  return `${method} ${path.length > 80 ? `${path.slice(0, 77)}…` : path}`
}

function checkError(answer: Answer, code: string, text: string | undefined): void {
  const error = errorOf(answer)
  assert.equal(error.code, code)
  assert.notEqual(text, undefined, `texts has no ${code}`)
  assert.equal(error.text, text)
}

function checkExpected(answer: Answer, name: string, value: string | RegExp | undefined): void {
  const got = partOf(answer, name)
  if (value instanceof RegExp) assert.match(got ?? '', value, name)
  else assert.equal(got === undefined ? got : masked(got), value, name)
}

function partOf(answer: Answer, name: string): string | undefined {
  if (name === 'body') return answer.text
  if (name === 'head') return answer.head.replaceAll('\r\n', '\n')
  return name === 'reason' ? answer.reason : answer.header(name)
}

/** Sends one request and checks what every answer of the service must have. */
export async function exchange(sent: Request, mayClose = false): Promise<Answer> {
  const { url } = sent.endpoint ?? endpoint
  const answer = await sendRaw(url, [bytesOf(sent)], { bodyless: sent.method === 'HEAD' })
  if (checksEnvelope) checkEnvelope(answer, sent, mayClose)
  if (sent.settleMs !== undefined && testedWorkers !== undefined) await pause(sent.settleMs)
  return answer
}

/** The bytes of a request, signed now. */
export function bytesOf(sent: Request): Buffer {
  const { headers, target } = headOf(sent)
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${sent.method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1')
  return sent.body === undefined ? head : Buffer.concat([head, Buffer.from(sent.body)])
}

/** The target and headers of a request, signed now. */
export function headOf(sent: Request): { target: string; headers: [name: string, value: string][] } {
  const { account, key, url } = sent.endpoint ?? endpoint
  const prefix = sent.host !== undefined || sent.wholeTarget ? '' : url.pathname.replace(/\/$/, '')
  const target = `${prefix}${sent.path}`
  const date = sent.date ?? new Date().toUTCString()
  const defaults: Record<string, string> = {
    Host: sent.host ?? url.host,
    'x-ms-version': '2019-02-02',
    DataServiceVersion: '3.0',
    Accept: 'application/json',
    'x-ms-date': date,
  }
  if (sent.body !== undefined) {
    defaults['Content-Type'] = 'application/json'
    defaults['Content-Length'] = Buffer.byteLength(sent.body).toString()
  }
  const merged = new Map<string, [string, string | readonly string[] | undefined]>()
  for (const [name, value] of Object.entries({ ...defaults })) merged.set(name.toLowerCase(), [name, value])
  for (const [name, value] of Object.entries(sent.headers ?? {})) {
    merged.set(name.toLowerCase(), [name, value])
  }
  if (sent.sign !== 'nothing' && !merged.has('authorization')) {
    const signature = signatureOf(sent.sign ?? 'SharedKey', sent.method, target, merged, account, key)
    merged.set('authorization', ['Authorization', `${sent.sign ?? 'SharedKey'} ${account}:${signature}`])
  }
  const headers: [string, string][] = []
  for (const [name, value] of merged.values()) {
    if (value === undefined) continue
    for (const one of typeof value === 'string' ? [value] : value) headers.push([name, one])
  }
  return { target, headers }
}

function signatureOf(
  scheme: 'SharedKey' | 'SharedKeyLite',
  method: string,
  target: string,
  headers: ReadonlyMap<string, readonly [string, string | readonly string[] | undefined]>,
  account: string,
  key: string,
): string {
  const value = (name: string): string => {
    const found = headers.get(name)?.[1]
    return (typeof found === 'string' ? found : found?.[0])?.trim() ?? ''
  }
  const [path = '', query = ''] = target.replace(/^https?:\/\/[^/]*/i, '').split('?', 2)
  const comp = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'comp')?.[1]
  const resource = `/${account}${path}${comp === undefined ? '' : `?comp=${comp}`}`
  const date = value('x-ms-date') || value('date')
  const lines =
    scheme === 'SharedKeyLite'
      ? [date, resource]
      : [method, value('content-md5'), value('content-type'), date, resource]
  return sign(key, lines.join('\n'))
}

export function sign(key: string, text: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64')
}

/** The order and spelling of every header the service sends; `Connection` only to say that it closes. */
const headerOrder = [
  'Cache-Control',
  'Content-Length',
  'Transfer-Encoding',
  'Content-Type',
  'ETag',
  'Location',
  'Vary',
  'Server',
  'WWW-Authenticate',
  'x-ms-error-code',
  'x-ms-request-id',
  'x-ms-client-request-id',
  'x-ms-version',
  'X-Content-Type-Options',
  'Preference-Applied',
  'x-ms-continuation-NextPartitionKey',
  'x-ms-continuation-NextRowKey',
  'x-ms-continuation-NextTableName',
  'Access-Control-Expose-Headers',
  'Access-Control-Allow-Origin',
  'Access-Control-Allow-Methods',
  'Access-Control-Allow-Headers',
  'Access-Control-Max-Age',
  'Access-Control-Allow-Credentials',
  'DataServiceId',
  'Date',
  'Connection',
]

const requestIdPattern = /^[0-9a-f]{8}-[0-9a-f]002-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{6}000000$/
const datePattern = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/
const contentTypes =
  /^(?:application\/json;odata=(?:no|minimal|full)metadata;streaming=true;charset=utf-8|application\/xml;charset=utf-8|application\/json|application\/xml)$/

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  415: 'Unsupported Media Type',
  501: 'Not Implemented',
}

function checkEnvelope(answer: Answer, sent: Request, mayClose: boolean): void {
  const names = answer.headers.map(([name]) => name)
  assert.deepEqual(
    names,
    headerOrder.filter((name) => names.includes(name)),
    'header order and spelling',
  )
  const asked = String(sent.headers?.['Connection'] ?? '')
  if (!mayClose && asked === '') assert.equal(answer.header('connection'), undefined, masked(answer.head))
  assert.match(answer.header('x-ms-request-id') ?? '', requestIdPattern)
  assert.match(answer.header('date') ?? '', datePattern)
  assert.ok(answer.header('server'))
  assert.equal(answer.header('x-content-type-options'), 'nosniff')
  const type = answer.header('content-type')
  if (type !== undefined) assert.match(type, contentTypes)
  if (answer.status === 204) {
    assert.equal(answer.header('content-length'), '0')
    assert.equal(type, undefined)
  }
  if (sent.method === 'HEAD' || answer.body.length === 0) return
  const front = type === 'application/json' || type === 'application/xml'
  // Table answers are chunked and have standard phrases; the front end's are measured and have its text.
  assert.equal(answer.header('content-length'), front ? answer.body.length.toString() : undefined)
  assert.equal(answer.header('transfer-encoding'), front ? undefined : 'chunked')
  if (answer.status >= 400) {
    const error = errorOf(answer)
    assert.equal(error.requestId, answer.header('x-ms-request-id'))
    assert.match(error.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/)
    assert.equal(answer.reason, front ? error.text : reasons[answer.status])
    if (!front) assert.equal(answer.header('x-ms-error-code'), undefined)
  } else {
    assert.equal(answer.reason, reasons[answer.status])
    checkStamps(answer)
  }
}

/** ETag header, `odata.etag` and Timestamp are one moment. */
function checkStamps(answer: Answer): void {
  const etag = answer.header('etag')
  if (etag === undefined) return
  assert.match(etag, etagPattern)
  const stamp = stampOf(etag)
  const inBody = /"odata\.etag":"W\/\\"datetime'([^']*)'\\""/.exec(answer.text)?.[1]
  if (inBody !== undefined) assert.equal(inBody.replaceAll('%3A', ':'), stamp)
  const timestamp = /"Timestamp":"([^"]*)"/.exec(answer.text)?.[1]
  if (timestamp !== undefined) assert.equal(timestamp, stamp)
}

/** Up to seven digits, without zeros at their end. */
export const etagPattern = /^W\/"datetime'\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d(?:\.\d{0,6}[1-9])?Z'"$/

export function stampOf(etag: string): string {
  return etag.slice(`W/"datetime'`.length, -2).replaceAll('%3A', ':')
}

export interface WireError {
  readonly code: string
  readonly text: string
  readonly requestId: string
  readonly time: string
}

/** The parts of an error body, in whichever of its forms it came. */
export function errorOf(answer: Answer): WireError {
  const json = answer.header('content-type')?.startsWith('application/json')
  const { code, message } = json ? jsonError(answer.text) : xmlError(answer.text)
  const lines = message.split('\n')
  const time = lines.pop() ?? ''
  const requestId = lines.pop() ?? ''
  assert.match(requestId, /^RequestId:/, answer.text)
  assert.match(time, /^Time:/, answer.text)
  return {
    code,
    text: lines.join('\n'),
    requestId: requestId.slice('RequestId:'.length),
    time: time.slice('Time:'.length),
  }
}

function jsonError(text: string): { code: string; message: string } {
  const parsed = JSON.parse(text) as {
    'odata.error': { code: string; message: { lang: string; value: string } }
  }
  const error = parsed['odata.error']
  assert.equal(error.message.lang, 'en-US')
  return { code: error.code, message: error.message.value }
}

function xmlError(text: string): { code: string; message: string } {
  const match = /<(?:m:)?code>([^<]*)<\/(?:m:)?code>\s*<(?:m:)?message xml:lang="en-US">([^<]*)</.exec(text)
  assert.ok(match, text)
  const message = (match[2] ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
  return { code: match[1] ?? '', message }
}

/** Replaces what differs from run to run: the base address, ids, dates and stamps. */
export function masked(text: string): string {
  return text
    .replaceAll(base, 'BASE')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]002-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{6}000000/g, 'ID')
    .replaceAll(/datetime'[0-9T%3AZ.-]+'/g, "datetime'STAMP'")
    .replaceAll(/"Timestamp":"[0-9T:Z.-]+"/g, '"Timestamp":"STAMP"')
    .replaceAll(/Time:[0-9-]+T[0-9:]+\.\d{7}Z/g, 'Time:TIME')
    .replaceAll(/Date: [A-Z][a-z]{2}, [^\r\n]* GMT/g, 'Date: DATE')
}

/** The first line of each error's message. InvalidInput has many; this is the one that says least. */
export const texts: Readonly<Record<string, string>> = {
  AtomFormatNotSupported: 'Atom format is not supported.',
  AuthenticationFailed:
    'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.',
  AuthorizationFailure: 'This request is not authorized to perform this operation.',
  AuthorizationPermissionMismatch:
    'This request is not authorized to perform this operation using this permission.',
  AuthorizationProtocolMismatch:
    'This request is not authorized to perform this operation using this protocol.',
  AuthorizationResourceTypeMismatch:
    'This request is not authorized to perform this operation using this resource type.',
  AuthorizationServiceMismatch:
    'This request is not authorized to perform this operation using this service.',
  ConditionNotMet: 'The condition specified using HTTP conditional header(s) is not met.',
  CorsPreflightFailure: 'CORS not enabled or no matching rule found for this request.',
  DuplicatePropertiesSpecified: 'A property is specified more than one time.',
  EntityAlreadyExists: 'The specified entity already exists.',
  EntityTooLarge: 'The entity is larger than the maximum allowed size (1MB).',
  InvalidAuthenticationInfo:
    'Authentication information is not given in the correct format. Check the value of Authorization header.',
  InvalidHeaderValue: 'The value for one of the HTTP headers is not in the correct format.',
  InvalidInput: 'One of the request inputs is not valid.',
  InvalidQueryParameterValue:
    'Value for one of the query parameters specified in the request URI is invalid.',
  InvalidResourceName: 'The specifed resource name contains invalid characters.',
  InvalidUri: 'The requested URI does not represent any resource on the server.',
  InvalidXmlDocument: 'XML specified is not syntactically valid.',
  InvalidXmlNodeValue: 'The value for one of the XML nodes is not in the correct format.',
  InsufficientAccountPermissions: 'Write operations are not allowed.',
  JsonVerboseFormatNotSupported: 'JSON Verbose format is not supported.',
  Md5Mismatch:
    'The MD5 value specified in the request did not match with the MD5 value calculated by the server.',
  MediaTypeNotSupported: 'None of the provided media types are supported',
  MethodNotAllowed: 'The requested method is not allowed on the specified resource.',
  MissingContentLengthHeader: 'The Content-Length header was not specified.',
  OutOfRangeInput: 'One of the request inputs is out of range.',
  PropertiesNeedValue: 'The values are not specified for all properties in the entity.',
  PropertyNameInvalid: 'The property name is invalid.',
  PropertyNameTooLong: 'The property name exceeds the maximum allowed length (255).',
  PropertyValueTooLarge:
    'The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.',
  RequestBodyTooLarge: 'The request body is too large and exceeds the maximum permissible limit.',
  NoAuthenticationInformation:
    'Server failed to authenticate the request. Please refer to the information in the www-authenticate header.',
  ResourceNotFound: 'The specified resource does not exist.',
  TableAlreadyExists: 'The table specified already exists.',
  TableBeingDeleted: 'The specified table is being deleted. Try operation later.',
  TableNotFound: 'The table specified does not exist.',
  TooManyProperties:
    'The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.',
  UnsupportedHttpVerb: "The resource doesn't support specified Http Verb.",
  UpdateConditionNotSatisfied: 'The update condition specified in the request was not satisfied.',
  XMethodIncorrectCount: 'More than one X-HTTP-Method is specified.',
  XMethodIncorrectValue: 'The specified X-HTTP-Method is invalid.',
  XMethodNotUsingPost: 'The request uses X-HTTP-Method with an HTTP verb other than POST.',
}

/** Other texts of InvalidInput and OutOfRangeInput. */
export const conversionText = 'An error occurred while processing this request.'
export const querySyntaxText = 'Bad Request - Error in query syntax.'
export const nameLengthText = 'The specified resource name length is not within the permissible limits.'

export function badEtagText(etag: string): string {
  return `The etag value '${etag}' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.`
}

export function keyCountText(table: string): string {
  return `The number of keys specified in the URI does not match number of key properties for the resource '${account}.${table}'.`
}

export function etagNeededText(table: string): string {
  return `Since entity type '${account}.${table}' has one or more etag properties, If-Match HTTP header must be specified for DELETE/PUT operations on this type.`
}

export function outOfRangeText(property: string, value: string): string {
  return `The '${property}' parameter of value '${value}' is out of range.`
}

/** Well formed, and older than anything a test writes. */
export const oldEtag = `W/"datetime'2020-01-01T00%3A00%3A00.1234567Z'"`

/** Of refusals before the operation is carried out: neither header is sent, whatever was preferred. */
export const early: Expected = { 'cache-control': undefined, 'preference-applied': undefined }

/** Of refusals while it is carried out. */
export const late: Expected = { 'cache-control': 'no-cache' }
export const lateNoContent: Expected = { ...late, 'preference-applied': 'return-no-content' }
export const lateUnpreferred: Expected = { ...late, 'preference-applied': undefined }

/** Of every update: only the ETag comes back, whether it created the entity or not. */
export const updated: Expected = {
  'cache-control': 'no-cache',
  etag: /^W\//,
  location: undefined,
  dataserviceid: undefined,
  'preference-applied': undefined,
  body: '',
}
export const updatedNoContent: Expected = { ...updated, 'preference-applied': 'return-no-content' }

export const none: RequestHeaders = { Accept: 'application/json;odata=nometadata' }
export const noContent: RequestHeaders = { Prefer: 'return-no-content' }

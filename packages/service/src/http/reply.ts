/** Answers, and the one place that knows which headers they carry, in which order and spelling. */
import { STATUS_CODES } from 'node:http'
import { type Sharing, sharingHeaders } from './cors.ts'

/** What an operation answers. Absent fields send no header. */
export interface Reply {
  readonly status: number
  /** Left out, the standard phrase of the status is sent. */
  readonly reason?: string
  readonly noCache?: boolean
  readonly contentType?: string
  readonly etag?: string
  readonly location?: string
  readonly dataServiceId?: string
  /** `WWW-Authenticate` */
  readonly challenge?: string
  readonly errorCode?: string
  readonly preferenceApplied?: string
  readonly continuation?: readonly (readonly [name: string, value: string])[]
  /** What a query cost, for those who asked. */
  readonly explanation?: string
  /** Rows met and rows shown, for the log. */
  readonly rows?: { readonly scanned: number; readonly returned: number }
  /** Text has one character for each byte. */
  readonly body?: string | Buffer
  /** Sent with its length; all other bodies go out as one chunk. */
  readonly measured?: boolean
}

/** What every answer to one request carries. */
export interface Envelope {
  readonly requestId: string
  readonly clientRequestId: string | undefined
  /** Undefined when the version itself was refused. */
  readonly version: string | undefined
  /** What browsers are told about pages of other origins, if anything. */
  readonly sharing: Sharing | undefined
}

/** The head of an answer, from its status to the empty line. `date` is now, `last` closes the connection. */
export function headOf(
  reply: Reply,
  envelope: Envelope,
  server: string,
  date: string,
  last: boolean,
): string {
  const { status, body, reason } = reply
  const { requestId, clientRequestId, version, sharing } = envelope
  let head = `HTTP/1.1 ${status} ${reason ?? STATUS_CODES[status]}\r\n`
  if (reply.noCache) head += 'Cache-Control: no-cache\r\n'
  if (body === undefined) {
    // The length of a 304 would be that of the body it leaves out.
    if (status !== 304) head += 'Content-Length: 0\r\n'
  } else if (reply.measured) {
    head += `Content-Length: ${body.length}\r\n`
  } else {
    head += 'Transfer-Encoding: chunked\r\n'
  }
  if (reply.contentType !== undefined) head += `Content-Type: ${reply.contentType}\r\n`
  if (reply.etag !== undefined) head += `ETag: ${reply.etag}\r\n`
  if (reply.location !== undefined) head += `Location: ${reply.location}\r\n`
  if (sharing?.vary) head += 'Vary: Origin\r\n'
  head += `Server: ${server}\r\n`
  if (reply.challenge !== undefined) head += `WWW-Authenticate: ${reply.challenge}\r\n`
  if (reply.errorCode !== undefined) head += `x-ms-error-code: ${reply.errorCode}\r\n`
  head += `x-ms-request-id: ${requestId}\r\n`
  if (clientRequestId !== undefined) head += `x-ms-client-request-id: ${clientRequestId}\r\n`
  if (version !== undefined) head += `x-ms-version: ${version}\r\n`
  head += 'X-Content-Type-Options: nosniff\r\n'
  if (reply.preferenceApplied !== undefined) head += `Preference-Applied: ${reply.preferenceApplied}\r\n`
  for (const [name, value] of reply.continuation ?? []) head += `${name}: ${value}\r\n`
  if (reply.explanation !== undefined) head += `x-explain: ${reply.explanation}\r\n`
  let tail = reply.dataServiceId === undefined ? '' : `DataServiceId: ${reply.dataServiceId}\r\n`
  tail += `Date: ${date}\r\n`
  if (sharing !== undefined) head += sharingLines(sharing, head + tail)
  return last ? `${head}${tail}Connection: close\r\n\r\n` : `${head}${tail}\r\n`
}

/** `sent` is the head without these lines. */
function sharingLines(sharing: Sharing, sent: string): string {
  const names = Array.from(sent.matchAll(/^([^:\s]+):/gm), ([, name = '']) => name)
  const headers = sharingHeaders(sharing, names)
  return headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
}

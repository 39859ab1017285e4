/** Answers, and the one place that knows which headers they carry, in which order and spelling. */
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
  /** Pure ASCII when it is a string, so that its length is its bytes. */
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

/** Names and values in turn, ready for Node's writeHead. */
export function headersOf(reply: Reply, envelope: Envelope, server: string, date: string): string[] {
  const headers: string[] = []
  if (reply.noCache) headers.push('Cache-Control', 'no-cache')
  if (reply.body === undefined) {
    // The length of a 304 would be that of the body it leaves out.
    if (reply.status !== 304) headers.push('Content-Length', '0')
  } else if (reply.measured) {
    headers.push('Content-Length', Buffer.byteLength(reply.body).toString())
  } else {
    headers.push('Transfer-Encoding', 'chunked')
  }
  if (reply.contentType !== undefined) headers.push('Content-Type', reply.contentType)
  if (reply.etag !== undefined) headers.push('ETag', reply.etag)
  if (reply.location !== undefined) headers.push('Location', reply.location)
  if (envelope.sharing?.vary) headers.push('Vary', 'Origin')
  headers.push('Server', server)
  if (reply.challenge !== undefined) headers.push('WWW-Authenticate', reply.challenge)
  if (reply.errorCode !== undefined) headers.push('x-ms-error-code', reply.errorCode)
  headers.push('x-ms-request-id', envelope.requestId)
  if (envelope.clientRequestId !== undefined) {
    headers.push('x-ms-client-request-id', envelope.clientRequestId)
  }
  if (envelope.version !== undefined) headers.push('x-ms-version', envelope.version)
  headers.push('X-Content-Type-Options', 'nosniff')
  if (reply.preferenceApplied !== undefined) headers.push('Preference-Applied', reply.preferenceApplied)
  for (const [name, value] of reply.continuation ?? []) headers.push(name, value)
  if (reply.explanation !== undefined) headers.push('x-explain', reply.explanation)
  const sharingAt = headers.length
  if (reply.dataServiceId !== undefined) headers.push('DataServiceId', reply.dataServiceId)
  headers.push('Date', date)
  if (envelope.sharing !== undefined) {
    const names = headers.filter((_, index) => index % 2 === 0)
    headers.splice(sharingAt, 0, ...sharingHeaders(envelope.sharing, names))
  }
  return headers
}

/** Node's HTTP server around the pipeline: sockets, limits, timeouts and the bytes of an answer. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'
import { type Answer, answer, type AnswerContext } from './answer.ts'
import type { CertificatePair } from './certificate.ts'
import { headersOf } from './reply.ts'
import type { Certificates } from './tls.ts'

export interface ServerContext extends AnswerContext {
  /** The value of the `Server` header. */
  readonly serverToken: string
  /** Told of every request once it is answered. */
  readonly log: (entry: LogEntry) => void
  /** Whether the store serves. */
  readonly isReady: () => Promise<boolean>
  /** Undefined serves plain HTTP. */
  readonly certificates: Certificates | undefined
}

export interface LogEntry {
  readonly method: string
  /** Without the query, which may carry a signature. */
  readonly path: string
  readonly ms: number
  readonly answer: Answer
}

export interface HttpServer {
  listen(host: string, port: number): Promise<AddressInfo>
  /**
   * Stops accepting, answers what is in flight, and resolves when the last connection is gone. Requests
   * that do not arrive whole within a few seconds are given up.
   */
  close(): Promise<void>
}

const keepAliveMs = 130_000
const headersMs = 15_000
const requestMs = 120_000
/** Less than closing waits: who has sent half a greeting is no request under way. */
const handshakeMs = 5_000
/** How long closing waits for requests under way: less than the ten seconds containers are given. */
const closeMs = 8_000
/** A body over the limit is read and thrown away up to here, so that its client gets to see the refusal. */
const discardedBytesMax = 16 * limits.requestBodyBytesMax
const withBody = new Set(['POST', 'PUT', 'MERGE', 'PATCH'])

export function createHttpServer(context: ServerContext): HttpServer {
  const { certificates } = context
  const server = openServer(certificates, (incoming, outgoing) => {
    noteRequest(incoming.socket, outgoing)
    // Settles itself: whatever goes wrong in there is an answer, or a client that has gone.
    void serve(incoming, outgoing)
  })
  server.on('clientError', refuseConnection)
  const connections = new Map<Socket, Connection>()
  server.on('connection', noteConnection)
  // Under TLS a connection is two sockets: the outer one counts until its greeting, the inner one from then on.
  server.on('secureConnection', noteConnection)
  // Called by close(). Node's own cuts answers still being sent, and waits for who never sent a byte.
  server.closeIdleConnections = () => {
    for (const [socket, { unanswered, bytesAnswered }] of connections) {
      if (unanswered === 0 && socket.bytesRead === bytesAnswered) socket.destroy()
    }
  }
  let closing = false
  return { listen, close }

  function noteConnection(socket: Socket): void {
    connections.set(socket, { unanswered: 0, bytesAnswered: 0 })
    socket.once('close', () => connections.delete(socket))
  }

  function noteRequest(socket: Socket, outgoing: ServerResponse): void {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.unanswered++
    outgoing.once('close', () => {
      connection.unanswered--
      connection.bytesAnswered = socket.bytesRead
      // Its head may have left before closing began, and so without saying that it is the last.
      if (closing && connection.unanswered === 0) socket.end()
    })
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const startedMs = performance.now()
    const { method = '', url = '' } = incoming
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    if (path.startsWith('/-/')) return serveOurs(path, outgoing)
    const answered = await answer(
      {
        method,
        target: url,
        rawHeaders: incoming.rawHeaders,
        secure: certificates !== undefined,
        peer: () => incoming.socket.remoteAddress,
        body: () => readBody(incoming),
        hungUp: () => incoming.socket.destroyed,
      },
      context,
    )
    if (!incoming.complete && !incoming.destroyed) await discard(incoming)
    if (incoming.socket.destroyed) return
    send(answered, incoming, outgoing)
    context.log({ method, path, ms: performance.now() - startedMs, answer: answered })
  }

  function send(
    { reply: told, envelope }: Answer,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): void {
    // HTTP/1.0 knows no chunks.
    const reply = incoming.httpVersionMinor === 0 ? { ...told, measured: true } : told
    const headers = headersOf(reply, envelope, context.serverToken, dateHeader())
    // What was not read must not be taken for the next request.
    const last = closing || !outgoing.shouldKeepAlive || !incoming.complete
    if (last) headers.push('Connection', 'close')
    // Node would add headers of its own; the recorded service sends neither of them.
    else outgoing.removeHeader('connection')
    outgoing.sendDate = false
    outgoing.writeHead(reply.status, reply.reason ?? STATUS_CODES[reply.status], headers)
    if (reply.body === undefined || reply.measured) {
      outgoing.end(reply.body)
      return
    }
    // The body is one chunk, framed here, so that header and body leave in a single write. Ending with the
    // text would add an empty second part to it, which costs a sixth of a small answer.
    outgoing.chunkedEncoding = false
    const frame = `${reply.body.length.toString(16)}\r\n`
    if (typeof reply.body === 'string') {
      outgoing.write(`${frame}${reply.body}${lastChunk}`, 'latin1')
      outgoing.uncork()
      outgoing.end()
    } else {
      outgoing.cork()
      outgoing.write(frame, 'latin1')
      outgoing.write(reply.body)
      outgoing.end(lastChunk, 'latin1')
    }
  }

  /** Paths of our own: `-` can be neither an account nor a table. */
  async function serveOurs(path: string, outgoing: ServerResponse): Promise<void> {
    if (closing) outgoing.shouldKeepAlive = false
    if (path === '/-/live') return tell(outgoing, 200, { status: 'live' })
    if (path === '/-/ca.pem' && certificates?.authority !== undefined) {
      outgoing.writeHead(200, { 'Content-Type': 'application/x-pem-file' })
      outgoing.end(certificates.authority)
      return
    }
    if (path !== '/-/ready') return tell(outgoing, 404, { status: 'unknown' })
    const ready = (await context.isReady()) && !closing
    return tell(outgoing, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready' })
  }

  async function listen(host: string, port: number): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    return server.address() as AddressInfo
  }

  async function close(): Promise<void> {
    closing = true
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    const giveUp = setTimeout(() => server.closeAllConnections(), closeMs)
    await closed
    clearTimeout(giveUp)
    certificates?.close()
  }
}

function openServer(
  certificates: Certificates | undefined,
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: 5_000,
    noDelay: true,
  }
  if (certificates === undefined) return createServer(options, handle)
  const secured = { ...options, ...secureOptions(certificates.current), handshakeTimeout: handshakeMs }
  const server = createTlsServer(secured, handle)
  // Connections that are open keep what they began with.
  certificates.onRenewal((pair) => server.setSecureContext(secureOptions(pair)))
  return server
}

function secureOptions({ cert, key }: CertificatePair) {
  return { cert, key, minVersion: 'TLSv1.2' } as const
}

interface Connection {
  /** Requests whose answer has not left to its last byte. */
  unanswered: number
  /** What had been received when the last answer left; more than that is the beginning of a request. */
  bytesAnswered: number
}

const lastChunk = '\r\n0\r\n\r\n'

function tell(outgoing: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  outgoing.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length })
  outgoing.end(text)
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const { method = '', headers } = incoming
  const measured = headers['content-length'] !== undefined
  if (!measured && headers['transfer-encoding'] === undefined) {
    if (withBody.has(method)) throw new Fault('MissingContentLengthHeader')
    return noBytes
  }
  const body = await collect(incoming)
  const md5 = headers['content-md5']
  if (md5 !== undefined && createHash('md5').update(body).digest('base64') !== md5) {
    throw new Fault('Md5Mismatch')
  }
  return body
}

const noBytes = Buffer.alloc(0)

function collect(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limits.requestBodyBytesMax) chunks.push(chunk)
      else chunks.length = 0
      if (bytes > discardedBytesMax) incoming.destroy()
    })
    incoming.on('end', () => {
      if (bytes > limits.requestBodyBytesMax) reject(new Fault('RequestBodyTooLarge'))
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    })
    incoming.on('error', reject)
  })
}

/**
 * Reads what the pipeline had no use for. Were the connection closed on a client that still sends, it might
 * never see the refusal.
 */
function discard(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > discardedBytesMax) resolve()
    })
    incoming.on('close', resolve)
    incoming.on('end', resolve)
    incoming.on('error', () => resolve())
  })
}

/** A connection that does not speak HTTP, or too slowly, or too much: told so in a line, and closed. */
function refuseConnection(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable) return
  const status = statusOfClientError(error.code)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
}

function statusOfClientError(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

let dateText = ''
let dateSecond = 0

function dateHeader(): string {
  const now = Date.now()
  const second = Math.floor(now / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = new Date(now).toUTCString()
  }
  return dateText
}

/** The listening socket, its connections, and what is said around the pipeline: limits, our own paths, the log. */
import { STATUS_CODES } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Fault } from '../model/faults.ts'
import { type Answer, answer, type AnswerContext } from './answer.ts'
import type { CertificatePair } from './certificate.ts'
import { type Connection, type Exchange, type Message, type Patience, serveConnection } from './connection.ts'
import { headOf } from './reply.ts'
import type { HttpRequest } from './request.ts'
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
  readonly patience: Patience
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

export const standardPatience: Patience = { idleMs: 130_000, headMs: 15_000, requestMs: 120_000 }

/** Less than closing waits: who has sent half a greeting is no request under way. */
const handshakeMs = 5_000
/** How long closing waits for requests under way: less than the ten seconds containers are given. */
const closeMs = 8_000
const withBody = new Set(['POST', 'PUT', 'MERGE', 'PATCH'])

export function createHttpServer(context: ServerContext): HttpServer {
  const { certificates, patience } = context
  const sockets = new Set<Socket>()
  const connections = new Map<Socket, Connection>()
  const server = openServer(certificates, serve)
  // Under TLS a connection is two sockets: this is the outer one.
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A connection that could not be accepted has nobody to be told; the next one is another matter.
  server.on('error', () => undefined)
  // Often enough for the shortest wait to be about as long as it says.
  const lookMs = Math.min(5_000, patience.headMs / 4)
  const looking = setInterval(() => {
    const nowMs = performance.now()
    for (const connection of connections.values()) connection.look(nowMs)
  }, lookMs).unref()
  let closing = false
  return { listen, close }

  function serve(socket: Socket): void {
    const connection = serveConnection(socket, patience, respond)
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
    if (closing) connection.finish()
  }

  async function respond(exchange: Exchange, last: () => boolean): Promise<Message | undefined> {
    const { head, body, socket, startedMs } = exchange
    const { method, target } = head
    const mark = target.indexOf('?')
    const path = mark < 0 ? target : target.slice(0, mark)
    if (path.startsWith('/-/')) return await ours(path, last)
    const answered = await answer(requestOf(exchange, certificates !== undefined), context)
    if (!body.isComplete()) await body.discarded()
    // The client has gone, or what it sent as a body was no HTTP and has been refused as that.
    if (socket.destroyed || socket.writableEnded) return undefined
    const { reply, envelope } = answered
    const sent = head.knowsChunks ? reply : { ...reply, measured: true }
    context.log({ method, path, ms: performance.now() - startedMs, answer: answered })
    return {
      head: headOf(sent, envelope, context.serverToken, dateHeader(), last()),
      body: sent.body,
      chunked: !sent.measured,
    }
  }

  /** Paths of our own: `-` can be neither an account nor a table. */
  async function ours(path: string, last: () => boolean): Promise<Message> {
    if (path === '/-/live') return tell(200, { status: 'live' }, last)
    if (path === '/-/ca.pem' && certificates?.authority !== undefined) {
      return plain(200, 'application/x-pem-file', certificates.authority, last)
    }
    if (path !== '/-/ready') return tell(404, { status: 'unknown' }, last)
    const ready = (await context.isReady()) && !closing
    return tell(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready' }, last)
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
    for (const connection of connections.values()) connection.finish()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    const giveUp = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, closeMs)
    await closed
    clearTimeout(giveUp)
    clearInterval(looking)
    certificates?.close()
  }
}

function openServer(certificates: Certificates | undefined, serve: (socket: Socket) => void): Server {
  // A client may say that it is done and still wait for its answer.
  const options = { noDelay: true, allowHalfOpen: true }
  if (certificates === undefined) return createServer(options, serve)
  const secured = { ...options, ...secureOptions(certificates.current), handshakeTimeout: handshakeMs }
  const server = createTlsServer(secured, serve)
  // Connections that are open keep what they began with.
  certificates.onRenewal((pair) => server.setSecureContext(secureOptions(pair)))
  return server
}

function secureOptions({ cert, key }: CertificatePair) {
  return { cert, key, minVersion: 'TLSv1.2' } as const
}

function requestOf({ head, body, socket }: Exchange, secure: boolean): HttpRequest {
  const { method, target, rawHeaders, framing } = head
  return {
    method,
    target,
    rawHeaders,
    secure,
    peer: () => socket.remoteAddress,
    hungUp: () => socket.destroyed,
    body: () => {
      if (framing.kind === 'none' && withBody.has(method)) throw new Fault('MissingContentLengthHeader')
      return body.whole()
    },
  }
}

function tell(status: number, said: object, last: () => boolean): Message {
  return plain(status, 'application/json', JSON.stringify(said), last)
}

function plain(status: number, type: string, body: string, last: () => boolean): Message {
  const head =
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n` +
    `Date: ${dateHeader()}\r\n${last() ? 'Connection: close\r\n' : ''}\r\n`
  return { head, body, chunked: false }
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

/**
 * One connection of a client: requests off it one after the other, answers onto it in the same order.
 *
 *   waiting ──first byte──▸ head ──▸ answering ──▸ waiting …
 *                            └─refused─▸ leaving ◂─last answer─┘
 *
 * While a request is answered, what follows it is kept and not looked at.
 */
import type { Socket } from 'node:net'
import { STATUS_CODES } from 'node:http'
import { limits } from '../model/limits.ts'
import { giveBack } from './byte-sink.ts'
import { BadHttp, mayBecomeHead, readRequestHead, type RequestHead } from './request-head.ts'
import { receiveBody, type RequestBody } from './request-body.ts'
import { type Piece, wireOf } from './wire.ts'

/** How long clients may take, in milliseconds. */
export interface Patience {
  /** Between two requests. */
  readonly idleMs: number
  /** For a head, from its first byte; for the first one, from the beginning of the connection. */
  readonly headMs: number
  /** For head and body together. */
  readonly requestMs: number
}

export interface Exchange {
  readonly head: RequestHead
  readonly body: RequestBody
  readonly socket: Socket
  readonly startedMs: number
}

/** An answer as it goes over the wire. */
export interface Message {
  /** With the empty line at its end. */
  readonly head: string
  /** Text has one character for each byte. */
  readonly body: string | Buffer | undefined
  /** Whether the body goes out as the one chunk of a chunked answer. */
  readonly chunked: boolean
}

export interface Connection {
  /** Gives up on a client that takes too long. */
  look(nowMs: number): void
  /** Ends the connection: at once when nothing is under way, else behind the answer. */
  finish(): void
}

/**
 * Settles itself: whatever goes wrong is an answer, or a client that has gone. `last` tells whether the
 * connection ends behind the answer; undefined sends none.
 */
export type Respond = (exchange: Exchange, last: () => boolean) => Promise<Message | undefined>

/** How long a client has to read its last answer. To close on one that still sends would reset it unread. */
const leaveMs = 5_000
/** What is kept of requests sent before the one in hand is answered. */
const unreadBytesMax = 65_536

export function serveConnection(socket: Socket, patience: Patience, respond: Respond): Connection {
  let phase: 'waiting' | 'head' | 'answering' | 'leaving' = 'head'
  let sinceMs = performance.now()
  /** Received and not yet read. */
  let unread: Buffer | undefined
  /** How much of it is known not to hold the end of a head. */
  let searched = 0
  let body: RequestBody | undefined
  /** The client has said all it will say. */
  let ended = false
  let finishing = false
  const wire = wireOf(socket)
  socket.on('end', end)
  // What broke the connection off is of no use to anybody; that it is gone is told by `close`.
  socket.on('error', () => undefined)
  socket.on('close', () => body?.fail(new Error('the client has gone')))
  wire.open(receive)
  return { look, finish }

  /** Returns whether there is room for more. */
  function receive(bytes: Buffer): boolean {
    if (phase === 'leaving') return true
    try {
      const taken = body === undefined ? 0 : body.take(bytes)
      if (taken === bytes.length) return true
      const rest = taken === 0 ? bytes : bytes.subarray(taken)
      unread = unread === undefined ? rest : Buffer.concat([unread, rest])
      if (phase === 'answering') return unread.length <= unreadBytesMax
      begin(unread)
    } catch (error) {
      refuse(error)
    }
    return true
  }

  /** Looks for a whole head in what was received. */
  function begin(bytes: Buffer): void {
    const startedMs = performance.now()
    if (phase === 'waiting') {
      phase = 'head'
      sinceMs = startedMs
    }
    const end = bytes.indexOf(emptyLine, Math.max(searched - emptyLine.length, 0)) + emptyLine.length
    const found = end >= emptyLine.length
    if ((found ? end : bytes.length) > limits.headerBytesMax) throw new BadHttp(431)
    if (!found) {
      if (!mayBecomeHead(bytes)) throw new BadHttp(400)
      searched = bytes.length
      return
    }
    const head = readRequestHead(bytes, end)
    phase = 'answering'
    searched = 0
    body = receiveBody(head.framing)
    const taken = end === bytes.length ? 0 : body.take(bytes.subarray(end))
    unread = end + taken === bytes.length ? undefined : bytes.subarray(end + taken)
    if (head.expectsContinue && !body.isComplete()) wire.send(['HTTP/1.1 100 Continue\r\n\r\n'], nothing)
    void answer({ head, body, socket, startedMs })
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { head } = exchange
    let last = false
    const message = await respond(exchange, () => {
      // What was not read must not be taken for the next request.
      const cut = !head.keepAlive || !exchange.body.isComplete()
      last = cut || (unread === undefined && (finishing || ended))
      return last
    })
    if (message === undefined) return
    await endOfTurn()
    if (phase === 'leaving' || socket.destroyed) return
    wire.send(piecesOf(message, head.method === 'HEAD'), () => {
      if (typeof message.body === 'object') giveBack(message.body)
      if (last) leave()
      else next()
    })
  }

  function next(): void {
    body = undefined
    phase = 'waiting'
    sinceMs = performance.now()
    wire.receive()
    // Finishing may have begun when the answer's head was made already.
    if (unread === undefined) {
      if (finishing || ended) leave()
      return
    }
    try {
      begin(unread)
    } catch (error) {
      refuse(error)
    }
  }

  function end(): void {
    ended = true
    if (phase === 'waiting') leave()
    // The rest of a request will not come. Who stopped in the middle does not wait for an answer.
    else if (phase === 'head' || (phase === 'answering' && body?.isComplete() === false)) socket.destroy()
  }

  /** Told in a line, since it may not even have been HTTP. */
  function refuse(error: unknown): void {
    if (!(error instanceof BadHttp)) throw error
    const { status } = error
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`
    wire.send([`${line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`], nothing)
    leave()
    body?.fail(error)
  }

  function leave(): void {
    phase = 'leaving'
    unread = undefined
    // However long the answer takes to get there; the time to leave begins when it has.
    sinceMs = Number.POSITIVE_INFINITY
    socket.end(() => (sinceMs = performance.now()))
    wire.receive()
  }

  function look(nowMs: number): void {
    const tookMs = nowMs - sinceMs
    switch (phase) {
      case 'waiting':
        if (tookMs > patience.idleMs) socket.destroy()
        return
      case 'head':
        if (tookMs > patience.headMs) refuse(new BadHttp(408))
        return
      case 'answering':
        if (body?.isComplete() === false && tookMs > patience.requestMs) refuse(new BadHttp(408))
        return
      case 'leaving':
        if (tookMs > leaveMs) socket.destroy()
        return
      default:
    }
  }

  function finish(): void {
    finishing = true
    if (phase === 'waiting' || (phase === 'head' && unread === undefined)) socket.destroy()
  }
}

/**
 * Answers leave when all that was received in this turn of the event loop has been looked at. Sent one by one,
 * each would wake a client that has nothing else to do, which costs more than the sending itself.
 */
function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined
      resolve()
    })
  })
  return turn
}

let turn: Promise<void> | undefined

/** Text in one piece: a plain write is cheaper than a gathered one, and the system call is the dearest of all. */
function piecesOf({ head, body, chunked }: Message, withoutBody: boolean): Piece[] {
  if (body === undefined || withoutBody) return [head]
  const lead = chunked ? head + frameOf(body) : head
  const tail = chunked ? lastChunk : ''
  return typeof body === 'string' ? [lead + body + tail] : [lead, body, tail]
}

function nothing(): void {}

const emptyLine = Buffer.from('\r\n\r\n')
const lastChunk = '\r\n0\r\n\r\n'

function frameOf(content: string | Buffer): string {
  return `${content.length.toString(16)}\r\n`
}

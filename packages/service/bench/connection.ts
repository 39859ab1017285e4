/**
 * One keep-alive connection, one request in flight. It reads only as much of HTTP/1.1 as servers under test
 * write, into memory it uses again, so that the client costs little beside them.
 */
import { connect } from 'node:net'

export interface Answer {
  readonly status: number
  /** Status line and headers, as received. */
  readonly head: string
  /** Only until `onAnswer` returns: its memory is used again. */
  readonly body: Buffer
}

export interface Connection {
  /** `request` is one byte a character. The next request may be sent once `onAnswer` has been called. */
  send(request: string, onAnswer: (answer: Answer) => void): void
  close(): void
}

const readBytes = 65_536

/** `onFailure` is called at most once, and never after `close`. */
export async function openConnection(url: string, onFailure: (error: Error) => void): Promise<Connection> {
  const { hostname, port } = new URL(url)
  let waiting: ((answer: Answer) => void) | undefined
  let closed = false
  const read = answerReader((answer) => {
    const onAnswer = waiting
    waiting = undefined
    if (onAnswer === undefined) return fail(new Error('the server answered before it was asked'))
    onAnswer(answer)
  })
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafe(readBytes), callback: receive },
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  socket.removeAllListeners('error')
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  return { send, close }

  function receive(count: number, buffer: Uint8Array): boolean {
    try {
      read(buffer as Buffer, count)
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
    return true
  }

  function send(request: string, onAnswer: (answer: Answer) => void): void {
    waiting = onAnswer
    socket.write(request, 'latin1')
  }

  function close(): void {
    closed = true
    socket.destroy()
  }

  function fail(error: Error): void {
    if (closed) return
    close()
    onFailure(error)
  }
}

/** One request on a connection of its own. */
export async function exchange(url: string, request: string, timeoutMs: number): Promise<Answer> {
  let connection: Connection | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Answer>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer from ${url} in ${timeoutMs} ms`)), timeoutMs)
      void begin(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    connection?.close()
  }

  async function begin(resolve: (answer: Answer) => void, reject: (error: Error) => void): Promise<void> {
    try {
      connection = await openConnection(url, reject)
      connection.send(request, (answer) => resolve({ ...answer, body: Buffer.from(answer.body) }))
    } catch (error) {
      reject(error as Error)
    }
  }
}

const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const framing = /\r\n(?:content-length: *(\d+)|transfer-encoding: *chunked)/i

/** Turns the bytes of a connection into answers. */
function answerReader(onAnswer: (answer: Answer) => void): (bytes: Buffer, count: number) => void {
  let held = noBytes
  let heldBytes = 0
  // While an answer is incomplete: the number of bytes to hold before another look is worth its price.
  let neededBytes = 0
  return read

  function read(bytes: Buffer, count: number): void {
    if (heldBytes === 0) {
      const found = parseAnswer(bytes.subarray(0, count))
      if (typeof found !== 'number') return onAnswer(found)
      hold(bytes, count)
      neededBytes = found
      return
    }
    hold(bytes, count)
    if (heldBytes < neededBytes) return
    const found = parseAnswer(held.subarray(0, heldBytes))
    if (typeof found === 'number') {
      neededBytes = found
      return
    }
    heldBytes = 0
    onAnswer(found)
  }

  function hold(bytes: Buffer, count: number): void {
    if (heldBytes + count > held.length) {
      const larger = Buffer.allocUnsafe(2 * Math.max(heldBytes + count, neededBytes))
      held.copy(larger, 0, 0, heldBytes)
      held = larger
    }
    bytes.copy(held, heldBytes, 0, count)
    heldBytes += count
  }
}

/** The answer, or how many bytes there must be before it can be whole. */
function parseAnswer(bytes: Buffer): Answer | number {
  const headBytes = bytes.indexOf(headEnd)
  if (headBytes < 0) return bytes.length + 1
  const head = bytes.toString('latin1', 0, headBytes)
  const status = Number(head.slice(9, 12))
  const from = headBytes + headEnd.length
  if (status === 204 || status === 304) return { status, head, body: noBytes }
  const framed = framing.exec(head)
  if (framed === null) throw new Error(`an answer without a length: ${head}`)
  const [, length] = framed
  if (length !== undefined) {
    const until = from + Number(length)
    return bytes.length < until ? until : { status, head, body: bytes.subarray(from, until) }
  }
  const body = unchunk(bytes, from)
  return typeof body === 'number' ? body : { status, head, body }
}

function unchunk(bytes: Buffer, from: number): Buffer | number {
  const chunks: Buffer[] = []
  let at = from
  for (;;) {
    const sizeEnd = bytes.indexOf(lineEnd, at)
    if (sizeEnd < 0) return bytes.length + 1
    const size = Number.parseInt(bytes.toString('latin1', at, sizeEnd), 16)
    const next = sizeEnd + 2 + size + 2
    if (bytes.length < next) return next
    if (size === 0) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    chunks.push(bytes.subarray(sizeEnd + 2, sizeEnd + 2 + size))
    at = next
  }
}

const noBytes = Buffer.alloc(0)

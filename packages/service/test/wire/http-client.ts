/**
 * The least HTTP/1.1 client that hides nothing: header order and spelling, reason phrase, chunks and the
 * bytes of the head stay visible, and a request may be as malformed as its test likes.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Answer {
  /** The status line and headers as sent, without the empty line. */
  readonly head: string
  readonly status: number
  readonly reason: string
  /** Names and values in the order and spelling sent. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Without chunk framing. */
  readonly body: Buffer
  readonly text: string
  /** How many chunks the body came in; undefined when it was measured. */
  readonly chunks: number | undefined
  /** By name in any case; undefined when absent. */
  header(name: string): string | undefined
}

const blank = Buffer.from('\r\n\r\n')
const answerMs = 20_000

/** Opens a connection of its own, sends `pieces` one after another and reads one answer. */
export async function sendRaw(
  url: URL,
  pieces: readonly (string | Buffer)[],
  options: { readonly bodyless?: boolean; readonly pauseMs?: number } = {},
): Promise<Answer> {
  const connection = await openConnection(url)
  try {
    for (const piece of pieces) {
      if (options.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.pauseMs))
      connection.send(piece)
    }
    return await connection.receive(options.bodyless ?? false)
  } finally {
    connection.close()
  }
}

export interface Connection {
  send(bytes: string | Buffer): void
  /** Reads the next answer. `bodyless` is for HEAD, whose answer describes a body it does not have. */
  receive(bodyless?: boolean): Promise<Answer>
  /** Resolves when the server has ended the connection. */
  readonly ended: Promise<void>
  close(): void
}

export async function openConnection(url: URL): Promise<Connection> {
  const socket = await openSocket(url)
  let received: Buffer = Buffer.alloc(0)
  let over = false
  let wake: (() => void) | undefined
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    wake?.()
  })
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      over = true
      wake?.()
      resolve()
    }
    socket.on('end', end)
    socket.on('close', end)
    // A reset while sending is told by what was, or was not, received before it.
    socket.on('error', end)
  })
  return { send, receive, ended, close }

  function send(bytes: string | Buffer): void {
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  async function receive(bodyless = false): Promise<Answer> {
    const timer = setTimeout(() => socket.destroy(), answerMs)
    try {
      for (;;) {
        const parsed = parseAnswer(received, bodyless)
        if (parsed !== undefined) {
          received = received.subarray(parsed.bytes)
          if (parsed.answer.status !== 100) return parsed.answer
        } else {
          if (over) throw new Error(`no answer; received ${JSON.stringify(received.toString('latin1'))}`)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      clearTimeout(timer)
    }
  }

  function close(): void {
    socket.destroy()
  }
}

function openSocket(url: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:'
    const port = Number(url.port || (secure ? 443 : 80))
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    const socket: Socket = secure
      ? connectTls({ host, port, servername: host }, () => resolve(socket))
      : connect({ host, port }, () => resolve(socket))
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}

/** Undefined while bytes are missing. */
function parseAnswer(bytes: Buffer, bodyless: boolean): { answer: Answer; bytes: number } | undefined {
  const end = bytes.indexOf(blank)
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const [statusLine = '', ...lines] = head.split('\r\n')
  const match = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(statusLine)
  if (match === null) throw new Error(`not a status line: ${statusLine}`)
  const headers = lines.map((line) => {
    const colon = line.indexOf(': ')
    if (colon < 1) throw new Error(`not a header: ${line}`)
    return [line.slice(0, colon), line.slice(colon + 2)] as const
  })
  const status = Number(match[1])
  const header = (name: string): string | undefined =>
    headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
  const empty = bodyless || status === 204 || status === 304 || status === 100
  const framed = empty
    ? { body: Buffer.alloc(0), bytes: 0, chunks: undefined }
    : parseBody(bytes, end, header)
  if (framed === undefined) return undefined
  const { body, chunks } = framed
  const answer = {
    head,
    status,
    reason: match[2] ?? '',
    headers,
    body,
    text: body.toString('utf8'),
    chunks,
    header,
  }
  return { answer, bytes: end + blank.length + framed.bytes }
}

function parseBody(
  bytes: Buffer,
  headEnd: number,
  header: (name: string) => string | undefined,
): { body: Buffer; bytes: number; chunks: number | undefined } | undefined {
  const from = headEnd + blank.length
  if (header('transfer-encoding') !== 'chunked') {
    const length = Number(header('content-length') ?? 0)
    if (bytes.length < from + length) return undefined
    return { body: bytes.subarray(from, from + length), bytes: length, chunks: undefined }
  }
  const chunks: Buffer[] = []
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const until = lineEnd + 2 + length
    if (bytes.length < until + 2) return undefined
    at = until + 2
    if (length === 0) return { body: Buffer.concat(chunks), bytes: at - from, chunks: chunks.length }
    chunks.push(bytes.subarray(lineEnd + 2, until))
  }
}

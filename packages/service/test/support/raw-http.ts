/** HTTP/1.1 as bytes: what is sent is what the test wrote, and what comes back is shown whole. */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { developmentAccount } from '../../src/auth/accounts.ts'

export interface RawAnswer {
  readonly status: number
  /** Status line and headers as sent. */
  readonly head: string
  /** Without the framing of chunks. */
  readonly body: Buffer
  header(name: string): string | undefined
}

/** One keep-alive connection; requests take turns. */
export interface RawConnection {
  send(request: Buffer): Promise<RawAnswer>
  close(): void
}

const answerMs = 30_000

export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let received: Buffer = Buffer.alloc(0)
  let turn: Promise<unknown> = Promise.resolve()
  let waiting: { resolve(answer: RawAnswer): void; reject(error: Error): void } | undefined
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const found = takeAnswer(received)
    if (found === undefined) return
    received = received.subarray(found.until)
    waiting?.resolve(found.answer)
    waiting = undefined
  })
  const gone = (): void => waiting?.reject(new Error('the connection ended before its answer'))
  socket.on('error', gone)
  socket.on('close', gone)
  socket.setTimeout(answerMs, () => socket.destroy())
  return { send, close: () => socket.destroy() }

  function send(request: Buffer): Promise<RawAnswer> {
    const answer = turn.then(() => exchange(request))
    turn = answer.catch(() => undefined)
    return answer
  }

  function exchange(request: Buffer): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      if (socket.destroyed) return reject(new Error('the connection is closed'))
      waiting = { resolve, reject }
      socket.write(request)
    })
  }
}

/** Undefined until the answer is complete. */
function takeAnswer(bytes: Buffer): { answer: RawAnswer; until: number } | undefined {
  const blank = bytes.indexOf('\r\n\r\n')
  if (blank < 0) return undefined
  const head = bytes.toString('latin1', 0, blank)
  const header = (name: string): string | undefined =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.replace('\r', '')
  const framed = takeBody(bytes, blank + 4, header)
  if (framed === undefined) return undefined
  const status = Number(head.slice(9, 12))
  return { answer: { status, head, header, body: framed.body }, until: framed.until }
}

function takeBody(
  bytes: Buffer,
  from: number,
  header: (name: string) => string | undefined,
): { body: Buffer; until: number } | undefined {
  if (header('transfer-encoding') === undefined) {
    const until = from + Number(header('content-length') ?? 0)
    return bytes.length < until ? undefined : { body: bytes.subarray(from, until), until }
  }
  const chunks: Buffer[] = []
  for (let at = from; ; ) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, end), 16)
    at = end + 2 + length + 2
    if (bytes.length < at) return undefined
    if (length === 0) return { body: Buffer.concat(chunks), until: at }
    chunks.push(bytes.subarray(end + 2, end + 2 + length))
  }
}

export interface RawRequest {
  readonly method: string
  /** With the account, as it stands in the request line. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer | string
}

/** Names and values in turn: signed for the development account, unless the request says otherwise. */
export function signedHeaders({ target, headers = {} }: RawRequest, now = new Date()): string[] {
  const date = now.toUTCString()
  const path = target.split('?', 1)[0]
  const key = Buffer.from(developmentAccount.key, 'base64')
  const signature = createHmac('sha256', key)
    .update(`${date}\n/${developmentAccount.name}${path}`)
    .digest('base64')
  const signed = {
    Host: '127.0.0.1:10002',
    'x-ms-date': date,
    'x-ms-version': '2019-02-02',
    Authorization: `SharedKeyLite ${developmentAccount.name}:${signature}`,
    ...headers,
  }
  return Object.entries(signed).flat()
}

export function requestBytes(request: RawRequest): Buffer {
  const headers = signedHeaders(request)
  const body = Buffer.from(request.body ?? '')
  let head = `${request.method} ${request.target} HTTP/1.1\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body])
}

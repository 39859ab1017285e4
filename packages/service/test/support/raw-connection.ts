/** A connection that sends exactly the bytes it is given, for requests that stop in the middle. */
import { connect } from 'node:net'
import { signedHeaders, type Account, developmentAccount } from './keep-alive-client.ts'

export interface RawConnection {
  write(text: string): void
  /** Resolves with all that was received, once it matches. */
  received(wanted: RegExp): Promise<string>
  /** Resolves when the other side has closed, with all that was received; rejects if it was reset. */
  readonly closed: Promise<string>
  /** Stops taking bytes until something is waited for. */
  pause(): void
  resume(): void
  destroy(): void
}

export async function rawConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  let waiting: (() => void)[] = []
  const closed = new Promise<string>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('end', () => resolve(text))
    socket.once('close', () => resolve(text))
  })
  // Whoever does not ask how it ended does not hear of it.
  closed.catch(() => {})
  socket.on('close', () => wake())
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
    wake()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return {
    write: (bytes) => void socket.write(bytes),
    received,
    closed,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => void socket.destroy(),
  }

  async function received(wanted: RegExp): Promise<string> {
    while (!wanted.test(text)) {
      if (socket.destroyed) throw new Error(`closed after ${JSON.stringify(text)}`)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    return text
  }

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resolve of woken) resolve()
  }
}

/** The bytes of a signed request; `resource` follows the account. */
export function requestText(
  method: string,
  resource: string,
  { body = '', account = developmentAccount }: { readonly body?: string; readonly account?: Account } = {},
): string {
  const target = `/${account.name}${resource}`
  const headers = {
    Host: 'tables.example',
    ...signedHeaders(account, target),
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

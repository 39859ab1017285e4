/** One connection to a service, kept open, with every request signed. Knows nothing of the service's code. */
import { createHmac } from 'node:crypto'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface Account {
  readonly name: string
  readonly key: string
}

export const developmentAccount: Account = {
  name: 'devstoreaccount1',
  key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
}

export interface Exchange {
  readonly body?: string | object
  readonly headers?: Readonly<Record<string, string>>
}

export interface ClientAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface KeepAliveClient {
  /** `resource` follows the account: `/people(PartitionKey='a',RowKey='b')?$select=c`. */
  send(method: string, resource: string, exchange?: Exchange): Promise<ClientAnswer>
  close(): void
}

export interface ClientOptions {
  readonly account?: Account
  /** The time requests are signed with. */
  readonly now?: () => Date
}

export function keepAliveClient(url: string, options: ClientOptions = {}): KeepAliveClient {
  const { account = developmentAccount, now = () => new Date() } = options
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return { send, close: () => agent.destroy() }

  function send(method: string, resource: string, exchange: Exchange = {}): Promise<ClientAnswer> {
    const target = `/${account.name}${resource}`
    const body = bodyText(exchange.body)
    const headers = {
      ...signedHeaders(account, target, now()),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      'Content-Length': String(Buffer.byteLength(body ?? '')),
      ...exchange.headers,
    }
    return new Promise((resolve, reject) => {
      const outgoing = request({ hostname, port, method, path: target, headers, agent }, (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const { statusCode: status = 0, headers } = incoming
          resolve({ status, headers, body: Buffer.concat(chunks).toString('utf8') })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

/** What every request carries, under Shared Key Lite. */
export function signedHeaders(account: Account, target: string, now = new Date()): Record<string, string> {
  const date = now.toUTCString()
  const [path = '', query = ''] = target.split('?', 2)
  const comp = new URLSearchParams(query).get('comp')
  const text = `${date}\n/${account.name}${path}${comp === null ? '' : `?comp=${comp}`}`
  const signature = createHmac('sha256', Buffer.from(account.key, 'base64')).update(text).digest('base64')
  return {
    'x-ms-date': date,
    'x-ms-version': '2019-02-02',
    Accept: 'application/json;odata=nometadata',
    Authorization: `SharedKeyLite ${account.name}:${signature}`,
  }
}

/** `people(PartitionKey='a',RowKey='b')`, ready for a request line. */
export function entityPath(table: string, partition: string, row: string): string {
  return `/${table}(PartitionKey=${keyText(partition)},RowKey=${keyText(row)})`
}

function keyText(key: string): string {
  return `'${encodeURIComponent(key.replaceAll("'", "''"))}'`
}

function bodyText(body: string | object | undefined): string | undefined {
  return body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
}

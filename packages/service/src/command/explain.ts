/** `partita explain`: asks a running service what a query costs, and says it for a person. */
import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { parseArgs } from 'node:util'
import { developmentAccount } from '../auth/accounts.ts'
import { advice, type Explanation } from '../query/explain.ts'
import { UsageError } from './serve-options.ts'

export const explainHelp = [
  'partita explain TABLE [FILTER] [options]',
  '',
  '  --connection STRING   the service to ask (the development account on port 10002;',
  '                        or PARTITA_CONNECTION)',
  '  --select NAMES        the properties the query returns, separated by commas',
  '  --top N               rows in a page',
  '  --plan                only plan the query, do not run it',
  '  --json                print the report as it came',
].join('\n')

const developmentConnection = `AccountName=${developmentAccount.name};AccountKey=${developmentAccount.key};TableEndpoint=http://127.0.0.1:10002/${developmentAccount.name}`

/** Resolves with the exit code. */
export async function explainQuery(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  try {
    const { values, positionals } = parse(argv)
    const [table, filter] = positionals
    if (values.help || table === undefined) {
      console.log(explainHelp)
      return values.help ? 0 : 2
    }
    const connection = readConnection(
      values.connection ?? environment['PARTITA_CONNECTION'] ?? developmentConnection,
    )
    const options = new Map(
      Object.entries({ $filter: filter, $select: values.select, $top: values.top }).filter(
        (option): option is [string, string] => option[1] !== undefined,
      ),
    )
    const report = await ask(connection, table, options, values.plan ? 'plan' : 'analyze')
    console.log(values.json ? report : describe(JSON.parse(report) as Explanation))
    return 0
  } catch (error) {
    console.error(`partita: ${error instanceof Error ? error.message : String(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        connection: { type: 'string' },
        select: { type: 'string' },
        top: { type: 'string' },
        plan: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

interface Connection {
  readonly account: string
  readonly key: string
  readonly endpoint: string
}

function readConnection(text: string): Connection {
  if (text.trim() === 'UseDevelopmentStorage=true') return readConnection(developmentConnection)
  const parts = new Map(
    text.split(';').map((part) => {
      const equals = part.indexOf('=')
      return [part.slice(0, equals), part.slice(equals + 1)] as const
    }),
  )
  const [account, key, endpoint] = ['AccountName', 'AccountKey', 'TableEndpoint'].map((name) =>
    parts.get(name),
  )
  if (!account || !key || !endpoint) {
    throw new UsageError('the connection string needs AccountName, AccountKey and TableEndpoint')
  }
  return { account, key, endpoint }
}

/** Sends the query and returns the report that came with the answer. */
function ask(
  { account, key, endpoint }: Connection,
  table: string,
  options: ReadonlyMap<string, string>,
  how: 'plan' | 'analyze',
): Promise<string> {
  const url = new URL(`${endpoint.replace(/\/$/, '')}/${encodeURIComponent(table)}()`)
  const query = [...options].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
  const date = new Date().toUTCString()
  const signature = createHmac('sha256', Buffer.from(key, 'base64'))
    .update(`${date}\n/${account}${url.pathname}`)
    .digest('base64')
  const send = url.protocol === 'https:' ? secureRequest : request
  return new Promise((resolve, reject) => {
    const outgoing = send(
      {
        host: url.hostname,
        port: url.port,
        path: query === '' ? url.pathname : `${url.pathname}?${query}`,
        headers: {
          Accept: 'application/json;odata=nometadata',
          Authorization: `SharedKeyLite ${account}:${signature}`,
          'x-ms-date': date,
          'x-ms-version': '2019-02-02',
          'x-explain': how,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const report = incoming.headers['x-explain']
          if (incoming.statusCode === 200 && typeof report === 'string') resolve(report)
          else reject(new Error(refusalOf(incoming.statusCode, Buffer.concat(chunks).toString())))
        })
      },
    )
    outgoing.on('error', (error) => reject(new Error(`${url.origin} does not answer: ${error.message}`)))
    outgoing.end()
  })
}

function refusalOf(status: number | undefined, body: string): string {
  const message = /"value":"((?:[^"\\]|\\.)*?)(?:\\nRequestId|")/.exec(body)?.[1]
  if (status === 200) return 'the service answered without a report: is it a Partita?'
  return message === undefined ? `the service answered ${status}` : (JSON.parse(`"${message}"`) as string)
}

function describe(report: Explanation): string {
  const { filter, ranges, run } = report
  const lines = [
    `filter     ${filter.text || '(none)'}`,
    `class      ${report.class} (${report.guideClass})`,
    `in Azure   ${report.serviceEquivalent}`,
    `ranges     ${ranges.count}${report.exact ? ', nothing left to check' : ''}`,
    ...ranges.first.map(
      ({ lo, hi, residual }) =>
        `           ${keyText(lo)} … ${hi === null ? 'end' : keyText(hi)}${residual === null ? '' : `  where ${residual}`}`,
    ),
  ]
  if (run !== undefined) {
    const { scanned, returned, seeks, timeMs, stop } = run
    const total = timeMs.parse + timeMs.plan + timeMs.execute + timeMs.serialise
    lines.push(
      `cost       ${scanned} rows read, ${returned} returned, ${seeks} ${seeks === 1 ? 'seek' : 'seeks'}, ${total.toFixed(2)} ms`,
      `ended by   ${stop}`,
    )
  }
  for (const warning of filter.warnings) lines.push(`warning    ${warning}`)
  for (const code of report.advice) lines.push(`${code}        ${advice[code]}`)
  return lines.join('\n')
}

/** A successor ends in U+0000, shown as a middle dot. */
function keyText([partition, row]: readonly [string, string]): string {
  return `('${partition}','${row}')`.replaceAll('\u0000', '·')
}

/** Options of `partita serve`. Each has an environment variable, PARTITA_ and its name; the option wins. */
import { parseArgs } from 'node:util'
import type { Durability, ServiceOptions, TlsOptions } from '../service.ts'

export interface ServeOptions extends Omit<ServiceOptions, 'log' | 'warn' | 'clock'> {
  readonly host: string
  readonly durability: Durability
  readonly readyFile: string | undefined
  readonly logRequests: boolean
}

/** A mistake in how the command was called: told in a line, without a stack. */
export class UsageError extends Error {}

interface OptionFacts {
  readonly value?: string
  readonly fallback?: string
  readonly says: string
}

const durabilities: readonly string[] = ['sync', 'interval', 'memory'] satisfies Durability[]

export const serveOptions = {
  data: { value: 'DIR', fallback: 'partita-data', says: 'where the data lives, or :memory:' },
  host: { value: 'ADDRESS', fallback: '127.0.0.1', says: 'the address to listen on' },
  'table-port': {
    value: 'PORT',
    fallback: '10002',
    says: 'the port of the table service; 0 takes a free one',
  },
  durability: {
    value: 'sync|interval|memory',
    fallback: 'sync',
    says: 'when a write is acknowledged: on disk, at most a second before that, or when applied',
  },
  cert: { value: 'FILE', says: 'serve HTTPS with this certificate (PEM); read again when it changes' },
  key: { value: 'FILE', says: 'its private key (PEM)' },
  tls: { value: 'auto', says: 'serve HTTPS with an authority of our own, kept in the data folder' },
  'tls-names': { value: 'NAME,…', says: 'further names and addresses for --tls auto' },
  accounts: { value: 'NAME:KEY[:KEY];…', says: 'accounts and their keys (better given by the environment)' },
  'ready-file': { value: 'FILE', says: 'written with the address once requests are answered' },
  'deleted-name-seconds': {
    value: 'N',
    fallback: '0',
    says: "how long a deleted table's name stays taken, as in the cloud",
  },
  realism: { says: 'end pages early and oddly, as the cloud may, to test how clients follow them' },
  'stats-on-primary': { says: 'answer for statistics at the primary address, where some clients ask' },
  'server-token': { value: 'TEXT', says: 'the Server header of answers' },
  log: { says: 'write one JSON line for each request' },
} as const satisfies Record<string, OptionFacts>

type OptionName = keyof typeof serveOptions

export function parseServeOptions(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ServeOptions & { readonly help: boolean } {
  const given = parseGiven(argv)
  const flag = (name: OptionName): boolean =>
    given[name] === true || ['1', 'true'].includes(environment[variableOf(name)] ?? '')
  const text = (name: OptionName): string | undefined => {
    const facts: OptionFacts = serveOptions[name]
    const value = given[name] ?? (environment[variableOf(name)] || facts.fallback)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  // Not even an empty text is passed over: falling back would open a public account.
  const accounts = [
    given['accounts'],
    environment[variableOf('accounts')],
    environment['AZURITE_ACCOUNTS'],
  ].find((value) => typeof value === 'string')
  const serverToken = text('server-token')
  const tls = readTls(text)
  return {
    data: text('data') ?? 'partita-data',
    host: text('host') ?? '127.0.0.1',
    tablePort: readNumber('table-port', text('table-port'), 65_535),
    durability: readDurability(text('durability')),
    deletedNameSeconds: readNumber('deleted-name-seconds', text('deleted-name-seconds'), 86_400),
    ...(accounts === undefined ? {} : { accounts }),
    ...(serverToken === undefined ? {} : { serverToken }),
    ...(tls === undefined ? {} : { tls }),
    realism: flag('realism'),
    statsOnPrimary: flag('stats-on-primary'),
    readyFile: text('ready-file'),
    logRequests: flag('log'),
    help: given['help'] === true,
  }
}

/** `--table-port` is PARTITA_TABLE_PORT. */
export function variableOf(name: string): string {
  return `PARTITA_${name.toUpperCase().replaceAll('-', '_')}`
}

function parseGiven(argv: readonly string[]): Record<string, string | boolean | undefined> {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
  }
  for (const [name, facts] of Object.entries<OptionFacts>(serveOptions)) {
    options[name] = { type: facts.value === undefined ? 'boolean' : 'string' }
  }
  try {
    return parseArgs({ args: [...argv], options, strict: true }).values
  } catch (error) {
    // Its first line says what is wrong; some go on with advice.
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new UsageError(line)
  }
}

function readNumber(name: OptionName, text: string | undefined, max: number): number {
  const value = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= max)) throw new UsageError(`--${name} takes a number from 0 to ${max}, not '${text}'`)
  return value
}

function readDurability(text: string | undefined): Durability {
  if (text === undefined || !durabilities.includes(text)) {
    throw new UsageError(`--durability takes ${durabilities.join(', ')}, not '${text}'`)
  }
  return text as Durability
}

function readTls(text: (name: OptionName) => string | undefined): TlsOptions | undefined {
  const [cert, key, tls, names] = [text('cert'), text('key'), text('tls'), text('tls-names')]
  if (tls !== undefined && tls !== 'auto') throw new UsageError(`--tls takes auto, not '${tls}'`)
  if (names !== undefined && tls === undefined) throw new UsageError('--tls-names goes with --tls auto')
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--cert and --key go together')
  if (cert !== undefined && key !== undefined) {
    if (tls !== undefined) throw new UsageError('--tls auto makes what --cert and --key give: choose one')
    return { kind: 'files', cert, key }
  }
  if (tls === undefined) return undefined
  return { kind: 'auto', names: names === undefined ? [] : names.split(',').map((name) => name.trim()) }
}

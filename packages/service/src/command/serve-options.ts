/** Options of `partita serve`. Each has an environment variable, PARTITA_ and its name; the option wins. */
import { parseAssignments } from '../auth/bearer.ts'
import type { BearerSettings, Durability, ServiceOptions, TlsOptions } from '../service.ts'
import {
  type Environment,
  type OptionFacts,
  type OptionTable,
  parseGiven,
  readGiven,
  UsageError,
} from './options.ts'

export interface ServeOptions extends Omit<ServiceOptions, 'log' | 'warn' | 'clock'> {
  readonly host: string
  readonly durability: Durability
  readonly readyFile: string | undefined
  readonly logRequests: boolean
  /** Processes; 1 serves in this one. */
  readonly workers: number
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
  workers: { value: 'N', fallback: '1', says: 'processes that share the store and the port' },
  cert: { value: 'FILE', says: 'serve HTTPS with this certificate (PEM); read again when it changes' },
  key: { value: 'FILE', says: 'its private key (PEM)' },
  tls: { value: 'auto', says: 'serve HTTPS with an authority of our own, kept in the data folder' },
  'tls-names': { value: 'NAME,…', says: 'further names and addresses for --tls auto' },
  accounts: { value: 'NAME:KEY[:KEY];…', says: 'accounts and their keys (better given by the environment)' },
  'bearer-issuer': {
    value: 'URL',
    says: 'whose bearer tokens are believed, such as https://login.example.org/…',
  },
  'bearer-audiences': { value: 'A,B', says: 'whom tokens must be made for; Azure storage when left out' },
  'bearer-readers': {
    value: 'WHO,…',
    says: 'who may read: role:NAME, group:ID or subject:ID, then @ACCOUNT or nothing',
  },
  'bearer-contributors': { value: 'WHO,…', says: 'who may also write, in the same words' },
  'bearer-tenant': {
    value: 'UUID',
    says: "the tenant clients are told, where the issuer's address names none",
  },
  'bearer-accept-any': { says: 'believe every bearer token, for development: signatures are not checked' },
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
} as const satisfies OptionTable

type OptionName = keyof typeof serveOptions

export function parseServeOptions(
  argv: readonly string[],
  environment: Environment,
): ServeOptions & { readonly help: boolean } {
  const given = parseGiven(serveOptions, argv)
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
  const data = text('data') ?? 'partita-data'
  const workers = readNumber('workers', text('workers'), { min: 1, max: 64 })
  if (workers > 1 && data === ':memory:') throw new UsageError('several workers cannot share :memory:')
  const bearer = readBearer(text, flag('bearer-accept-any'))
  const tls = readTls(text)
  return {
    data,
    workers,
    host: text('host') ?? '127.0.0.1',
    tablePort: readNumber('table-port', text('table-port'), { min: 0, max: 65_535 }),
    durability: readDurability(text('durability')),
    deletedNameSeconds: readNumber('deleted-name-seconds', text('deleted-name-seconds'), {
      min: 0,
      max: 86_400,
    }),
    ...(accounts === undefined ? {} : { accounts }),
    ...(bearer === undefined ? {} : { bearer }),
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

const ofIssuer: readonly OptionName[] = [
  'bearer-audiences',
  'bearer-readers',
  'bearer-contributors',
  'bearer-tenant',
]

/** Roles of the same names as in the cloud, unless others are given. */
const cloudRoles = {
  reader: 'role:Storage Table Data Reader',
  contributor: 'role:Storage Table Data Contributor',
}

function readBearer(
  text: (name: OptionName) => string | undefined,
  acceptAny: boolean,
): BearerSettings | undefined {
  const issuer = text('bearer-issuer')
  if (acceptAny) {
    if (issuer !== undefined)
      throw new UsageError('--bearer-accept-any and --bearer-issuer exclude each other')
    return { kind: 'accept-any' }
  }
  if (issuer === undefined) {
    const useless = ofIssuer.find((name) => text(name) !== undefined)
    if (useless !== undefined) throw new UsageError(`--${useless} needs --bearer-issuer`)
    return undefined
  }
  const audiences = text('bearer-audiences')?.split(/\s*,\s*/)
  const tenant = text('bearer-tenant')
  const assignments = readGiven(() => [
    ...parseAssignments('reader', text('bearer-readers') ?? cloudRoles.reader),
    ...parseAssignments('contributor', text('bearer-contributors') ?? cloudRoles.contributor),
  ])
  return {
    kind: 'issuer',
    issuer,
    assignments,
    ...(audiences === undefined ? {} : { audiences }),
    ...(tenant === undefined ? {} : { tenant }),
  }
}

function readNumber(
  name: OptionName,
  text: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`--${name} takes a number from ${min} to ${max}, not '${text}'`)
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

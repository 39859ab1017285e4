/** Wires the parts together: a store, the accounts and an HTTP server in front of them. */
import { join } from 'node:path'
import { parseAccounts, developmentAccount } from './auth/accounts.ts'
import { type BearerSettings, openBearer } from './auth/bearer.ts'
import { fetchJson } from './auth/issuer-keys.ts'
import { openCorsRules } from './http/cors.ts'
import type { Patience } from './http/connection.ts'
import { createHttpServer, type LogEntry, standardPatience } from './http/server.ts'
import { type Certificates, openCertificates, type TlsOptions } from './http/tls.ts'
import type { PartitionKey, RowKey } from './model/keys.ts'
import { catalogue } from './model/table.ts'
import { type Clock, systemClock } from './model/ticks.ts'
import { findPolicies } from './store/catalogue.ts'
import { type Durability, openLmdbStore } from './store/lmdb/lmdb-store.ts'
import { openMemoryStore } from './store/memory/memory-store.ts'
import type { Store } from './store/store.ts'

export type { Durability } from './store/lmdb/lmdb-store.ts'
export type { Assignment, BearerSettings } from './auth/bearer.ts'
export type { Patience } from './http/connection.ts'
export type { LogEntry } from './http/server.ts'
export type { TlsOptions } from './http/tls.ts'

export interface ServiceOptions {
  /** The data folder, or `:memory:`. */
  readonly data: string
  readonly host?: string
  /** 0, the default, takes any free port. */
  readonly tablePort?: number
  readonly durability?: Durability
  /** `name:key1[:key2];…`; the well-known development account when left out. */
  readonly accounts?: string
  /** Whose bearer tokens are believed; nobody's when left out. */
  readonly bearer?: BearerSettings
  /** How long the name of a deleted table stays taken, in seconds, as in the cloud; 0 frees it at once. */
  readonly deletedNameSeconds?: number
  /** End pages early and oddly, as the cloud's may, to test how clients follow them. */
  readonly realism?: boolean
  /** Answer for statistics at the primary address too: the JavaScript client asks it when it runs locally. */
  readonly statsOnPrimary?: boolean
  /** Serve HTTPS instead of HTTP. */
  readonly tls?: TlsOptions
  /** How long clients may take to send their requests. */
  readonly patience?: Patience
  readonly serverToken?: string
  readonly log?: (entry: LogEntry) => void
  /** Told what an operator should know. */
  readonly warn?: (text: string) => void
  readonly clock?: Clock
}

export interface RunningService {
  /** `http://127.0.0.1:10002` */
  readonly url: string
  /** For the first account. */
  readonly connectionString: string
  /** The authority that clients must trust, in PEM, where it is our own. */
  readonly authority: string | undefined
  /** Finishes what is in flight, then closes the store. */
  close(): Promise<void>
}

/** What the recorded service calls itself. */
const recordedServerToken = 'Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0'
const developmentAccounts = `${developmentAccount.name}:${developmentAccount.key}`

/** Any number may run in one process. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { host = '127.0.0.1', tablePort = 0, clock = systemClock() } = options
  const accountsText = options.accounts ?? developmentAccounts
  const accounts = parseAccounts(accountsText)
  const bearer = options.bearer && (await openBearer(options.bearer, clock, fetchJson))
  const store = await openStore(options, clock)
  const certificates = await openTls(options, store)
  const server = createHttpServer({
    store,
    clock,
    accounts,
    policies: (account, table) => findPolicies(store, account, table),
    bearer,
    deletedNameSeconds: options.deletedNameSeconds ?? 0,
    realism: options.realism ?? false,
    statsOnPrimary: options.statsOnPrimary ?? false,
    cors: openCorsRules(store),
    serverToken: options.serverToken ?? recordedServerToken,
    log: options.log ?? (() => undefined),
    isReady: () => answers(store),
    certificates,
    patience: options.patience ?? standardPatience,
  })
  try {
    const { port } = await server.listen(host, tablePort)
    const scheme = certificates === undefined ? 'http' : 'https'
    const url = `${scheme}://${reachable(host)}:${port}`
    const connectionString = connectionStringOf(accountsText, url)
    return { url, connectionString, authority: certificates?.authority, close }
  } catch (error) {
    certificates?.close()
    await store.close()
    throw error
  }

  async function close(): Promise<void> {
    await server.close()
    await store.close()
  }
}

/** After the store, so that a folder it refuses is left untouched. */
async function openTls(
  { data, tls, warn = () => undefined }: ServiceOptions,
  store: Store,
): Promise<Certificates | undefined> {
  try {
    const folder = data === ':memory:' ? undefined : join(data, 'tls')
    return tls === undefined ? undefined : openCertificates(tls, { folder, warn })
  } catch (error) {
    await store.close()
    throw error
  }
}

function openStore({ data, durability }: ServiceOptions, clock: Clock): Promise<Store> | Store {
  if (data === ':memory:') return openMemoryStore({ clock })
  return openLmdbStore({ path: data, clock, durability: durability ?? 'sync' })
}

async function answers(store: Store): Promise<boolean> {
  try {
    await store.get(catalogue, { partition: '' as PartitionKey, row: '' as RowKey })
    return true
  } catch {
    return false
  }
}

/** An address clients can use: a listener on all interfaces is reached by loopback. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

function connectionStringOf(accounts: string, url: string): string {
  const [name = '', key = ''] = (accounts.split(';').find((entry) => entry.trim() !== '') ?? '')
    .trim()
    .split(':')
  const scheme = url.slice(0, url.indexOf(':'))
  return `DefaultEndpointsProtocol=${scheme};AccountName=${name};AccountKey=${key};TableEndpoint=${url}/${name};`
}

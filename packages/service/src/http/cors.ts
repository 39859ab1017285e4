/**
 * Cross-origin requests. Browsers ask beforehand whether a page of another origin may send a request
 * (preflight), and look at the answer's headers before they show it to the page. The account's rules decide
 * both; they never stop a request by themselves.
 */
import { Fault } from '../model/faults.ts'
import { versionOf } from '../model/record.ts'
import type { CorsRule } from '../model/service-properties.ts'
import { type Soon, soon } from '../model/soon.ts'
import type { AccountName } from '../model/table.ts'
import type { Version } from '../model/version.ts'
import type { Store } from '../store/store.ts'
import { readServiceSettings, servicePropertiesOf } from '../tables/get-service-properties.ts'

/** What an answer says to browsers. */
export interface Sharing {
  /** The answer would be another for another origin, so caches must not mix them. */
  readonly vary: boolean
  /** `*` for any; undefined when the page may not read the answer. */
  readonly allowOrigin: string | undefined
  readonly exposedHeaders: readonly string[]
  readonly preflight?: {
    readonly method: string
    readonly headers: string | undefined
    readonly maxAgeSeconds: number
  }
}

/** The rules of accounts. */
export interface CorsRules {
  /** As they are now. */
  now(account: AccountName): Promise<readonly CorsRule[]>
  /** As they were a moment ago at most. */
  lately(account: AccountName): Soon<readonly CorsRule[]>
  /** To be called when this process has changed them. */
  forget(account: AccountName): void
}

/** How long a change made by another process may go unnoticed by requests without an origin. */
const latelyMs = 1000

interface Known {
  readonly rules: readonly CorsRule[]
  readonly version: Version | undefined
  readMs: number
}

/**
 * Rules are one row, read whenever a request has an Origin, and taken apart again only if its version has
 * changed. Reads without an Origin are most of all requests, come from programs, and want to know only
 * whether to say `Vary`: for them the row is read once a second. What that costs is a second in which
 * another process's rules do not yet reach a cache.
 */
export function openCorsRules(store: Store, nowMs: () => number = () => performance.now()): CorsRules {
  const known = new Map<AccountName, Known>()
  return { now, lately, forget }

  async function now(account: AccountName): Promise<readonly CorsRule[]> {
    const readMs = nowMs()
    const record = await readServiceSettings(store, account)
    const version = record === undefined ? undefined : versionOf(record)
    const earlier = known.get(account)
    if (earlier !== undefined && earlier.version === version) {
      earlier.readMs = readMs
      return earlier.rules
    }
    const rules = servicePropertiesOf(record).cors
    known.set(account, { rules, version, readMs })
    return rules
  }

  function lately(account: AccountName): Soon<readonly CorsRule[]> {
    const earlier = known.get(account)
    return earlier !== undefined && nowMs() - earlier.readMs < latelyMs ? earlier.rules : now(account)
  }

  function forget(account: AccountName): void {
    known.delete(account)
  }
}

/** What the answer to a request carries; undefined if browsers are told nothing. */
export function sharingOf(
  method: string,
  origin: string | undefined,
  account: AccountName,
  cors: CorsRules,
): Soon<Sharing | undefined> {
  const cacheable = method === 'GET' || method === 'HEAD'
  if (origin === undefined && !cacheable) return undefined
  const rules = origin === undefined ? cors.lately(account) : cors.now(account)
  return soon(rules, (known) => sharingBy(known, origin, method, cacheable))
}

function sharingBy(
  rules: readonly CorsRule[],
  origin: string | undefined,
  method: string,
  cacheable: boolean,
): Sharing | undefined {
  if (rules.length === 0) return undefined
  const rule = select(rules, origin, method)
  if (rule === undefined) {
    return cacheable ? { vary: true, allowOrigin: undefined, exposedHeaders: [] } : undefined
  }
  const allowOrigin = rule.origins.includes('*') ? '*' : origin
  return { vary: cacheable && allowOrigin !== '*', allowOrigin, exposedHeaders: rule.exposedHeaders }
}

/** Answers a browser's question before the request itself: 400 403. No credential is looked at. */
export async function answerPreflight(
  headers: ReadonlyMap<string, string>,
  account: AccountName | undefined,
  cors: CorsRules,
): Promise<Sharing> {
  const origin = headers.get('origin')
  const method = headers.get('access-control-request-method')
  if (!origin || !method) {
    throw new Fault('InvalidHeaderValue', { text: 'A required CORS header is not present.' })
  }
  const rules = account === undefined ? [] : await cors.now(account)
  const rule = select(rules, origin, method.toUpperCase())
  const asked = headers.get('access-control-request-headers')?.trim() || undefined
  const names = asked === undefined ? [] : asked.split(',').map((name) => name.trim())
  // The first rule for origin and method is final: where its headers do not do, later rules are not tried.
  if (rule === undefined || !names.every((name) => isNamed(name, rule.allowedHeaders))) {
    throw new Fault('CorsPreflightFailure')
  }
  return {
    vary: false,
    allowOrigin: rule.origins.includes('*') ? '*' : origin,
    exposedHeaders: [],
    preflight: { method, headers: asked, maxAgeSeconds: rule.maxAgeSeconds },
  }
}

/** Names and values in turn. `sent` are the names of the headers the answer has otherwise. */
export function sharingHeaders(
  { allowOrigin, exposedHeaders, preflight }: Sharing,
  sent: readonly string[],
): string[] {
  if (allowOrigin === undefined) return []
  const headers: string[] = []
  const exposed = sent.filter((name) => isNamed(name, exposedHeaders))
  if (exposed.length > 0) headers.push('Access-Control-Expose-Headers', exposed.join(','))
  headers.push('Access-Control-Allow-Origin', allowOrigin)
  if (preflight !== undefined) {
    headers.push('Access-Control-Allow-Methods', preflight.method)
    if (preflight.headers !== undefined) headers.push('Access-Control-Allow-Headers', preflight.headers)
    headers.push('Access-Control-Max-Age', preflight.maxAgeSeconds.toString())
  }
  // Browsers refuse credentials together with `*`.
  if (allowOrigin !== '*') headers.push('Access-Control-Allow-Credentials', 'true')
  return headers
}

function select(
  rules: readonly CorsRule[],
  origin: string | undefined,
  method: string,
): CorsRule | undefined {
  return rules.find(
    (rule) => rule.methods.includes(method) && rule.origins.some((allowed) => allowsOrigin(allowed, origin)),
  )
}

/** Case matters. A page without an origin of its own says `null`, and only `*` means it. */
function allowsOrigin(allowed: string, origin: string | undefined): boolean {
  if (allowed === '*') return true
  if (origin === undefined || origin === 'null') return false
  const star = allowed.indexOf('*')
  if (star < 0) return allowed === origin
  const [head, tail] = [allowed.slice(0, star), allowed.slice(star + 1)]
  if (!origin.startsWith(head) || !origin.endsWith(tail)) return false
  return /^[^/:@?#]+$/.test(origin.slice(head.length, -tail.length))
}

/** Whether a header is listed by its name, or by a prefix of it that ends in `*`. */
function isNamed(header: string, list: readonly string[]): boolean {
  const name = header.toLowerCase()
  return list.some((entry) => {
    const listed = entry.toLowerCase()
    return listed.endsWith('*') ? name.startsWith(listed.slice(0, -1)) : name === listed
  })
}

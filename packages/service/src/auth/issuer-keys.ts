/**
 * The public keys of an issuer, found by its address: a discovery document names the key set.
 *
 * Kept for ten minutes, then fetched anew when next used. A key nobody has seen also asks for a fetch. Either
 * way the issuer is asked once a minute at most, whatever clients send, and when it does not answer the old
 * keys serve for a day.
 */
import type { createLocalJWKSet, JSONWebKeySet, LocalJWKSet } from 'jose'

/** Reads a JSON document by GET, without following redirections. */
export type FetchJson = (address: string) => Promise<unknown>

export interface IssuerKeys {
  /** The key that the header of a token names; throws if there is none. */
  readonly find: LocalJWKSetFinder
}

type LocalJWKSetFinder = (...asked: Parameters<LocalJWKSet>) => ReturnType<LocalJWKSet>

const [askMs, freshMs, keptMs] = [60_000, 10 * 60_000, 24 * 3_600_000]
const fetchMs = 5_000
const loopbackHost = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/

export function openIssuerKeys(
  issuer: string,
  localKeySet: typeof createLocalJWKSet,
  nowMs: () => number,
  fetchJson: FetchJson,
): IssuerKeys {
  checkAddress(issuer)
  let keys: LocalJWKSet | undefined
  let fetchedMs = Number.NEGATIVE_INFINITY
  let askedMs = Number.NEGATIVE_INFINITY
  let failure: unknown
  let fetching: Promise<void> | undefined
  return { find }

  async function find(...asked: Parameters<LocalJWKSet>): ReturnType<LocalJWKSet> {
    if (nowMs() - fetchedMs >= freshMs) await refresh()
    try {
      return await current()(...asked)
    } catch (error) {
      if (!isUnknownKey(error)) throw error
      await refresh()
      return current()(...asked)
    }
  }

  function current(): LocalJWKSet {
    if (keys !== undefined && nowMs() - fetchedMs < keptMs) return keys
    throw new Error('the issuer has not given its keys', { cause: failure })
  }

  /** Never fails: whoever needs the keys finds out whether there are any. */
  function refresh(): Promise<void> {
    if (fetching === undefined && nowMs() - askedMs >= askMs) {
      askedMs = nowMs()
      fetching = fetchKeys()
        .catch((error: unknown) => {
          failure = error
        })
        .finally(() => {
          fetching = undefined
        })
    }
    return fetching ?? Promise.resolve()
  }

  async function fetchKeys(): Promise<void> {
    const discovered = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const { issuer: named, jwks_uri: address } = discovered as Readonly<Record<string, unknown>>
    if (named !== issuer) throw new Error(`the issuer calls itself ${String(named)}`)
    keys = localKeySet((await fetchJson(checkAddress(String(address)))) as JSONWebKeySet)
    fetchedMs = nowMs()
  }
}

/** Keys that came in clear text could be anybody's. */
function checkAddress(address: string): string {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: '', hostname: '' }
  if (protocol === 'https:' || (protocol === 'http:' && loopbackHost.test(hostname))) return address
  throw new Error(`issuer address '${address}': https is needed`)
}

function isUnknownKey(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_JWKS_NO_MATCHING_KEY'
}

export async function fetchJson(address: string): Promise<unknown> {
  const answer = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(fetchMs) })
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  return answer.json()
}

/**
 * Shared Key and Shared Key Lite. What is signed is the raw target, byte for byte as the client sent it:
 *
 *   resource      = `/` account · raw path · [ `?comp=` value ]
 *   SharedKey     = verb ⏎ Content-MD5 ⏎ Content-Type ⏎ date ⏎ resource
 *   SharedKeyLite = date ⏎ resource
 *   date          = x-ms-date, or Date where that is absent
 */
import { Fault } from '../model/faults.ts'
import type { AccountName } from '../model/table.ts'
import { type Ticks, unixMsOfTicks } from '../model/ticks.ts'
import type { Accounts } from './accounts.ts'
import type { Grant } from './grant.ts'
import { isSignature, isSignedBy } from './signature.ts'

/** The parts of a request that a signature covers. */
export interface SignedRequest {
  /** The verb of the request line, before any tunnelling. */
  readonly method: string
  readonly target: SignedTarget
  readonly headers: ReadonlyMap<string, string>
}

export interface SignedTarget {
  /** The account of the address, without `-secondary`. */
  readonly account: string
  readonly secondary: boolean
  /** The target up to the first `?`. */
  readonly rawPath: string
  readonly query: ReadonlyMap<string, string>
}

export type SharedKeyScheme = 'sharedkey' | 'sharedkeylite'

const freshMs = 15 * 60 * 1000
const datePattern =
  /^[A-Z][a-z]{2}, \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/

export function authenticateSharedKey(
  scheme: SharedKeyScheme,
  credential: string,
  request: SignedRequest,
  accounts: Accounts,
  now: Ticks,
): Grant {
  const colon = credential.indexOf(':')
  const signature = credential.slice(colon + 1)
  if (colon < 1 || !isSignature(signature)) throw new Fault('InvalidAuthenticationInfo')
  const date = request.headers.get('x-ms-date') ?? request.headers.get('date')
  const account = accounts.get(request.target.account)
  const proven = isSignedBy(account, stringsToSign(scheme, request, date ?? ''), signature)
  const fresh = date !== undefined && isFresh(date, now)
  if (!proven || !fresh || credential.slice(0, colon) !== request.target.account) {
    throw new Fault('AuthenticationFailed')
  }
  return { kind: 'owner', account: request.target.account as AccountName }
}

/** One text, or two for the secondary: clients differ on whether the path they sign keeps the suffix. */
export function stringsToSign(scheme: SharedKeyScheme, request: SignedRequest, date: string): string[] {
  const { account, secondary, rawPath, query } = request.target
  const paths = [rawPath]
  const suffixed = `/${account}-secondary`
  if (secondary && rawPath.startsWith(suffixed)) paths.push(`/${account}${rawPath.slice(suffixed.length)}`)
  const comp = query.get('comp')
  const tail = comp === undefined ? '' : `?comp=${comp}`
  return paths.map((path) => {
    const resource = `/${account}${path}${tail}`
    if (scheme === 'sharedkeylite') return `${date}\n${resource}`
    const md5 = request.headers.get('content-md5') ?? ''
    const type = request.headers.get('content-type') ?? ''
    return `${request.method}\n${md5}\n${type}\n${date}\n${resource}`
  })
}

/** No more than fifteen minutes away, in either direction. */
function isFresh(date: string, now: Ticks): boolean {
  return Math.abs(unixMsOfTicks(now) - msOfDate(date)) <= freshMs
}

/** Clients write whole seconds, so under load the same text comes again and again. */
let lastDate = ''
let lastDateMs = Number.NaN

function msOfDate(date: string): number {
  if (date !== lastDate) {
    lastDateMs = datePattern.test(date) ? Date.parse(date) : Number.NaN
    lastDate = date
  }
  return lastDateMs
}

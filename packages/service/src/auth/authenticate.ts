/** Who is asking: picks the credential a request carries and proves it. */
import { Fault } from '../model/faults.ts'
import type { Soon } from '../model/soon.ts'
import type { Clock } from '../model/ticks.ts'
import { authenticateAccountSas } from './account-sas.ts'
import type { Accounts } from './accounts.ts'
import { authenticateBearer, type Bearer, refuseAnonymous } from './bearer.ts'
import type { Grant } from './grant.ts'
import { type ArrivedRequest, parameter, refused } from './sas.ts'
import { authenticateServiceSas, type Policies } from './service-sas.ts'
import { authenticateSharedKey } from './shared-key.ts'

export interface Credentials {
  readonly accounts: Accounts
  readonly clock: Clock
  readonly policies: Policies
  /** Undefined when no issuer is configured, which is the default. */
  readonly bearer: Bearer | undefined
}

/** A header decides alone: signatures in the query beside it confer nothing. */
export function authenticate(request: ArrivedRequest, credentials: Credentials): Soon<Grant> {
  const header = request.headers.get('authorization')
  if (header !== undefined) return authenticateHeader(header, request, credentials)
  if (request.target.query.has('sig')) return authenticateSas(request, credentials)
  // Tables have no public access.
  throw refuseAnonymous(request, credentials.bearer)
}

function authenticateHeader(
  header: string,
  request: ArrivedRequest,
  { accounts, clock, bearer }: Credentials,
): Soon<Grant> {
  const space = header.indexOf(' ')
  const scheme = header.slice(0, Math.max(space, 0)).toLowerCase()
  const credential = header.slice(space + 1)
  switch (scheme) {
    case 'sharedkey':
    case 'sharedkeylite':
      return authenticateSharedKey(scheme, credential, request, accounts, clock())
    case 'bearer':
      if (bearer === undefined) throw refused('no issuer of tokens is configured')
      return authenticateBearer(credential, request, bearer, accounts)
    default:
      throw new Fault('InvalidAuthenticationInfo')
  }
}

function authenticateSas(request: ArrivedRequest, { accounts, clock, policies }: Credentials): Soon<Grant> {
  const { query } = request.target
  const ofAccount = parameter(query, 'ss') !== '' || parameter(query, 'srt') !== ''
  if (ofAccount) return authenticateAccountSas(request, accounts, clock())
  return authenticateServiceSas(request, accounts, policies, clock())
}

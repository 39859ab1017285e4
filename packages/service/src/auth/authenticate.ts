/** Who is asking: picks the credential a request carries and proves it. */
import { Fault } from '../model/faults.ts'
import type { Clock } from '../model/ticks.ts'
import type { Accounts } from './accounts.ts'
import type { Grant } from './grant.ts'
import { authenticateSharedKey, type SignedRequest } from './shared-key.ts'

export interface Credentials {
  readonly accounts: Accounts
  readonly clock: Clock
}

export function authenticate(request: SignedRequest, { accounts, clock }: Credentials): Grant {
  const header = request.headers.get('authorization')
  // Tables have no public access, and nobody is told which accounts exist.
  if (header === undefined) throw new Fault('AuthenticationFailed')
  const space = header.indexOf(' ')
  const scheme = header.slice(0, Math.max(space, 0)).toLowerCase()
  const credential = header.slice(space + 1)
  switch (scheme) {
    case 'sharedkey':
    case 'sharedkeylite':
      return authenticateSharedKey(scheme, credential, request, accounts, clock())
    default:
      throw new Fault('InvalidAuthenticationInfo')
  }
}

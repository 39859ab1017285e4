/** Bearer tokens: an issuer vouches for somebody, and this service says what they may do. */
import type * as joseTypes from 'jose'
import { unreachable } from '../model/brand.ts'
import { challengeText, Fault } from '../model/faults.ts'
import type { AccountName } from '../model/table.ts'
import { type Clock, unixMsOfTicks } from '../model/ticks.ts'
import type { Accounts } from './accounts.ts'
import type { BearerGrant, Role } from './grant.ts'
import { type FetchJson, openIssuerKeys } from './issuer-keys.ts'
import { type ArrivedRequest, refused } from './sas.ts'

export type BearerSettings =
  /** For developers: any token whose claims look right, whoever signed it. */
  | { readonly kind: 'accept-any' }
  | {
      readonly kind: 'issuer'
      /** `https://login.example.org/…`; plain http only on this machine. */
      readonly issuer: string
      /** Whom tokens must be made for; those of Azure storage when left out. */
      readonly audiences?: readonly string[]
      /** The UUID clients are told as tenant; that of the issuer's address when left out. */
      readonly tenant?: string
      readonly assignments: readonly Assignment[]
    }

/** Whoever has this claim has this role, in one account or in all. */
export interface Assignment {
  readonly role: Role
  readonly claim: ClaimKind
  readonly value: string
  readonly account: string | undefined
}

export type ClaimKind = 'role' | 'group' | 'subject'

export interface Bearer {
  /** What clients are told in `WWW-Authenticate`: where to get a token, and for whom. */
  readonly challenge: string
  /** The claims of a valid token; throws for any other. */
  verify(token: string): Promise<Claims>
  roleOf(claims: Claims, account: string): Role | undefined
}

export type Claims = Readonly<Record<string, unknown>>

const tokenCharactersMax = 16 * 1024
const leewaySeconds = 60
const challengedFrom = '2020-12-06'
/** None of them works with a secret that both sides know, so a public key cannot be passed off as one. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA'.split(' ')
const storage = 'https://storage.azure.com'
const storageAudiences: readonly string[] = [storage, 'e406a681-f3d4-42a8-90b6-c2b029497af1']
const someTenant = '00000000-0000-4000-8000-000000000000'
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const loopbackAddress = /^(?:::ffff:)?127\.|^::1$/i

export async function authenticateBearer(
  token: string,
  request: ArrivedRequest,
  bearer: Bearer,
  accounts: Accounts,
): Promise<BearerGrant> {
  // In clear text others have it too by now. No challenge: that would ask for it once more.
  if (!request.secure && !loopbackAddress.test(request.peer() ?? '')) throw refused('a token in clear text')
  const { account } = request.target
  const claims = await bearer.verify(token).catch((error: unknown) => {
    throw challengedToken(request, bearer, error)
  })
  const role = accounts.has(account) ? bearer.roleOf(claims, account) : undefined
  return { kind: 'bearer', account: account as AccountName, subject: subjectOf(claims), role }
}

/** How a request without any credential is refused. */
export function refuseAnonymous({ version }: ArrivedRequest, bearer: Bearer | undefined): Fault {
  // Without an issuer there is nothing to name in a challenge, and nobody is told which accounts exist.
  if (bearer === undefined || version < challengedFrom) return refused('no credential')
  return new Fault('NoAuthenticationInformation', { challenge: bearer.challenge })
}

function challengedToken({ version }: ArrivedRequest, { challenge }: Bearer, cause: unknown): Fault {
  if (version < challengedFrom) return new Fault('AuthenticationFailed', { cause })
  return new Fault('InvalidAuthenticationInfo', { text: challengeText, challenge, cause })
}

/** The dependency is loaded here, so that a service without tokens starts without it. */
export async function openBearer(
  settings: BearerSettings,
  clock: Clock,
  fetchJson: FetchJson,
): Promise<Bearer> {
  const jose = await import('jose')
  const nowMs = () => unixMsOfTicks(clock())
  switch (settings.kind) {
    case 'accept-any':
      return believer(jose, nowMs)
    case 'issuer':
      return verifier(jose, settings, nowMs, fetchJson)
    default:
      return unreachable(settings)
  }
}

type Jose = typeof joseTypes

function verifier(
  jose: Jose,
  settings: BearerSettings & { readonly kind: 'issuer' },
  nowMs: () => number,
  fetchJson: FetchJson,
): Bearer {
  const { issuer, audiences = storageAudiences, tenant, assignments } = settings
  if (tenant !== undefined && !uuid.test(tenant)) throw new Error(`tenant '${tenant}': a UUID is needed`)
  const keys = openIssuerKeys(issuer, jose.createLocalJWKSet, nowMs, fetchJson)
  return { challenge: challengeOf(issuer, audiences, tenant), verify, roleOf }

  async function verify(token: string): Promise<Claims> {
    checkLength(token)
    // By the header alone, before a key is looked for.
    const { alg = '', crit } = jose.decodeProtectedHeader(token)
    if (!algorithms.includes(alg)) throw new Error('the algorithm is not allowed')
    if (crit !== undefined) throw new Error('the token has critical extensions')
    const { payload } = await jose.jwtVerify(token, keys.find, {
      issuer,
      algorithms,
      requiredClaims: ['exp'],
      clockTolerance: leewaySeconds,
      currentDate: new Date(nowMs()),
    })
    checkAudience(payload, audiences)
    return payload
  }

  function roleOf(claims: Claims, account: string): Role | undefined {
    const held = {
      role: textsOf(claims['roles']),
      group: textsOf(claims['groups']),
      subject: [subjectOf(claims)],
    }
    const roles = assignments
      .filter((each) => each.account === undefined || each.account === account)
      .filter(({ claim, value }) => held[claim].includes(value))
      .map(({ role }) => role)
    return roles.includes('contributor') ? 'contributor' : roles[0]
  }
}

function believer(jose: Jose, nowMs: () => number): Bearer {
  return { challenge: challengeOf('https://login.microsoftonline.com'), verify, roleOf: () => 'contributor' }

  async function verify(token: string): Promise<Claims> {
    checkLength(token)
    const claims = jose.decodeJwt(token)
    const nowSeconds = Math.floor(nowMs() / 1000)
    const [latest, earliest] = [nowSeconds + leewaySeconds, nowSeconds - leewaySeconds]
    if (!isTime(claims.iat, -Infinity, latest) || !isTime(claims.nbf, -Infinity, latest)) {
      throw new Error('the token is not valid yet')
    }
    if (!isTime(claims.exp, earliest + 1, Infinity)) throw new Error('the token has expired')
    checkAudience(claims, storageAudiences)
    return claims
  }
}

function checkLength(token: string): void {
  if (token.length > tokenCharactersMax) throw new Error('the token is too long')
}

function isTime(claim: unknown, first: number, last: number): boolean {
  return typeof claim === 'number' && first <= claim && claim <= last
}

function checkAudience({ aud }: Claims, audiences: readonly string[]): void {
  const wanted = audiences.map(withoutSlash)
  if (!textsOf(aud).some((each) => wanted.includes(withoutSlash(each)))) {
    throw new Error('the token is for another audience')
  }
}

function withoutSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text
}

function subjectOf({ oid, sub }: Claims): string {
  return textsOf(oid)[0] ?? textsOf(sub)[0] ?? ''
}

function textsOf(claim: unknown): readonly string[] {
  return [claim].flat().filter((each): each is string => typeof each === 'string' && each !== '')
}

/**
 * Two pairs, one space between, nothing quoted: clients take it apart by hand, and follow it only where the
 * first segment of the path is a UUID and the resource an origin.
 */
function challengeOf(
  issuer: string,
  audiences: readonly string[] = storageAudiences,
  tenant?: string,
): string {
  const { origin, pathname } = new URL(issuer)
  const named = pathname.split('/').find((segment) => uuid.test(segment))
  const resource = audiences.find((audience) => URL.canParse(audience))
  return (
    `Bearer authorization_uri=${origin}/${tenant ?? named ?? someTenant}/oauth2/authorize ` +
    `resource_id=${resource === undefined ? storage : new URL(resource).origin}`
  )
}

/** Reads `role:NAME[@ACCOUNT],group:ID,subject:ID,…`; a name alone is that of a role. */
export function parseAssignments(role: Role, text: string): Assignment[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const match = /^(?:(role|group|subject):)?([^@]+)(?:@([a-z0-9]{3,24}))?$/.exec(entry)
      const [, claim = 'role', value = '', account] = match ?? []
      if (match === null)
        throw new Error(`'${entry}': role:NAME, group:ID or subject:ID, then @ACCOUNT or nothing`)
      return { role, claim: claim as ClaimKind, value, account }
    })
}

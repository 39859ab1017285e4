/** What both kinds of shared access signature have in common: a query that carries its own signature. */
import { isIPv4 } from 'node:net'
import { Fault, faults } from '../model/faults.ts'
import { parseTicks, type Ticks } from '../model/ticks.ts'
import type { Account } from './accounts.ts'
import type { HmacKey } from './hmac.ts'
import type { SignedRequest } from './shared-key.ts'
import { isSignature, isSignedBy, sign } from './signature.ts'

export type Query = ReadonlyMap<string, string>

/** A request together with where it came from. */
export interface ArrivedRequest extends SignedRequest {
  /** The protocol version spoken. */
  readonly version: string
  /** The client's connection is encrypted. */
  readonly secure: boolean
  /** The client's address. Asked for only when a credential depends on it. */
  readonly peer: () => string | undefined
}

/** Of tokens of either kind. */
const parameters = 'sv ss srt sp st se sip spr ses sig tn si spk srk epk erk'.split(' ')

/** Of signatures made with a delegated key, which tables do not have. */
const delegated = 'skoid sktid skt ske sks skv skdutid saoid suoid scid'.split(' ')

const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
const dayShape = /^\d{4}-\d\d-\d\d$/
const minutesShape = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(Z|[+-]\d\d:\d\d)$/
const secondsShape = /:\d\d(?:\.\d{1,7})?(?:Z|[+-]\d\d:\d\d)$/

/** An empty value is signed as an absent one is, so it means the same. */
export function parameter(query: Query, name: string): string {
  return query.get(name) ?? ''
}

/** Proves that an owner of the account wrote the token. */
export function checkSignature(account: Account | undefined, query: Query, stringToSign: string): void {
  // A line feed would let one field slide into the next in the text that is signed.
  for (const name of parameters) {
    if (controlCharacter.test(parameter(query, name))) throw refused(`${name} holds a control character`)
  }
  if (delegated.some((name) => query.has(name))) throw refused('tables take no delegated keys')
  if (!dayShape.test(parameter(query, 'sv'))) throw refused('sv is not a date')
  // A plus that was pasted unescaped has been read as a space.
  const signature = parameter(query, 'sig').replaceAll(' ', '+')
  if (!isSignature(signature)) throw refused('sig is not a signature')
  if (!isSignedBy(account, [stringToSign], signature)) throw refused('the signature does not match')
}

/** From `start`, inside, until `expiry`, outside, without allowance for clocks that differ. */
export function checkLifetime(start: string, expiry: string, now: Ticks): void {
  const from = start === '' ? now : parseSasTime(start)
  const until = parseSasTime(expiry)
  if (from === undefined || until === undefined) throw refused('a time cannot be read')
  if (now < from) throw refused('the token is not valid yet')
  if (now >= until) throw refused('the token has expired')
}

/** `2035-01-01`, or to the minute, the second or its fraction, and then with a zone. */
export function parseSasTime(text: string): Ticks | undefined {
  if (dayShape.test(text)) return parseTicks(`${text}T00:00:00Z`)
  const minutes = minutesShape.exec(text)
  if (minutes !== null) return parseTicks(`${minutes[1]}:00${minutes[2]}`)
  return secondsShape.test(text) ? parseTicks(text) : undefined
}

/** Where the request may come from, and how. */
export function checkOrigin(query: Query, request: ArrivedRequest): void {
  const sip = parameter(query, 'sip')
  if (sip !== '') checkAddress(sip, request.peer() ?? '')
  const spr = parameter(query, 'spr')
  if (spr !== '' && spr !== 'https' && spr !== 'https,http') throw refused('spr is not a choice of protocols')
  if (spr === 'https' && !request.secure) throw new Fault('AuthorizationProtocolMismatch')
}

/** `a` or `a-b`, both ends inside; undefined for anything else. */
export function parseAddresses(text: string): readonly [first: number, last: number] | undefined {
  const [first = '', last = first, ...more] = text.split('-')
  if (!isIPv4(first) || !isIPv4(last) || more.length > 0) return undefined
  return numberOf(first) > numberOf(last) ? undefined : [numberOf(first), numberOf(last)]
}

function checkAddress(sip: string, peer: string): void {
  const addresses = parseAddresses(sip)
  if (addresses === undefined) throw refused('sip is not an address or a range of them')
  // A socket for both families shows IPv4 addresses inside IPv6 ones.
  const address = peer.replace(/^::ffff:/i, '')
  const [first, last] = addresses
  if (isIPv4(address) && first <= numberOf(address) && numberOf(address) <= last) return
  const text = faults.AuthorizationSourceIPMismatch[1].replace('{address}', address)
  throw new Fault('AuthorizationSourceIPMismatch', { text })
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}

/** A token as clients append it to an address. */
export function tokenText(fields: Query, stringToSign: string, key: HmacKey): string {
  return [...fields, ['sig', sign(key, stringToSign)] as const]
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

/** The reason is for the log: clients learn only that it failed. */
export function refused(reason: string): Fault {
  return new Fault('AuthenticationFailed', { cause: new Error(reason) })
}

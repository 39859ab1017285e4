/**
 * The request target: which account, which resource, which options. Taken apart once; what is signed, what
 * is routed and what is authorised all come from here. A URL class would resolve dots and slashes and so
 * serve another path than was signed.
 */
import type { Accounts } from '../auth/accounts.ts'
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'
import type { HttpRequest } from './request.ts'

export interface Target {
  readonly account: string
  readonly secondary: boolean
  /** The target up to the first `?`, as sent. */
  readonly rawPath: string
  /** What follows the account, percent-decoded once, without its leading slash. */
  readonly resource: string
  readonly query: ReadonlyMap<string, string>
  /** Scheme, authority and, in path style, the account: what links in answers begin with. */
  readonly base: string
}

const visibleAscii = /^[\x21-\x7e]+$/
const authority = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/
const accountSegment = /^[A-Za-z0-9]+(?:-secondary)?$/
const secondarySuffix = '-secondary'
const dotSegment = /(?:^|\/)\.{1,2}(?:\/|$)/

/** A second value of one of these could be checked in place of the one that is used. */
const atMostOnce = new Set(
  'comp restype sv ss srt sp st se sip spr ses sig tn si spk srk epk erk api-version'.split(' '),
)

export function readTarget(
  request: HttpRequest,
  headers: ReadonlyMap<string, string>,
  accounts: Accounts,
): Target {
  const host = headers.get('host') ?? ''
  if (host === '') throw new Fault('HostInformationNotPresent')
  if (!authority.test(host)) throw new Fault('InvalidHeaderValue')
  if (request.target.length > limits.requestLineBytesMax) throw new Fault('UriTooLong')
  const origin = originForm(request.target, host)
  if (!visibleAscii.test(origin) || origin.includes('#')) throw new Fault('InvalidUri')
  const mark = origin.indexOf('?')
  const rawPath = mark < 0 ? origin : origin.slice(0, mark)
  const query = readQuery(mark < 0 ? '' : origin.slice(mark + 1))
  const scheme = request.secure ? 'https' : 'http'
  const hosted = accountOfHost(host, accounts)
  if (hosted !== undefined) {
    return { ...hosted, rawPath, resource: decodePath(rawPath), query, base: `${scheme}://${host}` }
  }
  const slash = rawPath.indexOf('/', 1)
  const segment = slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash)
  if (!accountSegment.test(segment)) throw new Fault('InvalidUri')
  return {
    ...accountOf(segment),
    rawPath,
    resource: decodePath(slash < 0 ? '/' : rawPath.slice(slash)),
    query,
    base: `${scheme}://${host}/${segment}`,
  }
}

/** Accepts the absolute form for the very host the request was sent to, and then reads only its path. */
function originForm(target: string, host: string): string {
  if (target.startsWith('/')) return target
  const match = /^https?:\/\/([^/?#]*)([/?].*)?$/i.exec(target)
  if (match?.[1] !== host) throw new Fault('InvalidUri')
  const rest = match[2] ?? '/'
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Host style is `<account>.table.<anything>`, for accounts that are configured: no guessing from labels. */
function accountOfHost(
  host: string,
  accounts: Accounts,
): { account: string; secondary: boolean } | undefined {
  const dot = host.indexOf('.')
  if (dot < 0 || !host.startsWith('table.', dot + 1)) return undefined
  const found = accountOf(host.slice(0, dot))
  return accounts.has(found.account) ? found : undefined
}

function accountOf(segment: string): { account: string; secondary: boolean } {
  const secondary = segment.endsWith(secondarySuffix)
  return { account: secondary ? segment.slice(0, -secondarySuffix.length) : segment, secondary }
}

/** Decodes exactly once, refusing what is not UTF-8 and segments that a file system would resolve. */
function decodePath(rawPath: string): string {
  const path = rawPath.slice(1).split('/').map(decodeOnce).join('/')
  // An escaped slash separates segments too.
  if (dotSegment.test(path)) throw new Fault('InvalidUri')
  return path
}

function decodeOnce(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (error) {
    throw new Fault('InvalidUri', { cause: error })
  }
}

/** Only `&` and `=` have meaning, and `+` is a space. */
function readQuery(text: string): Map<string, string> {
  const query = new Map<string, string>()
  if (text === '') return query
  const pieces = text.split('&')
  if (pieces.length > limits.queryParametersMax) throw new Fault('InvalidQueryParameterValue')
  const seen = new Set<string>()
  for (const piece of pieces) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const name = decodeParameter(equals < 0 ? piece : piece.slice(0, equals))
    const value = equals < 0 ? '' : decodeParameter(piece.slice(equals + 1))
    const lower = name.toLowerCase()
    if (seen.has(lower) && atMostOnce.has(lower)) throw new Fault('InvalidQueryParameterValue')
    if (query.has(name) && name.startsWith('$')) throw new Fault('InvalidInput')
    seen.add(lower)
    if (!query.has(name)) query.set(name, value)
  }
  return query
}

function decodeParameter(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error) {
    throw new Fault('InvalidInput', { cause: error })
  }
}

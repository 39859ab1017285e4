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

/** Visible ASCII without `#`. */
const visibleAscii = /^[\x21\x22\x24-\x7e]+$/
const authority = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/
const accountSegment = /^[A-Za-z0-9]+(?:-secondary)?$/
const secondarySuffix = '-secondary'
const dotSegment = /(?:^|\/)\.{1,2}(?:\/|$)/

/** A second value of one of these could be checked in place of the one that is used. */
const atMostOnce = new Set(
  'comp restype sv ss srt sp st se sip spr ses sig tn si spk srk epk erk api-version'.split(' '),
)

/** Clients write these in any case, and sign `comp` in any case. */
const routing = new Set(['comp', 'restype'])

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
  if (!visibleAscii.test(origin)) throw new Fault('InvalidUri')
  const mark = origin.indexOf('?')
  const rawPath = mark < 0 ? origin : origin.slice(0, mark)
  const query = mark < 0 ? noQuery : readQuery(origin.slice(mark + 1))
  const server = `${request.secure ? 'https' : 'http'}://${host}`
  const hosted = accountOfHost(host, accounts)
  if (hosted !== undefined) {
    const { account, secondary } = hosted
    return { account, secondary, rawPath, resource: decodePath(rawPath), query, base: server }
  }
  const slash = rawPath.indexOf('/', 1)
  const segment = slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash)
  if (!accountSegment.test(segment)) throw new Fault('InvalidUri')
  const { account, secondary } = accountOf(segment)
  const resource = slash < 0 ? '' : decodePath(rawPath.slice(slash))
  return { account, secondary, rawPath, resource, query, base: `${server}/${segment}` }
}

const noQuery: ReadonlyMap<string, string> = new Map()

// As in a request line, but spaces may stand for themselves and so may characters beyond ASCII.
const visible = /^[\x20-\x7e\u00a0-\uffff]+$/
const absoluteForm = /^(https?):\/\/([^/?]*)(.*)$/i

/**
 * The target of an operation in a batch: absolute, from the root or relative to the batch's own address.
 * Its authority is only repeated in links; its account, where it names one, must be that of the batch.
 */
export function readPartTarget(text: string, outer: Target): Target {
  if (!visible.test(text) || text.includes('#')) throw new Fault('InvalidUri')
  const mark = text.indexOf('?')
  const address = mark < 0 ? text : text.slice(0, mark)
  const query = mark < 0 ? noQuery : readQuery(text.slice(mark + 1))
  const { account, secondary } = outer
  const absolute = absoluteForm.exec(address)
  if (absolute === null) {
    const path = address.startsWith('/') ? address : `/${address}`
    const named = isPathStyle(outer) ? accountInPath(path, account) : undefined
    const rawPath = named === undefined ? path : path.slice(named.length + 1)
    return { account, secondary, rawPath, resource: decodePath(rawPath), query, base: outer.base }
  }
  const [, scheme = '', host = '', path = ''] = absolute
  if (!authority.test(host)) throw new Fault('InvalidUri')
  const origin = `${scheme.toLowerCase()}://${host}`
  const hosted = host === authorityOf(outer) ? !isPathStyle(outer) : nameInHost(host, account)
  if (hosted) return { account, secondary, rawPath: path, resource: decodePath(path), query, base: origin }
  const named = accountInPath(`${path}/`, account)
  if (named === undefined) throw new Fault('InvalidInput')
  const rawPath = path.slice(named.length + 1)
  return { account, secondary, rawPath, resource: decodePath(rawPath), query, base: `${origin}/${named}` }
}

/** The base of a target is `scheme://authority`, and in path style has the account behind it. */
function authorityOf({ base }: Target): string {
  const from = base.indexOf('//') + 2
  const until = base.indexOf('/', from)
  return until < 0 ? base.slice(from) : base.slice(from, until)
}

function isPathStyle({ base }: Target): boolean {
  return base.includes('/', base.indexOf('//') + 2)
}

function nameInHost(host: string, account: string): boolean {
  return host.startsWith(`${account}.table.`) || host.startsWith(`${account}${secondarySuffix}.table.`)
}

/** The first segment, if it names the account and a slash follows: without one it may be a table's name. */
function accountInPath(path: string, account: string): string | undefined {
  const segment = path.slice(1, Math.max(path.indexOf('/', 1), 1))
  return segment === account || segment === `${account}${secondarySuffix}` ? segment : undefined
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
  if (!rawPath.includes('%') && !rawPath.includes('/.')) return rawPath.slice(1)
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
    const known = routing.has(lower) ? lower : name
    if (!query.has(known)) query.set(known, value)
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

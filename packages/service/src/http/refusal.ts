/**
 * How refusals look. Two writers made the recorded ones: a front end, which speaks for authentication and
 * malformed requests, and the table layer behind it. Where a fault was thrown decides who writes it.
 */
import { unreachable } from '../model/brand.ts'
import { jsonString } from '../model/json-text.ts'
import type { Fault } from '../model/faults.ts'
import { formatTicksFully, type Ticks } from '../model/ticks.ts'
import { contentTypeOf, type Format } from './format.ts'
import type { Reply } from './reply.ts'
import { xmlText } from './xml.ts'

/**
 * `version` while the protocol version is read, `front` before the table layer, `early` while the request
 * is decoded, `late` once it is carried out.
 */
export type Stage = 'version' | 'front' | 'early' | 'late'

export interface RefusalContext {
  readonly stage: Stage
  readonly format: Format
  readonly requestId: string
  readonly now: Ticks
  readonly version: string
  /** What `Preference-Applied` would say had the request succeeded. */
  readonly preferenceApplied: string | undefined
}

const metadataNamespace = 'http://schemas.microsoft.com/ado/2007/08/dataservices/metadata'
const errorCodeHeaderFrom = '2017-07-29'

export function refuse(fault: Fault, context: RefusalContext): Reply {
  switch (context.stage) {
    case 'version':
      return refuseVersion(fault, context)
    case 'front':
      return refuseInFront(fault, context)
    case 'early':
    case 'late':
      return refuseBehind(fault, context)
    default:
      return unreachable(context.stage)
  }
}

/** An unknown version is answered before anything else is understood, in a form of its own. */
function refuseVersion(fault: Fault, { requestId, now }: RefusalContext): Reply {
  const message = messageOf(fault, requestId, now)
  const body =
    '\ufeff<?xml version="1.0" encoding="utf-8" standalone="yes"?>\r\n' +
    `<error xmlns="${metadataNamespace}">\r\n` +
    `  <code>${fault.code}</code>\r\n` +
    `  <message xml:lang="en-US">${xmlText(message)}</message>\r\n` +
    '</error>'
  return {
    status: fault.status,
    reason: fault.message,
    contentType: 'application/xml',
    body: Buffer.from(body, 'utf8'),
    measured: true,
  }
}

function refuseInFront(fault: Fault, { format, requestId, now, version }: RefusalContext): Reply {
  const message = messageOf(fault, requestId, now)
  const json = wantsJson(format)
  const xml =
    `<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="${metadataNamespace}">` +
    `<m:code>${fault.code}</m:code><m:message xml:lang="en-US">${xmlText(message)}</m:message></m:error>`
  return {
    status: fault.status,
    reason: fault.message,
    contentType: json ? 'application/json' : 'application/xml',
    ...(fault.challenge === undefined ? {} : { challenge: fault.challenge }),
    ...(version >= errorCodeHeaderFrom ? { errorCode: fault.code } : {}),
    body: json ? jsonBody(fault, message) : Buffer.from(xml, 'utf8'),
    measured: true,
  }
}

function refuseBehind(fault: Fault, context: RefusalContext): Reply {
  const { stage, format, requestId, now, preferenceApplied } = context
  const message = messageOf(fault, requestId, now)
  const late = stage === 'late'
  const xml =
    `<?xml version="1.0" encoding="utf-8"?><error xmlns="${metadataNamespace}">` +
    `<code>${fault.code}</code><message xml:lang="en-US">${xmlText(message)}</message></error>`
  return {
    status: fault.status,
    noCache: late,
    ...(late && preferenceApplied !== undefined ? { preferenceApplied } : {}),
    contentType: wantsJson(format) ? contentTypeOf(format.level) : 'application/xml;charset=utf-8',
    body: wantsJson(format) ? jsonBody(fault, message) : Buffer.from(xml, 'utf8'),
  }
}

function wantsJson(format: Format): format is Format & { kind: 'json' } {
  return format.kind === 'json' && format.asked
}

function messageOf(fault: Fault, requestId: string, now: Ticks): string {
  return `${fault.message}\nRequestId:${requestId}\nTime:${formatTicksFully(now)}`
}

function jsonBody(fault: Fault, message: string): string {
  return `{"odata.error":{"code":"${fault.code}","message":{"lang":"en-US","value":${jsonString(message)}}}}`
}

/**
 * Writes the answer to a batch. Clients take it apart with regular expressions, so the names of boundaries,
 * the order and spelling of headers and every line break are part of the protocol:
 *
 *   batch      = `--batchresponse_` id ⏎ ( change set | answer ) `--batchresponse_` id `--` ⏎
 *   change set = `Content-Type: multipart/mixed; boundary=changesetresponse_` id ⏎ ⏎
 *                *( `--changesetresponse_` id ⏎ answer ) `--changesetresponse_` id `--` ⏎
 *   answer     = mime ⏎ status-line ⏎ *( header ⏎ ) ⏎ [ body ] ⏎
 */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Reply } from './reply.ts'

export interface PartReply {
  readonly reply: Reply
  /** Repeated where the request had one. */
  readonly contentId: string | undefined
}

const mime = 'Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n'

export function writeBatch(layout: 'operation' | 'change set', replies: readonly PartReply[]): Reply {
  const batch = `batchresponse_${randomUUID()}`
  let text = `--${batch}\r\n`
  if (layout === 'change set') {
    const changeSet = `changesetresponse_${randomUUID()}`
    text += `Content-Type: multipart/mixed; boundary=${changeSet}\r\n\r\n`
    for (const reply of replies) text += `--${changeSet}\r\n${partText(reply)}`
    text += `--${changeSet}--\r\n`
  } else {
    for (const reply of replies) text += partText(reply)
  }
  text += `--${batch}--\r\n`
  return {
    status: 202,
    noCache: true,
    contentType: `multipart/mixed; boundary=${batch}`,
    body: Buffer.from(text, 'latin1'),
  }
}

function partText({ reply, contentId }: PartReply): string {
  const body = typeof reply.body === 'object' ? reply.body.toString('latin1') : (reply.body ?? '')
  const status = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\n`
  return `${mime}${status}${headersText(reply, contentId)}\r\n${body}\r\n`
}

/** An answer that shows an entity names version and type first; all others name them last. */
function headersText(reply: Reply, contentId: string | undefined): string {
  const shows = reply.body !== undefined && reply.status < 300
  const kind =
    header('DataServiceVersion', dataServiceVersionOf(reply)) + header('Content-Type', reply.contentType)
  return (
    (shows ? kind : '') +
    header('Content-ID', contentId) +
    header('X-Content-Type-Options', 'nosniff') +
    header('Cache-Control', reply.noCache ? 'no-cache' : undefined) +
    header('Preference-Applied', reply.preferenceApplied) +
    (reply.continuation ?? []).map(([name, value]) => header(name, value)).join('') +
    (shows ? '' : kind) +
    header('Location', reply.location) +
    header('DataServiceId', reply.dataServiceId) +
    header('ETag', reply.etag)
  )
}

/** The version an answer needs: JSON came with the third, and so did preferences. */
function dataServiceVersionOf({ contentType, preferenceApplied }: Reply): string {
  const third = contentType === undefined ? preferenceApplied !== undefined : contentType.includes('json')
  return third ? '3.0;' : '1.0;'
}

function header(name: string, value: string | undefined): string {
  return value === undefined ? '' : `${name}: ${value}\r\n`
}

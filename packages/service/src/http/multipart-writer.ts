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
  return {
    status: 202,
    noCache: true,
    contentType: `multipart/mixed; boundary=${batch}`,
    body: `--${batch}\r\n${layout === 'change set' ? changeSetText(replies) : partsText(mime, replies)}--${batch}--\r\n`,
  }
}

function changeSetText(replies: readonly PartReply[]): string {
  const boundary = `changesetresponse_${randomUUID()}`
  const parts = partsText(`--${boundary}\r\n${mime}`, replies)
  return `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n${parts}--${boundary}--\r\n`
}

function partsText(before: string, replies: readonly PartReply[]): string {
  let text = ''
  let head = ''
  let of: PartReply | undefined
  for (const part of replies) {
    const { reply } = part
    // Most answers of a group differ in nothing but where the entity is and which version it has.
    // Joined, it is one piece of memory; concatenated, it would be put together anew for each of them.
    if (of === undefined || !beginAlike(of, part)) head = [before, headText(part)].join('')
    of = part
    const { body = '' } = reply
    text += `${head}${tailText(reply)}${typeof body === 'string' ? body : body.toString('latin1')}\r\n`
  }
  return text
}

function beginAlike(a: PartReply, b: PartReply): boolean {
  return (
    a.contentId === b.contentId &&
    a.reply.status === b.reply.status &&
    a.reply.contentType === b.reply.contentType &&
    a.reply.noCache === b.reply.noCache &&
    a.reply.preferenceApplied === b.reply.preferenceApplied &&
    a.reply.continuation === b.reply.continuation &&
    (a.reply.body === undefined) === (b.reply.body === undefined)
  )
}

/** An answer that shows an entity names version and type first; all others name them last. */
function headText({ reply, contentId }: PartReply): string {
  const shows = reply.body !== undefined && reply.status < 300
  const kind =
    header('DataServiceVersion', dataServiceVersionOf(reply)) + header('Content-Type', reply.contentType)
  return (
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\n` +
    (shows ? kind : '') +
    header('Content-ID', contentId) +
    header('X-Content-Type-Options', 'nosniff') +
    header('Cache-Control', reply.noCache ? 'no-cache' : undefined) +
    header('Preference-Applied', reply.preferenceApplied) +
    (reply.continuation ?? []).map(([name, value]) => header(name, value)).join('') +
    (shows ? '' : kind)
  )
}

/** The headers that differ from entity to entity, and the blank line behind them. */
function tailText({ location, dataServiceId, etag }: Reply): string {
  let text = ''
  if (location !== undefined) text += `Location: ${location}\r\n`
  if (dataServiceId !== undefined) text += `DataServiceId: ${dataServiceId}\r\n`
  if (etag !== undefined) text += `ETag: ${etag}\r\n`
  return `${text}\r\n`
}

/** The version an answer needs: JSON came with the third, and so did preferences. */
function dataServiceVersionOf({ contentType, preferenceApplied }: Reply): string {
  const third = contentType === undefined ? preferenceApplied !== undefined : contentType.includes('json')
  return third ? '3.0;' : '1.0;'
}

function header(name: string, value: string | undefined): string {
  return value === undefined ? '' : `${name}: ${value}\r\n`
}

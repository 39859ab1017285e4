/**
 * Takes a batch apart. A line ends with CR LF or with LF alone, and a line break before a delimiter belongs
 * to the delimiter:
 *
 *   batch      = anything *( delimiter mime ( operation | change set ) ) closing anything
 *   change set = anything *( delimiter mime operation ) closing anything
 *   mime       = *header blank
 *   operation  = *blank request-line *header [ blank *blank body ]
 *   delimiter  = `--` boundary              (a whole line, save for spaces after it)
 *   closing    = `--` boundary `--`         (the same)
 *
 * Bodies are views of the one buffer, never copies, and end where the next delimiter begins: lengths that
 * clients state are not trusted. Operations of a change set mostly repeat the headers of the one before, and
 * then share them. No byte is looked at more often than the depth of the grammar.
 */
import { isUtf8 } from 'node:buffer'
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'

/** One operation as it stands in a batch: nothing decoded, nothing trusted. */
export interface PartRequest {
  readonly method: string
  /** Absolute, from the root or relative, as written. */
  readonly target: string
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[]
  /** From the operation's own headers; one among the MIME headers says nothing. */
  readonly contentId: string | undefined
  readonly body: Buffer
}

/** Alone, or one or more in a change set. */
export interface BatchPart {
  readonly kind: 'operation' | 'change set'
  readonly operations: readonly PartRequest[]
}

/** Spelled as the protocol spells it. */
const contentTypeText =
  "The content type specified in not valid for batch requests. Content type must be 'multipart/mixed' and there must be a valid single boundary delimiter specified."
const nestedText = 'Nested change sets in a batch payload are not supported.'

/** Reading ends once there is one operation more than a batch may have: the rest cannot matter. */
export function readBatch(contentType: string | undefined, body: Buffer): BatchPart[] {
  const parts: BatchPart[] = []
  let operations = 0
  const whole: Piece = { body, text: body.toString('latin1'), at: 0, until: body.length }
  for (const piece of delimited(whole, requireBoundary(contentType))) {
    const part = readBatchPart(piece)
    parts.push(part)
    operations += part.operations.length
    if (operations > limits.groupMutationsMax) break
  }
  if (parts.length === 0) throw malformed()
  return parts
}

function readBatchPart(piece: Piece): BatchPart {
  const mime = readMime(readHeaders(piece, undefined))
  if (mime.media === 'application/http') {
    return { kind: 'operation', operations: [readOperation(piece, undefined)] }
  }
  if (mime.media !== 'multipart/mixed') throw malformed()
  return { kind: 'change set', operations: readChangeSet(piece, requireBoundary(mime.contentType)) }
}

function readChangeSet(whole: Piece, boundary: string): PartRequest[] {
  const operations: PartRequest[] = []
  const contentIds = new Set<string>()
  let mime: Headers | undefined
  let before: Operation | undefined
  for (const piece of delimited(whole, boundary)) {
    const headers = readHeaders(piece, mime)
    if (headers !== mime) {
      const { media } = readMime(headers)
      if (media === 'multipart/mixed') throw malformed(nestedText)
      if (media !== 'application/http') throw malformed()
      mime = headers
    }
    const operation = readOperation(piece, before)
    const { contentId } = operation
    if (contentId !== undefined) {
      if (contentIds.has(contentId)) {
        throw malformed(`'${contentId}' is not a unique 'Content-ID'. Each operation needs one of its own.`)
      }
      contentIds.add(contentId)
    }
    operations.push(operation)
    before = operation
    if (operations.length > limits.groupMutationsMax) break
  }
  if (operations.length === 0) throw malformed()
  return operations
}

/** With what the next operation may repeat. */
interface Operation extends PartRequest {
  readonly line: string
  readonly headers: Headers
  /** Line and headers as they stood, with the blank line behind them; empty if there was none. */
  readonly text: string
}

function readOperation(piece: Piece, before: Operation | undefined): Operation {
  if (before !== undefined && repeats(piece, before.text)) {
    const { method, target, rawHeaders, contentId, line, headers, text } = before
    return { method, target, rawHeaders, contentId, body: bodyOf(piece), line, headers, text }
  }
  const from = piece.at
  let line = nextLine(piece)
  while (line === '') line = nextLine(piece)
  line ??= ''
  const { method, target } = before !== undefined && line === before.line ? before : parseRequestLine(line)
  const headers = readHeaders(piece, before?.headers)
  const rawHeaders = headers.raw
  const contentId = headers === before?.headers ? before.contentId : contentIdOf(rawHeaders)
  const text = headers.text === '' ? '' : piece.body.toString('latin1', from, piece.at)
  return { method, target, rawHeaders, contentId, body: bodyOf(piece), line, headers, text }
}

function bodyOf(piece: Piece): Buffer {
  skipBreaks(piece)
  return piece.body.subarray(piece.at, piece.until)
}

/** Whether `text` is what comes next, which then counts as read. */
function repeats(piece: Piece, text: string): boolean {
  const until = piece.at + text.length
  if (text === '' || until > piece.until || !standsAt(piece.text, piece.at, text)) return false
  piece.at = until
  return true
}

function contentIdOf(raw: readonly string[]): string | undefined {
  const at = raw.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-id')
  return at < 0 ? undefined : raw[at + 1]
}

const httpVersion = /^HTTP\/\d\.\d$/
const control = /[\x00-\x1f\x7f]/

/** A target may contain spaces: the first space ends the method and the last one begins the version. */
function parseRequestLine(line: string): { method: string; target: string } {
  const text = decodeUtf8(line)
  if (text === undefined || control.test(text)) throw malformed()
  const first = text.indexOf(' ')
  const last = text.lastIndexOf(' ')
  const target = text.slice(first + 1, last)
  if (first < 1 || target === '' || !httpVersion.test(text.slice(last + 1))) {
    throw malformed(
      `The request line '${text}' is invalid. The request line at the start of each operation must be of the format 'HttpMethod RequestUrl HttpVersion'.`,
    )
  }
  return { method: text.slice(0, first), target }
}

interface Mime {
  readonly contentType: string
  readonly media: string
}

/** Encodings that leave bytes as they are. */
const plainEncodings = new Set(['binary', '8bit', '7bit'])

function readMime({ raw }: Headers): Mime {
  let contentType: string | undefined
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase()
    const value = raw[i + 1] as string
    if (name === 'content-type') {
      if (contentType !== undefined) throw malformed()
      contentType = value
    }
    if (name === 'content-transfer-encoding' && !plainEncodings.has(value.toLowerCase())) throw malformed()
  }
  if (contentType === undefined) throw malformed()
  return { contentType, media: mediaOf(contentType) }
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const fieldText = /^[\t\x20-\x7e\x80-\xff]*$/

interface Headers {
  /** Names and values in turn. */
  readonly raw: readonly string[]
  /** As they stood, with the blank line that ended them; empty if none did. */
  readonly text: string
}

/** Up to the blank line that ends them, or the end of the part. Most repeat those of the part before. */
function readHeaders(piece: Piece, before: Headers | undefined): Headers {
  if (before !== undefined && repeats(piece, before.text)) return before
  const from = piece.at
  const raw: string[] = []
  let bytes = 0
  let line = nextLine(piece)
  for (; line !== undefined && line !== ''; line = nextLine(piece)) {
    bytes += line.length
    if (raw.length === 2 * limits.partHeadersMax || bytes > limits.headerBytesMax) throw malformed()
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    const value = trimBlanks(line.slice(colon + 1))
    if (!token.test(name) || !fieldText.test(value)) throw malformed()
    raw.push(name, value)
  }
  return { raw, text: line === undefined ? '' : piece.body.toString('latin1', from, piece.at) }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const hyphen = 0x2d

/** A part of the batch, and how far it has been read. */
interface Piece {
  readonly body: Buffer
  /** The whole body, one character a byte. A slice of it would keep all of it in memory until the commit. */
  readonly text: string
  at: number
  readonly until: number
}

/** What lies between the delimiters of `boundary`. Without a closing one, something is missing. */
function* delimited({ body, text, at: start, until: end }: Piece, boundary: string): Generator<Piece> {
  const mark = `--${boundary}`
  // Few characters are found by the processor's own search, more by a table, which takes three times as long.
  const beginning = `\n${mark.slice(0, 5)}`
  let from: number | undefined
  let found = standsAt(text, start, mark) ? start : lineAfter(start)
  for (;;) {
    const at = found + mark.length
    if (found < 0 || at > end) throw malformed()
    const closes = text.charCodeAt(at) === hyphen && text.charCodeAt(at + 1) === hyphen
    const next = endOfLine(text, closes ? at + 2 : at, end)
    if (next !== undefined) {
      if (from !== undefined) yield { body, text, at: from, until: Math.max(from, beforeBreak(text, found)) }
      if (closes) return
      from = next
    }
    found = lineAfter(next === undefined ? at : next - 1)
  }

  /** Where a line begins with the mark, after the first line break from `at` on; negative if none does. */
  function lineAfter(at: number): number {
    let broken = text.indexOf(beginning, at)
    while (broken >= 0 && !standsAt(text, broken + 1, mark)) broken = text.indexOf(beginning, broken + 1)
    return broken < 0 ? broken : broken + 1
  }
}

/** By a slice, which costs nothing and is compared as memory: `startsWith` doubles the time of taking a batch apart. */
function standsAt(text: string, at: number, expected: string): boolean {
  return text.slice(at, at + expected.length) === expected
}

/** Where the next line begins, if nothing but blanks is left of this one. */
function endOfLine(text: string, from: number, end: number): number | undefined {
  let at = from
  while (at < end && (text[at] === ' ' || text[at] === '\t')) at++
  if (at >= end) return at === end ? at : undefined
  if (text.charCodeAt(at) === lineFeed) return at + 1
  if (text.charCodeAt(at) !== carriageReturn || at + 1 === end) return undefined
  return text.charCodeAt(at + 1) === lineFeed ? at + 2 : undefined
}

/** REQUIRES: a line begins at `at`. */
function beforeBreak(text: string, at: number): number {
  return text.charCodeAt(at - 2) === carriageReturn ? at - 2 : at - 1
}

/** The next line without its break, in memory of its own; undefined at the end. */
function nextLine(piece: Piece): string | undefined {
  const { body, text, at: from } = piece
  if (from >= piece.until) return undefined
  const found = text.indexOf('\n', from)
  const until = found < 0 || found > piece.until ? piece.until : found
  if (until - from > limits.requestLineBytesMax) throw malformed()
  piece.at = until + 1
  const broken = until > from && text.charCodeAt(until - 1) === carriageReturn
  return body.toString('latin1', from, broken ? until - 1 : until)
}

function skipBreaks(piece: Piece): void {
  const { text, until } = piece
  while (piece.at < until) {
    const unit = text.charCodeAt(piece.at)
    if (unit !== lineFeed && unit !== carriageReturn) return
    piece.at++
  }
}

// Blanks, letters, digits and a few signs, the last one not a blank: RFC 2046, 5.1.1.
const legalBoundary = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/

function requireBoundary(contentType: string | undefined): string {
  const boundary = contentType === undefined ? undefined : boundaryOf(contentType)
  if (boundary === undefined || !legalBoundary.test(boundary)) throw malformed(contentTypeText)
  return boundary
}

const parameter = /[ \t]*;[ \t]*(?:([^=;" \t]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;" \t]*)))?[ \t]*/y

/** Undefined when it is not multipart/mixed, cannot be read, or has no boundary or several. */
function boundaryOf(contentType: string): string | undefined {
  if (mediaOf(contentType) !== 'multipart/mixed') return undefined
  let boundary: string | undefined
  const semicolon = contentType.indexOf(';')
  parameter.lastIndex = semicolon < 0 ? contentType.length : semicolon
  while (parameter.lastIndex < contentType.length) {
    const match = parameter.exec(contentType)
    if (match === null) return undefined
    if (match[1]?.toLowerCase() !== 'boundary') continue
    if (boundary !== undefined) return undefined
    boundary = match[2]?.replaceAll(/\\(.)/g, '$1') ?? match[3]
  }
  return boundary
}

function mediaOf(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return trimBlanks(semicolon < 0 ? contentType : contentType.slice(0, semicolon)).toLowerCase()
}

/** Undefined for what is not UTF-8. `text` has one character a byte. */
function decodeUtf8(text: string): string | undefined {
  if (!/[\x80-\xff]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** String.trim would also take line breaks and the no-break space. */
function trimBlanks(text: string): string {
  let from = 0
  let until = text.length
  while (text[from] === ' ' || text[from] === '\t') from++
  while (until > from && (text[until - 1] === ' ' || text[until - 1] === '\t')) until--
  return text.slice(from, until)
}

function malformed(text?: string): Fault {
  return new Fault('InvalidInput', text === undefined ? {} : { text })
}

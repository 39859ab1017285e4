/**
 * The head of a request, read strictly: what two readers could understand differently is refused, so that no
 * proxy in front of us and we ever disagree on where a request ends.
 *
 *   head   = method SP target SP `HTTP/1.` ( `0` | `1` ) CRLF *( field CRLF ) CRLF
 *   field  = token `:` blanks value blanks
 *
 * Not accepted: other line ends, folded fields, blanks before the colon, control characters, two lengths, a
 * length beside chunks, codings other than `chunked`, HTTP/1.1 without a host.
 */
import { METHODS } from 'node:http'

export interface RequestHead {
  readonly method: string
  /** Byte for byte; visible ASCII only. */
  readonly target: string
  /** Names and values in turn, as sent; values without the blanks around them and without line breaks. */
  readonly rawHeaders: readonly string[]
  readonly framing: Framing
  /** HTTP/1.0 knows no chunks. */
  readonly knowsChunks: boolean
  /** Whether the client means to send more requests. */
  readonly keepAlive: boolean
  /** Whether it waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
}

/** How the end of the body is found. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'measured'; readonly bytes: number }
  | { readonly kind: 'chunked' }

/** What is not HTTP as it should be: answered in a line, and the connection is closed. */
export class BadHttp extends Error {
  readonly status: number
  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

const methods: ReadonlySet<string> = new Set(METHODS.filter((method) => method !== 'CONNECT'))

/** Whether more bytes could still make a head of these, so that nonsense is not waited for. */
export function mayBecomeHead(bytes: Buffer): boolean {
  return /^(?:$|[A-Z][A-Z-]{0,15}(?: |$))/.test(bytes.toString('latin1', 0, 17))
}

/** REQUIRES: the head ends at `end`, behind its empty line. */
export function readRequestHead(bytes: Buffer, end: number): RequestHead {
  const text = bytes.toString('latin1', 0, end)
  const methodEnd = text.indexOf(' ')
  const method = text.slice(0, Math.max(methodEnd, 0))
  if (!methods.has(method)) throw new BadHttp(400)
  let at = methodEnd + 1
  while (isOf(visible, bytes[at])) at++
  const target = text.slice(methodEnd + 1, at)
  const minor = text.startsWith(' HTTP/1.1\r\n', at) ? 1 : 0
  if (target === '' || (minor === 0 && !text.startsWith(' HTTP/1.0\r\n', at))) throw new BadHttp(400)
  at += ' HTTP/1.1\r\n'.length
  const rawHeaders: string[] = []
  let hosted = minor === 0
  let length: string | undefined
  let coding: string | undefined
  let connection = ''
  let expect: string | undefined
  while (at < end - 2) {
    const nameFrom = at
    while (isOf(token, bytes[at])) at++
    if (at === nameFrom || bytes[at] !== colon) throw new BadHttp(400)
    const name = text.slice(nameFrom, at++)
    while (isBlank(bytes[at])) at++
    const valueFrom = at
    while (isOf(content, bytes[at])) at++
    if (bytes[at] !== carriageReturn || bytes[at + 1] !== lineFeed) throw new BadHttp(400)
    let valueEnd = at
    while (valueEnd > valueFrom && isBlank(bytes[valueEnd - 1])) valueEnd--
    at += 2
    const value = text.slice(valueFrom, valueEnd)
    rawHeaders.push(name, value)
    // Few names have one of these lengths, so few are compared.
    switch (name.length) {
      case 'host'.length:
        hosted ||= name.toLowerCase() === 'host'
        break
      case 'expect'.length:
        if (name.toLowerCase() === 'expect') expect = value.toLowerCase()
        break
      case 'connection'.length:
        if (name.toLowerCase() === 'connection') connection += `,${value.toLowerCase()}`
        break
      case 'content-length'.length:
        if (name.toLowerCase() !== 'content-length') break
        if (length !== undefined) throw new BadHttp(400)
        length = value
        break
      case 'transfer-encoding'.length:
        if (name.toLowerCase() !== 'transfer-encoding') break
        if (coding !== undefined) throw new BadHttp(400)
        coding = value
        break
      default:
    }
  }
  if (!hosted) throw new BadHttp(400)
  if (expect !== undefined && expect !== '100-continue') throw new BadHttp(417)
  const framing = framingOf(length, coding, minor)
  return {
    method,
    target,
    rawHeaders,
    framing,
    knowsChunks: minor === 1,
    keepAlive: minor === 1 && !(connection !== '' && connection.split(/[, \t]+/).includes('close')),
    expectsContinue: minor === 1 && expect !== undefined && framing.kind !== 'none',
  }
}

const none: Framing = { kind: 'none' }
const chunked: Framing = { kind: 'chunked' }

function framingOf(length: string | undefined, coding: string | undefined, minor: number): Framing {
  if (coding !== undefined) {
    if (length !== undefined || minor === 0 || coding.toLowerCase() !== 'chunked') throw new BadHttp(400)
    return chunked
  }
  if (length === undefined) return none
  // Fifteen digits are exact as a number.
  if (!/^\d{1,15}$/.test(length)) throw new BadHttp(400)
  return { kind: 'measured', bytes: Number(length) }
}

const colon = 0x3a
const carriageReturn = 0x0d
const lineFeed = 0x0a

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09
}

function isOf(kind: number, byte: number | undefined): boolean {
  return byte !== undefined && ((kinds[byte] as number) & kind) !== 0
}

/** What a byte may be part of: a name, a target, a value. */
const token = 1
const visible = 2
const content = 4

const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return (
    (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(character) ? token : 0) |
    (/[\x21-\x7e]/.test(character) ? visible : 0) |
    (/[\t\x20-\x7e\x80-\xff]/.test(character) ? content : 0)
  )
})

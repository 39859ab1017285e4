/** Answers, read over a plain socket and as strictly as the client reads them. */
import { strict as assert } from 'node:assert'
import { connect } from 'node:net'
import { given } from '../javascript/contract.js'
import { bytesOf } from './requests.js'

/** Sends a request and returns its answer; headers are kept by their lower-case names. */
export async function send(request, signature) {
  const answer = parseAnswer(await exchange(bytesOf(request, signature)))
  assert.equal(answer.headers['x-ms-version'], '2020-12-06')
  assert.match(answer.headers['x-ms-request-id'], /^[\da-f-]{36}$/)
  return answer
}

/** The answer must be this refusal, in the form that the client takes a code from. */
export async function refused(request, status, code, signature) {
  const answer = await send(request, signature)
  assert.deepEqual([answer.status, errorOf(answer).code], [status, code])
}

/** A group that went through: the answers to its operations. */
export async function sendGroup(request, signature) {
  const answer = await send(request, signature)
  assert.equal(answer.status, 202, answer.body)
  return partsOf(answer)
}

/** A group that was refused: the place is where the client looks for it. */
export async function refusedGroup(request, status, code, index) {
  const parts = await sendGroup(request)
  assert.equal(parts.length, 1)
  const [part] = parts
  assert.deepEqual([part.status, errorOf(part).code], [status, code])
  assert.equal(/"value":"(\d+):/.exec(part.body)?.[1], String(index), part.body)
}

function errorOf({ headers, body }) {
  assert.match(headers['content-type'], /^application\/json/)
  const { code, message } = JSON.parse(body)['odata.error']
  assert.equal(typeof message.value, 'string')
  return { code }
}

function partsOf({ headers, body }) {
  const changeset = firstPart(body, boundaryOf(headers['content-type']))
  const inner = boundaryOf(changeset.headers['content-type'])
  const texts = changeset.body.split(`--${inner}`).slice(1, -1)
  return texts.map((text) => {
    const { body: message } = parseHeaders(text.replace(/^\r\n/, ''))
    return parseAnswer(Buffer.from(message.replace(/\r\n$/, '')))
  })
}

function firstPart(body, boundary) {
  const [, text] = body.split(`--${boundary}`)
  return parseHeaders(text.replace(/^\r\n/, ''))
}

/** The client compares the beginning exactly, and takes all that follows, quotes too. */
function boundaryOf(contentType) {
  const beginning = 'multipart/mixed; boundary='
  assert(contentType?.startsWith(beginning), contentType)
  return contentType.slice(beginning.length)
}

function parseAnswer(bytes) {
  const text = bytes.toString('utf8')
  const line = text.slice(0, text.indexOf('\r\n'))
  const [, status, reason] = /^HTTP\/1\.1 (\d{3}) (.+)$/.exec(line) ?? []
  assert(reason !== undefined, `the client needs a reason in the status line: ${line}`)
  return { status: Number(status), ...parseHeaders(text.slice(line.length + 2)) }
}

function parseHeaders(text) {
  const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n') + 2
  const headers = {}
  for (const line of text.slice(0, end).split('\r\n').filter(Boolean)) {
    const colon = line.indexOf(':')
    assert(colon > 0, `no header: ${line}`)
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { headers, body: text.slice(end + 2) }
}

/** One request and its whole answer, with chunks joined. */
async function exchange(bytes) {
  const { hostname, port } = new URL(given.url)
  const socket = connect(Number(port), hostname)
  try {
    socket.write(bytes)
    let received = Buffer.alloc(0)
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk])
      const whole = wholeAnswer(received)
      if (whole !== undefined) return whole
    }
    throw new Error(`the connection ended early: ${received.toString()}`)
  } finally {
    socket.destroy()
  }
}

/** Undefined while more is to come. */
function wholeAnswer(received) {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = received.subarray(0, headEnd + 4)
  const rest = received.subarray(headEnd + 4)
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head.toString())) {
    const body = joinedChunks(rest)
    return body && Buffer.concat([head, body])
  }
  const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head.toString())?.[1] ?? 0)
  return rest.length < length ? undefined : Buffer.concat([head, rest.subarray(0, length)])
}

function joinedChunks(rest) {
  const chunks = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString(), 16)
    if (rest.length < lineEnd + 2 + size + 2) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}

/** Requests nobody sends in good faith. None may be served as another, leak anything, or stop the server. */
import { strict as assert } from 'node:assert'
import { after, describe, it } from 'node:test'
import { openConnection, sendRaw } from './http-client.ts'
import {
  account,
  bytesOf,
  conversionText,
  endpoint,
  entity,
  errorOf,
  exchange,
  get,
  isRemote,
  noContent,
  post,
  put,
  querySyntaxText,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', 'r')
const none = { Accept: 'application/json;odata=nometadata' }
await exchange(put(one, {}))

const stillServes = (name: string) =>
  after(async () => assert.equal((await exchange(get(one))).status, 200, name))

const badUri = (path: string) => [get(path), 400, 'InvalidUri', { 'cache-control': undefined }] as const

// biome-ignore format: a table reads in columns
wireTable('paths that another reader might take for another path', [
  badUri('/../Tables'),
  badUri('/./Tables'),
  badUri('/Tables/..'),
  badUri(`/${people}/../Tables`),
  badUri('/%2e%2e/Tables'),
  badUri('/%2E/Tables'),
  badUri('/.%2e/Tables'),
  badUri(`/${people}%2F..%2FTables`),
  badUri('/Tables#fragment'),
  badUri('/Tables?a=b#c'),
  badUri('/Tab%les'),
  badUri('/Tables%'),
  badUri('/Tables%4'),
  badUri('/%C3%28'),
  badUri('/%FF'),
  badUri('/%ED%A0%80'),
  badUri('/%C0%AF'),
  // Decoded once and never again: what remains is text.
  [put(`/${people}(PartitionKey='%2527',RowKey='%25')`, {}),   204],
  [get(`/${people}(PartitionKey='%2527',RowKey='%25')`, none), 200, { body: '{"PartitionKey":"%27","RowKey":"%","Timestamp":"STAMP"}' }],
  [get(`/${people}(PartitionKey='%2500',RowKey='%252F')`),     404, 'ResourceNotFound'],
  [get(`/${people}(PartitionKey='%00',RowKey='r')`),           400, 'OutOfRangeInput'],
  [get(`/${people}%00(PartitionKey='p',RowKey='r')`),          400, 'InvalidResourceName'],
  [get('/Tables%0d%0aX-Injected:%201'),                        400, 'InvalidResourceName', { 'x-injected': undefined }],
  [get('//Tables'),                                            400, 'OutOfRangeInput', 'The specified resource name length is not within the permissible limits.'],
  [get(`/${people}\\..\\x(PartitionKey='p',RowKey='r')`),      400, 'InvalidResourceName'],
])

const authority = endpoint.url.host
const prefix = endpoint.url.pathname.replace(/\/$/, '')
const whole = (path: string, method = 'GET') => request(method, path, { wholeTarget: true })

// biome-ignore format: a table reads in columns
wireTable('forms of the target', [
  [whole(`http://${authority}${prefix}/Tables`),               200],
  [whole(`http://other.example.org${prefix}/Tables`),          400, 'InvalidUri'],
  [whole(`http://${authority}@other.example.org${prefix}/Tables`), 400, 'InvalidUri'],
  [whole(`ftp://${authority}${prefix}/Tables`),                400, 'InvalidUri'],
  [{ ...whole('*', 'OPTIONS'), sign: 'nothing' },              400, 'InvalidUri'],
  [whole('*'),                                                 400, 'InvalidUri'],
  [get('/Tables', { Host: 'evil.example.org/path' }),          400, 'InvalidHeaderValue'],
  [get('/Tables', { Host: 'user@evil.example.org' }),          400, 'InvalidHeaderValue'],
  [get('/Tables', { Host: 'a"b' }),                            400, 'InvalidHeaderValue'],
  [get('/Tables', { Host: '' }),                               400, 'HostInformationNotPresent', 'The required host information is not present in the request. You must send a non-empty Host header or include the absolute URI in the request line.'],
])

const twice = (name: string, first: string, second = first) =>
  [
    put(one, {}, { [name]: [first, second] }),
    400,
    'InvalidHeaderValue',
    { 'cache-control': undefined },
  ] as const

// biome-ignore format: a table reads in columns
wireTable('headers given more than once', [
  twice('Authorization', 'SharedKey a:b'),
  twice('Content-Type', 'application/json', 'text/plain'),
  twice('Date', 'x'),
  twice('x-ms-date', new Date().toUTCString()),
  twice('Content-MD5', 'x'),
  twice('If-Match', '*', 'W/"x"'),
  twice('If-None-Match', '*'),
  twice('x-ms-version', '2019-02-02', '2020-12-06'),
  twice('Origin', 'http://a'),
  [get('/Tables', { Host: [authority, 'other.example.org'] }), 400, 'InvalidHeaderValue'],
  [put(one, {}, { 'X-HTTP-Method': ['MERGE', 'PUT'] }),        400, 'XMethodIncorrectCount'],
  [get('/Tables', { 'User-Agent': ['a', 'b'], 'X-Other': ['a', 'b'] }), 200],
])

const badParameter = (query: string) => [get(`/Tables?${query}`), 400, 'InvalidQueryParameterValue'] as const

// biome-ignore format: a table reads in columns
wireTable('query parameters', [
  badParameter('comp=acl&comp=acl'),
  badParameter('comp=acl&COMP=stats'),
  badParameter('sp=r&sp=raud'),
  badParameter('sig=a&SIG=b'),
  badParameter('restype=service&restype=service'),
  badParameter('comp=nonsense'),
  badParameter('restype=account'),
  badParameter(Array.from({ length: 65 }, (_, i) => `p${i}=1`).join('&')),
  [get(`/Tables?${Array.from({ length: 64 }, (_, i) => `p${i}=1`).join('&')}`), 200],
  [get('/Tables?$top=1&$top=2'),                               400, 'InvalidInput'],
  [get('/Tables?a=%'),                                         400, 'InvalidInput'],
  [get('/Tables?a=%FF'),                                       400, 'InvalidInput'],
  [get('/Tables?%zz=1'),                                       400, 'InvalidInput'],
  [get('/Tables?__proto__=1&constructor=2&toString=3'),        200],
  [get('/Tables?a[]=1&a[b]=2&;=3&&=&=x'),                      200],
  [get('/Tables?a=1;$top=0'),                                  200],
  // A credential in the header makes those of the query mean nothing.
  [get('/Tables?sig=x&sv=2019-02-02&se=2035-01-01&sp=r&tn=x'), 200],
])

// biome-ignore format: a table reads in columns
wireTable('names that JavaScript knows', [
  [put(entity(people, '__proto__', 'constructor'), '{"__proto__":"a","constructor":"b","toString":1}'), 204],
  [get(entity(people, '__proto__', 'constructor'), none),      200, { body: '{"PartitionKey":"__proto__","RowKey":"constructor","Timestamp":"STAMP","__proto__":"a","constructor":"b","toString":1}' }],
  [post(`/${people}`, '{"PartitionKey":"p","RowKey":"x","__proto__":{"polluted":true}}', noContent), 400, 'InvalidInput', conversionText],
  [get(entity('constructor', 'p', 'r')),                       404, 'TableNotFound'],
  [get(entity('hasOwnProperty', 'p', 'r')),                    404, 'TableNotFound'],
  [get('/Tables', { Accept: '__proto__' }),                    415, 'MediaTypeNotSupported'],
  [get("/Tables('constructor')"),                              404, 'ResourceNotFound'],
  [get(`/${people}(__proto__='p',constructor='r')`),           400, 'InvalidInput', querySyntaxText],
])

it('no property of every object was made', () => {
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
})

/** Bytes as they stand; answers of the HTTP layer have no body of ours. */
const statusOf = async (...pieces: (string | Buffer)[]): Promise<number> =>
  (await sendRaw(endpoint.url, pieces)).status

describe('bytes that are not HTTP as it should be', () => {
  const head = (lines: string) => `GET ${prefix}/Tables HTTP/1.1\r\nHost: ${authority}\r\n${lines}\r\n`
  // biome-ignore format: a table reads in columns
  const faults: readonly (readonly [what: string, bytes: string, status: number])[] = [
    ['no HTTP at all',                'nonsense\r\n\r\n', 400],
    ['a TLS greeting',                '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['a verb nobody knows',           head('').replace('GET', 'FROB'), 400],
    ['a verb in lower case',          head('').replace('GET', 'get'), 400],
    ['a raw space in the target',     head('').replace('Tables', 'Ta bles'), 400],
    ['a raw control character',       head('').replace('Tables', 'Ta\x01bles'), 400],
    ['a raw byte above ASCII',        head('').replace('Tables', 'Tables\xe9'), 400],
    ['a version to come',             head('').replace('HTTP/1.1', 'HTTP/3.0'), 400],
    ['no Host',                       `GET ${prefix}/Tables HTTP/1.1\r\n\r\n`, 400],
    ['two lengths',                   head('Content-Length: 1\r\nContent-Length: 2\r\n'), 400],
    ['length and chunks',             head('Content-Length: 1\r\nTransfer-Encoding: chunked\r\n'), 400],
    ['a length below zero',           head('Content-Length: -1\r\n'), 400],
    ['a length that is no number',    head('Content-Length: ten\r\n'), 400],
    ['chunks that are not the last coding', head('Transfer-Encoding: chunked, gzip\r\n'), 400],
    ['a folded header',               head('A: b\r\n c\r\n'), 400],
    ['a header without a colon',      head('nonsense\r\n'), 400],
    ['a blank before the colon',      head('Content-Length : 1\r\n'), 400],
    ['a bare line feed',              head('A: b\nC: d\r\n'), 400],
    ['a NUL in a header',             head('A: b\x00c\r\n'), 400],
    ['headers beyond 96 KiB',         head(`A: ${'x'.repeat(100_000)}\r\n`), 431],
  ]
  for (const [what, bytes, status] of faults) {
    it(`${what}: ${status}`, async () => {
      const connection = await openConnection(endpoint.url)
      connection.send(bytes)
      const answer = await connection.receive()
      assert.equal(answer.status, status)
      assert.equal(answer.text.includes('at '), false)
      await connection.ended
    })
  }
  stillServes('after bytes that are not HTTP')
})

describe('sizes of the head', () => {
  it('a target of 60 KiB is served', async () => {
    assert.equal((await exchange(get(`/Tables?x=${'y'.repeat(60_000)}`))).status, 200)
  })
  it('a longer one is refused: 414', async () => {
    const answer = await exchange(get(`/Tables?x=${'y'.repeat(70_000)}`))
    assert.deepEqual([answer.status, errorOf(answer).code], [414, 'UriTooLong'])
  })
  it('30 KiB of headers are served', async () => {
    assert.equal((await exchange(get('/Tables', { 'X-Long': 'y'.repeat(30_000) }))).status, 200)
  })
})

const chunked = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked', ...noContent }
const inChunks = (row: string) => post(`/${people}`, '', { ...chunked, 'x-row': row })

describe('bodies', () => {
  it('in chunks of any size', async () => {
    const body = Buffer.from(JSON.stringify({ PartitionKey: 'p', RowKey: 'chunks', v: 'ñ日本' }))
    for (const size of [1, 3, 1000]) {
      const pieces: Buffer[] = [bytesOf(put(entity(people, 'p', 'chunks'), '', chunked))]
      for (let at = 0; at < body.length; at += size) {
        const chunk = body.subarray(at, at + size)
        pieces.push(
          Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
        )
      }
      assert.equal(await statusOf(Buffer.concat(pieces), '0\r\n\r\n'), 204)
      const read = await exchange(get(entity(people, 'p', 'chunks'), none))
      assert.ok(read.text.endsWith('"v":"\\u00f1\\u65e5\\u672c"}'), read.text)
    }
  })
  it('in chunks with extensions and trailers', async () => {
    const body = '{"PartitionKey":"p","RowKey":"trailers"}'
    const chunks = `${body.length.toString(16)};name=value\r\n${body}\r\n0\r\nTrailer: x\r\n\r\n`
    assert.equal(await statusOf(bytesOf(inChunks('trailers')), chunks), 204)
  })
  it('in chunks that are none: 400', async () => {
    assert.equal(await statusOf(bytesOf(inChunks('none')), 'xyz\r\n'), 400)
  })
  it('a byte at a time', async () => {
    const bytes = bytesOf(put(entity(people, 'p', 'slow'), { a: 1 }))
    const connection = await openConnection(endpoint.url)
    for (const byte of bytes) {
      connection.send(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal((await connection.receive()).status, 204)
    connection.close()
  })
  it('after 100 Continue', async () => {
    const sent = put(entity(people, 'p', 'expected'), '{"a":1}', { Expect: '100-continue' })
    assert.equal((await sendRaw(endpoint.url, [bytesOf(sent)])).status, 204)
  })
  it('without a length: 411, and the connection goes on', async () => {
    const connection = await openConnection(endpoint.url)
    for (const method of ['POST', 'PUT', 'MERGE', 'PATCH']) {
      connection.send(bytesOf(request(method, method === 'POST' ? `/${people}` : one)))
      const answer = await connection.receive()
      assert.deepEqual([answer.status, errorOf(answer).code], [411, 'MissingContentLengthHeader'], method)
    }
    connection.close()
  })
  it('what follows a refused body is not taken for a request', async () => {
    const smuggled = bytesOf(request('DELETE', one, { headers: { 'If-Match': '*' } }))
    const sent = post(`/${people}`, smuggled, { Authorization: undefined })
    const connection = await openConnection(endpoint.url)
    connection.send(bytesOf(sent))
    assert.equal((await connection.receive()).status, 403)
    connection.send(bytesOf(get(one)))
    assert.equal((await connection.receive()).status, 200)
    connection.close()
  })
})

describe('clients that break off', () => {
  it('in the request line, in the headers and in the body', async () => {
    const bytes = bytesOf(put(entity(people, 'p', 'broken'), { a: 'x'.repeat(1000) }))
    for (const until of [3, 40, 150, bytes.length - 500, bytes.length - 1]) {
      const connection = await openConnection(endpoint.url)
      connection.send(bytes.subarray(0, until))
      await new Promise((resolve) => setTimeout(resolve, 5))
      connection.close()
    }
    assert.equal((await exchange(get(entity(people, 'p', 'broken')))).status, 404)
  })
  it('before they read the answer', async () => {
    for (let i = 0; i < 20; i++) {
      const connection = await openConnection(endpoint.url)
      connection.send(bytesOf(get(one)))
      connection.close()
    }
  })
  it('do not hold others up', async () => {
    const idle = await Promise.all(Array.from({ length: 50 }, () => openConnection(endpoint.url)))
    for (const connection of idle)
      connection.send(`PUT ${prefix}/x HTTP/1.1\r\nHost: ${authority}\r\nContent-Le`)
    const startedMs = performance.now()
    assert.equal((await exchange(get(one))).status, 200)
    assert.ok(performance.now() - startedMs < 1000)
    for (const connection of idle) connection.close()
  })
  stillServes('after clients that break off')
})

it('an answer to HEAD has no body', async () => {
  const connection = await openConnection(endpoint.url)
  connection.send(bytesOf(request('HEAD', '/Tables')))
  assert.equal((await connection.receive(true)).status, 405)
  connection.send(bytesOf(get('/Tables')))
  assert.equal((await connection.receive()).status, 200)
  connection.close()
})

it('paths of our own are not the protocol', { skip: isRemote }, async () => {
  const answer = await sendRaw(endpoint.url, [`GET /-/live HTTP/1.1\r\nHost: ${authority}\r\n\r\n`])
  assert.equal(answer.status, 200)
  const refused = await exchange(get(`/${account}/-/live`, {}, { wholeTarget: true }))
  assert.equal(refused.status, 400)
})

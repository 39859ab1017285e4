/** Heads as they are sent and as they should not be: one reading each, or none. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BadHttp, mayBecomeHead, readRequestHead, type RequestHead } from '../../src/http/request-head.ts'

describe('the head of a request', () => {
  it('is read as it stands', () => {
    const head = read([
      'GET /a?b=%20 HTTP/1.1',
      'Host: h',
      'X-Some:  a b\t',
      'x-some:',
      'é: x'.replace('é', 'E'),
    ])
    assert.deepEqual(head, {
      method: 'GET',
      target: '/a?b=%20',
      rawHeaders: ['Host', 'h', 'X-Some', 'a b', 'x-some', '', 'E', 'x'],
      framing: { kind: 'none' },
      knowsChunks: true,
      keepAlive: true,
      expectsContinue: false,
    })
  })

  it('keeps bytes above ASCII in values, and refuses them elsewhere', () => {
    assert.deepEqual(read(['GET / HTTP/1.1', 'Host: h', 'A: \xe9\xff']).rawHeaders.slice(2), [
      'A',
      '\xe9\xff',
    ])
    refused(['GET /\xe9 HTTP/1.1', 'Host: h'])
    refused(['GET / HTTP/1.1', 'Host: h', '\xe9: a'])
  })

  // biome-ignore format: a table reads in columns
  const framings: readonly (readonly [headers: readonly string[], framing: RequestHead['framing'] | 400])[] = [
    [[],                                                     { kind: 'none' }],
    [['Content-Length: 0'],                                  { kind: 'measured', bytes: 0 }],
    [['content-length:\t12 '],                               { kind: 'measured', bytes: 12 }],
    [['CONTENT-LENGTH: 007'],                                { kind: 'measured', bytes: 7 }],
    [['Transfer-Encoding: Chunked'],                         { kind: 'chunked' }],
    [['Content-Length: '],                                   400],
    [['Content-Length: +1'],                                 400],
    [['Content-Length: 1, 1'],                               400],
    [['Content-Length: 0x10'],                               400],
    [['Content-Length: 1 1'],                                400],
    [['Content-Length: 9999999999999999'],                   400],
    [['Content-Length: 1', 'Content-Length: 1'],             400],
    [['Content-Length: 1', 'Transfer-Encoding: chunked'],    400],
    [['Transfer-Encoding: chunked', 'Content-Length: 1'],    400],
    [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], 400],
    [['Transfer-Encoding: gzip, chunked'],                   400],
    [['Transfer-Encoding: identity'],                        400],
    [['Transfer-Encoding: xchunked'],                        400],
    [['Transfer-Encoding:\x0bchunked'],                      400],
    [['Transfer-Encoding: '],                                400],
    [['Transfer-Encoding : chunked'],                        400],
    [[' Transfer-Encoding: chunked'],                        400],
  ]
  for (const [headers, framing] of framings) {
    it(`frames its body by ${JSON.stringify(headers)}`, () => {
      const lines = ['POST / HTTP/1.1', 'Host: h', ...headers]
      if (framing === 400) refused(lines)
      else assert.deepEqual(read(lines).framing, framing)
    })
  }

  it('knows no chunks in HTTP/1.0, and no second request', () => {
    const head = read(['POST / HTTP/1.0', 'Connection: keep-alive', 'Content-Length: 1'])
    assert.deepEqual([head.knowsChunks, head.keepAlive], [false, false])
    refused(['POST / HTTP/1.0', 'Transfer-Encoding: chunked'])
  })

  it('says whether the connection goes on', () => {
    const goesOn = (...values: string[]) =>
      read(['GET / HTTP/1.1', 'Host: h', ...values.map((value) => `Connection: ${value}`)]).keepAlive
    assert.deepEqual(
      [goesOn(), goesOn('keep-alive'), goesOn('Close'), goesOn('upgrade', 'close'), goesOn('a, CLOSE ,b')],
      [true, true, false, false, false],
    )
    assert.equal(goesOn('closed'), true)
  })

  it('expects 100 Continue, where there is a body, and nothing else', () => {
    const expecting = (...lines: string[]) => ['PUT / HTTP/1.1', 'Host: h', ...lines]
    assert.equal(read(expecting('Expect: 100-Continue', 'Content-Length: 3')).expectsContinue, true)
    assert.equal(read(expecting('Expect: 100-continue')).expectsContinue, false)
    refused(expecting('Expect: a miracle'), 417)
  })

  it('has a host in HTTP/1.1', () => refused(['GET / HTTP/1.1', 'Hosts: h']))

  // biome-ignore format: a table reads in columns
  const lines = [
    'GET  / HTTP/1.1', ' GET / HTTP/1.1', 'GET /', 'GET / HTTP/1.1 ', 'GET / http/1.1', 'GET / HTTP/1.2',
    'GET / HTTP/2.0', 'GET HTTP/1.1', 'GET\t/ HTTP/1.1', 'CONNECT a:1 HTTP/1.1', 'constructor / HTTP/1.1',
    'GET / HTTP/1.1\r', 'GET /\x7f HTTP/1.1', 'GET /\x00 HTTP/1.1', '', '/ HTTP/1.1',
  ]
  for (const line of lines) {
    it(`does not begin with ${JSON.stringify(line)}`, () => refused([line, 'Host: h']))
  }

  it('has no line ends and no control characters within its lines', () => {
    for (let code = 0; code < 0x20; code++) {
      const character = String.fromCharCode(code)
      if (character !== '\t') refused(['GET / HTTP/1.1', 'Host: h', `A: b${character}c`])
      refused(['GET / HTTP/1.1', 'Host: h', `A${character}: b`])
    }
    refused(['GET / HTTP/1.1', 'Host: h', 'A: b\x7f'])
  })

  it('is the same whatever follows it', () => {
    const text = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n'
    const bytes = Buffer.from(`${text}POST /other HTTP/1.1\r\nA: b\r\n\r\n`, 'latin1')
    assert.deepEqual(readRequestHead(bytes, text.length), read(['GET / HTTP/1.1', 'Host: h']))
  })

  it('of any bytes is read or refused, and read again as written', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'GET ',
        '/',
        ' HTTP/1.1',
        ' HTTP/1.0',
        '\r\n',
        '\n',
        '\r',
        ':',
        ': ',
        ' ',
        '\t',
        'Host: h',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
        'Connection: close',
        'Expect: 100-continue',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    const begin = fc.constantFrom('', 'GET / HTTP/1.1\r\n', 'POST / HTTP/1.1\r\nHost: h\r\n')
    fc.assert(
      fc.property(begin, fc.array(piece, { maxLength: 12 }), (first, pieces) => {
        const text = Buffer.from(`${first}${pieces.join('')}\r\n\r\n`, 'latin1').toString('latin1')
        const end = text.indexOf('\r\n\r\n') + 4
        const head = readOrRefuse(text.slice(0, end))
        if (head === undefined) return
        const fields: string[] = []
        for (let i = 0; i < head.rawHeaders.length; i += 2) {
          fields.push(`${head.rawHeaders[i]}: ${head.rawHeaders[i + 1]}\r\n`)
        }
        const version = head.knowsChunks ? 'HTTP/1.1' : 'HTTP/1.0'
        const again = `${head.method} ${head.target} ${version}\r\n${fields.join('')}\r\n`
        assert.deepEqual(readOrRefuse(again), head)
        assert.equal(again.split('\r\n').length, text.slice(0, end).split('\r\n').length)
      }),
      { numRuns: 20_000 },
    )
  })
})

describe('bytes that may become a head', () => {
  it('begin with a method', () => {
    for (const text of ['', 'G', 'GET', 'GET ', 'GET /x', 'M-SEARCH * ', 'UNSUBSCRIBE']) {
      assert.equal(mayBecomeHead(Buffer.from(text)), true, text)
    }
    for (const text of ['\x16\x03\x01', ' GET', 'get ', 'GET\r', '\r\n', 'A'.repeat(20), '{']) {
      assert.equal(mayBecomeHead(Buffer.from(text, 'latin1')), false, text)
    }
  })
})

function read(lines: readonly string[]): RequestHead {
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return readRequestHead(bytes, bytes.length)
}

function readOrRefuse(text: string): RequestHead | undefined {
  try {
    return readRequestHead(Buffer.from(text, 'latin1'), text.length)
  } catch (error) {
    assert(error instanceof BadHttp, String(error))
    return undefined
  }
}

function refused(lines: readonly string[], status = 400): void {
  assert.throws(
    () => read(lines),
    (error) => error instanceof BadHttp && error.status === status,
    JSON.stringify(lines),
  )
}

/** Bodies in pieces of every size: the same bytes come out, and the request behind them is left alone. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { receiveBody, type RequestBody } from '../../src/http/request-body.ts'
import { BadHttp, type Framing } from '../../src/http/request-head.ts'
import { Fault } from '../../src/model/faults.ts'
import { limits } from '../../src/model/limits.ts'

const behind = 'GET / HTTP/1.1\r\n'
const chunked: Framing = { kind: 'chunked' }

describe('a body', () => {
  it('with a length ends there, however it is cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(50)), (content, cuts) => {
        const framing: Framing = { kind: 'measured', bytes: content.length }
        assert.deepEqual(receiveAll(framing, Buffer.from(content), cuts), Buffer.from(content))
      }),
    )
  })

  it('in chunks is what the chunks hold, however they are cut', () => {
    const chunk = fc.record({
      content: fc.uint8Array({ minLength: 1, maxLength: 40 }),
      zeros: fc.nat(3),
      extension: fc.constantFrom('', ';a', ';a=b', ';a="b;c"'),
    })
    const trailers = fc.constantFrom('', 'A: b\r\n', 'A: b\r\nC:\r\n')
    fc.assert(
      fc.property(fc.array(chunk), trailers, fc.array(fc.nat(50)), (chunks, trailer, cuts) => {
        const framed = chunks.map(({ content, zeros, extension }) =>
          Buffer.concat([
            Buffer.from(`${'0'.repeat(zeros)}${content.length.toString(16)}${extension}\r\n`),
            content,
            Buffer.from('\r\n'),
          ]),
        )
        const bytes = Buffer.concat([...framed, Buffer.from(`0\r\n${trailer}\r\n`)])
        const wanted = Buffer.concat(chunks.map(({ content }) => content))
        assert.deepEqual(receiveAll(chunked, bytes, cuts), wanted)
      }),
    )
  })

  for (const bytes of [
    '\r\n',
    'x\r\n',
    '-1\r\n',
    '0x1\r\na\r\n',
    ' 1\r\na\r\n',
    '1 \r\na\r\n',
    '1\na\r\n',
    '1\r\nab\r\n',
    '1\r\na\n',
    '1\r\na0\r\n\r\n',
    '123456789\r\n',
    ';a\r\n',
    '1;\n\r\na\r\n',
    '0\r\nA: \x00\r\n\r\n',
    '0\r\n\n',
    '0\n\r\n',
  ]) {
    it(`is not in chunks like ${JSON.stringify(bytes)}`, () => {
      assert.throws(() => receiveBody(chunked).take(Buffer.from(bytes, 'latin1')), BadHttp)
    })
  }

  it('does not hide much beside its chunks', () => {
    const body = receiveBody(chunked)
    assert.throws(() => body.take(Buffer.from(`1;${'x'.repeat(limits.headerBytesMax + 1)}`)), BadHttp)
  })

  it('beyond the limit is refused, and read to its end', async () => {
    const bytes = limits.requestBodyBytesMax + 1
    const body = receiveBody({ kind: 'measured', bytes })
    const whole = body.whole() as Promise<Buffer>
    assert.equal(body.take(Buffer.alloc(bytes - 1)), bytes - 1)
    assert.equal(body.isComplete(), false)
    assert.equal(body.take(Buffer.from(`x${behind}`)), 1)
    await assert.rejects(whole, (error) => error instanceof Fault && error.code === 'RequestBodyTooLarge')
  })

  it('beyond all measure is not waited for', async () => {
    const body = receiveBody({ kind: 'measured', bytes: 2 ** 40 })
    const discarded = body.discarded()
    for (let i = 0; i < 65; i++) body.take(Buffer.alloc(1024 * 1024))
    await discarded
    assert.equal(body.isComplete(), false)
  })

  it('that breaks off fails whoever waits for it', async () => {
    const body = receiveBody({ kind: 'measured', bytes: 2 })
    const whole = body.whole() as Promise<Buffer>
    body.take(Buffer.from('a'))
    body.fail(new Error('gone'))
    await assert.rejects(whole, /gone/)
    await assert.rejects(async () => await body.whole(), /gone/)
    await body.discarded()
  })
})

/** What comes out when the bytes arrive cut up, with another request behind them. */
function receiveAll(framing: Framing, bytes: Buffer, cuts: readonly number[]): Buffer {
  const body = receiveBody(framing)
  const sent = Buffer.concat([bytes, Buffer.from(behind)])
  let at = 0
  for (const cut of cuts) {
    if (at < bytes.length) at += taken(body, sent.subarray(at, Math.min(at + cut, bytes.length)))
  }
  at += taken(body, sent.subarray(at))
  assert.equal(at, bytes.length)
  assert.equal(body.isComplete(), true)
  return body.whole() as Buffer
}

function taken(body: RequestBody, bytes: Buffer): number {
  return body.take(bytes)
}

/** The writer of batch answers: every line break counts. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { type PartReply, writeBatch } from '../../src/http/multipart-writer.ts'

const etag = `W/"datetime'2021-09-07T16%3A24%3A51.6931167Z'"`
const location = "https://a.table.example/people(PartitionKey='p',RowKey='1')"
const json = 'application/json;odata=nometadata;streaming=true;charset=utf-8'
const mime = ['Content-Type: application/http', 'Content-Transfer-Encoding: binary', '']

const inserted: PartReply = {
  contentId: undefined,
  reply: {
    status: 204,
    noCache: true,
    preferenceApplied: 'return-no-content',
    location,
    dataServiceId: location,
    etag,
  },
}
const insertedText = [
  'HTTP/1.1 204 No Content',
  'X-Content-Type-Options: nosniff',
  'Cache-Control: no-cache',
  'Preference-Applied: return-no-content',
  'DataServiceVersion: 3.0;',
  `Location: ${location}`,
  `DataServiceId: ${location}`,
  `ETag: ${etag}`,
  '',
  '',
]

describe('writeBatch', () => {
  it('writes two inserts as they were recorded', () => {
    const { outer, inner, lines, contentType } = write('change set', [inserted, inserted])
    assert.equal(contentType, `multipart/mixed; boundary=${outer}`)
    assert.match(outer, /^batchresponse_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.match(inner, /^changesetresponse_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.deepEqual(lines, [
      `--${outer}`,
      `Content-Type: multipart/mixed; boundary=${inner}`,
      '',
      `--${inner}`,
      ...mime,
      ...insertedText,
      `--${inner}`,
      ...mime,
      ...insertedText,
      `--${inner}--`,
      `--${outer}--`,
      '',
    ])
  })

  it('writes a body with one line break after it', () => {
    const reply = {
      status: 201,
      noCache: true,
      contentType: json,
      preferenceApplied: 'return-content',
      location,
      etag,
      body: '{"a":1}',
    }
    const { outer, inner, lines } = write('change set', [{ contentId: '5', reply }])
    assert.deepEqual(lines.slice(3), [
      `--${inner}`,
      ...mime,
      'HTTP/1.1 201 Created',
      'DataServiceVersion: 3.0;',
      `Content-Type: ${json}`,
      'Content-ID: 5',
      'X-Content-Type-Options: nosniff',
      'Cache-Control: no-cache',
      'Preference-Applied: return-content',
      `Location: ${location}`,
      `ETag: ${etag}`,
      '',
      '{"a":1}',
      `--${inner}--`,
      `--${outer}--`,
      '',
    ])
  })

  it('writes an answer outside of a change set directly', () => {
    const reply = { status: 200, noCache: true, contentType: json, etag, body: '{}' }
    const { outer, lines } = write('operation', [{ contentId: undefined, reply }])
    assert.deepEqual(lines, [
      `--${outer}`,
      ...mime,
      'HTTP/1.1 200 OK',
      'DataServiceVersion: 3.0;',
      `Content-Type: ${json}`,
      'X-Content-Type-Options: nosniff',
      'Cache-Control: no-cache',
      `ETag: ${etag}`,
      '',
      '{}',
      `--${outer}--`,
      '',
    ])
  })

  it('keeps the bytes of a body that is not ASCII', () => {
    const body = Buffer.from('<m>é日</m>')
    const reply = { status: 404, contentType: 'application/xml;charset=utf-8', body }
    const text = writeBatch('change set', [{ contentId: undefined, reply }]).body as string
    const written = Buffer.from(text, 'latin1')
    assert(written.includes(body))
    assert(
      written.includes('DataServiceVersion: 1.0;\r\nContent-Type: application/xml;charset=utf-8\r\n\r\n'),
    )
  })

  it('names continuations of a page', () => {
    const continuation = [['x-ms-continuation-NextPartitionKey', '1!4!cA--']] as const
    const reply = { status: 200, noCache: true, contentType: json, continuation, body: '{"value":[]}' }
    const { lines } = write('operation', [{ contentId: undefined, reply }])
    assert(lines.includes('x-ms-continuation-NextPartitionKey: 1!4!cA--'))
  })

  // biome-ignore format: a table reads in columns
  const reasons: readonly [number, string][] = [
    [200, 'OK'], [201, 'Created'], [204, 'No Content'], [400, 'Bad Request'], [403, 'Forbidden'], [404, 'Not Found'],
    [405, 'Method Not Allowed'], [409, 'Conflict'], [412, 'Precondition Failed'],
  ]
  for (const [status, reason] of reasons) {
    it(`says ${status} ${reason}`, () => {
      const { lines } = write('change set', [{ contentId: undefined, reply: { status } }])
      assert(lines.includes(`HTTP/1.1 ${status} ${reason}`))
    })
  }
})

function write(layout: 'operation' | 'change set', replies: readonly PartReply[]) {
  const { status, noCache, contentType, body } = writeBatch(layout, replies)
  assert.deepEqual([status, noCache], [202, true])
  const text = (body as Buffer).toString('latin1')
  const outer = /--(batchresponse_\S+)/.exec(text)?.[1] ?? ''
  const inner = /boundary=(changesetresponse_\S+)/.exec(text)?.[1] ?? ''
  return { outer, inner, contentType, lines: text.split('\r\n') }
}

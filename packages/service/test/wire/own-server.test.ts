/**
 * What only a server of our own can show, because the test must own its clock, its accounts or its settings.
 * Left out when the suite is pointed at another endpoint.
 */
import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { type ServiceOptions, startService } from '../../src/service.ts'
import { parseTicks, type Ticks } from '../../src/model/ticks.ts'
import { sendRaw } from './http-client.ts'
import { secondKey, signedAt, type Vector, vectors } from './shared-key-vectors.ts'
import {
  del,
  developmentKey,
  type Endpoint,
  endpointOf,
  entity,
  errorOf,
  exchange,
  get,
  isRemote,
  merge,
  noContent,
  post,
  put,
  type Request,
  stampOf,
} from './wire.ts'

const name = 'devstoreaccount1'
const keyOf = (byte: number) => Buffer.alloc(64, byte).toString('base64')

/** A server whose clock stands still until it is told otherwise. */
async function openServer(options: Partial<ServiceOptions> = {}, start = signedAt) {
  let now = parseTicks(start) as Ticks
  const accounts = `${name}:${developmentKey}`
  const service = await startService({ data: ':memory:', accounts, clock: () => now, ...options })
  after(() => service.close())
  const endpoint = endpointOf(service.url, name, developmentKey)
  return {
    url: service.url,
    endpoint,
    set(time: string) {
      now = parseTicks(time) as Ticks
    },
    /** Signed at the server's own time. */
    send: (sent: Request, at: Endpoint = endpoint) =>
      exchange({
        ...sent,
        endpoint: at,
        date: new Date(Number(now / 10_000n) - 62_135_596_800_000).toUTCString(),
      }),
  }
}

describe('a server of our own', { skip: isRemote }, () => {
  it('writes stamps without zeros at their end', async () => {
    const server = await openServer({}, '2025-01-15T08:29:00Z')
    await server.send(post('/Tables', { TableName: 'people' }))
    // biome-ignore format: a table reads in columns
    const moments = [
      '2025-01-15T08:30:00Z',
      '2025-01-15T08:30:01.1Z',
      '2025-01-15T08:30:01.12Z',
      '2025-01-15T08:30:01.1234567Z',
      '2025-01-15T08:30:02.123456Z',
      '2025-01-15T08:30:03.0000001Z',
      '2025-01-15T08:30:04.000001Z',
      '2025-01-15T08:31:00Z',
    ]
    for (const moment of moments) {
      server.set(moment)
      const written = await server.send(put(entity('people', 'p', 'r'), {}))
      assert.equal(stampOf(written.header('etag') ?? ''), moment)
      const read = await server.send(get(entity('people', 'p', 'r')))
      assert.ok(read.text.includes(`"Timestamp":"${moment}"`), read.text)
      const failed = await server.send(get(entity('people', 'p', 'none')))
      const [seconds = '', fraction = ''] = moment.slice(0, -1).split('.')
      assert.equal(errorOf(failed).time, `${seconds}.${fraction.padEnd(7, '0')}Z`)
    }
  })

  it('gives growing stamps while the clock stands or runs backwards', async () => {
    const server = await openServer({}, '2025-01-15T08:28:00Z')
    await server.send(post('/Tables', { TableName: 'people' }))
    server.set('2025-01-15T08:30:00.0000009Z')
    const stamps: string[] = []
    const write = async (): Promise<void> => {
      const answer = await server.send(merge(entity('people', 'p', 'r'), {}))
      stamps.push(stampOf(answer.header('etag') ?? ''))
    }
    for (let i = 0; i < 3; i++) await write()
    server.set('2025-01-15T08:29:00Z')
    await write()
    server.set('2025-01-15T08:30:00.0000013Z')
    await write()
    assert.deepEqual(stamps, [
      '2025-01-15T08:30:00.0000009Z',
      '2025-01-15T08:30:00.000001Z',
      '2025-01-15T08:30:00.0000011Z',
      '2025-01-15T08:30:00.0000012Z',
      '2025-01-15T08:30:00.0000013Z',
    ])
  })

  it('takes a stamp for a moment, however it is written', async () => {
    const server = await openServer()
    await server.send(post('/Tables', { TableName: 'people' }))
    server.set('2025-01-15T08:30:00.1Z')
    await server.send(put(entity('people', 'p', 'r'), {}))
    // biome-ignore format: a table reads in columns
    const forms: readonly (readonly [etag: string, status: number])[] = [
      [`W/"datetime'2025-01-15T08%3A30%3A00.1Z'"`,       200],
      [`W/"datetime'2025-01-15T08%3a30%3a00.1Z'"`,       200],
      [`W/"datetime'2025-01-15T08:30:00.1Z'"`,           200],
      [`W/"datetime'2025-01-15T08%3A30%3A00.1000000Z'"`, 200],
      [`W/"datetime'2025-01-15T08%3A30%3A00.1000001Z'"`, 412],
      [`W/"datetime'2025-01-15T08%3A30%3A00.10000001Z'"`, 412],
      [`W/"datetime'2025-02-30T08%3A30%3A00.1Z'"`,       412],
      [`W/"datetime''"`,                                 412],
      ['W/""',                                           412],
      [`w/"datetime'2025-01-15T08%3A30%3A00.1Z'"`,       400],
      [`"datetime'2025-01-15T08%3A30%3A00.1Z'"`,         400],
      [`W/"a", W/"b"`,                                   400],
    ]
    for (const [etag, status] of forms) {
      const answer = await server.send(get(entity('people', 'p', 'r'), { 'If-Match': etag }))
      assert.equal(answer.status, status, etag)
    }
  })

  it('keeps the name of a deleted table taken for as long as it is told', async () => {
    const server = await openServer({ deletedNameSeconds: 40 })
    const create = () => server.send(post('/Tables', { TableName: 'People' }, noContent))
    assert.equal((await create()).status, 204)
    assert.equal((await server.send(del("/Tables('people')"))).status, 204)
    server.set('2025-01-15T08:30:39.9999999Z')
    const refused = await create()
    assert.deepEqual([refused.status, errorOf(refused).code], [409, 'TableBeingDeleted'])
    assert.equal(errorOf(refused).text, 'The specified table is being deleted. Try operation later.')
    assert.equal(refused.header('cache-control'), 'no-cache')
    assert.equal(refused.header('preference-applied'), 'return-no-content')
    assert.equal(errorOf(await server.send(put(entity('people', 'p', 'r'), {}))).code, 'TableNotFound')
    // Asking again to delete it finds nothing, and does not begin the time anew.
    assert.equal((await server.send(del("/Tables('people')"))).status, 404)
    server.set('2025-01-15T08:30:40Z')
    assert.equal((await create()).status, 204)
  })

  it('does not take a name because someone asked to delete what never was', async () => {
    const server = await openServer({ deletedNameSeconds: 40 })
    assert.equal((await server.send(del("/Tables('people')"))).status, 404)
    assert.equal((await server.send(post('/Tables', { TableName: 'people' }))).status, 201)
  })

  it('answers every signed vector sent as its client sent it', async () => {
    const server = await openServer({ accounts: `${name}:${developmentKey}:${secondKey}` })
    await server.send(post('/Tables', { TableName: 'Employees' }))
    for (const vector of vectors) {
      const answer = await sendRaw(server.endpoint.url, [bytesOfVector(vector)])
      assert.notEqual(answer.status, 403, `${vector[0]}: ${answer.text}`)
      if (answer.status >= 400) assert.notEqual(errorOf(answer).code, 'InvalidAuthenticationInfo', vector[0])
    }
    server.set('2025-01-15T08:45:01Z')
    for (const vector of vectors) {
      const answer = await sendRaw(server.endpoint.url, [bytesOfVector(vector)])
      assert.deepEqual([answer.status, errorOf(answer).code], [403, 'AuthenticationFailed'], vector[0])
    }
  })

  it('keeps accounts apart, and takes either of two keys', async () => {
    const accounts = `first:${keyOf(1)}:${keyOf(2)};second:${keyOf(3)}`
    const server = await openServer({ accounts })
    const first = endpointOf(server.url, 'first', keyOf(1))
    const firstAgain = endpointOf(server.url, 'first', keyOf(2))
    const second = endpointOf(server.url, 'second', keyOf(3))
    assert.equal((await server.send(post('/Tables', { TableName: 'people' }), first)).status, 201)
    assert.equal((await server.send(get("/Tables('people')"), firstAgain)).status, 200)
    assert.equal((await server.send(get("/Tables('people')"), second)).status, 404)
    assert.equal((await server.send(post('/Tables', { TableName: 'PEOPLE' }), second)).status, 201)
    await server.send(put(entity('people', 'p', 'r'), { of: 'first' }), firstAgain)
    assert.equal((await server.send(get(entity('people', 'p', 'r')), second)).status, 404)
    // A key opens its own account and no other; the development account does not exist here.
    const strangers = [
      endpointOf(server.url, 'first', keyOf(3)),
      endpointOf(server.url, 'second', keyOf(1)),
      { ...first, account: 'second', key: keyOf(3) },
      endpointOf(server.url, name, developmentKey),
    ]
    for (const stranger of strangers) {
      const answer = await server.send(get('/Tables'), stranger)
      assert.deepEqual([answer.status, errorOf(answer).code], [403, 'AuthenticationFailed'])
    }
    const hosted = { ...get("/Tables('people')"), host: 'second.table.example.org' }
    assert.ok((await server.send(hosted, second)).text.includes('"TableName":"PEOPLE"'))
  })

  it('names itself as it is told', async () => {
    const server = await openServer({ serverToken: 'Partita' })
    assert.equal((await server.send(get('/'))).header('server'), 'Partita')
    assert.equal((await server.send(get('/', { Authorization: undefined }))).header('server'), 'Partita')
  })
})

function bytesOfVector([, scheme, method, target, headers, , signature]: Vector): string {
  const body = method === 'GET' || method === 'DELETE' ? '' : 'hello'
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${target.startsWith(`/${name}`) ? '127.0.0.1:10002' : `${name}.table.example.org`}`,
    `Authorization: ${scheme === 'sharedkey' ? 'SharedKey' : 'SharedKeyLite'} ${name}:${signature}`,
    ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
    `Content-Length: ${body.length}`,
  ]
  assert.equal(createHash('md5').update('hello').digest('base64'), 'XUFAKrxLKna5cZ2REBfFkg==')
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

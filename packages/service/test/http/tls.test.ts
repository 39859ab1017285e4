import { strict as assert } from 'node:assert'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectPlain, isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { TableClient } from '@azure/data-tables'
import { makeAuthority, makeServerCertificate } from '../../src/http/certificate.ts'
import { openCertificates } from '../../src/http/tls.ts'
import { type RunningService, type ServiceOptions, startService } from '../../src/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const auto = { kind: 'auto', names: ['tables.test', '10.1.2.3'] } as const

describe('--tls auto', () => {
  it('is trusted by whoever trusts its authority, under every name it has', async () => {
    const service = await start({ tls: auto })
    const names = [
      'localhost',
      '127.0.0.1',
      '::1',
      'host.docker.internal',
      hostname(),
      'tables.test',
      '10.1.2.3',
    ]
    for (const name of names) {
      const socket = await shake(service, { ca: service.authority, checkedAs: name })
      assert(socket.authorized, name)
      socket.destroy()
    }
  })

  it('is refused under another name', async () => {
    const service = await start({ tls: auto })
    const wrong = shake(service, { ca: service.authority, checkedAs: 'elsewhere.test' })
    await assert.rejects(wrong, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })

  it('is refused by whoever trusts another authority', async () => {
    const service = await start({ tls: auto })
    const other = makeAuthority('another', Date.now()).cert
    await assert.rejects(shake(service, { ca: other }), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    await assert.rejects(shake(service, {}), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  })

  it('speaks TLS 1.2 and 1.3 and nothing older', async () => {
    const service = await start({ tls: auto })
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const limits = { minVersion: version, maxVersion: version }
      const socket = await shake(service, { ca: service.authority, ...limits })
      assert.equal(socket.getProtocol(), version)
      socket.destroy()
    }
    // Level 0 lets this side offer what is too old.
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await assert.rejects(shake(service, { ca: service.authority, ...old }), /alert|protocol/i)
  })

  it('serves its authority', async () => {
    const service = await start({ tls: auto })
    const { status, body } = await fetchText(`${service.url}/-/ca.pem`, service.authority)
    assert.equal(status, 200)
    assert.equal(body, service.authority)
    assert.equal((await fetchText(`${service.url}/-/live`, service.authority)).status, 200)
  })

  it('keeps its authority in the data folder, for nobody else to read', async () => {
    const data = await temporaryFolder()
    const first = await startService({ data, tls: auto })
    await first.close()
    const file = join(data, 'tls', 'ca.pem')
    assert.equal(readFileSync(file, 'utf8'), first.authority)
    assert.equal(statSync(join(data, 'tls', 'ca-key.pem')).mode & 0o777, 0o600)
    assert.equal(statSync(join(data, 'tls')).mode & 0o777, 0o700)
    const second = await start({ data, tls: { kind: 'auto', names: ['later.test'] } })
    assert.equal(second.authority, first.authority)
    const socket = await shake(second, { ca: first.authority, checkedAs: 'later.test' })
    socket.destroy()
  })

  it('refuses names that are none, and leaves nothing open', async () => {
    const data = await temporaryFolder()
    const tls = { kind: 'auto', names: ['no name'] } as const
    await assert.rejects(startService({ data, tls }), /'no name' is neither a host name nor an address/)
    assert(!existsSync(join(data, 'tls')))
  })

  it('says https in its addresses and in the links of its answers', async () => {
    const service = await start({ tls: auto })
    assert.match(service.url, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.match(service.connectionString, /^DefaultEndpointsProtocol=https;.*TableEndpoint=https:/)
    const people = clientOf(service)
    await people.createTable()
    await people.createEntity({ partitionKey: 'p', rowKey: 'r', name: 'Ann' })
    let text = ''
    const entity = await people.getEntity('p', 'r', {
      queryOptions: {},
      onResponse: (response) => {
        text = response.bodyAsText ?? ''
      },
    })
    assert.equal(entity['name'], 'Ann')
    assert.match(
      text,
      /"odata.metadata":"https:\/\/127\.0\.0\.1:\d+\/devstoreaccount1\/\$metadata#people\/@Element"/,
    )
    await people.setAccessPolicy([{ id: 'one' }])
    const rows: string[] = []
    for await (const row of people.listEntities()) rows.push(row.rowKey ?? '')
    assert.deepEqual(rows, ['r'])
  })

  it('does not answer plain HTTP, and goes on', async () => {
    const service = await start({ tls: auto })
    const { port, hostname: host } = new URL(service.url)
    const received = await new Promise<string>((resolve) => {
      const socket = connectPlain(Number(port), host, () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(text))
    })
    assert.doesNotMatch(received, /200 OK/)
    assert.equal((await fetchText(`${service.url}/-/live`, service.authority)).status, 200)
  })
})

describe('closing a service that speaks TLS', () => {
  it('waits neither for who said nothing nor for who has been answered', async () => {
    const service = await startService({ data: ':memory:', tls: auto })
    const { port, hostname: host } = new URL(service.url)
    const mute = connectPlain(Number(port), host)
    const greeted = await shake(service, { ca: service.authority })
    const answered = await shake(service, { ca: service.authority })
    answered.write('GET /-/live HTTP/1.1\r\nHost: a\r\n\r\n')
    await new Promise((resolve) => answered.once('data', resolve))
    const startMs = performance.now()
    await service.close()
    assert(performance.now() - startMs < 1000)
    for (const socket of [mute, greeted, answered]) socket.destroy()
  })

  it('answers what is under way', async () => {
    const service = await startService({ data: ':memory:', tls: auto })
    const socket = await shake(service, { ca: service.authority })
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    const ended = new Promise((resolve) => socket.once('close', resolve))
    socket.write('POST /devstoreaccount1/Tables HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const closed = service.close()
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.write('}')
    await Promise.all([closed, ended])
    assert.match(received, /^HTTP\/1\.1 403 /)
    assert.match(received, /Connection: close/)
  })
})

describe('--cert and --key', () => {
  const authority = makeAuthority('a test', Date.now())
  const pairFor = (name: string) =>
    makeServerCertificate(authority, createPrivateKey(authority.key), [name, '127.0.0.1'], Date.now())

  it('are served, and served anew when they change', async () => {
    const { cert, key } = await files('first.test')
    const warnings: string[] = []
    const service = await start({ tls: { kind: 'files', cert, key }, warn: (text) => warnings.push(text) })
    assert.equal(service.authority, undefined)
    assert.equal((await fetchText(`${service.url}/-/ca.pem`, authority.cert)).status, 404)
    const open = await shake(service, { ca: authority.cert, checkedAs: 'first.test' })

    const second = pairFor('second.test')
    writeFileSync(cert, second.cert)
    await until(() => warnings.length > 0)
    assert.match(warnings[0] ?? '', /the earlier certificate stays in use: the key in .* is not that/)
    const still = await shake(service, { ca: authority.cert, checkedAs: 'first.test' })
    still.destroy()

    writeFileSync(key, second.key)
    await until(async () => {
      const socket = await shake(service, { ca: authority.cert, checkedAs: '127.0.0.1' })
      const now = new X509Certificate(socket.getPeerCertificate().raw)
      socket.destroy()
      return now.checkHost('second.test') !== undefined
    })
    // A connection made before goes on as it began.
    open.write('GET /-/live HTTP/1.1\r\nHost: first.test\r\nConnection: close\r\n\r\n')
    const answer = await new Promise<string>((resolve) => {
      open.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1')))
    })
    assert.match(answer, /^HTTP\/1\.1 200 OK/)
    open.destroy()
  })

  it('must be there, be PEM and belong together', async () => {
    const one = await files('one.test')
    const two = await files('two.test')
    const rejects = (cert: string, key: string, message: RegExp) =>
      assert.rejects(startService({ data: ':memory:', tls: { kind: 'files', cert, key } }), message)
    await rejects(one.cert, two.key, /is not that of the certificate/)
    await rejects(one.key, one.key, /is not readable as PEM/)
    await rejects(one.cert, one.cert, /is not readable as PEM/)
    await rejects('/nowhere/cert.pem', one.key, /ENOENT/)
  })

  it('stop being watched when closed', async () => {
    const { cert, key } = await files('one.test')
    const certificates = openCertificates(
      { kind: 'files', cert, key },
      { folder: undefined, warn: () => assert.fail('not expected') },
    )
    certificates.close()
    writeFileSync(cert, 'not a certificate')
    await new Promise((resolve) => setTimeout(resolve, 1500))
  })

  async function files(name: string): Promise<{ cert: string; key: string }> {
    const folder = await temporaryFolder()
    const pair = pairFor(name)
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
    writeFileSync(cert, pair.cert)
    writeFileSync(key, pair.key)
    return { cert, key }
  }
})

async function start(options: Partial<ServiceOptions>): Promise<RunningService> {
  const service = await startService({ data: ':memory:', ...options })
  after(() => service.close())
  return service
}

/** A client that trusts the service's authority and nobody else. */
function clientOf(service: RunningService): TableClient {
  return TableClient.fromConnectionString(service.connectionString, 'people', {
    tlsOptions: { ca: service.authority ?? '' },
  })
}

/** Connects and verifies as a client does that reached the service by the name `checkedAs`. */
function shake(
  service: RunningService,
  { checkedAs, ...options }: ConnectionOptions & { checkedAs?: string },
): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        host,
        port: Number(port),
        ...options,
        checkServerIdentity: (_host, certificate) => identityError(checkedAs ?? host, certificate.raw),
      },
      () => resolve(socket),
    )
    socket.on('error', reject)
  })
}

function identityError(name: string, raw: Buffer): Error | undefined {
  const certificate = new X509Certificate(raw)
  const found = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)
  if (found !== undefined) return undefined
  return Object.assign(new Error(`not the certificate of ${name}`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

function fetchText(url: string, ca: string | undefined): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca, agent: false }, (answer) => {
      let body = ''
      answer.setEncoding('utf8')
      answer.on('data', (text: string) => {
        body += text
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 10_000
  while (!(await holds())) {
    assert(performance.now() < endMs, 'it did not happen in time')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

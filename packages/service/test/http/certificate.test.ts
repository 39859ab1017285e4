import { strict as assert } from 'node:assert'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { isServerName, makeAuthority, makeServerCertificate } from '../../src/http/certificate.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const authority = makeAuthority('Partita authority of here', now)
const root = new X509Certificate(authority.cert)

function serverFor(names: readonly string[], nowMs = now): X509Certificate {
  const pair = makeServerCertificate(authority, createPrivateKey(authority.key), names, nowMs)
  const server = new X509Certificate(pair.cert)
  assert(server.checkPrivateKey(createPrivateKey(pair.key)))
  return server
}

describe('a local authority', () => {
  it('vouches for itself, and may vouch for others, for ten years', () => {
    assert(root.ca)
    assert(root.verify(root.publicKey))
    assert(root.checkIssued(root))
    assert.equal(root.subject, 'CN=Partita authority of here')
    assert.equal(root.validFrom, 'Feb 28 12:00:00 2026 GMT')
    assert.equal(root.validTo, 'Feb 26 12:00:00 2036 GMT')
  })

  it('vouches for servers, which vouch for nobody', () => {
    const server = serverFor(['localhost'])
    assert(!server.ca)
    assert(server.verify(root.publicKey))
    assert(server.checkIssued(root))
    assert.equal(server.issuer, root.subject)
    assert.deepEqual(server.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    const days = (Date.parse(server.validTo) - Date.parse(server.validFrom)) / 86_400_000
    assert.equal(days, 397)
  })

  it('writes years from 2050 on with four digits', () => {
    const server = serverFor(['localhost'], Date.parse('2049-06-01T00:00:00Z'))
    assert.equal(server.validFrom, 'May 31 00:00:00 2049 GMT')
    assert.equal(server.validTo, 'Jul  2 00:00:00 2050 GMT')
  })

  it('never gives a serial number twice', () => {
    const serials = Array.from({ length: 50 }, () => serverFor(['localhost']).serialNumber)
    assert.equal(new Set(serials).size, serials.length)
  })
})

describe('the names of a server', () => {
  const addresses = [
    '::1',
    '::',
    '2001:db8::1',
    '1:2:3:4:5:6:7:8',
    'fe80::1:2:3:4',
    '::ffff:10.1.2.3',
    '2001:db8::',
  ]
  const server = serverFor(['localhost', '*.table.example.org', '127.0.0.1', '10.20.30.255', ...addresses])

  it('are hosts', () => {
    assert.equal(server.checkHost('localhost'), 'localhost')
    assert.equal(server.checkHost('acct.table.example.org'), '*.table.example.org')
    assert.equal(server.checkHost('example.org'), undefined)
  })

  it('are addresses', () => {
    for (const address of ['127.0.0.1', '10.20.30.255', ...addresses]) {
      assert.equal(server.checkIP(address), address, address)
    }
    assert.equal(server.checkIP('127.0.0.2'), undefined)
    assert.equal(server.checkIP('::2'), undefined)
  })

  it('fill a certificate of any length', () => {
    const names = Array.from({ length: 300 }, (_, index) => `host-${index}.example.org`)
    assert.equal(serverFor(names).checkHost('host-299.example.org'), 'host-299.example.org')
  })

  it('are judged beforehand', () => {
    for (const name of ['localhost', 'a.b', '*.a.b', 'my_container', '1.2.3.4', '::1', 'x'.repeat(63)]) {
      assert(isServerName(name), name)
    }
    for (const name of ['', 'a..b', 'a b', 'a.*.b', 'http://a', 'a:80', '[::1]', 'x'.repeat(64), 'é']) {
      assert(!isServerName(name), name)
    }
  })
})

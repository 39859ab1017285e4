/**
 * X.509 certificates for a local authority and the server it vouches for. Node reads and verifies
 * certificates but does not make them. What follows is the part of RFC 5280 that two certificates need:
 *
 *   Certificate    = [ tbs, algorithm, BIT STRING signature ]
 *   tbs            = [ [0] v3, serial, algorithm, issuer, [ not before, not after ], subject, key, [3] [ *extension ] ]
 *   extension      = [ oid, [ critical ], OCTET STRING value ]
 *
 * where [ … ] is a SEQUENCE. Keys are P-256, signatures ECDSA with SHA-256.
 */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'

/** PEM, both. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

const dayMs = 86_400_000
const authorityDays = 3650
/** Some systems take no server certificate that lasts longer than 398 days. */
const serverDays = 397

const oids = {
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuthentication: '1.3.6.1.5.5.7.3.1',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const

/** Bits of a key usage, the first in the highest place, as the BIT STRING's own bytes. */
const usages = { signs: [7, 0x80], certifies: [1, 0x06] } as const

export function makeAuthority(name: string, nowMs: number): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const subject = nameOf(name)
  const extensions = [
    // An authority, and one that makes no further authorities.
    extension('basicConstraints', true, sequence(boolean(true), integer(Buffer.from([0])))),
    extension('keyUsage', true, der(0x03, Buffer.from(usages.certifies))),
    extension('subjectKeyIdentifier', false, der(0x04, keyIdentifier(spki))),
  ]
  const certificate = certify(
    { issuer: subject, subject, spki, extensions, fromMs: nowMs - dayMs, days: authorityDays },
    privateKey,
  )
  return pairOf(certificate, privateKey)
}

/** A certificate for a server reached by `names`: host names, names under `*.`, or addresses. */
export function makeServerCertificate(
  authority: CertificatePair,
  authorityKey: KeyObject,
  names: readonly string[],
  nowMs: number,
): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const parent = new X509Certificate(authority.cert)
  const parentSpki = parent.publicKey.export({ type: 'spki', format: 'der' })
  const extensions = [
    extension('basicConstraints', true, sequence()),
    extension('keyUsage', true, der(0x03, Buffer.from(usages.signs))),
    extension('extendedKeyUsage', false, sequence(oid(oids.serverAuthentication))),
    extension('subjectAltName', false, sequence(...names.map(alternativeName))),
    extension('subjectKeyIdentifier', false, der(0x04, keyIdentifier(spki))),
    extension('authorityKeyIdentifier', false, sequence(der(0x80, keyIdentifier(parentSpki)))),
  ]
  const issuer = nameOf(commonNameOf(parent))
  const subject = nameOf(names[0] ?? 'localhost')
  const certificate = certify(
    { issuer, subject, spki, extensions, fromMs: nowMs - dayMs, days: serverDays },
    authorityKey,
  )
  return pairOf(certificate, privateKey)
}

/** Whether a certificate can be made for this name. */
export function isServerName(name: string): boolean {
  return isIP(name) !== 0 || (name.length <= 253 && hostName.test(name))
}

const hostName = /^(?:\*\.)?[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*$/

interface Claims {
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly spki: Buffer
  readonly extensions: readonly Buffer[]
  readonly fromMs: number
  readonly days: number
}

function certify({ issuer, subject, spki, extensions, fromMs, days }: Claims, by: KeyObject): Buffer {
  const algorithm = sequence(oid(oids.ecdsaWithSha256))
  // 127 random bits: nobody has to remember which serials were used.
  const serial = randomBytes(16)
  serial[0] = (serial[0] as number) & 0x7f
  const tbs = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    issuer,
    sequence(time(fromMs), time(fromMs + days * dayMs)),
    subject,
    spki,
    der(0xa3, sequence(...extensions)),
  )
  return sequence(tbs, algorithm, bitString(sign('sha256', tbs, by)))
}

function pairOf(certificate: Buffer, key: KeyObject): CertificatePair {
  const lines = certificate.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: key.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

function extension(name: keyof typeof oids, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(oids[name]), ...(critical ? [boolean(true)] : []), der(0x04, value))
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, Buffer.from(commonName, 'utf8')))))
}

function commonNameOf({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? ''
}

/** A digest of the public key that tells certificates which key signed them (RFC 7093, method 1). */
function keyIdentifier(spki: Buffer): Buffer {
  const point = spki.subarray(-65)
  return createHash('sha256').update(point).digest().subarray(0, 20)
}

function alternativeName(name: string): Buffer {
  switch (isIP(name)) {
    case 4:
      return der(0x87, Buffer.from(name.split('.').map(Number)))
    case 6:
      return der(0x87, addressBytes(name))
    default:
      return der(0x82, Buffer.from(name, 'latin1'))
  }
}

/** The sixteen bytes of an IPv6 address. */
function addressBytes(address: string): Buffer {
  // A URL writes addresses in one way: groups of hexadecimal digits, at most one run of zeros left out.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const [first, last] = [groups(head), groups(tail ?? '')]
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0')
  const all = tail === undefined ? first : [...first, ...zeros, ...last]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

/** Two digits of the year until 2049, four from then on. */
function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  return text < '2050' ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]))
}

/** REQUIRES: not negative. Leading zeros are left out, but for one that keeps the highest bit clear. */
function integer(bytes: Buffer): Buffer {
  let from = 0
  while (from + 1 < bytes.length && bytes[from] === 0) from++
  const sign = (bytes[from] as number) >= 0x80 ? [Buffer.from([0])] : []
  return der(0x02, ...sign, bytes.subarray(from))
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes)
}

/** The first two numbers share a byte; the others take seven bits a byte, all but the last byte marked. */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const number of rest) {
    const groups = [number & 0x7f]
    for (let left = number >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f))
    bytes.push(...groups)
  }
  return der(0x06, Buffer.from(bytes))
}

/** Tag, length, content. Lengths above 127 say first how many bytes they take. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const lengths =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengths]), content])
}

/**
 * HMAC-SHA256 under keys that sign again and again (RFC 2104, FIPS 180-4). `node:crypto` makes two objects for each
 * signature, which cost more than the few blocks of a signed text. Here a key is hashed once and every signature goes
 * on from there. Time depends on the length of the text alone: no branch and no index is taken from a secret.
 */
import { createHash } from 'node:crypto'

export interface HmacKey {
  /** Of the text's UTF-8. Valid until the next digest, by whatever key. */
  digest(text: string): Buffer
}

const blockBytes = 64
const digestBytes = 32
/** The byte that ends a message, zeros, and its length in bits as u64. */
const paddingBytesMax = blockBytes + 8
const utf8BytesMax = 3

export function hmacKey(secret: Uint8Array): HmacKey {
  const key = secret.length > blockBytes ? createHash('sha256').update(secret).digest() : secret
  const inner = keyed(key, 0x36)
  const outer = keyed(key, 0x5c)
  return { digest }

  function digest(text: string): Buffer {
    const bytesMax = text.length * utf8BytesMax + paddingBytesMax
    if (message.length < bytesMax) message = Buffer.alloc(bytesMax)
    goOn(inner, message, message.write(text, 'utf8'))
    goOn(outer, digested, digestBytes)
    return result
  }
}

let message = Buffer.alloc(4096)
/** Room for a block, because the inner digest is the message of the outer one. */
const digested = Buffer.alloc(blockBytes)
const result = digested.subarray(0, digestBytes)

/** The state after the block that the key makes. */
function keyed(key: Uint8Array, pad: number): Int32Array {
  const block = new Uint8Array(blockBytes).fill(pad)
  for (const [i, byte] of key.entries()) block[i] = byte ^ pad
  const hash = initial.slice()
  compress(hash, block, 0)
  return hash
}

/** Hashes what follows a key's block, and leaves the outcome in `digested`. REQUIRES: room for the padding. */
function goOn(from: Int32Array, bytes: Uint8Array, length: number): void {
  const until = Math.ceil((length + 9) / blockBytes) * blockBytes
  bytes[length] = 0x80
  bytes.fill(0, length + 1, until)
  writeWord(bytes, until - 4, (blockBytes + length) * 8)
  state.set(from)
  for (let at = 0; at < until; at += blockBytes) compress(state, bytes, at)
  for (let i = 0; i < state.length; i++) writeWord(digested, 4 * i, state[i] as number)
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24
  bytes[at + 1] = word >>> 16
  bytes[at + 2] = word >>> 8
  bytes[at + 3] = word
}

const primes = Array.from({ length: 312 }, (_, i) => i).filter(
  (n) => n > 1 && !Array.from({ length: n }, (_, d) => d).some((d) => d > 1 && n % d === 0),
)

/** The first 32 bits behind the point. */
function fraction(root: number): number {
  return Math.floor((root % 1) * 2 ** 32)
}

const initial = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)))
const constants = Int32Array.from(primes.slice(0, 64), (prime) => fraction(Math.cbrt(prime)))
const state = new Int32Array(8)
const schedule = new Int32Array(64)

function compress(hash: Int32Array, bytes: Uint8Array, from: number): void {
  const w = schedule
  for (let i = 0; i < 16; i++) {
    const at = from + 4 * i
    w[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number)
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15] as number
    const y = w[i - 2] as number
    const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)
    const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10)
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0
  }
  // Spelled out: taking the words by destructuring costs more than hashing them.
  let a = hash[0] as number
  let b = hash[1] as number
  let c = hash[2] as number
  let d = hash[3] as number
  let e = hash[4] as number
  let f = hash[5] as number
  let g = hash[6] as number
  let h = hash[7] as number
  for (let i = 0; i < 64; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (constants[i] as number) + (w[i] as number)) | 0
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  hash[0] = (hash[0] as number) + a
  hash[1] = (hash[1] as number) + b
  hash[2] = (hash[2] as number) + c
  hash[3] = (hash[3] as number) + d
  hash[4] = (hash[4] as number) + e
  hash[5] = (hash[5] as number) + f
  hash[6] = (hash[6] as number) + g
  hash[7] = (hash[7] as number) + h
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

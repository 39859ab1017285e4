/** Key-encryption keys: they wrap the content keys of entities, and never touch a value. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { PatternsError } from '../patterns-error.ts'

/** Yours: in memory, in a file, or in a key vault that never gives it away. */
export interface KeyEncryptionKey {
  /** Stored with each entity, to find the key again. */
  readonly id: string
  wrap(contentKey: Uint8Array): Promise<Uint8Array>
  /** REQUIRES: throws when the wrapped key was altered. */
  unwrap(wrapped: Uint8Array): Promise<Uint8Array>
}

export interface KeyRing {
  /** Wraps the content keys of all writes. */
  readonly current: KeyEncryptionKey
  find(id: string): KeyEncryptionKey | undefined
}

/** The current key, and those that entities may still be wrapped with. */
export function keyRing(current: KeyEncryptionKey, ...older: readonly KeyEncryptionKey[]): KeyRing {
  const keys = new Map([...older, current].map((key) => [key.id, key]))
  if (keys.size !== older.length + 1)
    throw new PatternsError('InvalidDefinition', 'two keys of a ring have the same id')
  return { current, find: (id) => keys.get(id) }
}

/** A key of your own 32 secret bytes. Wraps as RFC 3394 says, which notices every change. */
export function aesKey(id: string, secret: Uint8Array): KeyEncryptionKey {
  if (id === '') throw new PatternsError('InvalidDefinition', 'a key needs an id')
  if (secret.byteLength !== 32)
    throw new PatternsError('InvalidDefinition', `key ${id} has ${secret.byteLength} bytes instead of 32`)
  return {
    id,
    async wrap(contentKey) {
      const cipher = createCipheriv(wrapAlgorithm, secret, wrapStart)
      return Buffer.concat([cipher.update(contentKey), cipher.final()])
    },
    async unwrap(wrapped) {
      const decipher = createDecipheriv(wrapAlgorithm, secret, wrapStart)
      return Buffer.concat([decipher.update(wrapped), decipher.final()])
    },
  }
}

const wrapAlgorithm = 'id-aes256-wrap'
/** Source: RFC 3394, 2.2.3.1. */
const wrapStart = Buffer.alloc(8, 0xa6)

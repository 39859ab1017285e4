/** Signatures: base64 of the HMAC-SHA256 of a text under an account key. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Account } from './accounts.ts'
import { type HmacKey, hmacKey } from './hmac.ts'

const signaturePattern = /^[A-Za-z0-9+/]{43}=$/

/** An account nobody knows is checked against this, so that it takes as long and ends the same. */
const nobodysKeys: readonly HmacKey[] = [hmacKey(randomBytes(64))]

/** The decoder skips what it does not know, so the shape is checked before anything is compared. */
export function isSignature(text: string): boolean {
  return signaturePattern.test(text)
}

/** Whether one of the account's keys signed one of the texts. REQUIRES: isSignature(signature). */
export function isSignedBy(
  account: Account | undefined,
  texts: readonly string[],
  signature: string,
): boolean {
  given.write(signature, 'base64')
  // Every key and every text is tried, whatever the outcome, so that time tells nothing.
  let proven = false
  for (const text of texts) {
    for (const key of account?.keys ?? nobodysKeys)
      proven = timingSafeEqual(key.digest(text), given) || proven
  }
  return proven && account !== undefined
}

/** Of the signature in hand: memory of its own for each costs more than decoding it. */
const given = Buffer.alloc(32)

export function sign(key: HmacKey, text: string): string {
  return key.digest(text).toString('base64')
}

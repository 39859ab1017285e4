/**
 * One encrypted value, both ways:
 *
 *   sealed     = %x01 nonce ciphertext tag          nonce 12 bytes, tag 16 bytes, AES-256-GCM
 *   plaintext  = ( "S" text in UTF-8 / "B" bytes )
 *   associated = each of "partita-patterns-1", account, table, PartitionKey, RowKey, property
 *                as its length in bytes (32 bits, big-endian) and its UTF-8
 *
 * The associated data ties a value to its place: moved to another property, entity, table or account it does not
 * open. Account and table are in lower case, as the service takes them in either.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'

export interface Place {
  readonly account: string
  readonly table: string
  readonly partitionKey: string
  readonly rowKey: string
  readonly property: string
}

export type Plain =
  | { readonly type: 'String'; readonly value: string }
  /** In base64, as the service sends it. */
  | { readonly type: 'Binary'; readonly value: string }

const algorithm = 'aes-256-gcm'
const version = 1
export const nonceBytes = 12
const tagBytes = 16

export function seal(contentKey: Uint8Array, nonce: Uint8Array, place: Place, plain: Plain): Buffer {
  const cipher = createCipheriv(algorithm, contentKey, nonce, { authTagLength: tagBytes })
  cipher.setAAD(associatedData(place))
  const ciphertext = [cipher.update(plaintextOf(plain)), cipher.final()]
  return Buffer.concat([Buffer.of(version), nonce, ...ciphertext, cipher.getAuthTag()])
}

/** Throws for anything that was not sealed by this key for this place. */
export function unseal(contentKey: Uint8Array, place: Place, sealed: Buffer): Plain {
  if (sealed[0] !== version || sealed.length < 1 + nonceBytes + tagBytes)
    throw new Error('not a sealed value')
  const decipher = createDecipheriv(algorithm, contentKey, sealed.subarray(1, 1 + nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(associatedData(place))
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  const ciphertext = sealed.subarray(1 + nonceBytes, -tagBytes)
  return plainOf(Buffer.concat([decipher.update(ciphertext), decipher.final()]))
}

function plaintextOf({ type, value }: Plain): Buffer {
  return type === 'String'
    ? Buffer.from(`S${value}`)
    : Buffer.concat([Buffer.from('B'), Buffer.from(value, 'base64')])
}

function plainOf(plaintext: Buffer): Plain {
  const content = plaintext.subarray(1)
  return plaintext[0] === 0x53
    ? { type: 'String', value: content.toString() }
    : { type: 'Binary', value: content.toString('base64') }
}

function associatedData({ account, table, partitionKey, rowKey, property }: Place): Buffer {
  const place = [account.toLowerCase(), table.toLowerCase(), partitionKey, rowKey, property]
  return Buffer.concat(['partita-patterns-1', ...place].flatMap(lengthAndBytes))
}

function lengthAndBytes(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return [length, bytes]
}

/**
 * Client-side encryption of properties: chosen String and Binary values are encrypted before they leave the client.
 *
 * | property              | type   | holds                                                                   |
 * | --------------------- | ------ | ----------------------------------------------------------------------- |
 * | each chosen one       | Binary | its value, sealed by the entity's content key (see `sealed-value.ts`)   |
 * | `EncryptionKey`       | Binary | the content key, wrapped by a key-encryption key                        |
 * | `EncryptionKeyId`     | String | which one                                                               |
 *
 * Every insert and replace makes a fresh content key. A merge of a chosen property is refused: it would leave one
 * entity with values of two content keys.
 *
 * Guarantee   none beyond that of the write it is part of. A value that was altered or moved is refused; one that was
 *             deleted, or a whole entity put back as it once was, cannot be noticed.
 * Given up    filters on encrypted properties, and some length: a String or Binary of 64 KiB does not fit any more.
 */
import { randomBytes } from 'node:crypto'
import { PatternsError } from '../patterns-error.ts'
import type { KeyRing } from './key-ring.ts'
import { nonceBytes, type Plain, type Place, seal, unseal } from './sealed-value.ts'

/** A value with its type, as the official client takes it, and gives it with `disableTypeConversion`. */
export interface Cell {
  readonly type: string
  readonly value: unknown
}

/** Own properties only, without the keys. */
export type Cells = Readonly<Record<string, Cell>>

export interface RowKeys {
  readonly partitionKey: string
  readonly rowKey: string
}

export interface EncryptionPolicy {
  readonly account: string
  readonly table: string
  /** Which ones are encrypted. Must say the same for an entity for as long as it is stored. */
  readonly properties:
    | readonly string[]
    | ((partitionKey: string, rowKey: string, property: string) => boolean)
  readonly keys: KeyRing
  /**
   * What a chosen property that is not encrypted means: `refuse` it, as whoever can write to the table could have put
   * it there, or `accept` it while older entities are being rewritten. `refuse` when left out.
   */
  readonly plain?: 'refuse' | 'accept'
  /** So many unpredictable bytes. */
  readonly random?: (bytes: number) => Uint8Array
}

export const keyProperty = 'EncryptionKey'
export const keyIdProperty = 'EncryptionKeyId'
/** What a `$select` must ask for besides the properties. */
export const envelopeProperties = [keyProperty, keyIdProperty] as const

const contentKeyBytes = 32
const binaryBytesMax = 65_536

/** For an insert or a replace: the whole row. */
export async function encryptRow(policy: EncryptionPolicy, keys: RowKeys, cells: Cells): Promise<Cells> {
  refuseEnvelope(cells)
  const chosen = chosenOf(policy, keys, cells)
  if (chosen.length === 0) return cells
  const { random = randomBytes } = policy
  const contentKey = random(contentKeyBytes)
  const sealed = chosen.map(([property, cell]) => {
    const place = placeOf(policy, keys, property)
    return [
      property,
      binary(fitting(property, seal(contentKey, random(nonceBytes), place, plainOf(property, cell)))),
    ]
  })
  const { current } = policy.keys
  const wrapped = await current.wrap(contentKey)
  return {
    ...cells,
    ...(Object.fromEntries(sealed) as Cells),
    [keyProperty]: binary(wrapped),
    [keyIdProperty]: { type: 'String', value: current.id },
  }
}

/** The row as it was before `encryptRow`. Works on a selection of properties, if the envelope is among them. */
export async function decryptRow(policy: EncryptionPolicy, keys: RowKeys, cells: Cells): Promise<Cells> {
  const { [keyProperty]: wrapped, [keyIdProperty]: id, ...rest } = cells
  const chosen = chosenOf(policy, keys, rest)
  if (chosen.length === 0) return rest
  if (wrapped === undefined || id === undefined) {
    if (policy.plain === 'accept') return rest
    throw unreadable(keys, `${chosen[0]?.[0]} should be encrypted and is not`)
  }
  const contentKey = await unwrap(policy.keys, keys, wrapped, id)
  const opened = chosen.map(([property, cell]) => {
    try {
      return [property, unseal(contentKey, placeOf(policy, keys, property), bytesOf(cell))]
    } catch (cause) {
      throw unreadable(keys, `${property} was altered or moved, or is not encrypted`, cause)
    }
  })
  return { ...rest, ...(Object.fromEntries(opened) as Cells) }
}

/** REQUIRES: called with every merge. Throws if it would write an encrypted property. */
export function refuseMerge(policy: EncryptionPolicy, keys: RowKeys, cells: Cells): void {
  refuseEnvelope(cells)
  const [first] = chosenOf(policy, keys, cells)
  if (first === undefined) return
  throw new PatternsError(
    'InvalidValue',
    `${first[0]} is encrypted and cannot be merged, because an entity has one content key: replace the whole entity`,
  )
}

/** The content key of a row; throws when nobody has the key it is wrapped with, or it was altered. */
export async function unwrap(ring: KeyRing, keys: RowKeys, wrapped: Cell, id: Cell): Promise<Uint8Array> {
  const key = ring.find(String(id.value))
  if (key === undefined)
    throw unreadable(keys, `it is encrypted by key ${String(id.value)}, which is not here`)
  try {
    return await key.unwrap(bytesOf(wrapped))
  } catch (cause) {
    throw unreadable(keys, `its content key cannot be unwrapped by key ${key.id}`, cause)
  }
}

export function binary(bytes: Uint8Array): Cell {
  return { type: 'Binary', value: Buffer.from(bytes).toString('base64') }
}

function chosenOf({ properties }: EncryptionPolicy, keys: RowKeys, cells: Cells): readonly [string, Cell][] {
  const isChosen =
    typeof properties === 'function'
      ? (name: string) => properties(keys.partitionKey, keys.rowKey, name)
      : (name: string) => properties.includes(name)
  return Object.entries(cells).filter(([name]) => isChosen(name))
}

function placeOf({ account, table }: EncryptionPolicy, keys: RowKeys, property: string): Place {
  return { account, table, partitionKey: keys.partitionKey, rowKey: keys.rowKey, property }
}

function plainOf(property: string, { type, value }: Cell): Plain {
  if ((type !== 'String' && type !== 'Binary') || typeof value !== 'string')
    throw new PatternsError('InvalidValue', `${property} is ${type}: only String and Binary can be encrypted`)
  if (type === 'String' && !value.isWellFormed())
    throw new PatternsError('InvalidValue', `${property} is no well-formed Unicode text`)
  return { type, value }
}

function fitting(property: string, sealed: Buffer): Buffer {
  if (sealed.length > binaryBytesMax)
    throw new PatternsError(
      'LimitExceeded',
      `${property} takes ${sealed.length} bytes once encrypted, of at most ${binaryBytesMax}`,
    )
  return sealed
}

function refuseEnvelope(cells: Cells): void {
  const taken = envelopeProperties.find((name) => name in cells)
  if (taken !== undefined)
    throw new PatternsError('InvalidValue', `${taken} belongs to the encryption of the entity`)
}

function bytesOf({ type, value }: Cell): Buffer {
  if (type !== 'Binary' || typeof value !== 'string') throw new Error('not Binary')
  return Buffer.from(value, 'base64')
}

function unreadable({ partitionKey, rowKey }: RowKeys, text: string, cause?: unknown): PatternsError {
  return new PatternsError('UnreadableRow', `entity (${partitionKey}, ${rowKey}): ${text}`, { cause })
}

/**
 * How an entity stands in a store: its JSON is ready, so that reading copies bytes and never serialises.
 *
 *   record   = format:u8 · stampBytes:u8 · count:u16 · bytes:u32 · version:u64 · keysBytes:u32 · entry* · text
 *   entry    = nameHash:u16 · nameBytes:u16 · (annotated:1 type:7):u8 · memberFrom:u24
 *   text     = etag `,` keys `,"Timestamp":"` stamp `"` members
 *   etag     = `"odata.etag":"W/\"datetime'` stamp with `:` as `%3A` `'\""`
 *   keys     = `"PartitionKey":` string `,"RowKey":` string
 *   members  = ( `,` [annotation `,`] `"name":` value )*
 *   content  = count:u16 · entry* · members                       (an entity that has no version yet)
 *
 * Numbers are big endian. `bytes` counts the whole record, so a buffer may be longer than its record. What a
 * scan asks of every row takes the buffer and where in it the record begins.
 * `memberFrom` counts from the start of members and points behind the comma. The text is the entity at
 * minimal metadata without its braces; names and values in it are ASCII.
 */
import { u16, u32 } from './bytes.ts'
import { type EdmType, edmTypes } from './values.ts'

export const recordFormat = 1
export const headerBytes = 20
export const entryBytes = 8
export const contentHeaderBytes = 2

export const etagHead = `"odata.etag":"W/\\"datetime'`
export const etagTail = `'\\"",`
export const timestampHead = `,"Timestamp":"`
export const annotationTail = '@odata.type":"'

export function keysFromOf(bytes: Buffer, at = 0): number {
  const etagFrom = at + headerBytes + u16(bytes, at + 2) * entryBytes
  // Two colons of the stamp are written as three characters each.
  return etagFrom + etagHead.length + (bytes[at + 1] as number) + 4 + etagTail.length
}

/** What stands between the entries and the members, without the keys and the two stamps. */
export const stampedBytes = etagHead.length + 4 + etagTail.length + timestampHead.length + 1

export function membersFromOf(bytes: Buffer, at = 0): number {
  const etagFrom = at + headerBytes + u16(bytes, at + 2) * entryBytes
  return etagFrom + stampedBytes + 2 * (bytes[at + 1] as number) + u32(bytes, at + 16)
}

/** `"name@odata.type":"type",` */
export function annotationBytes(type: number, nameBytes: number): number {
  return 1 + nameBytes + annotationTail.length + (edmTypes[type] as EdmType).length + 2
}

export const quote = 0x22
export const backslash = 0x5c

/** Sixteen bits of FNV-1a: lets a search pass over a property without comparing its name. */
export function nameHash(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 16)) & 0xffff
}

/** The service's limits, checked before anything is sent. Sizes are bytes unless the name says otherwise. */
import { PatternsError, unreachable } from '../patterns-error.ts'
import type { Cell, Row } from './row.ts'

export const limits = {
  keyBytesMax: 1024,
  propertiesMax: 252,
  stringCharactersMax: 32_768,
  binaryBytesMax: 65_536,
  entityBytesMax: 1_048_576,
  transactionStepsMax: 100,
  transactionBytesMax: 4_194_304,
} as const

/** `where` names the entity in the refusal. */
export function checkRow(where: string, partitionKey: string, rowKey: string, row: Row): void {
  checkKey(where, 'PartitionKey', partitionKey)
  checkKey(where, 'RowKey', rowKey)
  const names = Object.keys(row)
  if (names.length > limits.propertiesMax) {
    throw exceeded(where, `${names.length} properties; a row holds ${limits.propertiesMax}`)
  }
  for (const [name, cell] of Object.entries(row)) checkCell(where, name, cell)
  const bytes = rowBytes(partitionKey, rowKey, row)
  if (bytes > limits.entityBytesMax) {
    const [largest] = Object.entries(row).toSorted(([, a], [, b]) => cellBytes(b) - cellBytes(a))
    throw exceeded(
      where,
      `${bytes} bytes; a row holds ${limits.entityBytesMax}; the largest is ${largest?.[0]}`,
    )
  }
}

/** By the protocol's formula; the Timestamp does not count. */
export function rowBytes(partitionKey: string, rowKey: string, row: Row): number {
  let bytes = 4 + 2 * (partitionKey.length + rowKey.length)
  for (const [name, cell] of Object.entries(row)) bytes += 8 + 2 * name.length + cellBytes(cell)
  return bytes
}

/** In a body: JSON with the type beside each value, and every character perhaps escaped. */
export function jsonBytes(partitionKey: string, rowKey: string, row: Row): number {
  let bytes = Buffer.byteLength(JSON.stringify([partitionKey, rowKey])) + 32
  for (const [name, cell] of Object.entries(row)) {
    bytes += Buffer.byteLength(JSON.stringify(cell.value)) + 2 * Buffer.byteLength(name) + 40
  }
  return bytes
}

function checkKey(where: string, name: string, key: string): void {
  const bytes = Buffer.byteLength(key)
  if (bytes > limits.keyBytesMax)
    throw exceeded(where, `${name} of ${bytes} bytes; at most ${limits.keyBytesMax}`)
}

function checkCell(where: string, name: string, cell: Cell): void {
  if (cell.type === 'String' && cell.value.length > limits.stringCharactersMax) {
    throw exceeded(where, `${name} of ${cell.value.length} characters; at most ${limits.stringCharactersMax}`)
  }
  if (cell.type === 'Binary' && cellBytes(cell) - 4 > limits.binaryBytesMax) {
    throw exceeded(where, `${name} of ${cellBytes(cell) - 4} bytes; at most ${limits.binaryBytesMax}`)
  }
}

function cellBytes(cell: Cell): number {
  switch (cell.type) {
    case 'String':
      return 2 * cell.value.length + 4
    case 'Binary':
      return Buffer.byteLength(cell.value, 'base64') + 4
    case 'Boolean':
      return 1
    case 'Int32':
      return 4
    case 'Guid':
      return 16
    case 'Int64':
    case 'Double':
    case 'DateTime':
      return 8
    default:
      return unreachable(cell)
  }
}

function exceeded(where: string, text: string): PatternsError {
  return new PatternsError('LimitExceeded', `${where}: ${text}`)
}

/** Rows to and from the client of the service. Reads ask it for unconverted values: its Dates would lose ticks. */
import { Instant } from '../definition/instant.ts'
import { unreachable } from '../patterns-error.ts'
import type { Cell, ClientEntity, Row, StoredRow, TypedValue } from './row.ts'

export function toClientEntity(
  partitionKey: string,
  rowKey: string,
  cells: Row,
): { partitionKey: string; rowKey: string } {
  return { partitionKey, rowKey, ...cells }
}

export function fromClientEntity(entity: ClientEntity): StoredRow {
  const { partitionKey, rowKey, etag, timestamp, ...rest } = entity
  const cells: Record<string, Cell> = {}
  for (const [name, value] of Object.entries(rest)) {
    if (!name.startsWith('odata.') && isTyped(value)) cells[name] = toCell(value)
  }
  return {
    partitionKey: partitionKey as string,
    rowKey: rowKey as string,
    etag: etag as string,
    timestamp: Instant.parse(isTyped(timestamp) ? String(timestamp.value) : String(timestamp)),
    cells,
  }
}

function isTyped(value: unknown): value is TypedValue {
  return typeof value === 'object' && value !== null && 'type' in value && 'value' in value
}

/**
 * The client gives most values as texts. It takes any whole number for an Int32, since JSON does not tell 5 from 5.0;
 * whoever knows the declared type puts that right.
 */
function toCell({ type, value }: TypedValue): Cell {
  const text = String(value)
  switch (type) {
    case 'Boolean':
      return { type, value: text === 'true' }
    case 'Int32':
      return { type, value: Number(text) }
    case 'Double':
      return { type, value: Number.isFinite(Number(text)) ? Number(text) : text }
    case 'String':
    case 'Int64':
    case 'DateTime':
    case 'Guid':
    case 'Binary':
      return { type, value: text }
    default:
      return unreachable(type)
  }
}

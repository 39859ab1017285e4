/** Entity to row and back. A value that a row's own keys hold is not stored in the row again. */
import type { Definition, Index } from '../definition/entity.ts'
import { Instant } from '../definition/instant.ts'
import {
  formatKey,
  type KeyTemplate,
  numbered,
  parseKey,
  recoverableNames,
  type Values,
} from '../definition/key-template.ts'
import type { EdmType, Property, Value } from '../definition/properties.ts'
import { hasFlag } from '../definition/properties.ts'
import { PatternsError, unreachable } from '../patterns-error.ts'
import type { Cell, Row, StoredRow } from './row.ts'

/** Where rows of a kind live: the entity's own keys, or those of an index. */
export interface Layout {
  readonly partition: KeyTemplate
  readonly row: KeyTemplate
  /** The properties that rows of this layout hold. */
  readonly names: readonly string[]
}

export interface PlacedRow {
  readonly partitionKey: string
  readonly rowKey: string
  readonly row: Row
}

export function ownLayout(definition: Definition): Layout {
  const { partition, row, properties } = definition
  return { partition, row, names: Object.keys(properties) }
}

/** Copies hold what was chosen and, always, the keys of the entity they are copies of. A list's rows are numbered. */
export function indexLayout(definition: Definition, label: string): Layout {
  const index = indexOf(definition, label)
  const partition = index.partition ?? definition.partition
  const { row, copy, list } = index
  const keys = [...partition.names, ...row.names, ...definition.partition.names, ...definition.row.names]
  if (list === true) return { partition, row: numbered(row, listPage, listPageDigits), names: keys }
  const own = ownLayout(definition)
  return { partition, row, names: copy === undefined ? own.names : [...new Set([...keys, ...copy])] }
}

export function indexOf({ name, indexes }: Definition, label: string): Index {
  const index = indexes[label]
  if (index === undefined) throw new PatternsError('InvalidDefinition', `${name} has no index ${label}`)
  return index
}

/** Behind the key of a list: which of its rows. No property can have this name. */
const listPage = '#'
export const listPageDigits = 4

/** Values of the right types for all properties, or a refusal that names the first wrong one. */
export function checkValues(definition: Definition, values: object): Values {
  const checked: Record<string, Value> = {}
  for (const [name, property] of Object.entries(definition.properties)) {
    const value = checkValue(definition, name, (values as Readonly<Record<string, unknown>>)[name])
    if (value !== undefined) checked[name] = value
    else if (!hasFlag(property, 'optional')) throw invalid(definition, name, 'is missing')
  }
  return checked
}

/** The same for those properties that are given. */
export function checkSomeValues(definition: Definition, values: object): Values {
  const checked: Record<string, Value> = {}
  for (const [name, given] of Object.entries(values)) {
    const value = checkValue(definition, name, given)
    if (value !== undefined) checked[name] = value
  }
  return checked
}

export function encodeEntity(definition: Definition, layout: Layout, values: Values): PlacedRow {
  const { properties, type } = definition
  const row: Record<string, Cell> = {}
  const inKeys = namesInKeys(layout)
  for (const name of layout.names) {
    const value = values[name]
    if (value !== undefined && !inKeys.has(name))
      row[name] = encodeValue((properties[name] as Property).edm, value)
  }
  if (type !== undefined) row[type.property] = { type: 'String', value: type.value }
  return {
    partitionKey: formatKey(layout.partition, properties, values),
    rowKey: formatKey(layout.row, properties, values),
    row,
  }
}

/** The cells of some properties, as a merge sends them. */
export function encodeCells(definition: Definition, values: Values): Row {
  const cells: Record<string, Cell> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) cells[name] = encodeValue((definition.properties[name] as Property).edm, value)
  }
  return cells
}

/** Whether the row's keys and its type mark say that it was written by this layout. */
export function isOfLayout(definition: Definition, layout: Layout, row: StoredRow): boolean {
  const { properties } = definition
  return (
    otherMark(definition, row) === undefined &&
    parseKey(layout.partition, properties, row.partitionKey) !== undefined &&
    parseKey(layout.row, properties, row.rowKey) !== undefined
  )
}

/** The type that the row says it is, if that is another; a row that says nothing may be of any. */
function otherMark({ type }: Definition, { cells }: StoredRow): string | undefined {
  const mark = type && cells[type.property]
  return mark === undefined || mark.value === type?.value ? undefined : String(mark.value)
}

/** With `select`, only those properties are looked for. */
export function decodeEntity(
  definition: Definition,
  layout: Layout,
  row: StoredRow,
  select: readonly string[] = layout.names,
): Record<string, Value> {
  const { properties } = definition
  const other = otherMark(definition, row)
  if (other !== undefined) throw unreadable(definition, row, `it is of the type ${other}`)
  const fromKeys = {
    ...parseKey(layout.partition, properties, row.partitionKey),
    ...parseKey(layout.row, properties, row.rowKey),
  }
  const entity: Record<string, Value> = {}
  for (const name of select) {
    const property = properties[name] as Property
    const cell = row.cells[name]
    const value = fromKeys[name] ?? (cell && decodeValue(property.edm, cell))
    if (value !== undefined) entity[name] = value
    else if (cell !== undefined)
      throw unreadable(definition, row, `${name} is a ${cell.type}, not a ${property.edm}`)
    else if (!hasFlag(property, 'optional')) throw unreadable(definition, row, `${name} is missing`)
  }
  return entity
}

/** What others have put into the row: whoever changes an entity keeps it. REQUIRES: an opened row. */
export function foreignCells({ properties, type }: Definition, { cells }: StoredRow): Row {
  const foreign = Object.entries(cells).filter(([name]) => !(name in properties) && name !== type?.property)
  return Object.fromEntries(foreign)
}

export function encodeValue(edm: EdmType, value: Value): Cell {
  switch (edm) {
    case 'String':
    case 'Guid':
      return { type: edm, value: value as string }
    case 'Boolean':
      return { type: edm, value: value as boolean }
    case 'Int32':
      return { type: edm, value: value as number }
    case 'Double':
      return { type: edm, value: Number.isFinite(value) ? (value as number) : String(value) }
    case 'Int64':
      return { type: edm, value: String(value) }
    case 'DateTime':
      return { type: edm, value: (value as Instant).toString() }
    case 'Binary':
      return { type: edm, value: Buffer.from(value as Uint8Array).toString('base64') }
    default:
      return unreachable(edm)
  }
}

/** Undefined for a cell of another type. The client takes whole doubles and small Int64 for Int32. */
export function decodeValue(edm: EdmType, cell: Cell): Value | undefined {
  switch (edm) {
    case 'Double':
      return cell.type === 'Double' || cell.type === 'Int32' ? Number(cell.value) : undefined
    case 'Int64':
      return cell.type === 'Int64' || cell.type === 'Int32' ? BigInt(cell.value) : undefined
    case 'DateTime':
      return cell.type === edm ? Instant.parse(cell.value) : undefined
    case 'Binary':
      return cell.type === edm ? new Uint8Array(Buffer.from(cell.value, 'base64')) : undefined
    case 'Guid':
      return cell.type === edm ? cell.value.toLowerCase() : undefined
    case 'String':
    case 'Boolean':
    case 'Int32':
      return cell.type === edm ? cell.value : undefined
    default:
      return unreachable(edm)
  }
}

function checkValue(definition: Definition, name: string, value: unknown): Value | undefined {
  const property = definition.properties[name]
  if (property === undefined) throw invalid(definition, name, 'is no property')
  if (value === undefined) return undefined
  const wrong = (): PatternsError => invalid(definition, name, `${shown(value)} is no ${property.edm}`)
  switch (property.edm) {
    case 'String':
      if (typeof value !== 'string') throw wrong()
      if (!value.isWellFormed()) throw invalid(definition, name, 'holds half of a surrogate pair')
      return value
    case 'Boolean':
      if (typeof value !== 'boolean') throw wrong()
      return value
    case 'Int32':
      if (typeof value !== 'number' || (value | 0) !== value) throw wrong()
      return value
    case 'Int64':
      if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) throw wrong()
      return value
    case 'Double':
      if (typeof value !== 'number') throw wrong()
      return value
    case 'Guid':
      if (typeof value !== 'string' || !guidPattern.test(value)) throw wrong()
      return value.toLowerCase()
    case 'Binary':
      if (!(value instanceof Uint8Array)) throw wrong()
      return value
    case 'DateTime': {
      if (!(value instanceof Instant || value instanceof Date)) throw wrong()
      if (value instanceof Date && Number.isNaN(value.getTime())) throw wrong()
      const instant = Instant.from(value)
      if (instant.ticks < earliest.ticks)
        throw invalid(definition, name, `${instant.toString()} is before ${earliest.toString()}`)
      return instant
    }
    default:
      return unreachable(property.edm)
  }
}

function namesInKeys(layout: Layout): ReadonlySet<string> {
  return new Set([...recoverableNames(layout.partition), ...recoverableNames(layout.row)])
}

function shown(value: unknown): string {
  if (value === null || typeof value !== 'object')
    return typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)
  return value.constructor?.name ?? 'an object'
}

function invalid({ name: entity }: Definition, name: string, text: string): PatternsError {
  return new PatternsError('InvalidValue', `${entity}.${name} ${text}`)
}

function unreadable({ name }: Definition, { partitionKey, rowKey }: StoredRow, text: string): PatternsError {
  return new PatternsError('UnreadableRow', `${name} at (${partitionKey}, ${rowKey}): ${text}`)
}

const earliest = Instant.parse('1601-01-01T00:00:00Z')
const guidPattern = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

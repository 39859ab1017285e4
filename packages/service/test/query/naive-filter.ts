/** The filter semantics again, in the plainest way: over decoded entities, one rule after the other. */
import { type EntityKey, compareKeys } from '../../src/model/keys.ts'
import { encodeContent, keysText, type Property } from '../../src/model/content.ts'
import { encodeRecord, type EntityRecord } from '../../src/model/record.ts'
import { type EdmType, edmTypes, type Value } from '../../src/model/values.ts'
import type { Version } from '../../src/model/version.ts'
import type { Comparison, Filter, Operator } from '../../src/query/filter.ts'

export interface PlainEntity {
  readonly key: EntityKey
  readonly version: Version
  readonly properties: readonly Property[]
}

export function recordOf({ key, version, properties }: PlainEntity): EntityRecord {
  return encodeRecord(keysText(key), encodeContent(properties), version)
}

export function byKey(a: PlainEntity, b: PlainEntity): number {
  return compareKeys(a.key, b.key)
}

export function satisfies(entity: PlainEntity, filter: Filter, lenient = false): boolean {
  switch (filter.kind) {
    case 'constant':
      return filter.value
    case 'comparison':
      return holds(entity, filter, lenient)
    case 'and':
      return filter.terms.every((term) => satisfies(entity, term, lenient))
    case 'or':
      return filter.terms.some((term) => satisfies(entity, term, lenient))
    case 'not':
      return !satisfies(entity, filter.term, lenient)
  }
}

function holds(entity: PlainEntity, { property, operator, literal }: Comparison, lenient: boolean): boolean {
  const stored = valueOf(entity, property)
  if (stored === undefined) return false
  const order = isNumeric(stored.type) && isNumeric(literal.type) ? numericOrder() : sameTypeOrder()
  return order === 'type' ? byRank() : judge(operator, order)

  function numericOrder(): number | undefined | 'type' {
    const meet = lenient || stored?.type === literal.type || literal.type === 'Edm.Int32'
    if (!meet) return 'type'
    const [a, b] = [stored?.value as number | bigint, literal.value as number | bigint]
    if (a < b) return -1
    if (a > b) return 1
    return Number.isNaN(a) || Number.isNaN(b) ? undefined : 0
  }

  function sameTypeOrder(): number | undefined | 'type' {
    return stored?.type === literal.type ? compareSame(stored, literal) : 'type'
  }

  function byRank(): boolean {
    const difference = edmTypes.indexOf((stored as Value).type) - edmTypes.indexOf(literal.type)
    if (operator === 'eq') return false
    if (operator === 'ne') return true
    return operator.startsWith('l') ? difference < 0 : difference > 0
  }
}

function valueOf(entity: PlainEntity, name: string): Value | undefined {
  if (name === 'PartitionKey') return { type: 'Edm.String', value: entity.key.partition }
  if (name === 'RowKey') return { type: 'Edm.String', value: entity.key.row }
  if (name === 'Timestamp') return { type: 'Edm.DateTime', value: entity.version }
  return entity.properties.find((property) => property.name === name)?.value
}

function isNumeric(type: EdmType): boolean {
  return ['Edm.Int32', 'Edm.Int64', 'Edm.Double'].includes(type)
}

function compareSame(a: Value, b: Value): number {
  if (a.type === 'Edm.Binary') return Buffer.compare(a.value, b.value as Uint8Array)
  if (a.value < b.value) return -1
  return a.value > b.value ? 1 : 0
}

function judge(operator: Operator, order: number | undefined): boolean {
  if (order === undefined) return operator === 'ne'
  switch (operator) {
    case 'eq':
      return order === 0
    case 'ne':
      return order !== 0
    case 'lt':
      return order < 0
    case 'le':
      return order <= 0
    case 'gt':
      return order > 0
    case 'ge':
      return order >= 0
  }
}

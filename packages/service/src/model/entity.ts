/** The rules an entity must meet before any store sees it. */
import { Fault } from './faults.ts'
import type { EntityKey } from './keys.ts'
import { limits } from './limits.ts'
import type { Property } from './record.ts'
import { formatTicksInvariant, parseTicks } from './ticks.ts'
import { sizeOfValue, type Value } from './values.ts'

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** A C# identifier. */
const anyName = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*$/u
const earliestDateTime = parseTicks('1601-01-01T00:00:00Z') ?? 0n

/** Refuses an entity that breaks a limit. Which refusal wins when several apply is fixed by this order. */
export function checkEntity(key: EntityKey, properties: readonly Property[]): void {
  if (properties.length > limits.propertiesMax) throw new Fault('TooManyProperties')
  for (const { name } of properties) checkName(name)
  if (entityBytes(key, properties) > limits.entityBytesMax) throw new Fault('EntityTooLarge')
  for (const { name, value } of properties) checkValue(name, value)
}

/** An entity's size by the protocol's formula; the Timestamp does not count. */
export function entityBytes(key: EntityKey, properties: readonly Property[]): number {
  let bytes = 4 + 2 * (key.partition.length + key.row.length)
  for (const { name, value } of properties) bytes += 8 + 2 * name.length + sizeOfValue(value)
  return bytes
}

function checkName(name: string): void {
  if (name.length > limits.propertyNameCharactersMax) throw new Fault('PropertyNameTooLong')
  if (!plainName.test(name) && !anyName.test(name)) throw new Fault('PropertyNameInvalid')
}

function checkValue(name: string, value: Value): void {
  if (value.type === 'Edm.String' && value.value.length > limits.stringCharactersMax) {
    throw new Fault('PropertyValueTooLarge')
  }
  if (value.type === 'Edm.Binary' && value.value.length > limits.binaryBytesMax) {
    throw new Fault('PropertyValueTooLarge')
  }
  if (value.type === 'Edm.DateTime' && value.value < earliestDateTime) {
    const shown = formatTicksInvariant(value.value)
    throw new Fault('OutOfRangeInput', {
      text: `The '${name}' parameter of value '${shown}' is out of range.`,
    })
  }
}

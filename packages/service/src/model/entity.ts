/** The rules an entity must meet before any store sees it. */
import { Fault } from './faults.ts'
import type { EntityKey } from './keys.ts'
import { limits } from './limits.ts'
import { nameFacts } from './name-facts.ts'
import type { PropertyText } from './content.ts'
import { formatTicksInvariant, parseTicks, type Ticks } from './ticks.ts'
import { sizeOfValue } from './values.ts'

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/
/** A C# identifier. */
const anyName = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*$/u
/** Years have four digits, so that the order of times is the order of their texts. */
const earliestDateTime = '1601'

/** Refuses an entity that breaks a limit. Which refusal wins when several apply is fixed by this order. */
export function checkEntity(key: EntityKey, properties: readonly PropertyText[]): void {
  if (properties.length > limits.propertiesMax) throw new Fault('TooManyProperties')
  for (const { name } of properties) {
    const fault = faultOfName(name)
    if (fault !== undefined) throw fault
  }
  if (entityBytes(key, properties) > limits.entityBytesMax) throw new Fault('EntityTooLarge')
  for (const property of properties) {
    const fault = faultOfValue(property)
    if (fault !== undefined) throw fault
  }
}

/** Whether no rule speaks against an entity with properties of these names. */
export function areLegalNames(properties: readonly { readonly name: string }[]): boolean {
  return (
    properties.length <= limits.propertiesMax &&
    properties.every(({ name }) => faultOfName(name) === undefined)
  )
}

/** An entity's size by the protocol's formula; the Timestamp does not count. */
export function entityBytes(key: EntityKey, properties: readonly PropertyText[]): number {
  let bytes = 4 + 2 * (key.partition.length + key.row.length)
  for (const property of properties) bytes += 8 + 2 * property.name.length + sizeOfValue(property)
  return bytes
}

function faultOfName(name: string): Fault | undefined {
  if (name.length > limits.propertyNameCharactersMax) return new Fault('PropertyNameTooLong')
  return isName(name) ? undefined : new Fault('PropertyNameInvalid')
}

const isName = nameFacts((name) => plainName.test(name) || anyName.test(name))

/** What a value by itself is refused for. */
export function faultOfValue({ name, type, text, units }: PropertyText): Fault | undefined {
  if (type === 'Edm.String' && units > limits.stringCharactersMax) return new Fault('PropertyValueTooLarge')
  if (type === 'Edm.Binary' && units > limits.binaryBytesMax) return new Fault('PropertyValueTooLarge')
  if (type === 'Edm.DateTime' && text < earliestDateTime) {
    const shown = formatTicksInvariant(parseTicks(text) as Ticks)
    return new Fault('OutOfRangeInput', {
      text: `The '${name}' parameter of value '${shown}' is out of range.`,
    })
  }
  return undefined
}

/** The properties of a definition as things to compare, each with values of its own type only. */
import type { Definition, EdmOf, Filterable } from '../definition/entity.ts'
import { hasFlag, type EdmType, type WriteAs } from '../definition/properties.ts'
import { checkSomeValues, encodeValue, type Layout } from '../row/codec.ts'
import { PatternsError } from '../patterns-error.ts'
import { recoverableNames } from '../definition/key-template.ts'
import { beginsWith, compare, type Filter, type Operator } from './filter.ts'

/** A comparison with a property that a row does not have is false, also by `ne`. */
export type Column<E extends EdmType> = {
  readonly [O in E extends 'Boolean' ? 'eq' | 'ne' : Operator]: (value: WriteAs[E]) => Filter
} & (E extends 'String' ? { startsWith(prefix: string): Filter } : unknown)

export type Columns<D extends Definition> = {
  readonly [K in Filterable<D>]: Column<EdmOf<D, K>>
}

const operators: readonly Operator[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']

export function columnsOf<D extends Definition>(definition: D, layout: Layout): Columns<D> {
  const inKeys = [...recoverableNames(layout.partition), ...recoverableNames(layout.row)]
  const columns: Record<string, unknown> = {}
  for (const name of layout.names) {
    const property = definition.properties[name]
    if (property === undefined || inKeys.includes(name)) continue
    if (hasFlag(property, 'encrypted') || hasFlag(property, 'large')) continue
    columns[name] = columnOf(definition, name, property.edm)
  }
  return columns as Columns<D>
}

function columnOf(definition: Definition, name: string, edm: EdmType): unknown {
  const comparisons = operators.map((operator) => [operator, (value: unknown) => comparison(operator, value)])
  return { ...Object.fromEntries(comparisons), startsWith }

  function comparison(operator: Operator, value: unknown): Filter {
    const checked = checkSomeValues(definition, { [name]: value })[name]
    if (checked === undefined)
      throw new PatternsError('InvalidValue', `${definition.name}.${name} is compared with nothing`)
    return compare(name, operator, encodeValue(edm, checked))
  }

  function startsWith(prefix: string): Filter {
    // The empty prefix is that of all texts: the range from the least one on.
    return beginsWith(name, prefix) ?? comparison('ge', '')
  }
}

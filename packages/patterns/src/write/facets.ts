/** Which patterns take part in the writes of a definition. A new pattern has its line here. */
import type { Definition } from '../definition/entity.ts'
import { intraPartitionIndex } from '../intra-partition-index.ts'
import { PatternsError } from '../patterns-error.ts'
import type { Facet } from './facet.ts'
import { ownRow } from './own-row.ts'

/** The own row comes first: if several steps are refused, its refusal is the one that tells. */
export function facetsOf(definition: Definition): readonly Facet[] {
  return [ownRow, ...Object.keys(definition.indexes).map((label) => indexFacet(definition, label))]
}

function indexFacet(definition: Definition, label: string): Facet {
  if (definition.indexes[label]?.partition !== undefined) {
    throw new PatternsError(
      'InvalidDefinition',
      `${definition.name}.${label}: copies must be in the same partition`,
    )
  }
  return intraPartitionIndex(definition, label)
}

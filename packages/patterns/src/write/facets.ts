/** Which patterns take part in the writes of a definition. A new pattern has its line here. */
import type { Definition } from '../definition/entity.ts'
import { type Copies, copyFacets } from '../denormalisation.ts'
import { copiesElsewhere, isAcrossPartitions } from '../denormalisation-elsewhere.ts'
import { listElsewhere, listInPartition } from '../index-entities.ts'
import { interPartitionIndex } from '../inter-partition-index.ts'
import { intraPartitionIndex } from '../intra-partition-index.ts'
import type { Elsewhere } from '../outbox/elsewhere.ts'
import { outboxFacet } from '../outbox/outbox.ts'
import { countFacets, type Counts } from '../relationships.ts'
import type { Facet } from './facet.ts'
import { ownRow } from './own-row.ts'

/** The own row comes first: if several steps are refused, its refusal is the one that tells. */
export function facetsOf(
  definition: Definition,
  copies: readonly Copies[] = [],
  counts: readonly Counts[] = [],
): readonly Facet[] {
  const elsewhere = elsewhereOf(definition, copies)
  return [
    ownRow,
    ...indexFacets(definition),
    ...copyFacets(copies, definition),
    ...countFacets(counts, definition),
    ...(elsewhere.length > 0 ? [outboxFacet(definition, elsewhere)] : []),
  ]
}

/** What follows outside the partition, by the outbox. */
export function elsewhereOf(definition: Definition, copies: readonly Copies[] = []): readonly Elsewhere[] {
  const indexes = Object.entries(definition.indexes).flatMap(([label, { partition, list }]) => {
    if (partition === undefined) return []
    return [list === true ? listElsewhere(definition, label) : interPartitionIndex(definition, label)]
  })
  const across = copies.filter(isAcrossPartitions).flatMap((each) => copiesElsewhere(each, definition))
  return [...indexes, ...across]
}

function indexFacets(definition: Definition): readonly Facet[] {
  return Object.entries(definition.indexes).flatMap(([label, { partition, list }]) => {
    if (partition !== undefined) return []
    return [list === true ? listInPartition(definition, label) : intraPartitionIndex(definition, label)]
  })
}

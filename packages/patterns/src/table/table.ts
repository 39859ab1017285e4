/** A table of the service as the library sees it: where definitions meet a client. */
import { openRows, type RowsClient } from '../client/rows.ts'
import { openSeries, type Series, type SeriesTable } from '../data-series.ts'
import type { Definition } from '../definition/entity.ts'
import type { Clock } from '../definition/instant.ts'
import type { EdmType } from '../definition/properties.ts'
import { type AnyOfReader, type DynamicTable, openAnyOf, openDynamic } from '../heterogeneous.ts'
import { type Copies, copyFacets } from '../denormalisation.ts'
import { PatternsError } from '../patterns-error.ts'
import { openWide, type Wide, type WideTable } from '../wide-entities.ts'
import { countFacets, type Counts } from '../relationships.ts'
import { type Backoff, usualBackoff } from '../write/backoff.ts'
import { write, type WriteContext, type Written } from '../write/execute.ts'
import { facetsOf } from '../write/facets.ts'
import type { Intent } from '../write/intent.ts'
import { systemSources } from '../write/plan.ts'
import type { Seal } from '../write/seal.ts'
import type { Step } from '../write/step.ts'
import { type EntityTable, openEntityTable } from './entity-table.ts'

export interface TableOptions {
  /** What looks after encrypted and large properties. */
  readonly seals?: readonly Seal[]
  /** Properties copied from one entity into another of the same partition. */
  readonly copies?: readonly Copies[]
  /** How many children entities have, in the same partition. */
  readonly counts?: readonly Counts[]
  readonly backoff?: Partial<Backoff>
  readonly clock?: Clock
  readonly newGuid?: () => string
  /** Told of every transaction that was committed. */
  readonly onCommit?: (steps: readonly Step[]) => void
}

export interface Table {
  readonly name: string
  of<D extends Definition>(definition: D): EntityTable<D>
  /** All of one partition, whatever their types: all are written, or none. */
  transaction(intents: readonly Intent[]): Promise<readonly Written[]>
  anyOf<D extends readonly [Definition, ...Definition[]]>(...definitions: D): AnyOfReader<D[number]>
  wide<D extends Definition>(definition: Wide<D>): WideTable<D>
  series<D extends Definition, E extends EdmType>(definition: Series<D, E>): SeriesTable<D, E>
  /** Rows of any type, as they are. */
  readonly dynamic: DynamicTable
}

/** Adds one policy to the client, which watches for lost answers. */
export function openTable(client: RowsClient, options: TableOptions = {}): Table {
  const { seals = [], copies = [], counts = [], backoff, clock, newGuid, onCommit } = options
  const context: WriteContext = {
    ...systemSources,
    ...(clock && { clock }),
    ...(newGuid && { newGuid }),
    rows: openRows(client),
    backoff: { ...usualBackoff, ...backoff },
    seals,
    onCommit,
    facetsOf: (definition) => [
      ...facetsOf(definition),
      ...copyFacets(copies, definition),
      ...countFacets(counts, definition),
    ],
  }
  return {
    name: client.tableName,
    of(definition) {
      checkSeals(definition, seals)
      // Asked for here as well, so that a definition this table cannot keep is refused at once.
      context.facetsOf(definition)
      return openEntityTable(context, definition)
    },
    transaction: (intents) => write(context, intents),
    anyOf: (...definitions) => openAnyOf(context, definitions),
    wide(definition) {
      for (const part of definition.parts) checkSeals(part.definition, seals)
      return openWide(context, definition)
    },
    series: (definition) => openSeries(context, definition),
    dynamic: openDynamic(context),
  }
}

/** What should be encrypted must not be written in clear because nobody was there to do it. */
function checkSeals(definition: Definition, seals: readonly Seal[]): void {
  const { name, properties } = definition
  for (const seal of seals) {
    const taken = seal.cellsFor(definition, Object.keys(properties)).find((cell) => cell in properties)
    if (taken !== undefined)
      throw new PatternsError(
        'InvalidDefinition',
        `${name}.${taken} is kept for a property that is ${seal.flag}`,
      )
  }
  for (const [property, { flags }] of Object.entries(properties)) {
    for (const flag of ['encrypted', 'large'] as const) {
      if (flags.includes(flag) && !seals.some((seal) => seal.flag === flag)) {
        throw new PatternsError(
          'InvalidDefinition',
          `${name}.${property} is ${flag}, but the table has no seal for that`,
        )
      }
    }
  }
}

/** A table of the service as the library sees it: where definitions meet a client. */
import { type BlobRowsClient, openBlobRows } from '../client/blob-rows.ts'
import { openRows, type Rows, type RowsClient } from '../client/rows.ts'
import { openSeries, type Series, type SeriesTable } from '../data-series.ts'
import type { Definition } from '../definition/entity.ts'
import type { Clock } from '../definition/instant.ts'
import type { EdmType } from '../definition/properties.ts'
import { type AnyOfReader, type DynamicTable, openAnyOf, openDynamic } from '../heterogeneous.ts'
import type { Copies } from '../denormalisation.ts'
import type { Destination } from '../outbox/elsewhere.ts'
import { openAnnouncer } from '../outbox/registry.ts'
import { openRelay, type Relay, type RelayContext, type RelayOptions } from '../outbox/relay.ts'
import { PatternsError } from '../patterns-error.ts'
import { openWide, type Wide, type WideTable } from '../wide-entities.ts'
import type { Counts } from '../relationships.ts'
import { type Backoff, usualBackoff } from '../write/backoff.ts'
import { write, type Written } from '../write/execute.ts'
import { elsewhereOf, facetsOf } from '../write/facets.ts'
import type { Intent } from '../write/intent.ts'
import { systemSources } from '../write/plan.ts'
import type { Seal } from '../write/seal.ts'
import type { Step } from '../write/step.ts'
import { type EntityTable, openEntityTable } from './entity-table.ts'

export interface TableOptions {
  /** What looks after encrypted and large properties. */
  readonly seals?: readonly Seal[]
  /** Properties copied from one entity into another. */
  readonly copies?: readonly Copies[]
  /** How many children entities have, in the same partition. */
  readonly counts?: readonly Counts[]
  /** Other tables that indexes and lists live in, by the names that definitions give them. */
  readonly tables?: Readonly<Record<string, RowsClient>>
  /** Containers that lists live in, by the names that definitions give them. */
  readonly containers?: Readonly<Record<string, BlobRowsClient>>
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
  /** Keeps what these definitions have outside their partitions. Nothing happens until it is started. */
  relay(definitions: readonly Definition[], options?: RelayOptions): Relay
  /** Rows of any type, as they are. */
  readonly dynamic: DynamicTable
}

/** Adds one policy to the client, which watches for lost answers. */
export function openTable(client: RowsClient, options: TableOptions = {}): Table {
  const { seals = [], copies = [], counts = [], backoff, clock, newGuid, onCommit } = options
  const rows = openRows(client)
  const context: RelayContext = {
    ...systemSources,
    ...(clock && { clock }),
    ...(newGuid && { newGuid }),
    rows,
    backoff: { ...usualBackoff, ...backoff },
    seals,
    onCommit,
    facetsOf: (definition) => facetsOf(definition, copies, counts),
    elsewhereOf: (definition) => elsewhereOf(definition, copies),
    announce: openAnnouncer(rows),
    rowsAt: openDestinations(rows, options),
  }
  return {
    name: client.tableName,
    of(definition) {
      checkSeals(definition, seals)
      for (const { destination } of context.elsewhereOf(definition)) context.rowsAt(destination)
      // Asked for here as well, so that a definition this table cannot keep is refused at once.
      context.facetsOf(definition)
      return openEntityTable(context, definition)
    },
    transaction: (intents) => write(context, intents),
    relay: (definitions, relayOptions) => openRelay(context, definitions, relayOptions),
    anyOf: (...definitions) => openAnyOf(context, definitions),
    wide(definition) {
      for (const part of definition.parts) checkSeals(part.definition, seals)
      return openWide(context, definition)
    },
    series: (definition) => openSeries(context, definition),
    dynamic: openDynamic(context),
  }
}

/** Each is opened once, and refused if it was not given. */
function openDestinations(
  own: Rows,
  { tables = {}, containers = {} }: TableOptions,
): (destination: Destination) => Rows {
  const opened = new Map<string, Rows>()
  return ({ table, container }) => {
    if (table === undefined && container === undefined) return own
    const name = container === undefined ? `table ${table}` : `container ${container}`
    const known = opened.get(name) ?? open(table, container)
    if (known === undefined) throw new PatternsError('InvalidDefinition', `openTable was given no ${name}`)
    opened.set(name, known)
    return known
  }

  function open(table: string | undefined, container: string | undefined): Rows | undefined {
    const blobs = container === undefined ? undefined : containers[container]
    if (blobs !== undefined) return openBlobRows(blobs)
    const client = table === undefined ? undefined : tables[table]
    return client && openRows(client)
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

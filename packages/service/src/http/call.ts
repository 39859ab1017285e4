/** One request on its way: what the stages before have established, for the stages after. */
import { strict as assert } from 'node:assert'
import type { Grant } from '../auth/grant.ts'
import type { AccountName, TableId } from '../model/table.ts'
import type { Clock } from '../model/ticks.ts'
import type { CatalogueEntry } from '../store/catalogue.ts'
import type { Store } from '../store/store.ts'
import type { CorsRules } from './cors.ts'
import type { Place } from './entity-json.ts'
import type { Format } from './format.ts'
import type { Route } from './route.ts'
import type { Target } from './target.ts'

/** What the service as a whole provides to every request. */
export interface Service {
  readonly store: Store
  readonly clock: Clock
  /** How long the name of a deleted table stays taken, in seconds; 0 frees it at once. */
  readonly deletedNameSeconds: number
  /** Whether pages end early and oddly, as the cloud's may; a request can choose for itself. */
  readonly realism: boolean
  /** Whether the primary address answers for statistics too: some clients ask it when they run locally. */
  readonly statsOnPrimary: boolean
  readonly cors: CorsRules
}

export interface Call<R extends Route = Route> extends Service {
  readonly requestId: string
  readonly route: R
  readonly target: Target
  readonly grant: Grant
  readonly account: AccountName
  /** The protocol version the answer speaks. */
  readonly version: string
  readonly headers: ReadonlyMap<string, string>
  readonly format: Format
  /** What the client prefers, if the operation honours it. */
  readonly preference: Preference | undefined
  readonly body: Buffer
  /** Whether the client is gone. */
  readonly hungUp: () => boolean
  /** The table of the route, where it names one. */
  readonly table: CatalogueEntry | undefined
}

export type Preference = 'return-content' | 'return-no-content'

export function readPreference(
  header: string | undefined,
  honoured: readonly Preference[],
): Preference | undefined {
  const value = header?.toLowerCase()
  return honoured.find((preference) => preference === value)
}

/** REQUIRES: the route names a table, so the pipeline has looked it up. */
export function tableIdOf({ table }: Call): TableId {
  assert(table !== undefined, 'the route names no table')
  return table.id
}

export function placeOf(call: Call, table: string): Place {
  return { base: call.target.base, account: call.account, table }
}

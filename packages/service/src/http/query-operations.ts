/** How Query Entities is read from a request and written as an answer. */
import { rangeOf } from '../auth/grant.ts'
import { decodeContinuation, encodeToken } from '../query/continuation.ts'
import { explain, formatExplanation } from '../query/explain.ts'
import type { Filter } from '../query/filter.ts'
import { entitySchema, parseFilter } from '../query/parse-filter.ts'
import { clipPlan, type Plan, planFilter } from '../query/plan-filter.ts'
import type { Page } from '../query/read-page.ts'
import { type EntityQuery, queryEntities } from '../tables/query-entities.ts'
import { Fault } from '../model/faults.ts'
import { type Call, placeOf, tableIdOf } from './call.ts'
import { entityList } from './entity-json.ts'
import { contentTypeOf, levelOf, type MetadataLevel } from './format.ts'
import { readSelect, readTimeout, readTop, refuseUnsupportedOptions, type Select } from './options.ts'
import type { Reply } from './reply.ts'
import type { CollectionRoute } from './route.ts'
import type { Steps } from './steps.ts'

interface QueryInput extends EntityQuery {
  readonly filter: Filter
  readonly select: Select | undefined
  readonly level: MetadataLevel
  readonly explain: 'plan' | 'analyze' | undefined
  readonly decodeMs: { readonly parse: number; readonly plan: number }
}

interface QueryResult {
  readonly input: QueryInput
  /** Undefined when the query was planned and not run. */
  readonly page: Page | undefined
  readonly body: Buffer
  readonly executeMs: number
}

export const queryEntitiesSteps: Steps<CollectionRoute, QueryInput, QueryResult> = {
  writes: false,
  preferences: [],

  decode(call) {
    const { query } = call.target
    refuseUnsupportedOptions(query)
    const startMs = performance.now()
    const filter = parseFilter(query.get('$filter'), entitySchema)
    const parsedMs = performance.now()
    const plan = withinGrant(planFilter(filter), call)
    const explained = readExplain(call)
    return {
      filter,
      plan,
      decodeMs: { parse: parsedMs - startMs, plan: performance.now() - parsedMs },
      from: decodeContinuation(query.get('NextPartitionKey'), query.get('NextRowKey')),
      top: readTop(query),
      timeout: readTimeout(query),
      select: readSelect(query, call.headers.get('dataserviceversion')),
      level: levelOf(call.format),
      realism: isRealistic(call) ? { random: Math.random } : undefined,
      explain: explained,
      countsDetails: explained === 'analyze',
    }
  },

  async execute(input, call) {
    const list = entityList(input.level, placeOf(call, call.route.table), input.select)
    if (input.explain === 'plan') return { input, page: undefined, body: list.end(), executeMs: 0 }
    const startMs = performance.now()
    const page = await queryEntities(call.store, tableIdOf(call), input, call.hungUp, list.add)
    return { input, page, body: list.end(), executeMs: performance.now() - startMs }
  },

  encode(result, _call) {
    const { input, page, body } = result
    return {
      status: 200,
      noCache: true,
      contentType: contentTypeOf(input.level),
      ...continuationOf(page),
      ...(page === undefined ? {} : { rows: page.counters }),
      ...(input.explain === undefined ? {} : { explanation: explanationOf(result) }),
      body,
    }
  },
}

/** Before anything is read or counted, so that neither pages nor costs tell of rows outside the range. */
function withinGrant(plan: Plan, { grant }: Call): Plan {
  const range = rangeOf(grant)
  return range === undefined ? plan : clipPlan(plan, range)
}

function continuationOf(page: Page | undefined): Pick<Reply, 'continuation'> {
  if (page?.next === undefined) return {}
  const partition = ['x-ms-continuation-NextPartitionKey', encodeToken(page.next.partition)] as const
  if (page.next.row === undefined) return { continuation: [partition] }
  return { continuation: [partition, ['x-ms-continuation-NextRowKey', encodeToken(page.next.row)]] }
}

function explanationOf({ input, page, body, executeMs }: QueryResult): string {
  const query = { filter: input.filter, plan: input.plan, selects: input.select !== undefined }
  if (page === undefined) return formatExplanation(explain(query))
  // Rows are written while they are read, so there is no time of its own for serialising.
  const timeMs = { ...input.decodeMs, execute: executeMs, serialise: 0 }
  return formatExplanation(explain(query, { page, bytesSent: body.length, timeMs }))
}

function readExplain({ headers }: Call): QueryInput['explain'] {
  const wanted = headers.get('x-explain')?.toLowerCase()
  if (wanted === undefined || wanted === 'plan' || wanted === 'analyze') return wanted
  throw new Fault('InvalidHeaderValue')
}

/** The request's own wish, else the service's setting. */
function isRealistic({ headers, realism }: Call): boolean {
  const wanted = headers.get('x-realism')?.toLowerCase()
  return wanted === undefined ? realism : wanted === 'on'
}

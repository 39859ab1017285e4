/** The few things the library asks of a table: rows in, rows out. The one place that calls the service's client. */
import type { TableClient, TableEntityResult, TransactionAction } from '@azure/data-tables'
import { type Filter, formatFilter } from '../filter/filter.ts'
import { fromClientEntity, toClientEntity } from '../row/client-row.ts'
import type { StoredRow } from '../row/row.ts'
import type { Step } from '../write/step.ts'
import { addWatchPolicy, type Watch, watched } from './watch.ts'
import { isAnswerLost, refusedStep, type Rejection, rejectionOf } from './service-error.ts'
import { judgeOutcome } from './lost-answer.ts'
import { PatternsError } from '../patterns-error.ts'

export interface RowQuery {
  readonly filter: Filter | undefined
  /** Names of cells; undefined is all of them. */
  readonly select: readonly string[] | undefined
}

export interface RowPage {
  readonly rows: readonly StoredRow[]
  /** Where the next page begins; undefined after the last. */
  readonly token: string | undefined
}

export type Commit =
  | {
      readonly kind: 'committed' /** For each step; none for deletes. */
      readonly etags: readonly (string | undefined)[]
    }
  | { readonly kind: 'rejected'; readonly reason: Rejection; readonly step: Step; readonly cause: unknown }

export interface Rows {
  readonly table: string
  get(partitionKey: string, rowKey: string, select?: readonly string[]): Promise<StoredRow | undefined>
  /** One page of the service: it may be short, or empty, and still have a token. */
  page(query: RowQuery, at: { readonly size: number; readonly token?: string | undefined }): Promise<RowPage>
  /** All steps or none. REQUIRES: at least one, all of one partition, rows distinct. */
  commit(steps: readonly Step[]): Promise<Commit>
}

export type RowsClient = Pick<
  TableClient,
  | 'tableName'
  | 'pipeline'
  | 'getEntity'
  | 'listEntities'
  | 'createEntity'
  | 'updateEntity'
  | 'upsertEntity'
  | 'deleteEntity'
  | 'submitTransaction'
>

export function openRows(client: RowsClient): Rows {
  addWatchPolicy(client)
  return { table: client.tableName, get, page, commit }

  async function get(
    partitionKey: string,
    rowKey: string,
    select?: readonly string[],
  ): Promise<StoredRow | undefined> {
    const queryOptions = select === undefined ? {} : { select: withKeys(select) }
    try {
      const found = await client.getEntity(partitionKey, rowKey, {
        disableTypeConversion: true,
        queryOptions,
      })
      return fromClientEntity(found)
    } catch (error) {
      if (rejectionOf(error) === 'missing') return undefined
      throw error
    }
  }

  async function page(
    { filter, select }: RowQuery,
    { size, token }: { readonly size: number; readonly token?: string | undefined },
  ): Promise<RowPage> {
    const pages = client
      .listEntities({
        disableTypeConversion: true,
        queryOptions: {
          ...(filter && { filter: formatFilter(filter) }),
          ...(select && { select: withKeys(select) }),
        },
      })
      .byPage({ maxPageSize: size, ...(token !== undefined && { continuationToken: token }) })
    const { value, done } = await pages.next()
    if (done === true) return { rows: [], token: undefined }
    const found = value as TableEntityResult<Record<string, unknown>>[] & {
      readonly continuationToken?: string
    }
    return { rows: found.map(fromClientEntity), token: found.continuationToken }
  }

  async function commit(steps: readonly Step[]): Promise<Commit> {
    const deletes = conditionalDeletes(steps)
    const watch: Watch = { answerLost: false, ...(steps.length > 1 && deletes.size > 0 && { deletes }) }
    try {
      const [only] = steps
      const etags = await watched(watch, () =>
        steps.length === 1 ? sendOne(only as Step) : sendTogether(steps),
      )
      return { kind: 'committed', etags }
    } catch (error) {
      const reason = rejectionOf(error)
      const step = steps[steps.length === 1 ? 0 : refusedStep(error)] as Step
      const lost = watch.answerLost || isAnswerLost(error)
      if (!lost && reason === undefined) throw error
      if (!lost && reason !== undefined) return { kind: 'rejected', reason, step, cause: error }
      return afterLostAnswer(steps, error, reason && { kind: 'rejected', reason, step, cause: error })
    }
  }

  /** An attempt may have been carried out although its answer never came: the rows themselves must tell. */
  async function afterLostAnswer(
    steps: readonly Step[],
    error: unknown,
    rejected: Commit | undefined,
  ): Promise<Commit> {
    const unknown = (cause: unknown): PatternsError =>
      new PatternsError(
        'OutcomeUnknown',
        'the answer was lost, and the rows do not tell what became of the write',
        {
          cause,
        },
      )
    const judged = await judgeOutcome(steps, get).catch((cause: unknown) => {
      throw unknown(cause)
    })
    if (judged.outcome === 'written') return { kind: 'committed', etags: judged.etags }
    if (judged.outcome === 'not written' && rejected !== undefined) return rejected
    throw unknown(error)
  }

  async function sendOne(step: Step): Promise<readonly (string | undefined)[]> {
    if (step.kind === 'delete') {
      await client.deleteEntity(step.partitionKey, step.rowKey, { etag: step.etag })
      return [undefined]
    }
    const entity = toClientEntity(step.partitionKey, step.rowKey, step.row)
    if (step.kind === 'insert') return [(await client.createEntity(entity)).etag]
    const mode = step.kind === 'merge' ? 'Merge' : 'Replace'
    const answer =
      step.etag === undefined
        ? await client.upsertEntity(entity, mode)
        : await client.updateEntity(entity, mode, { etag: step.etag })
    return [answer.etag]
  }

  async function sendTogether(steps: readonly Step[]): Promise<readonly (string | undefined)[]> {
    const { subResponses } = await client.submitTransaction(steps.map(toAction))
    return steps.map((_, index) => subResponses[index]?.etag)
  }
}

function toAction(step: Step): TransactionAction {
  if (step.kind === 'delete') return ['delete', { partitionKey: step.partitionKey, rowKey: step.rowKey }]
  const entity = toClientEntity(step.partitionKey, step.rowKey, step.row)
  if (step.kind === 'insert') return ['create', entity]
  const mode = step.kind === 'merge' ? 'Merge' : 'Replace'
  return step.etag === undefined ? ['upsert', entity, mode] : ['update', entity, mode, { etag: step.etag }]
}

function conditionalDeletes(steps: readonly Step[]): ReadonlyMap<string, string> {
  const deletes = new Map<string, string>()
  for (const step of steps) {
    if (step.kind === 'delete' && step.etag !== '*') deletes.set(step.rowKey, step.etag)
  }
  return deletes
}

function withKeys(select: readonly string[]): string[] {
  return [...new Set(['PartitionKey', 'RowKey', 'Timestamp', ...select])]
}

/**
 * Entity group transactions: a batch with one change set of writes that happen together or not at all, or
 * with a single operation outside of any. Each operation is read by the code that reads it when it comes
 * alone. The first refusal is the whole answer.
 */
import { strict as assert } from 'node:assert'
import { authorize, authorizeKey } from '../auth/grant.ts'
import { Fault, type FaultCode } from '../model/faults.ts'
import type { PartitionKey, RowKey } from '../model/keys.ts'
import { limits } from '../model/limits.ts'
import type { Mutation } from '../model/mutation.ts'
import { type CatalogueEntry, findTable } from '../store/catalogue.ts'
import { type Soon, soon } from '../model/soon.ts'
import { rowOfTable, type TableId } from '../model/table.ts'
import type { Version } from '../model/version.ts'
import { type GroupOutcome, writeGroup } from '../tables/write-entities.ts'
import { type Call, readPreference, tableIdOf } from './call.ts'
import {
  deleteEntityWrite,
  getEntitySteps,
  insertEntityWrite,
  mergeEntityWrite,
  replaceEntityWrite,
} from './entity-operations.ts'
import { type Format, readFormat } from './format.ts'
import { type BatchPart, type PartRequest, readBatch } from './multipart-reader.ts'
import { type PartReply, writeBatch } from './multipart-writer.ts'
import { needOf } from './needs.ts'
import { queryEntitiesSteps } from './query-operations.ts'
import { refuse, type Stage } from './refusal.ts'
import { readHeaders } from './request.ts'
import { effectiveMethod, type OperationKind, route, type ServiceRoute } from './route.ts'
import type { ReplyAt, Steps, WriteSteps } from './steps.ts'
import { readPartTarget } from './target.ts'

/** What a change set may hold. */
const writes: Partial<Record<OperationKind, WriteSteps>> = {
  'insert entity': insertEntityWrite,
  'replace entity': replaceEntityWrite,
  'merge entity': mergeEntityWrite,
  'delete entity': deleteEntityWrite,
}

/** What may also stand alone in a batch. */
const reads: Partial<Record<OperationKind, Steps>> = {
  'get entity': getEntitySteps,
  'query entities': queryEntitiesSteps,
}

type Layout = BatchPart['kind']

interface Outcome {
  readonly layout: Layout
  readonly replies: readonly PartReply[]
}

export const entityGroupSteps: Steps<ServiceRoute, readonly BatchPart[], Outcome> = {
  // What it needs is for each operation to say.
  writes: false,
  preferences: [],
  decode({ headers, body }) {
    const parts = readBatch(headers.get('content-type'), body)
    if (parts.length > 1 && !parts.some(isRead)) {
      throw invalid('The batch request exceeds the maximum 1 operations per request.')
    }
    return parts
  },
  execute,
  encode: ({ layout, replies }) => writeBatch(layout, replies),
}

/** How far a batch has come, which decides how a refusal met now looks. */
interface Progress {
  stage: Stage
  /** The operation a refusal is about. */
  index: number
  /** Those of the operation read last, also when the refusal is about another. */
  contentId: string | undefined
  format: Format
  preference: Call['preference']
}

async function execute(parts: readonly BatchPart[], outer: Call): Promise<Outcome> {
  const layout = parts.some((part) => part.kind === 'change set') ? 'change set' : 'operation'
  const [first] = parts
  // Mostly there is one part, and joining lists of a hundred costs a fiftieth of a group.
  const operations = parts.length === 1 && first ? first.operations : parts.flatMap((part) => part.operations)
  const several = operations.length > 1 || parts.some(isRead)
  const batch: Batch = { layout, several, outer, progress: start() }
  // Not awaited here: who waits keeps what it was called with, and nobody needs the operations once they are on
  // their way to the store.
  return settle(carryOut(parts, operations, batch), batch)
}

/** What is known of a batch apart from its operations. */
interface Batch {
  readonly layout: Layout
  /** Whether a refusal must tell which operation it is about. */
  readonly several: boolean
  readonly outer: Call
  readonly progress: Progress
}

async function settle(
  replying: Promise<readonly PartReply[]>,
  { layout, several, outer, progress }: Batch,
): Promise<Outcome> {
  try {
    return { layout, replies: await replying }
  } catch (error) {
    // Where the service itself has failed, the batch has: clients look no further than its own status.
    if (!(error instanceof Fault) || ours.has(error.code)) throw error
    const numbered = several || !unnumberedAlone.has(error.code)
    const text = numbered ? `${progress.index}:${error.message}` : error.message
    const reply = refuse(new Fault(error.code, { text }), {
      ...progress,
      requestId: outer.requestId,
      now: outer.clock(),
      version: outer.version,
      preferenceApplied: progress.preference,
    })
    return { layout, replies: [{ reply, contentId: progress.contentId }] }
  }
}

async function carryOut(
  parts: readonly BatchPart[],
  operations: readonly PartRequest[],
  { outer, progress }: Batch,
): Promise<readonly PartReply[]> {
  const [first] = operations as readonly [PartRequest]
  if (parts.length > 1) {
    readContext(first, 0, progress)
    throw new Fault('InvalidInput')
  }
  return parts.some(isRead)
    ? [await readAlone(first, outer, progress)]
    : writeTogether(operations, outer, progress)
}

const ours: ReadonlySet<FaultCode> = new Set(['InternalError', 'OperationTimedOut', 'ServerBusy'])

/** Refusals by the rules of entities and by the store: these have no index when there is but one write. */
const unnumberedAlone: ReadonlySet<FaultCode> = new Set([
  'EntityAlreadyExists',
  'EntityTooLarge',
  'PropertiesNeedValue',
  'PropertyNameInvalid',
  'PropertyNameTooLong',
  'PropertyValueTooLarge',
  'ResourceNotFound',
  'TooManyProperties',
  'UpdateConditionNotSatisfied',
])

async function readAlone(part: PartRequest, outer: Call, progress: Progress): Promise<PartReply> {
  const { steps, call } = await readCall(part, 0, reads, outer, progress)
  const input = steps.decode(call) //                                                 400 412 415 501
  progress.stage = 'late'
  const reply = steps.encode(await steps.execute(input, call), call) //               200 304 404 412
  return { reply, contentId: progress.contentId }
}

/** What a group still needs while it is written. */
interface Awaited {
  readonly replyAt: ReplyAt
  readonly contentId: string | undefined
}

async function writeTogether(
  parts: readonly PartRequest[],
  outer: Call,
  progress: Progress,
): Promise<PartReply[]> {
  const mutations: Mutation[] = []
  const awaited: Awaited[] = []
  const isRepeated = repetitions()
  let together: { readonly table: TableId; readonly partition: PartitionKey } | undefined
  let operation: PartCall<WriteSteps> | undefined
  for (const [index, part] of parts.entries()) {
    // Met before the operation too many is looked at, so the last good one dresses it.
    if (index === limits.groupMutationsMax) throw invalid(tooManyText)
    if (operation !== undefined && differOnlyInBody(operation.part, part)) {
      progress.stage = 'early'
      progress.index = index
    } else {
      const read = readCall(part, index, writes, outer, progress, operation)
      operation = read instanceof Promise ? await read : read
    }
    const { steps, call } = operation
    const input = steps.decode(call, part.body) //                                    400 412 415
    progress.stage = 'late'
    const write = steps.prepare(input, call) //                                       400
    const { partition, row } = write.key
    authorizeKey(call.grant, write.key) //                                            403
    const table = tableIdOf(call)
    together ??= { table, partition }
    if (table !== together.table || partition !== together.partition) {
      throw new Fault('CommandsInBatchActOnDifferentPartitions') //                   400
    }
    if (isRepeated(row)) throw new Fault('InvalidDuplicateRow') //                    400
    mutations.push(write.mutation)
    awaited.push({ replyAt: steps.replyTo(write, call), contentId: part.contentId })
  }
  assert(together !== undefined, 'a change set holds at least one operation')
  return repliesTo(awaited, writeGroup(outer.store, together.table, together.partition, mutations), progress)
}

/** Tells of each row whether it was asked about before. */
function repetitions(): (row: RowKey) => boolean {
  const inOrder: RowKey[] = []
  let all: Set<RowKey> | undefined
  return (row) => {
    // Rows mostly come in order. Then none can be there twice, and a set of them would cost a twentieth of a group.
    const last = inOrder.at(-1)
    if (all === undefined && (last === undefined || row > last)) {
      inOrder.push(row)
      return false
    }
    all ??= new Set(inOrder)
    return all.size === all.add(row).size
  }
}

async function repliesTo(
  awaited: readonly Awaited[],
  writing: Promise<GroupOutcome>,
  progress: Progress,
): Promise<PartReply[]> {
  const outcome = await writing
  if (outcome.kind === 'refused') {
    progress.index = outcome.index
    throw outcome.fault //                                                            400 404 409 412
  }
  return awaited.map(({ replyAt, contentId }, index) => {
    return { reply: replyAt(outcome.versions[index] as Version), contentId } //       201 204
  })
}

const tooManyText = `The batch request operation exceeds the maximum ${limits.groupMutationsMax} changes per change set.`

/** An operation of a batch, up to where its own steps begin. */
interface PartCall<S> {
  readonly part: PartRequest
  readonly steps: S
  readonly call: Call
}

function differOnlyInBody(a: PartRequest, b: PartRequest): boolean {
  return a.rawHeaders === b.rawHeaders && a.target === b.target && a.method === b.method
}

/**
 * The line of answer.ts for one operation, without what the batch around it has settled. Its credentials, host,
 * dates and version are not looked at. Operations of a group are mostly alike, so what the one before found out
 * is taken over where it fits.
 */
function readCall<S extends { readonly preferences: Steps['preferences'] }>(
  part: PartRequest,
  index: number,
  admitted: Partial<Record<OperationKind, S>>,
  outer: Call,
  progress: Progress,
  before?: PartCall<S>,
): Soon<PartCall<S>> {
  const sameHeaders = part.rawHeaders === before?.part.rawHeaders
  const sameTarget = part.target === before?.part.target
  const headers = readContext(part, index, progress, sameHeaders ? before?.call.headers : undefined) // 400
  const target =
    before !== undefined && sameTarget ? before.call.target : readPartTarget(part.target, outer.target) // 400
  progress.format = readFormat(headers.get('accept'), target.query.get('$format'))
  const found = route(effectiveMethod(part.method, headers), target) //               400 405
  const steps = admitted[found.kind]
  if (steps === undefined || !('table' in found)) throw new Fault('InvalidInput') //  400
  progress.stage = 'late'
  authorize(outer.grant, needOf(found, found.kind in writes, headers, target)) //     403 404
  progress.stage = 'early'
  const known = before?.call.table
  if (known !== undefined && rowOfTable(known.name) === rowOfTable(found.table)) return withTable(known)
  return soon(findTable(outer.store, outer.account, found.table), withTable)

  function withTable(table: CatalogueEntry | undefined): PartCall<S> {
    if (table === undefined) throw new Fault('TableNotFound') //                      404
    progress.preference = readPreference(headers.get('prefer'), (steps as S).preferences)
    const { store, clock, deletedNameSeconds, realism, statsOnPrimary, cors } = outer
    const { requestId, grant, account, version, hungUp } = outer
    const { format, preference } = progress
    // Spelled out: copying this many fields by a spread was a tenth of a group's time.
    // biome-ignore format: one line for each origin
    const call: Call = {
      store, clock, deletedNameSeconds, realism, statsOnPrimary, cors,
      requestId, grant, account, version, hungUp,
      route: found, target, table, headers, format, preference, body: part.body,
    }
    return { part, steps: steps as S, call }
  }
}

function readContext(
  part: PartRequest,
  index: number,
  progress: Progress,
  known?: Call['headers'],
): Call['headers'] {
  progress.stage = 'early'
  progress.index = index
  progress.contentId = part.contentId
  progress.format = readFormat(undefined, undefined)
  progress.preference = undefined
  const headers = known ?? readHeaders(part.rawHeaders)
  progress.format = readFormat(headers.get('accept'), undefined)
  return headers
}

function start(): Progress {
  const format = readFormat(undefined, undefined)
  return { stage: 'early', index: 0, contentId: undefined, format, preference: undefined }
}

/** Outside a change set a read is a read, whatever else is wrong with it; all else is taken for a write. */
function isRead({ kind, operations }: BatchPart): boolean {
  return kind === 'operation' && operations[0]?.method === 'GET'
}

function invalid(text: string): Fault {
  return new Fault('InvalidInput', { text })
}

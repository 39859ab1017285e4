/**
 * A request from its first byte to its answer, in a straight line. The order on the page is the order of
 * refusals on the wire: a refusal on one line hides the refusals below it. Only what takes time is awaited
 * (soon.ts).
 */
import { createHash } from 'node:crypto'
import { authenticate, type Credentials } from '../auth/authenticate.ts'
import { authorize } from '../auth/grant.ts'
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'
import { findTable } from '../store/catalogue.ts'
import { type Call, readPreference, type Service } from './call.ts'
import { answerPreflight, type Sharing, sharingOf } from './cors.ts'
import { type Format, readFormat } from './format.ts'
import { needOf } from './needs.ts'
import { operations } from './operations.ts'
import { refuse, type Stage } from './refusal.ts'
import type { Envelope, Reply } from './reply.ts'
import { type HttpRequest, readHeaders } from './request.ts'
import { newRequestId } from './request-id.ts'
import { effectiveMethod, isManagement, type OperationKind, route } from './route.ts'
import type { Steps } from './steps.ts'
import { readTarget, type Target } from './target.ts'

export interface AnswerContext extends Service, Credentials {}

export interface Answer {
  readonly reply: Reply
  readonly envelope: Envelope
  /** Undefined when the request did not get that far. */
  readonly operation: OperationKind | undefined
  readonly fault: Fault | undefined
}

export async function answer(request: HttpRequest, context: AnswerContext): Promise<Answer> {
  const { secure, peer } = request
  const requestId = newRequestId()
  let stage: Stage = 'front'
  let version = defaultVersion
  let clientRequestId: string | undefined
  let format: Format = readFormat(undefined, undefined)
  let preference: Call['preference']
  let sharing: Sharing | undefined
  let operation: OperationKind | undefined
  try {
    const headers = readHeaders(request.rawHeaders) //                               400
    const accept = headers.get('accept')
    format = readFormat(accept, undefined)
    stage = 'version'
    // A preflight is the browser's own doing: it is answered whatever version the page will speak.
    const preflight = request.method === 'OPTIONS'
    if (!preflight) version = readVersion(headers.get('x-ms-version')) //            400
    clientRequestId = readClientRequestId(headers.get('x-ms-client-request-id'), version)
    stage = 'front'
    const target = readTarget(request, headers, context.accounts) //                 400
    const { name: known } = context.accounts.get(target.account) ?? {}
    if (preflight) {
      sharing = await answerPreflight(headers, known, context.cors) //               400 403
      return answered({ status: 200 }, undefined)
    }
    const managed = isManagement(target)
    format = managed ? readFormat(undefined, undefined) : readFormat(accept, target.query.get('$format'))
    // The front end carries out management itself, so all its refusals look like those before it.
    const behind = (reached: Stage): Stage => (managed ? 'front' : reached)
    if (known !== undefined) {
      const shared = sharingOf(request.method, headers.get('origin'), known, context.cors)
      sharing = shared instanceof Promise ? await shared : shared
    }
    if (speaksByToken(headers, target)) version = readTokenVersion(target.query) //  400
    const arrived = { method: request.method, target, headers, version, secure, peer }
    const proof = authenticate(arrived, context) //                                  400 401 403
    const grant = proof instanceof Promise ? await proof : proof
    stage = behind('early')
    const method = effectiveMethod(request.method, headers) //                       400
    const found = route(method, target) //                                           400 405
    operation = found.kind
    const steps: Steps = operations[operation]
    stage = behind('late')
    authorize(grant, needOf(found, steps.writes, headers, target)) //                403 404
    stage = 'front'
    const received = request.body() //                                               411 413
    const body = received instanceof Promise ? await received : received
    checkMd5(body, headers.get('content-md5')) //                                    400
    stage = behind('early')
    const { account } = grant
    const entry = 'table' in found ? findTable(context.store, account, found.table) : undefined
    const table = entry instanceof Promise ? await entry : entry
    if ('table' in found && table === undefined) throw new Fault('TableNotFound') // 404
    preference = readPreference(headers.get('prefer'), steps.preferences)
    // biome-ignore format: one line for each origin
    const call: Call = {
      store: context.store, clock: context.clock,
      deletedNameSeconds: context.deletedNameSeconds, realism: context.realism,
      statsOnPrimary: context.statsOnPrimary, cors: context.cors,
      requestId, route: found, target, grant, account, table,
      version, headers, format, preference, body, hungUp: request.hungUp,
    }
    const input = steps.decode(call) //                                              400 412 415 501
    stage = behind('late')
    const done = steps.execute(input, call) //                                       400 404 409 412
    const result = done instanceof Promise ? await done : done
    const reply = steps.encode(result, call) //                                      200 201 204 304
    return answered(reply, undefined)
  } catch (error) {
    const fault = error instanceof Fault ? error : new Fault('InternalError', { cause: error })
    const now = context.clock()
    const reply = refuse(fault, { stage, format, requestId, now, version, preferenceApplied: preference })
    return answered(reply, fault)
  }

  function answered(reply: Reply, fault: Fault | undefined): Answer {
    const spoken = stage === 'version' ? undefined : version
    return { reply, envelope: { requestId, clientRequestId, version: spoken, sharing }, operation, fault }
  }
}

/** Refuses bytes that are not those the client meant. */
function checkMd5(body: Buffer, md5: string | undefined): void {
  if (md5 !== undefined && createHash('md5').update(body).digest('base64') !== md5) {
    throw new Fault('Md5Mismatch')
  }
}

/** The behaviour of requests that name no version. */
const defaultVersion = '2019-02-02'
const versionShape = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/

/** Any date is served, also one newer than this service: refusing those breaks clients on each upgrade. */
function readVersion(header: string | undefined): string {
  if (header === undefined) return defaultVersion
  if (!versionShape.test(header)) throw new Fault('InvalidHeaderValue')
  return header
}

/** Without a header, a signature in the query says which version is spoken. */
function speaksByToken(headers: ReadonlyMap<string, string>, { query }: Target): boolean {
  return query.has('sig') && !headers.has('x-ms-version') && !headers.has('authorization')
}

function readTokenVersion(query: Target['query']): string {
  const asked = query.get('api-version') ?? ''
  if (asked !== '' && !versionShape.test(asked)) throw new Fault('InvalidQueryParameterValue')
  const signed = query.get('sv') ?? ''
  // A token of no version proves nothing either: that is for authentication to say.
  return asked !== '' ? asked : versionShape.test(signed) ? signed : defaultVersion
}

const clientRequestIdEchoedFrom = '2019-02-02'
const visible = /^[\x20-\x7e]*$/

function readClientRequestId(header: string | undefined, version: string): string | undefined {
  if (header === undefined || version < clientRequestIdEchoedFrom) return undefined
  return header.length <= limits.clientRequestIdCharactersMax && visible.test(header) ? header : undefined
}

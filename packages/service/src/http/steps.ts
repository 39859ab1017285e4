/** The steps of an operation, in the order the pipeline (answer.ts) takes them. */
import { authorizeKey } from '../auth/grant.ts'
import type { EntityWrite } from '../tables/write-entities.ts'
import { writeEntity } from '../tables/write-entities.ts'
import type { Soon } from '../model/soon.ts'
import type { Version } from '../model/version.ts'
import { type Call, type Preference, tableIdOf } from './call.ts'
import type { Reply } from './reply.ts'
import type { Route } from './route.ts'

export interface Steps<R extends Route = Route, Input = unknown, Result = unknown> {
  /** Refused at the secondary address, and needs a body or at least its length. */
  readonly writes: boolean
  /** The values of `Prefer` it honours. */
  readonly preferences: readonly Preference[]
  /** Reads conditions, options and body: 400 412 415. */
  decode(call: Call<R>): Input
  /** Applies the rules and does it: 400 403 404 409 412. */
  execute(input: Input, call: Call<R>): Soon<Result>
  /** 200 201 204 304 */
  encode(result: Result, call: Call<R>): Reply
}

/** An operation that writes one entity, alone or in a group. */
export interface WriteSteps<R extends Route = Route, Input = unknown> {
  readonly preferences: readonly Preference[]
  /** `body` stands beside the call: operations of a group that differ in nothing else share one call. */
  decode(call: Call<R>, body: Buffer): Input
  /** Applies the rules: 400. */
  prepare(input: Input, call: Call<R>): EntityWrite
  /** 201 204, once it is written. Keeps no more than the answer shows: a group waits with a hundred of them. */
  replyTo(write: EntityWrite, call: Call<R>): ReplyAt
}

export type ReplyAt = (version: Version) => Reply

/** Alone, a write is a group of one. */
export function singly<R extends Route, Input>(steps: WriteSteps<R, Input>): Steps<R, Input, Reply> {
  const { preferences, prepare, replyTo } = steps
  return { writes: true, preferences, decode, execute, encode: (reply) => reply }

  function decode(call: Call<R>): Input {
    return steps.decode(call, call.body)
  }

  async function execute(input: Input, call: Call<R>): Promise<Reply> {
    const write = prepare(input, call)
    authorizeKey(call.grant, write.key)
    const replyAt = replyTo(write, call)
    return replyAt(await writeEntity(call.store, tableIdOf(call), write))
  }
}

/** How operations on one entity are read from requests and written as answers. */
import { reaches } from '../auth/grant.ts'
import { unreachable } from '../model/brand.ts'
import { Fault } from '../model/faults.ts'
import type { EntityKey } from '../model/keys.ts'
import type { Condition } from '../model/mutation.ts'
import { encodeRecord, type EntityRecord, etagOfRecord, versionOf } from '../model/record.ts'
import { soon } from '../model/soon.ts'
import { etagOf, type Version } from '../model/version.ts'
import { deleteEntity } from '../tables/delete-entity.ts'
import { getEntity } from '../tables/get-entity.ts'
import { insertEntity } from '../tables/insert-entity.ts'
import { updateEntity } from '../tables/update-entity.ts'
import type { EntityWrite } from '../tables/write-entities.ts'
import { type Call, placeOf, tableIdOf } from './call.ts'
import {
  deleteCondition,
  forbidConditions,
  isModified,
  type ReadConditions,
  readConditions,
  updateCondition,
} from './conditions.ts'
import { requireJson } from './content-type.ts'
import { entityAddress, entityDocument } from './entity-json.ts'
import { contentTypeOf, levelOf, type MetadataLevel } from './format.ts'
import { readSelect, type Select } from './options.ts'
import { type EntityBody, readEntity } from './read-entity.ts'
import type { Reply } from './reply.ts'
import type { CollectionRoute, EntityRoute } from './route.ts'
import { type ReplyAt, type Steps, singly, type WriteSteps } from './steps.ts'

interface ReadInput {
  readonly conditions: ReadConditions
  readonly select: Select | undefined
  readonly level: MetadataLevel
}

export const getEntitySteps: Steps<
  EntityRoute,
  ReadInput,
  { readonly input: ReadInput; readonly record: EntityRecord; readonly shown: boolean }
> = {
  writes: false,
  preferences: [],
  decode: ({ headers, target, format }) => ({
    conditions: readConditions(headers),
    select: readSelect(target.query, headers.get('dataserviceversion')),
    level: levelOf(format),
  }),
  execute(input, call) {
    // Not 403: what lies outside a grant's range looks as if it were not there.
    if (!reaches(call.grant, call.route.key)) throw new Fault('ResourceNotFound')
    return soon(getEntity(call.store, tableIdOf(call), call.route.key), (record) => ({
      input,
      record,
      shown: isModified(versionOf(record), input.conditions),
    }))
  },
  encode({ input, record, shown }, call) {
    const etag = etagOfRecord(record)
    if (!shown) return { status: 304, noCache: true, etag }
    const { level, select } = input
    return {
      status: 200,
      noCache: true,
      contentType: contentTypeOf(level),
      etag,
      body: entityDocument(record, level, placeOf(call, call.route.table), select),
    }
  },
}

export const insertEntityWrite: WriteSteps<CollectionRoute, EntityBody> = {
  preferences: ['return-content', 'return-no-content'],
  decode(call, body) {
    forbidConditions(call.headers)
    requireJson(call.headers)
    if (call.preference !== 'return-no-content') levelOf(call.format)
    return readEntity(body, 'given')
  },
  prepare: (entity) => insertEntity(entity.partition, entity.row, entity.properties),
  replyTo: (write, call) =>
    call.preference === 'return-no-content' ? insertedAt(write.key, call) : shownAt(write, call),
}

function insertedAt(key: EntityKey, call: Call<CollectionRoute>): ReplyAt {
  return (version) => {
    const location = entityAddress(call.target.base, call.route.table, key)
    const preferenceApplied = 'return-no-content'
    const etag = etagOf(version)
    return { status: 204, noCache: true, preferenceApplied, etag, location, dataServiceId: location }
  }
}

function shownAt(write: EntityWrite, call: Call<CollectionRoute>): ReplyAt {
  return (version) => {
    const level = levelOf(call.format)
    return {
      status: 201,
      noCache: true,
      ...applied(call),
      contentType: contentTypeOf(level),
      etag: etagOf(version),
      location: entityAddress(call.target.base, call.route.table, write.key),
      body: entityDocument(recordOf(write, version), level, placeOf(call, call.route.table), undefined),
    }
  }
}

export const replaceEntityWrite = updateWrite('put')
export const mergeEntityWrite = updateWrite('merge')

function updateWrite(
  kind: 'put' | 'merge',
): WriteSteps<EntityRoute, { readonly when: Condition; readonly entity: EntityBody }> {
  return {
    preferences: ['return-no-content'],
    decode(call, body) {
      const when = updateCondition(call.headers, call.version, resourceOf(call))
      requireJson(call.headers)
      return { when, entity: readEntity(body, 'by name') }
    },
    // The address names the entity; keys in the body are not looked at.
    prepare: ({ when, entity }, { route }) => updateEntity(kind, route.key, entity.properties, when),
    // Spelled out: spreading objects was a twentieth of the time of a merge.
    replyTo: (_write, { preference: preferenceApplied }) =>
      preferenceApplied === undefined
        ? (version) => ({ status: 204, noCache: true, etag: etagOf(version) })
        : (version) => ({ status: 204, noCache: true, preferenceApplied, etag: etagOf(version) }),
  }
}

export const deleteEntityWrite: WriteSteps<EntityRoute, Condition> = {
  preferences: [],
  decode: (call) => deleteCondition(call.headers, resourceOf(call)),
  prepare: (when, { route }) => deleteEntity(route.key, when),
  replyTo: () => () => ({ status: 204, noCache: true }),
}

export const insertEntitySteps = singly(insertEntityWrite)
export const replaceEntitySteps = singly(replaceEntityWrite)
export const mergeEntitySteps = singly(mergeEntityWrite)
export const deleteEntitySteps = singly(deleteEntityWrite)

function applied({ preference }: Call): Pick<Reply, 'preferenceApplied'> {
  return preference === undefined ? {} : { preferenceApplied: preference }
}

/** `account.table`, as the protocol names a table in messages. */
function resourceOf({ account, route }: Call<EntityRoute>): string {
  return `${account}.${route.table}`
}

function recordOf({ mutation }: EntityWrite, version: Version): EntityRecord {
  switch (mutation.kind) {
    case 'put':
    case 'merge':
      return encodeRecord(mutation.keys, mutation.content, version)
    case 'remove':
      throw new Error('a removed entity has no record')
    default:
      return unreachable(mutation)
  }
}

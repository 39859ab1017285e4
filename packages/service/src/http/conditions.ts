/** `If-Match` and `If-None-Match`: who may send them, and what they mean for a write or a read. */
import { Fault } from '../model/faults.ts'
import type { Condition } from '../model/mutation.ts'
import { parseEtag, type Version } from '../model/version.ts'

const upsertFrom = '2011-08-18'
const etagShape = /^W\/"[^"]*"$/

type Headers = ReadonlyMap<string, string>

export function forbidConditions(headers: Headers): void {
  if (headers.has('if-match') || headers.has('if-none-match')) {
    throw invalid('If-Match or If-None-Match HTTP headers cannot be specified for POST operations.')
  }
}

/** The condition of a replace or merge. Without a header it is an upsert. */
export function updateCondition(headers: Headers, version: string, resource: string): Condition {
  forbidIfNoneMatch(headers, 'PUT')
  const etag = headers.get('if-match')
  if (etag !== undefined) return conditionOf(etag)
  if (version < upsertFrom) throw conditionNeeded(resource)
  return { kind: 'any' }
}

export function deleteCondition(headers: Headers, resource: string): Condition {
  forbidIfNoneMatch(headers, 'DELETE')
  const etag = headers.get('if-match')
  if (etag === undefined) throw conditionNeeded(resource)
  return conditionOf(etag)
}

export interface ReadConditions {
  readonly ifMatch: Condition | undefined
  readonly ifNoneMatch: Condition | undefined
}

export function readConditions(headers: Headers): ReadConditions {
  forbidBoth(headers)
  const ifMatch = headers.get('if-match')
  const ifNoneMatch = headers.get('if-none-match')
  return {
    ifMatch: ifMatch === undefined ? undefined : conditionOf(ifMatch),
    ifNoneMatch: ifNoneMatch === undefined ? undefined : conditionOf(ifNoneMatch),
  }
}

/** Whether a read under these conditions shows the entity; refuses it when `If-Match` fails. */
export function isModified(version: Version, { ifMatch, ifNoneMatch }: ReadConditions): boolean {
  if (ifMatch !== undefined && !holds(ifMatch, version)) throw new Fault('ConditionNotMet')
  return ifNoneMatch === undefined || !holds(ifNoneMatch, version)
}

function holds(condition: Condition, version: Version): boolean {
  return condition.kind !== 'version' || condition.version === version
}

function conditionOf(etag: string): Condition {
  if (etag === '*') return { kind: 'present' }
  // An empty value is malformed, not absent: absence would turn an update into an upsert.
  if (!etagShape.test(etag)) {
    throw invalid(
      `The etag value '${etag}' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid.`,
    )
  }
  const version = parseEtag(etag)
  if (version === undefined) throw new Fault('ConditionNotMet')
  return { kind: 'version', version }
}

function forbidIfNoneMatch(headers: Headers, method: 'PUT' | 'DELETE'): void {
  forbidBoth(headers)
  if (headers.has('if-none-match')) {
    throw invalid(`If-None-Match HTTP header cannot be specified for ${method} operations.`)
  }
}

function forbidBoth(headers: Headers): void {
  if (headers.has('if-match') && headers.has('if-none-match')) {
    throw invalid(
      'Both If-Match and If-None-Match HTTP headers cannot be specified at the same time. Please specify either one of the headers or none of them.',
    )
  }
}

function conditionNeeded(resource: string): Fault {
  return invalid(
    `Since entity type '${resource}' has one or more etag properties, If-Match HTTP header must be specified for DELETE/PUT operations on this type.`,
  )
}

function invalid(text: string): Fault {
  return new Fault('InvalidInput', { text })
}

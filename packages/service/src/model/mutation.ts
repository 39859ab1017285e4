/**
 * What a write asks of an entity. The protocol's six writes are three mutations under four conditions:
 *
 *   Insert              put     absent          Insert Or Replace   put     any
 *   Update              put     present|version Insert Or Merge     merge   any
 *   Merge               merge   present|version Delete              remove  present|version
 */
import { unreachable } from './brand.ts'
import { entityBytes } from './entity.ts'
import { limits } from './limits.ts'
import {
  encodeRecord,
  type EntityRecord,
  keyOf,
  mergeContent,
  propertiesOf,
  propertyCountOf,
  propertyText,
  versionOf,
} from './record.ts'
import type { Version } from './version.ts'
import type { RowKey } from './keys.ts'

export type Condition =
  | { readonly kind: 'any' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'present' }
  | { readonly kind: 'version'; readonly version: Version }

export type Change =
  | {
      readonly kind: 'put' | 'merge'
      readonly when: Condition
      /** The keys' JSON, from keysText. */
      readonly keys: string
      /** The properties, from encodeContent. */
      readonly content: Buffer
    }
  | { readonly kind: 'remove'; readonly when: Condition }

export type Mutation = Change & { readonly row: RowKey }

export type Refusal = 'exists' | 'missing' | 'changed' | 'too large' | 'too many properties'

export type Applied =
  | { readonly kind: 'write'; readonly record: EntityRecord }
  | { readonly kind: 'remove' }
  | { readonly kind: 'refuse'; readonly reason: Refusal }

/** The rule every store applies inside its own transaction, so that no two can disagree. Pure. */
export function applyMutation(current: EntityRecord | undefined, change: Change, version: Version): Applied {
  const refusal = judge(current, change.when)
  if (refusal !== undefined) return { kind: 'refuse', reason: refusal }
  switch (change.kind) {
    case 'remove':
      return { kind: 'remove' }
    case 'put':
      return { kind: 'write', record: encodeRecord(change.keys, change.content, version) }
    case 'merge': {
      if (current === undefined) {
        return { kind: 'write', record: encodeRecord(change.keys, change.content, version) }
      }
      const record = encodeRecord(change.keys, mergeContent(current, change.content), version)
      const reason = judgeMerged(record)
      return reason === undefined ? { kind: 'write', record } : { kind: 'refuse', reason }
    }
    default:
      return unreachable(change)
  }
}

function judge(current: EntityRecord | undefined, when: Condition): Refusal | undefined {
  switch (when.kind) {
    case 'any':
      return undefined
    case 'absent':
      return current === undefined ? undefined : 'exists'
    case 'present':
      return current === undefined ? 'missing' : undefined
    case 'version':
      if (current === undefined) return 'missing'
      return versionOf(current) === when.version ? undefined : 'changed'
    default:
      return unreachable(when)
  }
}

/** Limits hold for what a merge leaves, not only for what it brings. */
function judgeMerged(record: EntityRecord): Refusal | undefined {
  if (propertyCountOf(record) > limits.propertiesMax) return 'too many properties'
  // A record's text is at least half its size by the formula, so small ones need no counting.
  if (record.length * 2 < limits.entityBytesMax) return undefined
  const properties = propertiesOf(record).map(propertyText)
  return entityBytes(keyOf(record), properties) > limits.entityBytesMax ? 'too large' : undefined
}

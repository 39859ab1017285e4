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
import { contentCountOf, propertyText } from './content.ts'
import { mergeContent } from './merge-content.ts'
import { encodeRecord, type EntityRecord, keyOf, propertiesOf, versionOf } from './record.ts'
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
  /** What encodeRecord makes the entity's record of, once it has a version. */
  | { readonly kind: 'write'; readonly keys: string; readonly content: Buffer }
  | { readonly kind: 'remove' }
  | { readonly kind: 'refuse'; readonly reason: Refusal }

/** The rule every store applies inside its own transaction, so that no two can disagree. Pure. */
export function applyMutation(current: EntityRecord | undefined, change: Change): Applied {
  const refusal = judge(current, change.when)
  if (refusal !== undefined) return { kind: 'refuse', reason: refusal }
  switch (change.kind) {
    case 'remove':
      return { kind: 'remove' }
    case 'put':
      return { kind: 'write', keys: change.keys, content: change.content }
    case 'merge': {
      const { keys } = change
      if (current === undefined) return { kind: 'write', keys, content: change.content }
      const content = mergeContent(current, change.content)
      const reason = judgeMerged(keys, content)
      return reason === undefined ? { kind: 'write', keys, content } : { kind: 'refuse', reason }
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
function judgeMerged(keys: string, content: Buffer): Refusal | undefined {
  if (contentCountOf(content) > limits.propertiesMax) return 'too many properties'
  // These bytes are at least half the entity's size by the formula, so small ones need no counting.
  if ((keys.length + content.length) * 2 < limits.entityBytesMax) return undefined
  const record = encodeRecord(keys, content, noVersion)
  const properties = propertiesOf(record).map(propertyText)
  return entityBytes(keyOf(record), properties) > limits.entityBytesMax ? 'too large' : undefined
}

/** Does not count towards the size. */
const noVersion = 0n as Version

/** The one way to change entities: a group of mutations on one partition; a single write is a group of one. */
import { unreachable } from '../model/brand.ts'
import { Fault } from '../model/faults.ts'
import type { EntityKey } from '../model/keys.ts'
import type { Change, Refusal } from '../model/mutation.ts'
import type { TableId } from '../model/table.ts'
import type { Version } from '../model/version.ts'
import type { Store } from '../store/store.ts'

export interface EntityWrite {
  readonly key: EntityKey
  readonly change: Change
}

/** Applies one write and returns the entity's new version. */
export async function writeEntity(store: Store, table: TableId, write: EntityWrite): Promise<Version> {
  const mutation = { ...write.change, row: write.key.row }
  const outcome = await store.commit(table, write.key.partition, [mutation])
  switch (outcome.kind) {
    case 'committed':
      return outcome.versions[0] as Version
    case 'no table':
      throw new Fault('TableNotFound')
    case 'refused':
      throw faultOf(outcome.reason)
    default:
      return unreachable(outcome)
  }
}

function faultOf(reason: Refusal): Fault {
  switch (reason) {
    case 'exists':
      return new Fault('EntityAlreadyExists')
    case 'missing':
      return new Fault('ResourceNotFound')
    case 'changed':
      return new Fault('UpdateConditionNotSatisfied')
    case 'too large':
      return new Fault('EntityTooLarge')
    case 'too many properties':
      return new Fault('TooManyProperties')
    default:
      return unreachable(reason)
  }
}

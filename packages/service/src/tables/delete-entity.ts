import type { EntityKey } from '../model/keys.ts'
import type { Condition } from '../model/mutation.ts'
import type { EntityWrite } from './write-entities.ts'

export function deleteEntity(key: EntityKey, when: Condition): EntityWrite {
  return { key, mutation: { kind: 'remove', row: key.row, when } }
}

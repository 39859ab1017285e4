import type { EntityKey } from '../model/keys.ts'
import type { Condition } from '../model/mutation.ts'
import { keysText, type PropertyText } from '../model/content.ts'
import { contentOf, type EntityWrite } from './write-entities.ts'

/**
 * Replaces an entity or merges into it; under the condition `any`, also creates it.
 * An update leaves properties sorted by name, whatever order its client gave.
 */
export function updateEntity(
  kind: 'put' | 'merge',
  key: EntityKey,
  properties: readonly PropertyText[] | Buffer,
  when: Condition,
): EntityWrite {
  const content = contentOf(key, properties, 'by name')
  return { key, mutation: { kind, row: key.row, when, keys: keysText(key), content } }
}

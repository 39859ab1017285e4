import { Fault } from '../model/faults.ts'
import { parsePartitionKey, parseRowKey } from '../model/keys.ts'
import type { Condition } from '../model/mutation.ts'
import { keysText, type PropertyText } from '../model/content.ts'
import { contentOf, type EntityWrite } from './write-entities.ts'

const absent: Condition = { kind: 'absent' }

/** A new entity. Its properties keep the order its client gave them. */
export function insertEntity(
  partition: string | undefined,
  row: string | undefined,
  properties: readonly PropertyText[] | Buffer,
): EntityWrite {
  if (partition === undefined || row === undefined) throw new Fault('PropertiesNeedValue')
  const key = { partition: parsePartitionKey(partition), row: parseRowKey(row) }
  return {
    key,
    mutation: {
      kind: 'put',
      row: key.row,
      when: absent,
      keys: keysText(key),
      content: contentOf(key, properties, 'given'),
    },
  }
}

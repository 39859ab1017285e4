import type { EntityKey, KeyRange, PartitionKey } from '../../src/model/keys.ts'
import type { Mutation } from '../../src/model/mutation.ts'
import type { AccountName, TableId, TableName } from '../../src/model/table.ts'
import type { Ticks } from '../../src/model/ticks.ts'
import type { Durability } from '../../src/store/lmdb/lmdb-store.ts'

/** The file descriptor on which rows are visited; 3 carries the messages. */
export const visitPipe = 4

export type HostCall =
  | { readonly kind: 'open'; readonly path: string; readonly durability: Durability }
  | { readonly kind: 'get'; readonly table: TableId; readonly key: EntityKey }
  | { readonly kind: 'scan'; readonly table: TableId; readonly ranges: readonly KeyRange[] }
  | {
      readonly kind: 'commit'
      readonly table: TableId
      readonly partition: PartitionKey
      readonly mutations: readonly Mutation[]
    }
  | { readonly kind: 'create' | 'drop'; readonly account: AccountName; readonly name: TableName }
  | { readonly kind: 'close' }

/** `now` is the caller's clock, so that one test clock rules both processes. */
export type HostRequest = HostCall & { readonly id: number; readonly store: number; readonly now: Ticks }

export type HostAnswer = { readonly id: number } & ({ readonly result: unknown } | { readonly error: string })

/** What a proven caller may do. */
import { unreachable } from '../model/brand.ts'
import { Fault } from '../model/faults.ts'
import type { AccountName } from '../model/table.ts'

/** An owner holds an account key and may do everything with that account. */
export interface Grant {
  readonly kind: 'owner'
  readonly account: AccountName
}

/** What an operation asks of its caller. */
export interface Need {
  readonly writes: boolean
  /** The address was that of the secondary, which only reads. */
  readonly secondary: boolean
}

export function authorize(grant: Grant, need: Need): void {
  switch (grant.kind) {
    case 'owner':
      if (need.writes && need.secondary) {
        throw new Fault('InsufficientAccountPermissions', { text: 'Write operations are not allowed.' })
      }
      return
    default:
      unreachable(grant.kind)
  }
}

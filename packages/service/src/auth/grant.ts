/** What a proven caller may do. Who may do what is decided here and nowhere else, without side effects. */
import { unreachable } from '../model/brand.ts'
import { Fault } from '../model/faults.ts'
import { contains, type EntityKey, type KeyRange } from '../model/keys.ts'
import type { AccountName, TableName } from '../model/table.ts'

export type Grant = OwnerGrant | ServiceSasGrant | AccountSasGrant | BearerGrant

/** An owner holds an account key and may do everything with that account. */
export interface OwnerGrant {
  readonly kind: 'owner'
  readonly account: AccountName
}

/** Some operations on the entities of one table, between two keys. */
export interface ServiceSasGrant {
  readonly kind: 'service sas'
  readonly account: AccountName
  /** In lower case. */
  readonly table: string
  readonly permissions: string
  readonly range: KeyRange
}

/** Some operations on everything of some types: `s` the service, `c` tables, `o` entities. */
export interface AccountSasGrant {
  readonly kind: 'account sas'
  readonly account: AccountName
  readonly resourceTypes: string
  readonly permissions: string
}

/** Somebody an issuer vouches for, and the part this service gave them; undefined allows nothing. */
export interface BearerGrant {
  readonly kind: 'bearer'
  readonly account: AccountName
  readonly subject: string
  readonly role: Role | undefined
}

export type Role = 'reader' | 'contributor'

/** What an operation asks of its caller, as far as it can be told before its body is read. */
export interface Need {
  readonly operation: Operation
  /** The table and the entity that the address names. */
  readonly table: TableName | undefined
  readonly key: EntityKey | undefined
  /** `If-Match` was given. Without it, a replace or merge also inserts. */
  readonly conditional: boolean
  readonly writes: boolean
  /** The address was that of the secondary, which only reads. */
  readonly secondary: boolean
}

export type Operation = Exclude<keyof typeof rights, 'upsert entity'>

/**
 * What each operation takes. Letters that stand together are all needed, `|` is a choice, `each` leaves it
 * to the operations inside. Source: docs/security.md, "Operations and what they take".
 */
// biome-ignore format: a table reads in columns
const rights = {
  //                        service SAS  account SAS: type, letters  bearer
  'service document':       ['never',    's', 'r',                   'reader'],
  'metadata':               ['never',    's', 'r',                   'reader'],
  'get service properties': ['never',    's', 'r',                   'reader'],
  'set service properties': ['never',    's', 'w',                   'contributor'],
  'get service stats':      ['never',    's', 'r',                   'reader'],
  'query tables':           ['never',    'c', 'l',                   'reader'],
  'get table':              ['never',    'c', 'l',                   'reader'],
  'create table':           ['never',    'c', 'c|w',                 'contributor'],
  'delete table':           ['never',    'c', 'd',                   'contributor'],
  'get table acl':          ['never',    'c', 'never',               'never'],
  'set table acl':          ['never',    'c', 'never',               'never'],
  'entity group':           ['each',     'o', 'each',                'each'],
  'query entities':         ['r',        'o', 'r',                   'reader'],
  'get entity':             ['r',        'o', 'r',                   'reader'],
  'insert entity':          ['a',        'o', 'a',                   'contributor'],
  'upsert entity':          ['au',       'o', 'au',                  'contributor'],
  'replace entity':         ['u',        'o', 'u',                   'contributor'],
  'merge entity':           ['u',        'o', 'u',                   'contributor'],
  'delete entity':          ['d',        'o', 'd',                   'contributor'],
} as const satisfies Record<string, readonly [string, 's' | 'c' | 'o', string, Role | 'each' | 'never']>

export function authorize(grant: Grant, need: Need): void {
  switch (grant.kind) {
    case 'owner':
      break
    case 'service sas':
      authorizeServiceSas(grant, need)
      break
    case 'account sas':
      authorizeAccountSas(grant, need)
      break
    case 'bearer':
      authorizeBearer(grant, need)
      break
    default:
      unreachable(grant)
  }
  if (need.writes && need.secondary) {
    throw new Fault('InsufficientAccountPermissions', { text: 'Write operations are not allowed.' })
  }
}

/** Refuses a write to a key the grant does not reach. An insert's key is known only from its body. */
export function authorizeKey(grant: Grant, key: EntityKey): void {
  if (!reaches(grant, key)) throw new Fault('AuthorizationFailure')
}

/** Whether the grant reaches the key. A read of one it does not reach finds nothing there. */
export function reaches(grant: Grant, key: EntityKey): boolean {
  return grant.kind !== 'service sas' || contains(grant.range, key)
}

/** The keys a query may see; undefined for all of them. */
export function rangeOf(grant: Grant): KeyRange | undefined {
  return grant.kind === 'service sas' ? grant.range : undefined
}

function authorizeServiceSas(grant: ServiceSasGrant, need: Need): void {
  const [letters] = rightsFor(need)
  if (letters === 'never') throw new Fault('AuthorizationFailure')
  if (letters === 'each') return
  // The table is part of what was signed, so another table is a failed signature.
  if (need.table?.toLowerCase() !== grant.table) throw new Fault('AuthenticationFailed')
  if (!holds(grant.permissions, letters)) throw new Fault('AuthorizationPermissionMismatch')
  if (need.writes && need.key !== undefined) authorizeKey(grant, need.key)
}

function authorizeAccountSas(grant: AccountSasGrant, need: Need): void {
  const [, type, letters] = rightsFor(need)
  if (letters === 'never') throw new Fault('AuthorizationFailure')
  if (letters === 'each') return
  if (!grant.resourceTypes.includes(type)) throw new Fault('AuthorizationResourceTypeMismatch')
  if (!holds(grant.permissions, letters)) throw new Fault('AuthorizationPermissionMismatch')
}

function authorizeBearer({ role }: BearerGrant, need: Need): void {
  const [, , , least] = rightsFor(need)
  // Policies are not there for tokens, and the recorded service says so in these words.
  if (least === 'never') throw new Fault('ResourceNotFound')
  if (least === 'each' || role === 'contributor' || role === least) return
  throw new Fault('AuthorizationPermissionMismatch')
}

function rightsFor({ operation, conditional }: Need): (typeof rights)[keyof typeof rights] {
  const isUpdate = operation === 'replace entity' || operation === 'merge entity'
  return rights[isUpdate && !conditional ? 'upsert entity' : operation]
}

function holds(permissions: string, letters: string): boolean {
  return letters.split('|').some((all) => all.split('').every((letter) => permissions.includes(letter)))
}

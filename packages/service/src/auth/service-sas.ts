/**
 * Service SAS: a signed query that opens one table, or a range of its keys. What is signed, in lines:
 *
 *   text     = sp ⏎ st ⏎ se ⏎ resource ⏎ si ⏎ [ sip ⏎ spr ⏎ ] sv ⏎ spk ⏎ srk ⏎ epk ⏎ erk
 *   resource = [ `/table` ] `/` account `/` table in lower case
 *
 * `/table` is there from version 2015-02-21 on, sip and spr from 2015-04-05 on. Values are signed decoded,
 * and as their author wrote them; absent ones are empty lines.
 */
import type { AccessPolicy } from '../model/access-policy.ts'
import { type KeyRange, successor } from '../model/keys.ts'
import type { AccountName, TableName } from '../model/table.ts'
import type { Ticks } from '../model/ticks.ts'
import type { Accounts } from './accounts.ts'
import type { ServiceSasGrant } from './grant.ts'
import {
  type ArrivedRequest,
  checkLifetime,
  checkOrigin,
  checkSignature,
  parameter,
  type Query,
  refused,
} from './sas.ts'

/** The stored policies of a table; undefined if there is no such table. */
export type Policies = (
  account: AccountName,
  table: TableName,
) => Promise<readonly AccessPolicy[] | undefined>

const [firstVersion, resourceNamesServiceFrom, originSignedFrom] = ['2012-02-12', '2015-02-21', '2015-04-05']

export async function authenticateServiceSas(
  request: ArrivedRequest,
  accounts: Accounts,
  policies: Policies,
  now: Ticks,
): Promise<ServiceSasGrant> {
  const { account, query } = request.target
  checkSignature(accounts.get(account), query, serviceStringToSign(account, query))
  const version = parameter(query, 'sv')
  if (version < firstVersion) throw refused('tables had no signatures then')
  const table = parameter(query, 'tn')
  if (table === '') throw refused('tn is missing')
  const range = readRange(query)
  // Looked up only now, so that nobody can probe which policies exist.
  const policy = await findPolicy(query, account as AccountName, table as TableName, policies)
  const start = either(parameter(query, 'st'), policy?.start, 'start')
  const expiry = either(parameter(query, 'se'), policy?.expiry, 'expiry')
  const permissions = either(parameter(query, 'sp'), policy?.permission, 'permission')
  if (permissions === '') throw refused('there is no permission')
  checkLifetime(start, expiry, now)
  if (version >= originSignedFrom) checkOrigin(query, request)
  return {
    kind: 'service sas',
    account: account as AccountName,
    table: table.toLowerCase(),
    permissions,
    range,
  }
}

export function serviceStringToSign(account: string, query: Query): string {
  const value = (name: string): string => parameter(query, name)
  const version = value('sv')
  const service = version >= resourceNamesServiceFrom ? '/table' : ''
  const origin = version >= originSignedFrom ? [value('sip'), value('spr')] : []
  const resource = `${service}/${account}/${value('tn').toLowerCase()}`
  const keys = [value('spk'), value('srk'), value('epk'), value('erk')]
  return [value('sp'), value('st'), value('se'), resource, value('si'), ...origin, version, ...keys].join(
    '\n',
  )
}

/** One interval in the order of keys, both of its ends inside: not a rectangle. */
function readRange(query: Query): KeyRange {
  const [firstPartition, firstRow] = [parameter(query, 'spk'), parameter(query, 'srk')]
  const [lastPartition, lastRow] = [parameter(query, 'epk'), parameter(query, 'erk')]
  if ((firstPartition === '' && firstRow !== '') || (lastPartition === '' && lastRow !== '')) {
    throw refused('a row key bound lacks its partition key')
  }
  const from = { partition: firstPartition, row: firstRow }
  if (lastPartition === '') return { from, until: undefined }
  if (lastRow === '') return { from, until: { partition: successor(lastPartition), row: '' } }
  return { from, until: { partition: lastPartition, row: successor(lastRow) } }
}

async function findPolicy(
  query: Query,
  account: AccountName,
  table: TableName,
  policies: Policies,
): Promise<AccessPolicy | undefined> {
  const id = parameter(query, 'si')
  if (id === '') return undefined
  const policy = (await policies(account, table))?.find((stored) => stored.id === id)
  if (policy === undefined) throw refused('there is no such policy')
  return policy
}

/** What the token leaves open the policy may say; both may not. */
function either(given: string, stored: string | undefined, what: string): string {
  if (given !== '' && stored !== undefined && stored !== '')
    throw refused(`token and policy both give ${what}`)
  return given === '' ? (stored ?? '') : given
}

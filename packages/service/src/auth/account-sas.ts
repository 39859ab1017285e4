/**
 * Account SAS: a signed query that opens an account for some types of resource. What is signed, in lines,
 * each with a line feed behind it, the last one too:
 *
 *   text = account ⏎ sp ⏎ ss ⏎ srt ⏎ st ⏎ se ⏎ sip ⏎ spr ⏎ sv ⏎ [ ses ⏎ ]
 *
 * `ses` is there from version 2020-12-06 on, also when it is empty.
 */
import { Fault } from '../model/faults.ts'
import type { AccountName } from '../model/table.ts'
import type { Ticks } from '../model/ticks.ts'
import type { Accounts } from './accounts.ts'
import type { AccountSasGrant } from './grant.ts'
import {
  type ArrivedRequest,
  checkLifetime,
  checkOrigin,
  checkSignature,
  parameter,
  type Query,
  refused,
} from './sas.ts'

const [firstVersion, scopeSignedFrom] = ['2015-04-05', '2020-12-06']

export function authenticateAccountSas(
  request: ArrivedRequest,
  accounts: Accounts,
  now: Ticks,
): AccountSasGrant {
  const { account, query } = request.target
  if (parameter(query, 'tn') !== '') throw refused('the token is of both kinds')
  checkSignature(accounts.get(account), query, accountStringToSign(account, query))
  if (parameter(query, 'sv') < firstVersion) throw refused('accounts had no signatures then')
  const [permissions, services] = [parameter(query, 'sp'), parameter(query, 'ss')]
  const resourceTypes = parameter(query, 'srt')
  if (permissions === '' || services === '' || resourceTypes === '') throw refused('the token lacks a part')
  checkLifetime(parameter(query, 'st'), parameter(query, 'se'), now)
  checkOrigin(query, request)
  if (!services.includes('t')) throw new Fault('AuthorizationServiceMismatch')
  return { kind: 'account sas', account: account as AccountName, resourceTypes, permissions }
}

export function accountStringToSign(account: string, query: Query): string {
  const value = (name: string): string => parameter(query, name)
  const lines = [account, ...['sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv'].map(value)]
  if (value('sv') >= scopeSignedFrom) lines.push(value('ses'))
  return lines.map((line) => `${line}\n`).join('')
}

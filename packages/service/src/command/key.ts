/** `partita key`: makes account keys, and moves them on when one is to be replaced. */
import { randomBytes } from 'node:crypto'
import { parseAccounts } from '../auth/accounts.ts'
import {
  type Environment,
  optionLines,
  type OptionTable,
  parseGiven,
  printResult,
  readGiven,
  UsageError,
} from './options.ts'

const rotateOptions = {
  account: { value: 'NAME', says: 'the account whose keys move; all of them when left out' },
  accounts: { value: 'NAME:KEY[:KEY];…', says: 'accounts and their keys (better given by PARTITA_ACCOUNTS)' },
} as const satisfies OptionTable

const keyBytes = 64

export const keyHelp = [
  'partita key                    a new key',
  'partita key rotate [options]   the accounts with their keys moved on, as PARTITA_ACCOUNTS takes them:',
  '                               the second key becomes the first, and a new one the second',
  '',
  ...optionLines(rotateOptions),
].join('\n')

export function key(argv: readonly string[], environment: Environment): number {
  return printResult(() => {
    const [action, ...rest] = argv
    if (action === 'rotate') {
      const given = parseGiven(rotateOptions, rest)
      return given['help'] === true ? keyHelp : rotate(given, environment)
    }
    if (action !== undefined && !action.startsWith('-'))
      throw new UsageError(`partita key knows no '${action}'`)
    return parseGiven({}, argv)['help'] === true ? keyHelp : newKey()
  })
}

function rotate(given: ReturnType<typeof parseGiven>, environment: Environment): string {
  const text = given['accounts'] ?? environment['PARTITA_ACCOUNTS'] ?? environment['AZURITE_ACCOUNTS']
  if (typeof text !== 'string') {
    throw new UsageError(
      'PARTITA_ACCOUNTS is not set: the key of the development account is public and stays',
    )
  }
  const accounts = readGiven(() => parseAccounts(text))
  const only = given['account']
  if (typeof only === 'string' && !accounts.has(only)) throw new UsageError(`there is no account '${only}'`)
  const entries = text
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  return entries.map((entry) => moved(entry, only)).join(';')
}

function moved(entry: string, only: string | boolean | undefined): string {
  const [name = '', ...keys] = entry.split(':')
  if (only !== undefined && name !== only) return entry
  // The last key is the one clients have been moved to; what was before it stops working.
  return [name, keys.at(-1), newKey()].join(':')
}

function newKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

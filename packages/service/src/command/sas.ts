/** `partita sas`: makes a shared access signature, for one table or for an account. */
import { accountStringToSign } from '../auth/account-sas.ts'
import { developmentAccount, parseAccounts } from '../auth/accounts.ts'
import type { HmacKey } from '../auth/hmac.ts'
import { parseAddresses, parseSasTime, tokenText } from '../auth/sas.ts'
import { serviceStringToSign } from '../auth/service-sas.ts'
import { parseTableName } from '../model/table.ts'
import {
  type Environment,
  optionLines,
  type OptionTable,
  parseGiven,
  printResult,
  readGiven,
  UsageError,
} from './options.ts'

const sasOptions = {
  account: { value: 'NAME', says: 'the account; the first of PARTITA_ACCOUNTS, or the development account' },
  key: { value: 'KEY', says: 'its key (better given by the environment: PARTITA_KEY or PARTITA_ACCOUNTS)' },
  permissions: { value: 'LETTERS', says: 'raud for a table; any of rwdlacu for an account' },
  expiry: { value: 'TIME', says: 'when it ends: 2035-01-01, 2035-01-01T12:00Z, or 90m, 12h, 30d from now' },
  start: { value: 'TIME', says: 'when it begins; at once when left out' },
  ip: { value: 'A[-B]', says: 'the IPv4 addresses it may be used from' },
  'https-only': { says: 'not to be used in clear text' },
  table: { value: 'NAME', says: 'the one table it opens' },
  'from-partition': { value: 'KEY', says: 'the first partition it reaches' },
  'from-row': { value: 'KEY', says: 'the first row there' },
  'to-partition': { value: 'KEY', says: 'the last partition it reaches' },
  'to-row': { value: 'KEY', says: 'the last row there' },
  policy: { value: 'ID', says: 'a stored policy of the table that says what is left out here' },
  services: { value: 'LETTERS', says: 'for an account: its services, of which t is this one (t)' },
  'resource-types': { value: 'LETTERS', says: 'for an account: s the service, c tables, o entities' },
} as const satisfies OptionTable

type OptionName = keyof typeof sasOptions

const ofTable: readonly OptionName[] = ['from-partition', 'from-row', 'to-partition', 'to-row', 'policy']
/** Every client and service since then reads this version, and newer ones sign the same lines. */
const tokenVersion = '2019-02-02'
const tablePermissions = 'raud'
const accountPermissions = 'rwdxylacuptfi'

export const sasHelp = [
  'partita sas --table NAME [options]              a signature for one table',
  'partita sas --resource-types LETTERS [options]  a signature for an account',
  '',
  ...optionLines(sasOptions),
].join('\n')

export function sas(argv: readonly string[], environment: Environment, nowMs: number): number {
  return printResult(() => {
    const given = parseGiven(sasOptions, argv)
    return given['help'] === true ? sasHelp : readGiven(() => makeToken(given, environment, nowMs))
  })
}

type Given = ReturnType<typeof parseGiven>

function makeToken(given: Given, environment: Environment, nowMs: number): string {
  const forAccount = has(given, 'services') || has(given, 'resource-types')
  if (forAccount === has(given, 'table')) throw new UsageError('either --table or --resource-types is needed')
  const { account, key } = readOwner(given, environment)
  const fields = new Map(
    [
      ['sv', tokenVersion],
      ...(forAccount ? accountFields(given) : tableFields(given)),
      ['st', readTime(given, 'start', nowMs)],
      ['se', readTime(given, 'expiry', nowMs)],
      ['sip', readAddresses(given)],
      ['spr', given['https-only'] === true ? 'https' : ''],
    ].filter((field): field is [string, string] => field[1] !== ''),
  )
  checkTimes(fields, nowMs)
  const text = forAccount ? accountStringToSign(account, fields) : serviceStringToSign(account, fields)
  return tokenText(fields, text, key)
}

function tableFields(given: Given): [string, string][] {
  const policy = text(given, 'policy')
  if (policy.length > 64) throw new UsageError('--policy takes at most 64 characters')
  if (policy === '' && !has(given, 'expiry'))
    throw new UsageError('--expiry is needed, or a --policy that has one')
  for (const [row, partition] of [
    ['from-row', 'from-partition'],
    ['to-row', 'to-partition'],
  ] as const) {
    if (has(given, row) && !has(given, partition)) throw new UsageError(`--${row} needs --${partition}`)
  }
  return [
    ['tn', readTable(text(given, 'table'))],
    ['sp', readLetters(given, 'permissions', tablePermissions, policy === '')],
    ['si', policy],
    ['spk', text(given, 'from-partition')],
    ['srk', text(given, 'from-row')],
    ['epk', text(given, 'to-partition')],
    ['erk', text(given, 'to-row')],
  ]
}

function accountFields(given: Given): [string, string][] {
  const misplaced = ofTable.find((name) => has(given, name))
  if (misplaced !== undefined) throw new UsageError(`--${misplaced} needs --table`)
  if (!has(given, 'expiry')) throw new UsageError('--expiry is needed')
  return [
    ['ss', has(given, 'services') ? readLetters(given, 'services', 'bqtf', true) : 't'],
    ['srt', readLetters(given, 'resource-types', 'sco', true)],
    ['sp', readLetters(given, 'permissions', accountPermissions, true)],
  ]
}

function has(given: Given, name: OptionName): boolean {
  return given[name] !== undefined
}

/** Empty when left out, and never because of its value: a signature cannot tell the two apart. */
function text(given: Given, name: OptionName): string {
  const value = given[name]
  if (value === '') throw new UsageError(`--${name} cannot be empty`)
  if (typeof value !== 'string') return ''
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) throw new UsageError(`--${name} holds a control character`)
  return value
}

function readOwner(given: Given, environment: Environment): { account: string; key: HmacKey } {
  const accountsText = environment['PARTITA_ACCOUNTS'] ?? environment['AZURITE_ACCOUNTS']
  const accounts = parseAccounts(accountsText ?? `${developmentAccount.name}:${developmentAccount.key}`)
  const account = text(given, 'account') || [...accounts.keys()][0] || ''
  const keyText = text(given, 'key') || (environment['PARTITA_KEY'] ?? '')
  const known = keyText === '' ? accounts.get(account) : parseAccounts(`${account}:${keyText}`).get(account)
  const key = known?.keys[0]
  if (key === undefined)
    throw new UsageError(`no key of account '${account}' is known: give --key or PARTITA_KEY`)
  return { account, key }
}

function readTable(name: string): string {
  try {
    return parseTableName(name)
  } catch {
    throw new UsageError(`--table '${name}': 3 to 63 letters and digits are needed, a letter first`)
  }
}

/** In the order of `known`, whatever the order given. */
function readLetters(given: Given, name: OptionName, known: string, needed: boolean): string {
  const letters = text(given, name)
  if (letters === '' && needed) throw new UsageError(`--${name} is needed: some of ${known}`)
  const strange = letters.split('').find((letter) => !known.includes(letter))
  if (strange !== undefined) throw new UsageError(`--${name} takes letters of ${known}, not '${strange}'`)
  return known
    .split('')
    .filter((letter) => letters.includes(letter))
    .join('')
}

const durationMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function readTime(given: Given, name: OptionName, nowMs: number): string {
  const value = text(given, name)
  const duration = /^(\d{1,6})([mhd])$/.exec(value)
  if (duration !== null) {
    const ms = Number(duration[1]) * durationMs[duration[2] as keyof typeof durationMs]
    return `${new Date(nowMs + ms).toISOString().slice(0, 19)}Z`
  }
  if (value !== '' && parseSasTime(value) === undefined) {
    throw new UsageError(`--${name} '${value}' is no time: 2035-01-01, 2035-01-01T12:00Z or 12h are`)
  }
  return value
}

function checkTimes(fields: ReadonlyMap<string, string>, nowMs: number): void {
  const expiry = fields.get('se')
  if (expiry === undefined) return
  const start = fields.get('st') ?? new Date(nowMs).toISOString()
  const [from = 0n, until = 0n] = [parseSasTime(start), parseSasTime(expiry)]
  if (until <= from) throw new UsageError('--expiry must be after --start, and after now')
}

function readAddresses(given: Given): string {
  const addresses = text(given, 'ip')
  if (addresses !== '' && parseAddresses(addresses) === undefined) {
    throw new UsageError(`--ip '${addresses}': an IPv4 address is needed, or two with a hyphen`)
  }
  return addresses
}

/** The accounts this service knows, and the keys that prove ownership of them. */
import type { AccountName } from '../model/table.ts'
import { type HmacKey, hmacKey } from './hmac.ts'

export interface Account {
  readonly name: AccountName
  /** One or two, equal in power, so that one can be replaced while the other is in use. */
  readonly keys: readonly HmacKey[]
}

export type Accounts = ReadonlyMap<string, Account>

/** Published for everyone: proves nothing, and so belongs on a loopback address only. */
export const developmentAccount = {
  name: 'devstoreaccount1',
  key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==',
} as const

const keyBytesMin = 32
const namePattern = /^[a-z0-9]{3,24}$/
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Reads `name:key1[:key2];…`. A mistake stops the start: falling back would open a public account. */
export function parseAccounts(text: string): Accounts {
  const accounts = new Map<string, Account>()
  for (const [index, entry] of text.split(';').entries()) {
    if (entry.trim() === '') continue
    const [name = '', ...keys] = entry.trim().split(':')
    // By its place and not by its text, which may be a key whose name was forgotten.
    if (!namePattern.test(name)) {
      throw new Error(`account ${index + 1}: a name of 3 to 24 lower-case letters and digits is needed`)
    }
    if (accounts.has(name)) throw new Error(`account '${name}' is given twice`)
    if (keys.length < 1 || keys.length > 2) throw new Error(`account '${name}': one or two keys are needed`)
    accounts.set(name, { name: name as AccountName, keys: keys.map((key) => parseAccountKey(name, key)) })
  }
  if (accounts.size === 0) throw new Error('no account is given')
  return accounts
}

function parseAccountKey(name: string, text: string): HmacKey {
  // The decoder skips what it does not know, so the shape is checked first.
  if (!base64Pattern.test(text)) throw new Error(`account '${name}': a key is not base64`)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length < keyBytesMin) {
    throw new Error(`account '${name}': a key is shorter than ${keyBytesMin} bytes`)
  }
  return hmacKey(bytes)
}

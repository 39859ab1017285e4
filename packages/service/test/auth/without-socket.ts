/** The service without its socket: a test says where a request comes from, how, and what time it is. */
import { strict as assert } from 'node:assert'
import { createHmac } from 'node:crypto'
import { parseAccounts } from '../../src/auth/accounts.ts'
import type { Credentials } from '../../src/auth/authenticate.ts'
import { type AnswerContext, answer } from '../../src/http/answer.ts'
import { openCorsRules } from '../../src/http/cors.ts'
import { headOf } from '../../src/http/reply.ts'
import type { AccessPolicy } from '../../src/model/access-policy.ts'
import { encodeContent, keysText } from '../../src/model/content.ts'
import { type AccountName, catalogue, type TableName } from '../../src/model/table.ts'
import type { Ticks } from '../../src/model/ticks.ts'
import { catalogueKey, findPolicies } from '../../src/store/catalogue.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import { ticksAt } from '../support/test-clock.ts'

export const account = 'devstoreaccount1'
export const key1 = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
export const key2 = 'dGVzdC1vbmx5LXNlY29uZC1hY2NvdW50LWtleS1mb3Itcm90YXRpb24tdmVjdG9ycy0wMTIzNDU2Nzg5YWJjZA=='

/** When the vectors were made. */
export const vectorsMadeAt = '2025-01-15T08:30:00Z'

export interface Sent {
  readonly method?: string
  /** Behind the account; with its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
  readonly secure?: boolean
  readonly peer?: string
  /** Signed with a key of the account. */
  readonly owner?: boolean
}

export interface Answered {
  readonly status: number
  readonly code: string | undefined
  readonly text: string
  readonly header: (name: string) => string | undefined
  /** All of it, without what differs from one moment to the next. */
  readonly masked: string
}

export interface InProcess {
  readonly context: AnswerContext
  at(time: string): void
  send(sent: Sent): Promise<Answered>
  /** As the owner, who must succeed. */
  own(sent: Sent): Promise<Answered>
  setPolicies(table: string, policies: readonly Partial<AccessPolicy>[]): Promise<void>
}

export function openInProcess(
  settings: Partial<Credentials> & { accounts?: Credentials['accounts'] } = {},
): InProcess {
  let now: Ticks = ticksAt(vectorsMadeAt)
  const clock = () => now
  const store = openMemoryStore({ clock })
  const context: AnswerContext = {
    store,
    clock,
    accounts: parseAccounts(`${account}:${key1}:${key2}`),
    policies: (owner, table) => findPolicies(store, owner, table),
    bearer: undefined,
    deletedNameSeconds: 0,
    realism: false,
    statsOnPrimary: false,
    cors: openCorsRules(store),
    ...settings,
  }
  return { context, at, send, own, setPolicies }

  function at(time: string): void {
    now = ticksAt(time)
  }

  async function send(sent: Sent): Promise<Answered> {
    const { method = 'GET', path, body, secure = false, peer = '127.0.0.1' } = sent
    const target = `/${account}${path}`
    const headers: Record<string, string | undefined> = {
      Host: '127.0.0.1:10002',
      Accept: 'application/json',
      'x-ms-version': '2019-02-02',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...sent.headers,
    }
    if (sent.owner) Object.assign(headers, ownersHeaders(target, new Date(msOf(now))))
    const rawHeaders = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [name, value],
    )
    const answered = await answer(
      {
        method,
        target,
        rawHeaders,
        secure,
        peer: () => peer,
        body: async () => Buffer.from(body ?? ''),
        hungUp: () => false,
      },
      context,
    )
    const { reply, envelope, fault } = answered
    const text = reply.body?.toString() ?? ''
    const head = headOf(reply, envelope, 'Server', 'Date', false)
    const all = head
      .split('\r\n')
      .flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    return {
      status: reply.status,
      code: fault?.code ?? codeIn(text),
      text,
      header: (name) => all[all.findIndex((each) => each.toLowerCase() === name.toLowerCase()) + 1],
      masked: masked(`${head}${text}`),
    }
  }

  async function own(sent: Sent): Promise<Answered> {
    const answered = await send({ ...sent, owner: true })
    assert(answered.status < 400, answered.text)
    return answered
  }

  async function setPolicies(table: string, policies: readonly Partial<AccessPolicy>[]): Promise<void> {
    const key = catalogueKey(account as AccountName, table as TableName)
    const content = encodeContent([
      { name: 'AccessPolicies', value: { type: 'Edm.String', value: JSON.stringify(policies) } },
    ])
    const outcome = await store.commit(catalogue, key.partition, [
      { kind: 'merge', when: { kind: 'present' }, row: key.row, keys: keysText(key), content },
    ])
    assert.equal(outcome.kind, 'committed')
  }
}

function msOf(ticks: Ticks): number {
  return Number((ticks - ticksAt('1970-01-01T00:00:00Z')) / 10_000n)
}

function ownersHeaders(target: string, date: Date): Record<string, string> {
  const text = `${date.toUTCString()}\n/${account}${target.split('?', 1)[0]}`
  return {
    'x-ms-date': date.toUTCString(),
    Authorization: `SharedKeyLite ${account}:${signed(text)}`,
  }
}

export function signed(text: string, key: string = key1): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64')
}

/** The code of a refused operation inside a batch that was itself accepted. */
function codeIn(text: string): string | undefined {
  return /"odata\.error":\{"code":"(\w+)"/.exec(text)?.[1]
}

export function masked(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]002-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{6}000000/g, 'ID')
    .replaceAll(/(batch|changeset)response_[0-9a-f-]+/g, '$1response_ID')
    .replaceAll(/"timeMs":\{[^}]*\}/g, '"timeMs":{}')
    .replaceAll(/Time:[0-9-]+T[0-9:]+\.\d{7}Z/g, 'Time:TIME')
}

/** Fields of a service SAS by parameter; `sv`, `tn` and `se` have defaults. */
export function serviceSas(fields: Readonly<Record<string, string>>, key: string = key1): string {
  const all: Record<string, string> = { sv: '2019-02-02', tn: 'people', se: '2035-01-01', ...fields }
  const of = (name: string) => all[name] ?? ''
  // Written out again on purpose: the test's own reading of the specification.
  const text = [
    of('sp'),
    of('st'),
    of('se'),
    `/table/${account}/${of('tn').toLowerCase()}`,
    of('si'),
    of('sip'),
    of('spr'),
    of('sv'),
    of('spk'),
    of('srk'),
    of('epk'),
    of('erk'),
  ].join('\n')
  return queryOf({ ...all, sig: signed(text, key) })
}

export function accountSas(fields: Readonly<Record<string, string>>, key: string = key1): string {
  const all: Record<string, string> = { sv: '2019-02-02', ss: 't', srt: 'sco', se: '2035-01-01', ...fields }
  const of = (name: string) => all[name] ?? ''
  const lines = [account, 'sp', 'ss', 'srt', 'st', 'se', 'sip', 'spr', 'sv']
  const text = lines.map((name) => `${name === account ? account : of(name)}\n`).join('')
  return queryOf({ ...all, sig: signed(of('sv') >= '2020-12-06' ? `${text}${of('ses')}\n` : text, key) })
}

export function queryOf(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

export interface Part {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** A batch with one change set, or with a single read. */
export function batch(parts: readonly Part[], query = ''): Sent {
  const isRead = parts.length === 1 && parts[0]?.method === 'GET'
  const operations = parts.map(({ method, path, headers = {}, body }) =>
    [
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      '',
      `${method} http://127.0.0.1:10002/${account}${path} HTTP/1.1`,
      'Accept: application/json;odata=minimalmetadata',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(body === undefined ? ['', ''] : ['Content-Type: application/json', '', JSON.stringify(body)]),
    ].join('\r\n'),
  )
  const changeSet = [
    'Content-Type: multipart/mixed; boundary=changeset_1',
    '',
    ...operations.map((operation) => `--changeset_1\r\n${operation}`),
    '--changeset_1--',
  ].join('\r\n')
  const inside = isRead ? operations[0] : changeSet
  return {
    method: 'POST',
    path: `/$batch${query === '' ? '' : `?${query}`}`,
    headers: { 'Content-Type': 'multipart/mixed; boundary=batch_1' },
    body: `--batch_1\r\n${inside}\r\n--batch_1--\r\n`,
  }
}

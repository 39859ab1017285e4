/** Every operation under every set of permissions, compared with a reading of the protocol of its own. */
import { strict as assert } from 'node:assert'
import { before, describe, it } from 'node:test'
import { authorize, type Grant, type Need, type Operation, type Role } from '../../src/auth/grant.ts'
import type { FaultCode } from '../../src/model/faults.ts'
import type { AccountName, TableName } from '../../src/model/table.ts'
import { assertFault } from '../support/assert-fault.ts'
import {
  accountSas,
  type Answered,
  batch,
  type InProcess,
  openInProcess,
  type Part,
  type Sent,
  serviceSas,
} from './without-socket.ts'

type Place = 'inside' | 'outside'

interface Attempt {
  readonly name: string
  /** Whether it can be part of a batch. */
  readonly groups: boolean
  readonly part: (place: Place) => Part
}

const partitions = { inside: 'm', outside: 'z' } as const
const range = { spk: 'm', srk: '0', epk: 'm', erk: '5' }
let fresh = 0

function entity(method: string, headers: Record<string, string> = {}, tunnelled?: string): Attempt['part'] {
  return (place) => ({
    method,
    path: `/people(PartitionKey='${partitions[place]}',RowKey='1')`,
    headers: { ...headers, ...(tunnelled === undefined ? {} : { 'X-HTTP-Method': tunnelled }) },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: { A: 1 } }),
  })
}

const any = { 'If-Match': '*' }
// biome-ignore format: a table reads in columns
const attempts: readonly Attempt[] = [
  { name: 'point read',           groups: true,  part: entity('GET') },
  { name: 'query',                groups: true,  part: () => ({ method: 'GET', path: '/people()' }) },
  { name: 'insert',               groups: true,  part: (place) => ({ method: 'POST', path: '/people', body: { PartitionKey: partitions[place], RowKey: `3x${fresh++}` } }) },
  { name: 'update',               groups: true,  part: entity('PUT', any) },
  { name: 'merge',                groups: true,  part: entity('MERGE', any) },
  { name: 'merge by PATCH',       groups: true,  part: entity('PATCH', any) },
  { name: 'merge by tunnel',      groups: true,  part: entity('POST', any, 'MERGE') },
  { name: 'insert or replace',    groups: true,  part: entity('PUT') },
  { name: 'insert or merge',      groups: true,  part: entity('MERGE') },
  { name: 'insert or merge by PATCH', groups: true, part: entity('PATCH') },
  { name: 'insert or replace by tunnel', groups: true, part: entity('POST', {}, 'PUT') },
  { name: 'delete',               groups: true,  part: entity('DELETE', any) },
  { name: 'delete by tunnel',     groups: true,  part: entity('POST', any, 'DELETE') },
  { name: 'list tables',          groups: false, part: () => ({ method: 'GET', path: '/Tables' }) },
  { name: 'get table',            groups: false, part: () => ({ method: 'GET', path: "/Tables('people')" }) },
  { name: 'create table',         groups: false, part: () => ({ method: 'POST', path: '/Tables', body: { TableName: 'people' } }) },
  { name: 'delete table',         groups: false, part: () => ({ method: 'DELETE', path: "/Tables('nobody')" }) },
]

/** The letters of a service SAS and of an account SAS; the type of resource of the latter. */
// biome-ignore format: a table reads in columns
const reference: Readonly<Record<string, readonly [service: string, type: string, account: readonly string[]]>> = {
  'point read':                  ['r',  'o', ['r']],
  'query':                       ['r',  'o', ['r']],
  'insert':                      ['a',  'o', ['a']],
  'update':                      ['u',  'o', ['u']],
  'merge':                       ['u',  'o', ['u']],
  'merge by PATCH':              ['u',  'o', ['u']],
  'merge by tunnel':             ['u',  'o', ['u']],
  'insert or replace':           ['au', 'o', ['au']],
  'insert or merge':             ['au', 'o', ['au']],
  'insert or merge by PATCH':    ['au', 'o', ['au']],
  'insert or replace by tunnel': ['au', 'o', ['au']],
  'delete':                      ['d',  'o', ['d']],
  'delete by tunnel':            ['d',  'o', ['d']],
  'list tables':                 ['',   'c', ['l']],
  'get table':                   ['',   'c', ['l']],
  'create table':                ['',   'c', ['c', 'w']],
  'delete table':                ['',   'c', ['d']],
}

const [start, expiry] = ['2025-02-01T00:00:00Z', '2025-03-01']
/** When, and whether the token counts then. */
const moments = [
  ['2025-01-31T23:59:59.9999999Z', false],
  ['2025-02-01T00:00:00Z', true],
  ['2025-02-28T23:59:59.9999999Z', true],
  ['2025-03-01T00:00:00Z', false],
] as const

function serviceRefusal(name: string, sp: string, place: Place, valid: boolean): string | undefined {
  const [letters] = reference[name] as [string, string, string[]]
  if (!valid) return 'AuthenticationFailed'
  if (letters === '') return 'AuthorizationFailure'
  for (const letter of letters) if (!sp.includes(letter)) return 'AuthorizationPermissionMismatch'
  if (place === 'inside' || name === 'query') return undefined
  return name === 'point read' ? 'ResourceNotFound' : 'AuthorizationFailure'
}

function accountRefusal(name: string, sp: string, srt: string): string | undefined {
  const [, type, choices] = reference[name] as [string, string, string[]]
  if (!srt.includes(type)) return 'AuthorizationResourceTypeMismatch'
  for (const letters of choices) {
    let all = true
    for (const letter of letters) all = all && sp.includes(letter)
    if (all) return undefined
  }
  return 'AuthorizationPermissionMismatch'
}

describe('rights to the service itself', () => {
  const rangeless = { from: { partition: '', row: '' }, until: undefined }
  const owner = { account: 'acct' as AccountName }
  const sas = (permissions: string, resourceTypes = 'sco'): Grant => {
    return { kind: 'account sas', ...owner, resourceTypes, permissions }
  }
  const table: Grant = {
    kind: 'service sas',
    ...owner,
    table: 'people',
    permissions: 'raud',
    range: rangeless,
  }
  const bearer = (role: Role | undefined): Grant => ({ kind: 'bearer', ...owner, subject: 'me', role })
  const mismatch = 'AuthorizationPermissionMismatch'
  // biome-ignore format: a table reads in columns
  const rows: readonly [operation: Operation, grant: Grant, expected: string | undefined][] = [
    ['get service properties', sas('r'),              undefined],
    ['get service properties', sas('wdlacu'),         mismatch],
    ['get service properties', sas('r', 'co'),        'AuthorizationResourceTypeMismatch'],
    ['get service properties', table,                 'AuthorizationFailure'],
    ['get service properties', bearer('reader'),      undefined],
    ['get service properties', bearer(undefined),     mismatch],
    ['set service properties', sas('w'),              undefined],
    ['set service properties', sas('rdlacu'),         mismatch],
    ['set service properties', table,                 'AuthorizationFailure'],
    ['set service properties', bearer('reader'),      mismatch],
    ['set service properties', bearer('contributor'), undefined],
    ['get service stats',      sas('r'),              undefined],
    ['get service stats',      table,                 'AuthorizationFailure'],
    ['service document',       sas('r'),              undefined],
    ['service document',       table,                 'AuthorizationFailure'],
    ['get table acl',          sas('rwdlacu'),        'AuthorizationFailure'],
    ['set table acl',          sas('rwdlacu', 's'),   'AuthorizationFailure'],
    ['get table acl',          table,                 'AuthorizationFailure'],
    ['set table acl',          table,                 'AuthorizationFailure'],
    ['get table acl',          bearer('contributor'), 'ResourceNotFound'],
    ['set table acl',          bearer('contributor'), 'ResourceNotFound'],
    ['set table acl',          { kind: 'owner', ...owner }, undefined],
  ]
  for (const [operation, grant, expected] of rows) {
    it(`${operation} by ${JSON.stringify(grant)}: ${expected ?? 'allowed'}`, () => {
      const need: Need = {
        operation,
        table: 'people' as TableName,
        key: undefined,
        conditional: false,
        writes: operation.startsWith('set'),
        secondary: false,
      }
      if (expected === undefined) authorize(grant, need)
      else assertFault(() => authorize(grant, need), expected as FaultCode)
    })
  }

  it('of nobody include writing to the secondary', () => {
    const need = {
      table: 'people' as TableName,
      key: undefined,
      conditional: true,
      writes: true,
      secondary: true,
    }
    for (const grant of [table, sas('u'), bearer('contributor'), { kind: 'owner', ...owner } as const]) {
      assert.throws(() => authorize(grant, { ...need, operation: 'replace entity' }), {
        code: 'InsufficientAccountPermissions',
      })
    }
  })
})

describe('rights', () => {
  let service: InProcess
  before(async () => {
    service = openInProcess()
    await service.own({ method: 'POST', path: '/Tables', body: '{"TableName":"people"}' })
  })

  it('of a service SAS are those of the protocol, alone and in groups', async () => {
    let count = 0
    for (const sp of subsets('raud').filter((letters) => letters !== '')) {
      for (const [moment, valid] of moments) {
        const token = serviceSas({ sp, st: start, se: expiry, ...range })
        for (const { name, groups, part } of attempts) {
          for (const place of ['inside', 'outside'] as const) {
            await restore(service, moment)
            const expected = serviceRefusal(name, sp, place, valid)
            const told = `${name} ${place} with ${sp} at ${moment}`
            assert.equal(refusalOf(await service.send(alone(part(place), token)), name), expected, told)
            count++
            if (!groups) continue
            await restore(service, moment)
            const grouped = await service.send(batch([part(place)], token))
            assert.equal(refusalOf(grouped, name), expected, `${told}, in a group`)
            count++
          }
        }
      }
    }
    assert(count > 3000)
  })

  it('of the first refused operation decide for a whole group', async () => {
    for (const sp of subsets('aud').filter((letters) => letters !== '')) {
      const token = serviceSas({ sp, ...range })
      const writes = attempts.filter(({ name, groups }) => groups && !['point read', 'query'].includes(name))
      for (const first of writes) {
        for (const second of writes) {
          for (const place of ['inside', 'outside'] as const) {
            await restore(service, moments[1][0])
            const [a, b] = [{ ...first.part('inside') }, second.part(place)]
            // One row each: the first keeps its own where both would name the same.
            const other = { ...a, path: a.path.replace("RowKey='1'", "RowKey='2'") }
            const expected =
              serviceRefusal(first.name, sp, 'inside', true) ?? serviceRefusal(second.name, sp, place, true)
            const answered = await service.send(batch([other, b], token))
            const told = `${first.name}, then ${second.name} ${place} with ${sp}`
            assert.equal(refusalOf(answered, ''), expected, told)
            if (expected !== undefined) assert.equal(await stateOf(service), untouched, told)
          }
        }
      }
    }
  })

  it('of an account SAS are those of the protocol', async () => {
    await restore(service, moments[1][0])
    for (const srt of subsets('sco').filter((letters) => letters !== '')) {
      for (const sp of subsets('rwdlacu').filter((letters) => letters !== '' && letters.length !== 4)) {
        const token = accountSas({ sp, srt })
        for (const { name, groups, part } of attempts) {
          const expected = accountRefusal(name, sp, srt)
          const told = `${name} with ${sp} on ${srt}`
          const single = await service.send(alone(part('inside'), token))
          assert.equal(refusalOf(single, name, 'keeps rows'), expected, told)
          if (!groups || sp.length % 3 !== 0) continue
          const grouped = await service.send(batch([part('inside')], token))
          assert.equal(refusalOf(grouped, name, 'keeps rows'), expected, `${told}, in a group`)
        }
      }
    }
  })

  it('end where another table begins, in groups too', async () => {
    await restore(service, moments[1][0])
    const token = serviceSas({ sp: 'raud', tn: 'others' })
    const insert = { method: 'POST', path: '/people', body: { PartitionKey: 'm', RowKey: 'never' } }
    for (const sent of [alone(insert, token), batch([insert], token)]) {
      assert.equal((await service.send(sent)).code, 'AuthenticationFailed')
    }
    assert.equal(await stateOf(service), untouched)
  })

  it('inside a group come from the group alone', async () => {
    await restore(service, moments[1][0])
    const [weak, strong] = [serviceSas({ sp: 'r' }), serviceSas({ sp: 'raud' })]
    const insert = (token: string) => ({
      method: 'POST',
      path: `/people?${token}`,
      headers: { Authorization: 'SharedKey somebody:else' },
      body: { PartitionKey: 'm', RowKey: 'x' },
    })
    const raised = await service.send(batch([insert(strong)], weak))
    assert.deepEqual([raised.status, raised.code], [202, 'AuthorizationPermissionMismatch'])
    assert.match(
      raised.text,
      /"value":"0:This request is not authorized to perform this operation using this permission\./,
    )
    const lowered = await service.send(batch([insert(weak)], strong))
    assert.deepEqual([lowered.status, lowered.code], [202, undefined], lowered.text)
  })
})

const untouched = 'm1 m2 z1'

/** The table as every attempt finds it, and the time. */
async function restore(service: InProcess, moment: string): Promise<void> {
  service.at(moment)
  if ((await stateOf(service)) === untouched) return
  const { value } = await rowsOf(service)
  for (const { PartitionKey, RowKey } of value) {
    const path = `/people(PartitionKey='${PartitionKey}',RowKey='${RowKey}')`
    await service.own({ method: 'DELETE', path, headers: { 'If-Match': '*' } })
  }
  for (const [partition, row] of ['m1', 'm2', 'z1'].map((text) => text.split(''))) {
    await service.own({
      method: 'PUT',
      path: `/people(PartitionKey='${partition}',RowKey='${row}')`,
      body: '{}',
    })
  }
}

async function stateOf(service: InProcess): Promise<string> {
  const { value } = await rowsOf(service)
  return value.map(({ PartitionKey, RowKey }) => `${PartitionKey}${RowKey}`).join(' ')
}

async function rowsOf(service: InProcess) {
  const answered = await service.own({ path: '/people()?$select=PartitionKey,RowKey' })
  return JSON.parse(answered.text) as { value: { PartitionKey: string; RowKey: string }[] }
}

function alone({ method, path, headers, body }: Part, token: string): Sent {
  return {
    method,
    path: `${path}${path.includes('?') ? '&' : '?'}${token}`,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

/** What comes after authorization, such as a row that is gone, counts as allowed. */
function refusalOf({ code }: Answered, name: string, rows?: 'keeps rows'): string | undefined {
  if (code?.startsWith('Auth')) return code
  return name === 'point read' && rows === undefined ? code : undefined
}

function subsets(letters: string): string[] {
  return letters.split('').reduce((sets, letter) => [...sets, ...sets.map((set) => set + letter)], [''])
}

/** Copies always show their source: after every operation, among concurrent writers, and after a death at any request. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import type { TableClient } from '@azure/data-tables'
import {
  entity,
  copies,
  int32,
  isPatternsError,
  key,
  openTable,
  string,
  type Table,
  text,
  digits,
} from '../../src/index.ts'
import { Employee, leadOfTeam, Team } from '../support/company.ts'
import { Died, newFaults } from '../support/faults.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'

const department = 'Sales'
const jones = { department, id: 1, email: 'jones@x', name: 'Jones', age: 40 }
const red = { department, team: 'red', lead: 1 }
const blue = { department, team: 'blue', lead: 1 }

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a copy', () => {
  it('is made with the entity that holds it, and follows its source', async () => {
    const { employees, teams, table } = await company()
    await employees.insert(jones)
    await teams.insert({ ...red, leadName: 'what the caller thinks' })
    await teams.insert({ department, team: 'green' })
    assert.deepEqual(await shown(teams), { green: [undefined, undefined, undefined], red: [1, 'Jones', 40] })
    await employees.change(jones, (it) => it && { ...it, name: 'Mrs Jones' })
    assert.deepEqual((await shown(teams))['red'], [1, 'Mrs Jones', 40])
    await employees.upsert({ department, id: 1, email: 'j@x', name: 'Jo' })
    assert.deepEqual((await shown(teams))['red'], [1, 'Jo', undefined])
    await employees.remove(jones)
    assert.deepEqual((await shown(teams))['red'], [1, undefined, undefined])
    await teams.patch(red, { budget: 5 })
    await teams.change(red, (it) => it && { ...it, budget: 6 })
    await employees.insert(jones)
    assert.deepEqual((await shown(teams))['red'], [1, 'Jones', 40])
    await employees.change(jones, (it) => it && { ...it, id: 2 })
    assert.deepEqual((await shown(teams))['red'], [1, undefined, undefined])
    await teams.change(red, (it) => it && { ...it, lead: 2 })
    assert.deepEqual((await shown(teams))['red'], [2, 'Jones', 40])
    assert.equal((await table.of(Team).get(red))?.budget, 6)
  })

  it('of nobody is refused, and so is a patch of it', async () => {
    const { teams } = await company()
    await assert.rejects(teams.insert(red), { code: 'NotFound', message: 'Team.lead names no Employee' })
    await teams.insert({ department, team: 'red' })
    await assert.rejects(teams.patch(red, { lead: 1 }), {
      code: 'InvalidValue',
      message: /Team\.lead belongs to a copy/,
    })
    await assert.rejects(teams.patch(red, { leadName: 'x' }), { code: 'InvalidValue' })
  })

  it('that is already right is not written again', async () => {
    const { client, employees, teams } = await company()
    await employees.insert(jones)
    await teams.insert(red)
    const { etag } = (await teams.get(red)) ?? {}
    await employees.change(jones, (it) => it && { ...it, email: 'other@x' })
    assert.equal((await openTable(client).of(Team).get(red))?.etag, etag)
  })

  it('shows what a model shows, after every step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 14 }), async (commands) => {
        const { employees, teams } = await company()
        const [people, groups] = [new Map<number, string>(), new Map<string, number | undefined>()]
        for (const { kind, id, team, name } of commands) {
          if (kind === 'put person') {
            await employees.upsert({ department, id, email: `${id}@x`, name })
            people.set(id, name)
          } else if (kind === 'remove person') {
            await employees.remove({ department, id })
            people.delete(id)
          } else if (kind === 'remove team') {
            await teams.remove({ department, team })
            groups.delete(team)
          } else {
            const done = await teams.upsert({ department, team, lead: id }).then(
              () => true,
              (error: unknown) => !isPatternsError(error, 'NotFound'),
            )
            assert.equal(done, people.has(id) || groups.get(team) === id)
            if (done) groups.set(team, id)
          }
          const expected = [...groups].map(([each, lead]) => [
            each,
            [lead, people.get(lead ?? -1), undefined],
          ])
          assert.deepEqual(await shown(teams), Object.fromEntries(expected))
        }
      }),
      { numRuns: runs(20) },
    )
  })

  it('is right when links and sources change at once', async () => {
    const { client, employees, teams } = await company()
    await employees.insert(jones)
    await Promise.all([
      ...Array.from({ length: 5 }, async (_, index) => {
        const { teams: mine } = companyOf(service.clientOf(client.tableName))
        await mine.upsert({ department, team: `t${index}`, lead: 1 })
      }),
      ...Array.from({ length: 5 }, async (_, index) => {
        const { employees: mine } = companyOf(service.clientOf(client.tableName))
        await mine.change(jones, (it) => it && { ...it, name: `Jones ${index}` })
      }),
    ])
    const name = (await employees.get(jones))?.name
    const names = Object.values(await shown(teams)).map(([, leadName]) => leadName)
    assert.deepEqual(
      names,
      Array.from({ length: 5 }, () => name),
    )
  })
})

describe('a client that dies while it writes', () => {
  const scenarios: Readonly<Record<string, (table: ReturnType<typeof companyOf>) => Promise<unknown>>> = {
    'the source': ({ employees }) => employees.change(jones, (it) => it && { ...it, name: 'New' }),
    'the holder': ({ teams }) => teams.insert(blue),
    'the end of the source': ({ employees }) => employees.remove(jones),
  }
  for (const [name, run] of Object.entries(scenarios)) {
    it(`${name} leaves copies that show their source`, async () => {
      for (const moment of ['before', 'after'] as const) {
        for (let request = 1; ; request++) {
          const { client, employees, teams } = await company()
          await employees.insert(jones)
          await teams.insert(red)
          const faults = newFaults()
          faults.dieAt(request, moment)
          const error = await run(companyOf(service.clientOf(client.tableName, faults))).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          const source = await employees.get(jones)
          for (const [lead, leadName, leadAge] of Object.values(await shown(teams))) {
            assert.deepEqual([lead, leadName, leadAge], [1, source?.name, source?.age])
          }
          if (error === undefined) {
            assert(request > 1, 'the fault was never met')
            break
          }
          assert(error instanceof Died || isPatternsError(error, 'OutcomeUnknown'), inspect(error))
        }
      }
    })
  }
})

describe('copies that contradict their definitions', () => {
  const shape = { partition: key(text('department')), row: key('x_', text('name')) }
  const Target = entity('Target', {
    ...shape,
    properties: { department: string(), name: string(), lead: int32(), leadName: string() },
  })
  const Elsewhere = entity('Elsewhere', {
    properties: { department: string(), n: int32(), leadName: string().optional() },
    partition: key('e_', text('department')),
    row: key(digits('n', 3)),
  })
  it('are refused where they are made', () => {
    const link = { id: 'lead' } as const
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [
        () => copies({ from: Employee, into: Target, link, properties: { leadName: 'name' } }),
        /leadName must be optional/,
      ],
      [
        () => copies({ from: Employee, into: Target, link, properties: { name: 'name' } }),
        /name stands in a key/,
      ],
      [
        () =>
          copies({ from: Employee, into: Elsewhere, link: { id: 'n' }, properties: { leadName: 'name' } }),
        /PartitionKey in the same way/,
      ],
    ]
    for (const [make, message] of cases) assert.throws(make, { code: 'InvalidDefinition', message })
  })
})

const command = fc.record({
  kind: fc.constantFrom('put person', 'put team', 'put team', 'remove person', 'remove team'),
  id: fc.nat(2),
  team: fc.constantFrom('red', 'blue'),
  name: fc.constantFrom('A', 'B'),
})

async function company() {
  const client = await service.newTable()
  return { client, ...companyOf(client) }
}

function companyOf(client: TableClient) {
  const table: Table = openTable(client, { copies: [leadOfTeam] })
  return { table, employees: table.of(Employee), teams: table.of(Team) }
}

/** Link and copies of each team. */
async function shown(teams: ReturnType<typeof companyOf>['teams']): Promise<Record<string, unknown[]>> {
  const all = await teams.query({ department }).toArray()
  return Object.fromEntries(all.map(({ team, lead, leadName, leadAge }) => [team, [lead, leadName, leadAge]]))
}

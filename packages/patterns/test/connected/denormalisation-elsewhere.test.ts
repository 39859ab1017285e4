/** Copies of entities in other partitions come to show them, whoever dies, sleeps or writes meanwhile. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isPatternsError, openTable, type Relay } from '../../src/index.ts'
import { Employee, managerOfSite, Site } from '../support/company.ts'
import { Died, type Faults, newFaults } from '../support/faults.ts'
import { newGate } from '../support/gate.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'

const jones = { department: 'HR', id: 1, email: 'jones@x', name: 'Jones', age: 40 }
const smith = { department: 'Sales', id: 1, email: 'smith@x', name: 'Smith' }
const north = { site: 'north', managerDepartment: 'HR', manager: 1, rooms: 5 }
const south = { site: 'south', managerDepartment: 'HR', manager: 1 }

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a copy from another partition', () => {
  it('comes with the entity or with the link, whichever is later, and follows', async () => {
    const { employees, sites, relay } = await newCompany()
    await sites.insert({ ...north, managerName: 'what the caller thinks' })
    assert.equal((await sites.get(north))?.managerName, undefined)
    await relay.runOnce()
    assert.deepEqual(await shown(sites), { north: undefined })
    await employees.insert(jones)
    await sites.insert(south)
    await relay.runOnce()
    assert.deepEqual(await shown(sites), { north: ['Jones', 40], south: ['Jones', 40] })
    await employees.change(jones, (it) => it && { ...it, name: 'Mrs Jones', age: undefined })
    await relay.runOnce()
    assert.deepEqual(await shown(sites), { north: ['Mrs Jones', undefined], south: ['Mrs Jones', undefined] })
    await employees.insert(smith)
    await sites.change(south, (it) => it && { ...it, managerDepartment: 'Sales' })
    assert.equal((await sites.get(south))?.managerName, undefined)
    await relay.runOnce()
    await employees.change(jones, (it) => it && { ...it, name: 'J' })
    await relay.runOnce()
    assert.deepEqual(await shown(sites), { north: ['J', undefined], south: ['Smith', undefined] })
    await employees.remove(jones)
    await relay.runOnce()
    assert.deepEqual(await shown(sites), { north: undefined, south: ['Smith', undefined] })
    assert.equal((await sites.get(north))?.rooms, 5)
  })

  it('stays while its holder changes in other ways, and is not for callers to write', async () => {
    const { employees, sites, relay } = await newCompany()
    await employees.insert(jones)
    await sites.insert(north)
    await relay.runOnce()
    await sites.upsert({ ...north, rooms: 6, managerName: 'x' })
    await sites.patch(north, { rooms: 7 })
    assert.equal(await relay.lag(), undefined)
    assert.deepEqual(await shown(sites), { north: ['Jones', 40] })
    await assert.rejects(sites.patch(north, { manager: 2 }), {
      code: 'InvalidValue',
      message: /Site\.manager belongs to a copy of Employee/,
    })
    await sites.change(north, (it) => it && { ...it, manager: undefined })
    assert.deepEqual(await shown(sites), { north: undefined })
  })

  it('shows what a model shows after every run', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 14 }), async (commands) => {
        const { employees, sites, relay } = await newCompany()
        const people = new Map<string, string>()
        const links = new Map<string, string>()
        for (const { kind, department, id, site, name } of commands) {
          const person = `${department}/${id}`
          if (kind === 'put person') {
            await employees.upsert({ department, id, email: `${person}@x`, name })
            people.set(person, name)
          } else if (kind === 'remove person') {
            await employees.remove({ department, id })
            people.delete(person)
          } else if (kind === 'remove site') {
            await sites.remove({ site })
            links.delete(site)
          } else if (kind === 'put site') {
            await sites.upsert({ site, managerDepartment: department, manager: id })
            links.set(site, person)
          } else {
            await settled(relay)
            const expected = [...links].map(([each, of]) => {
              const named = people.get(of)
              return [each, named === undefined ? undefined : [named, undefined]]
            })
            assert.deepEqual(await shown(sites), Object.fromEntries(expected))
          }
        }
      }),
      { numRuns: runs(25) },
    )
  })
})

type Company = Awaited<ReturnType<typeof newCompany>>
interface Scenario {
  run(company: Company): Promise<unknown>
  /** Makes all as it was, and touches nothing else. */
  undo(company: Company): Promise<unknown>
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'the source changes': {
    run: ({ employees }) => employees.change(jones, (it) => it && { ...it, name: 'New' }),
    undo: ({ employees }) => employees.upsert(jones),
  },
  'the source goes': {
    run: ({ employees }) => employees.remove(jones),
    undo: ({ employees }) => employees.insert(jones),
  },
  'a holder comes': { run: ({ sites }) => sites.insert(south), undo: ({ sites }) => sites.remove(south) },
  'a holder names another': {
    run: ({ sites }) => sites.change(north, (it) => it && { ...it, managerDepartment: 'Sales' }),
    undo: ({ sites }) => sites.change(north, (it) => it && { ...it, managerDepartment: 'HR' }),
  },
}

describe('when a client or a relay dies', () => {
  for (const [name, { run }] of Object.entries(scenarios)) {
    it(`as ${name}, the next run brings the rest`, async () => {
      for (const moment of ['before', 'after'] as const) {
        for (const dying of ['client', 'relay'] as const) {
          for (let request = 1, met = true; met; request++) {
            const company = await prepared()
            const faults = newFaults()
            const faulty = company.again(faults)
            if (dying === 'relay') await run(company)
            faults.dieAt(request, moment)
            const error = await (dying === 'client' ? run(faulty) : faulty.relay.runOnce()).then(
              () => undefined,
              (thrown: unknown) => thrown,
            )
            assert(error === undefined || error instanceof Died || isPatternsError(error, 'OutcomeUnknown'))
            met = faults.requests >= request
            await company.relay.runOnce()
            await assertRight(company)
          }
        }
      }
    })
  }
})

describe('a relay that sleeps while another does its work', () => {
  for (const [name, { run, undo }] of Object.entries(scenarios)) {
    it(`and ${name}, then all is as it was, brings nothing old back`, async () => {
      for (const moment of ['before', 'after'] as const) {
        for (let request = 1, met = true; met; request++) {
          const company = await prepared()
          await run(company)
          const gate = newGate(request, moment)
          const sleeper = company.again(gate).relay.runOnce()
          met = await Promise.race([gate.asleep.then(() => true), sleeper.then(() => false)])
          await undo(company)
          await company.relay.runOnce()
          gate.wake()
          await sleeper
          await assertRight(company)
          assert.deepEqual(await shown(company.sites), { north: ['Jones', 40] })
        }
      }
    })
  }
})

const command = fc.record({
  kind: fc.constantFrom(
    'put person',
    'put site',
    'put site',
    'remove person',
    'remove site',
    'relay',
    'relay',
  ),
  department: fc.constantFrom('HR', 'Sales'),
  id: fc.nat(1),
  site: fc.constantFrom('north', 'south'),
  name: fc.constantFrom('A', 'B'),
})

async function newCompany() {
  const { tableName } = await service.newTable()
  return open()

  function open(fault?: Pick<Faults, 'policy'>) {
    const backoff = { firstMs: 1, longestMs: 4 }
    const table = openTable(service.clientOf(tableName, fault), { copies: [managerOfSite], backoff })
    return {
      employees: table.of(Employee),
      sites: table.of(Site),
      relay: table.relay([Employee, Site]),
      again: open,
    }
  }
}

async function prepared() {
  const company = await newCompany()
  await company.employees.insert(jones)
  await company.employees.insert(smith)
  await company.sites.insert(north)
  await settled(company.relay)
  return company
}

async function settled(relay: Relay): Promise<void> {
  assert.equal((await relay.runOnce()).failed, 0)
  assert.equal(await relay.lag(), undefined)
}

/** Name and age that each site shows; undefined if neither. */
async function shown(sites: Company['sites']): Promise<Record<string, unknown>> {
  const all = await sites.query({}).toArray()
  return Object.fromEntries(
    all.map(({ site, managerName, managerAge }) => [
      site,
      managerName === undefined ? undefined : [managerName, managerAge],
    ]),
  )
}

async function assertRight({ employees, sites, relay }: Company): Promise<void> {
  assert.equal(await relay.lag(), undefined)
  for (const each of await sites.query({}).toArray()) {
    const { manager: id, managerDepartment: department } = each
    assert(id !== undefined && department !== undefined)
    const source = await employees.get({ department, id })
    assert.deepEqual([each.managerName, each.managerAge], [source?.name, source?.age])
  }
}

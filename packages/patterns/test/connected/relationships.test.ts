/** Counts are always right; joins and unions over real rows. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import type { TableClient } from '@azure/data-tables'
import {
  byKey,
  counts,
  copies,
  entity,
  int32,
  isPatternsError,
  join,
  key,
  lookup,
  openTable,
  string,
  text,
} from '../../src/index.ts'
import { Died, newFaults } from '../support/faults.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { Desk, desksOfOffice, Employee, Office, Person } from '../support/shapes.ts'

const department = 'Sales'
const officeA = { department, office: 'A' }
const desk = { department, number: 7, office: 'A' }

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a count', () => {
  it('is as a model says, after every step', async () => {
    const command = fc.record({
      kind: fc.constantFrom(
        'put desk',
        'put desk',
        'move desk',
        'remove desk',
        'put office',
        'remove office',
      ),
      number: fc.nat(3),
      office: fc.constantFrom('A', 'B'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 14 }), async (commands) => {
        const { offices, desks } = companyOf(await service.newTable())
        const places = new Map<number, string>()
        const open = new Set<string>()
        for (const { kind, number, office } of commands) {
          const occupied = [...places.values()].includes(office)
          if (kind === 'put office') {
            await offices.upsert({ department, office, desks: 77 })
            open.add(office)
          } else if (kind === 'remove office') {
            const done = await outcome(offices.remove({ department, office }))
            assert.equal(done, occupied ? 'InUse' : open.has(office))
            if (!occupied) open.delete(office)
          } else if (kind === 'remove desk') {
            assert.equal(await desks.remove({ department, number }), places.delete(number))
          } else if (kind === 'move desk') {
            const done = await outcome(desks.change({ department, number }, (it) => it && { ...it, office }))
            if (places.has(number) && !open.has(office)) assert.equal(done, 'NotFound')
            else if (places.has(number)) places.set(number, office)
          } else {
            const done = await outcome(desks.upsert({ department, number, office }))
            if (open.has(office)) places.set(number, office)
            else assert.equal(done, 'NotFound')
          }
          const found = await offices.query({ department }).toArray()
          assert.deepEqual(
            found.map((each) => [each.office, each.desks]),
            [...open]
              .toSorted()
              .map((each) => [each, [...places.values()].filter((it) => it === each).length]),
          )
        }
      }),
      { numRuns: runs(20) },
    )
  })

  it('is right when many come and go at once', async () => {
    const client = await service.newTable()
    await companyOf(client).offices.insert(officeA)
    await Promise.all(
      Array.from({ length: 6 }, async (_, number) => {
        const { desks } = companyOf(service.clientOf(client.tableName))
        await desks.insert({ ...desk, number })
        if (number % 2 === 0) await desks.remove({ department, number })
      }),
    )
    assert.equal((await companyOf(client).offices.get(officeA))?.desks, 3)
  })

  it('shares a row with copies that the same write changes', async () => {
    const Group = entity('Group', {
      properties: {
        department: string(),
        members: int32().optional(),
        lead: int32().optional(),
        leadName: string().optional(),
      },
      partition: key(text('department')),
      row: key('group'),
    })
    const client = await service.newTable()
    const table = openTable(client, {
      copies: [
        copies({ from: Employee, into: Group, link: { id: 'lead' }, properties: { leadName: 'name' } }),
      ],
      counts: [counts({ parent: Group, children: Employee, link: {}, count: 'members' })],
    })
    const [groups, employees] = [table.of(Group), table.of(Employee)]
    const shown = async () => {
      const { members, leadName } = (await groups.get({ department })) ?? {}
      return [members, leadName]
    }
    await groups.insert({ department })
    await employees.insert({ department, id: 1, email: 'a', name: 'Ada' })
    await employees.insert({ department, id: 2, email: 'b', name: 'Bob' })
    await groups.change({ department }, (it) => it && { ...it, lead: 1 })
    assert.deepEqual(await shown(), [2, 'Ada'])
    await employees.change({ department, id: 1 }, (it) => it && { ...it, name: 'Eva' })
    assert.deepEqual(await shown(), [2, 'Eva'])
    await employees.remove({ department, id: 1 })
    assert.deepEqual(await shown(), [1, undefined])
  })
})

describe('a client that dies while it writes a child', () => {
  const scenarios: Readonly<Record<string, (company: ReturnType<typeof companyOf>) => Promise<unknown>>> = {
    insert: ({ desks }) => desks.insert({ ...desk, number: 8 }),
    remove: ({ desks }) => desks.remove(desk),
    move: ({ desks }) => desks.change(desk, (it) => it && { ...it, office: 'B' }),
  }
  for (const [name, run] of Object.entries(scenarios)) {
    it(`${name}: leaves counts that are right`, async () => {
      for (const moment of ['before', 'after'] as const) {
        for (let request = 1; ; request++) {
          const client = await service.newTable()
          const { offices, desks } = companyOf(client)
          await offices.insert(officeA)
          await offices.insert({ ...officeA, office: 'B' })
          await desks.insert(desk)
          const faults = newFaults()
          faults.dieAt(request, moment)
          const error = await run(companyOf(service.clientOf(client.tableName, faults))).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          const all = await desks.query({ department }).toArray()
          for (const { office, desks: count } of await offices.query({ department }).toArray())
            assert.equal(
              count,
              all.filter((each) => each.office === office).length,
              inspect({ moment, request }),
            )
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

describe('a join', () => {
  it('reads the many once, each of the ones once, and small tables once', async () => {
    const client = await service.newTable()
    const faults = newFaults()
    const { offices, desks } = companyOf(service.clientOf(client.tableName, faults))
    for (const office of ['A', 'B'])
      await offices.insert({ department, office, floor: office === 'A' ? 1 : 2 })
    for (let number = 1; number <= 6; number += 1)
      await desks.insert({ department, number, office: number % 2 === 0 ? 'A' : 'B' })
    faults.heal()
    const floors = lookup(() => offices.scan(), { keyOf: ({ office }) => office, expiresAfterMs: 60_000 })
    const found: unknown[] = []
    const many = await desks.query({ department }).toArray()
    const queries = faults.requests
    for await (const each of join(many, {
      place: byKey(offices, ({ office }) => ({ department, office })),
      known: ({ office }) => floors.get(office),
    }))
      found.push([each.number, each.place?.floor, each.known?.floor])
    assert.deepEqual(
      found,
      [1, 2, 3, 4, 5, 6].map((number) => [number, number % 2 === 0 ? 1 : 2, number % 2 === 0 ? 1 : 2]),
    )
    const before = faults.requests - queries
    for await (const _ of join(many, { known: ({ office }) => floors.get(office) })) continue
    assert.equal(faults.requests - queries, before, 'a lookup is not read again')
    assert(before >= 3)
  })
})

describe('inheritance', () => {
  it('is read as a union, by key or together', async () => {
    const table = openTable(await service.newTable())
    const [customers, colleagues] = [table.of(Person.Customer), table.of(Person.Colleague)]
    const people = table.anyOf(Person.Customer, Person.Colleague)
    await customers.insert({ city: 'Bonn', id: 1, name: 'Ada', credit: 5 })
    await colleagues.insert({ city: 'Bonn', id: 2, name: 'Bob', salary: 7n })
    await assert.rejects(colleagues.insert({ city: 'Bonn', id: 1, name: 'Eva', salary: 1n }), {
      code: 'AlreadyExists',
    })
    const one = await people.get({ city: 'Bonn', id: 2 })
    assert(one?.type === 'Colleague')
    assert.equal(one.salary, 7n)
    assert.equal(await people.get({ city: 'Bonn', id: 3 }), undefined)
    const shown: unknown[] = []
    for await (const each of people.query({ city: 'Bonn' })) {
      if (each.type === 'Customer') shown.push([each.name, each.credit])
      else if (each.type === 'Colleague') shown.push([each.name, each.salary])
    }
    assert.deepEqual(shown, [
      ['Ada', 5],
      ['Bob', 7n],
    ])
    assert.deepEqual(
      await customers
        .query({ city: 'Bonn' }, { select: ['name'] })
        .toArray()
        .then((all) => all.length),
      1,
    )
    await assert.rejects(table.anyOf(Desk, Office).get({ department, office: 'A' }), {
      code: 'InvalidValue',
    })
  })
})

function companyOf(client: TableClient) {
  const table = openTable(client, { counts: [desksOfOffice] })
  return { offices: table.of(Office), desks: table.of(Desk) }
}

/** What it gave, or the code of its refusal. */
async function outcome<T>(work: Promise<T>): Promise<T | string> {
  return work.catch((error: unknown) => {
    if (isPatternsError(error)) return error.code
    throw error
  })
}

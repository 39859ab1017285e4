/** What follows an entity outside its partition: after any order of writes, deaths and sleeps it comes to be right. */
import { strict as assert } from 'node:assert'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isPatternsError, type RelayEvent, type RelayMeasurement } from '../../src/index.ts'
import {
  ahead,
  assertListed,
  assertShows,
  type Colleagues,
  fields,
  newColleagues,
  type Person,
} from '../support/colleagues.ts'
import { Died, newFaults } from '../support/faults.ts'
import { newGate } from '../support/gate.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'

const department = 'Sales'
const jones: Person = { department, id: 1, email: 'jones@x', name: 'Jones', age: 40 }
const smith: Person = { department, id: 2, email: 'smith@x', name: 'Smith' }
const cousin: Person = { department: 'HR', id: 1, email: 'cousin@x', name: 'Jones', age: 20 }

const hourMs = 3_600_000

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('a relay', () => {
  it('brings what was written to where it is looked for', async () => {
    const world = await newColleagues(service)
    const { people, relay } = world
    for (const each of [jones, smith, cousin]) await people.insert(each)
    assert.equal(await people.by('byEmail').get({ email: 'jones@x' }), undefined)
    assert.deepEqual(await relay.runOnce(), { partitions: 2, applied: 3, failed: 0, cleared: 0 })
    await assertShows(world, [jones, smith, cousin])
    assert.equal((await people.by('byEmail').get({ email: 'jones@x' }))?.id, 1)
    assert.deepEqual((await people.by('allNamesakes').get({ name: 'Jones' })).map(fields).toSorted(), [
      fields(cousin),
      fields(jones),
    ])
    await people.change(jones, (it) => it && { ...it, email: 'jj@x', name: 'Smith' })
    await people.remove(cousin)
    await relay.runOnce()
    await assertShows(world, [{ ...jones, email: 'jj@x', name: 'Smith' }, smith])
  })

  it('leaves a write alone that nothing elsewhere depends on', async () => {
    const { people, relay } = await newColleagues(service)
    await people.insert(jones)
    await relay.runOnce()
    await people.patch(jones, { remark: 'tall' })
    await people.change(jones, (it) => it && { ...it, remark: 'taller' })
    assert.equal(await relay.lag(), undefined)
  })

  it('says what is pending, for how long, and what it has done', async () => {
    const events: RelayEvent[] = []
    const measured: RelayMeasurement[] = []
    const world = await newColleagues(service)
    assert.equal(await world.relay.lag(), undefined)
    await world.people.insert(jones)
    await world.people.insert(cousin)
    const later = world.again(undefined, {
      clock: ahead(hourMs),
      observe: (event) => events.push(event),
      measure: (each) => measured.push(each),
    })
    const lag = await later.relay.lag()
    assert.equal(lag?.partitionKey, department)
    assert.equal(lag?.definition, 'Colleague')
    assert(lag !== undefined && lag.ms >= hourMs && lag.ms < hourMs + 60_000)
    await later.relay.runOnce()
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['applied', 'applied', 'ran'],
    )
    assert.deepEqual(
      measured.map(({ name }) => name),
      ['relay.lag.ms', 'relay.lag.ms', 'relay.run.ms', 'relay.applied', 'relay.failed'],
    )
    assert.equal(await later.relay.lag(), undefined)
  })

  it('runs until it is stopped, and can be started again', async () => {
    const world = await newColleagues(service)
    const { people, relay } = world.again(undefined, { pollMs: 1, pollMsMax: 20 })
    relay.start()
    relay.start()
    await people.insert(jones)
    await until(async () => (await people.by('byEmail').get({ email: 'jones@x' })) !== undefined)
    await relay.stop()
    await people.insert(smith)
    await pause(60)
    assert.equal(await people.by('byEmail').get({ email: 'smith@x' }), undefined)
    relay.start()
    await until(async () => (await people.by('byEmail').get({ email: 'smith@x' })) !== undefined)
    await relay.stop()
    await assertShows(world, [jones, smith])
  })

  it('goes on after trouble', async () => {
    const world = await newColleagues(service)
    const faults = newFaults()
    const { relay, errors } = world.again(faults, { pollMs: 1, pollMsMax: 5 })
    faults.dieAt(1, 'before')
    relay.start()
    await until(async () => errors.length > 0)
    await world.people.insert(jones)
    faults.heal()
    await until(async () => (await world.relay.lag()) === undefined)
    await relay.stop()
    await assertShows(world, [jones])
  })

  it('keeps an entry that it cannot see to, and does the others', async () => {
    const { table, people, relay, errors, again } = await newColleagues(service)
    await people.insert(jones)
    const stranger = table.relay([], {})
    assert.deepEqual(await stranger.runOnce(), { partitions: 1, applied: 0, failed: 1, cleared: 0 })
    await people.insert(smith)
    await table.dynamic.patch(
      { partitionKey: department, rowKey: 'empid_000001', etag: '*' },
      {
        name: { type: 'Int32', value: 5 },
      },
    )
    assert.deepEqual(await relay.runOnce(), { partitions: 1, applied: 1, failed: 1, cleared: 0 })
    assert(isPatternsError(errors[0], 'UnreadableRow'))
    await table.dynamic.patch(
      { partitionKey: department, rowKey: 'empid_000001', etag: '*' },
      {
        name: { type: 'String', value: 'Jones' },
      },
    )
    await relay.runOnce()
    await assertShows(again(), [jones, smith])
  })

  it('clears its marks away after the grace, and not before', async () => {
    const world = await newColleagues(service)
    const { people, relay, raw, again } = world
    await people.insert(jones)
    await people.insert(smith)
    await people.remove(jones)
    await people.change(smith, (it) => it && { ...it, email: 'other@x' })
    await relay.runOnce()
    const marks = async (): Promise<number> =>
      Object.values(await raw())
        .flat()
        .filter((row) => row['outboxGone'] === true).length
    assert.equal(await marks(), 4)
    await again(undefined, { clock: ahead(9 * 60_000) }).relay.runOnce()
    assert.equal(await marks(), 4)
    const late = again(undefined, { clock: ahead(hourMs) })
    assert.equal((await late.relay.runOnce()).cleared, 4)
    assert.equal(await marks(), 0)
    await assertShows(world, [{ ...smith, email: 'other@x' }])
    const { own, ages, names } = await raw()
    assert.equal(own.filter(({ rowKey }) => rowKey.startsWith('~outbox_clear_')).length, 0)
    assert.deepEqual([ages.length, names.length], [1, 1])
  })

  it('does not clear away what was shown again, nor a mark that is younger', async () => {
    const { people, relay, again, raw } = await newColleagues(service)
    await people.insert(jones)
    await people.remove(jones)
    await relay.runOnce()
    await people.insert(jones)
    await relay.runOnce()
    await again(undefined, { clock: ahead(hourMs) }).relay.runOnce()
    await assertShows(again(), [jones])
    await people.remove(jones)
    const early = again(undefined, { clock: ahead(-hourMs) })
    await early.relay.runOnce()
    assert.equal((await again(undefined, { clock: ahead(60_000) }).relay.runOnce()).cleared, 0)
    const rows = (await raw()).names
    assert.equal(rows.length, 1)
  })

  it('forgets a partition that has been quiet, and finds it again', async () => {
    const { people, relay, again, raw } = await newColleagues(service)
    const registered = async (): Promise<number> =>
      (await raw()).own.filter(({ partitionKey }) => partitionKey === '~outbox_partitions').length
    await people.insert(jones)
    await relay.runOnce()
    assert.equal(await registered(), 1)
    await again(undefined, { clock: ahead(hourMs) }).relay.runOnce()
    assert.equal(await registered(), 0)
    // This writer still trusts its registration: only one whose clock went wrong could meet this.
    await people.insert(smith)
    assert.equal((await relay.runOnce()).applied, 0)
    assert.equal(await relay.sweep(), 1)
    assert.equal((await relay.runOnce()).applied, 1)
    await assertShows(again(), [jones, smith])
  })

  it('does not forget a partition that has marks to be cleared away', async () => {
    const { people, relay, again, raw } = await newColleagues(service)
    await people.insert(jones)
    await people.remove(jones)
    await relay.runOnce()
    const registered = async (): Promise<number> =>
      (await raw()).own.filter(({ partitionKey }) => partitionKey === '~outbox_partitions').length
    await again(undefined, { clock: ahead(hourMs), graceMs: 2 * hourMs }).relay.runOnce()
    assert.equal(await registered(), 1)
    await again(undefined, { clock: ahead(hourMs) }).relay.runOnce()
    assert.equal(await registered(), 0)
  })
})

describe('a reader', () => {
  it('that verifies sees entities as they are, and none that have moved on', async () => {
    const { people, relay } = await newColleagues(service)
    for (const each of [jones, smith, cousin]) await people.insert(each)
    await relay.runOnce()
    await people.change(jones, (it) => it && { ...it, email: 'jj@x' })
    await people.change(smith, (it) => it && { ...it, age: 33, remark: 'new' })
    await people.remove(cousin)
    const byEmail = people.by('byEmail')
    assert.equal((await byEmail.get({ email: 'jones@x' }))?.id, 1)
    assert.equal(await byEmail.get({ email: 'jones@x' }, { verify: true }), undefined)
    assert.equal((await byEmail.get({ email: 'smith@x' }))?.age, undefined)
    const found = await byEmail.get({ email: 'smith@x' }, { verify: true })
    assert.equal(found?.remark, 'new')
    assert.equal(found?.etag, (await people.get(smith))?.etag)
    assert.equal((await byEmail.query({}).toArray()).length, 3)
    const verified = await byEmail.query({}, { verify: true }).toArray()
    assert.deepEqual(verified.map(fields), [fields({ ...smith, age: 33 })])
    assert.deepEqual(
      (await people.by('byAge').scan({ verify: true }).toArray()).map(({ name }) => name),
      ['Jones', 'Smith'],
    )
    const page = await people.by('byAge').scan({ verify: true }).page({ size: 1 })
    assert.equal(page.items.length, 1)
    const rest = await people.by('byAge').scan({ verify: true }).page({ size: 5, cursor: page.cursor })
    assert.equal(rest.items.length, 1)
  })

  it('of several types meets none of the rows that the library keeps for itself', async () => {
    const { table, people, relay } = await newColleagues(service)
    await people.insert(jones)
    await people.insert(smith)
    await relay.runOnce()
    await people.remove(smith)
    await relay.runOnce()
    await people.insert(cousin)
    const { Colleague, Department } = await import('../support/company.ts')
    const all = await table.anyOf(Colleague, Department).scan().toArray()
    assert.deepEqual(
      all.map(({ type }) => type),
      ['Colleague', 'Colleague'],
    )
  })
})

// ---------------------------------------------------------------- death and sleep

interface Scenario {
  readonly before: readonly Person[]
  run(world: Colleagues): Promise<unknown>
  readonly after: readonly Person[]
}

const moved = { ...jones, id: 9 }
const renamed = { ...jones, email: 'new@x', name: 'Smith' }
const scenarios: Readonly<Record<string, Scenario>> = {
  'an insert': { before: [smith], run: ({ people }) => people.insert(jones), after: [smith, jones] },
  'a change': {
    before: [jones, smith],
    run: ({ people }) => people.change(jones, (it) => it && { ...it, ...renamed }),
    after: [renamed, smith],
  },
  'a move': {
    before: [jones],
    run: ({ people }) => people.change(jones, (it) => it && { ...it, id: 9 }),
    after: [moved],
  },
  'a removal': { before: [jones, smith], run: ({ people }) => people.remove(jones), after: [smith] },
}

describe('a client that dies', () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    it(`during ${name} leaves all of it or nothing, and the relay brings the rest`, async () => {
      for (const moment of ['before', 'after'] as const) {
        await atEveryRequest(async (request) => {
          const world = await prepared(scenario)
          const faults = newFaults()
          faults.dieAt(request, moment)
          const error = await caught(scenario.run(world.again(faults)))
          assert(error === undefined || error instanceof Died || isPatternsError(error, 'OutcomeUnknown'))
          const own = (await world.people.scan().toArray()).map(fields).toSorted()
          const expected = [scenario.before, scenario.after].find(
            (each) => JSON.stringify(each.map(fields).toSorted()) === JSON.stringify(own),
          )
          assert(expected !== undefined, `neither before nor after: ${own.join()}`)
          await assertListed(world.people, expected)
          await world.relay.runOnce()
          await assertShows(world, expected)
          return faults.requests >= request
        })
      }
    })
  }
})

describe('a relay that dies', () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    it(`after ${name} has hidden nothing, and the next run brings the rest`, async () => {
      for (const moment of ['before', 'after'] as const) {
        await atEveryRequest(async (request) => {
          const world = await prepared(scenario)
          await scenario.run(world)
          const faults = newFaults()
          faults.dieAt(request, moment)
          await caught(world.again(faults).relay.runOnce())
          const met = faults.requests >= request
          // Whatever was done: verified readers see only what is, and what was there all the time is never missing.
          const seen = (await world.people.by('byEmail').query({}, { verify: true }).toArray()).map(fields)
          const now = scenario.after.map(fields)
          assert(seen.every((each) => now.includes(each)))
          const steady = now.filter((each) => scenario.before.map(fields).includes(each))
          assert(steady.every((each) => seen.includes(each)))
          await world.relay.runOnce()
          await assertShows(world, scenario.after)
          await world.again(undefined, { clock: ahead(hourMs) }).relay.runOnce()
          await assertShows(world, scenario.after)
          return met
        })
      }
    })
  }

  it('while it clears marks away leaves them for the next', async () => {
    for (const moment of ['before', 'after'] as const) {
      await atEveryRequest(async (request) => {
        const world = await newColleagues(service)
        await world.people.insert(jones)
        await world.people.remove(jones)
        await world.relay.runOnce()
        const faults = newFaults()
        faults.dieAt(request, moment)
        await caught(world.again(faults, { clock: ahead(hourMs) }).relay.runOnce())
        const met = faults.requests >= request
        await world.again(undefined, { clock: ahead(hourMs) }).relay.runOnce()
        const { own, ages, names } = await world.raw()
        assert.deepEqual(
          [own, ages, names].map(({ length }) => length),
          [0, 0, 0],
        )
        return met
      })
    }
  })
})

/** The second write and a whole run of another relay happen while the first relay sleeps. */
const twice: Readonly<
  Record<string, readonly [before: readonly Person[], ...((world: Colleagues) => Promise<unknown>)[]]>
> = {
  'comes and goes': [[], insert(jones), remove(jones)],
  'comes, is shown and goes': [[], insert(jones), shownThen(remove(jones))],
  'goes, is gone and comes': [[jones], remove(jones), shownThen(insert(jones))],
  'goes and comes': [[jones], remove(jones), insert(jones)],
  'changes to and fro': [[jones], put(renamed), put(jones)],
  'changes twice': [[jones], put(renamed), put({ ...jones, email: 'third@x', name: 'Third' })],
  'gives its value to another': [[jones], put(renamed), insert({ ...smith, email: jones.email })],
}

describe('a relay that sleeps while another does its work', () => {
  for (const [name, [start, first, second]] of Object.entries(twice)) {
    it(`brings nothing old back when an entity ${name}`, async () => {
      for (const moment of ['before', 'after'] as const) {
        await atEveryRequest(async (request) => {
          const world = await prepared({ before: start })
          await first?.(world)
          const gate = newGate(request, moment)
          const sleeper = world.again(gate).relay.runOnce()
          const met = await Promise.race([gate.asleep.then(() => true), sleeper.then(() => false)])
          await second?.(world)
          await world.relay.runOnce()
          gate.wake()
          await sleeper
          const own = await world.people.scan().toArray()
          await assertShows(world, own)
          return met
        })
      }
    })
  }

  it('or several at once, with writers among them, and all comes right', async () => {
    const world = await newColleagues(service)
    const relays = Array.from({ length: 3 }, () => world.again(undefined, { pollMs: 1, pollMsMax: 2 }).relay)
    for (const relay of relays) relay.start()
    await Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        const { people } = world.again()
        for (let step = 0; step < 8; step++) {
          const id = (writer + step) % 3
          const name = `n${step % 2}`
          if (step % 3 === 2) await people.remove({ department, id })
          else await people.upsert({ department, id, email: `${id}-${writer}-${step}@x`, name })
        }
      }),
    )
    await Promise.all(relays.map((relay) => relay.stop()))
    await world.relay.runOnce()
    await assertShows(world, await world.people.scan().toArray())
  })
})

// ---------------------------------------------------------------- any order of operations

type Command =
  | { readonly kind: 'upsert'; readonly person: Person }
  | { readonly kind: 'remove'; readonly department: string; readonly id: number }
  | { readonly kind: 'move'; readonly department: string; readonly id: number; readonly to: number }
  | { readonly kind: 'relay' | 'relay much later' }

const where = fc.constantFrom('Sales', 'HR')
const id = fc.nat(2)
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('upsert'),
    person: fc
      .record({
        department: where,
        id,
        email: fc.constantFrom('a', 'b/c'),
        name: fc.constantFrom('A', 'A 0000', ''),
        age: fc.option(fc.nat(1), { nil: undefined }),
      })
      // E-mails are unique, as this index asks for.
      .map((each) => ({ ...each, email: `${each.department}${each.id}${each.email}` })),
  }),
  fc.record({ kind: fc.constant('remove'), department: where, id }),
  fc.record({ kind: fc.constant('move'), department: where, id, to: id }),
  fc.record({ kind: fc.constantFrom('relay', 'relay much later') }),
)

describe('any order of operations', () => {
  it('comes to what a model shows after every run; lists in the partition do at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 12 }), async (commands) => {
        const world = await newColleagues(service)
        // After the grace, but while writers still trust their registrations.
        const later = world.again(undefined, { clock: ahead(12 * 60_000) })
        const model = new Map<string, Person>()
        for (const each of [...commands, { kind: 'relay' } as const]) {
          await perform(each, world, later, model)
          const expected = [...model.values()]
          await assertListed(world.people, expected)
          if (each.kind === 'relay' || each.kind === 'relay much later') await assertShows(world, expected)
          const now = expected.map(fields)
          const seen = await world.people.by('byEmail').query({}, { verify: true }).toArray()
          assert(seen.map(fields).every((one) => now.includes(one)))
        }
      }),
      { numRuns: runs(25) },
    )
  })
})

async function perform(
  each: Command,
  { people, relay }: Colleagues,
  later: Colleagues,
  model: Map<string, Person>,
): Promise<void> {
  switch (each.kind) {
    case 'upsert':
      await people.upsert(each.person)
      model.set(nameOf(each.person), each.person)
      return
    case 'remove':
      await people.remove({ department: each.department, id: each.id })
      model.delete(nameOf(each))
      return
    case 'move': {
      const current = model.get(nameOf(each))
      const target = { ...each, id: each.to }
      if (current === undefined || model.has(nameOf(target))) return
      // It takes an e-mail of its new number, because the old number may come again with the old one.
      const changed = { id: each.to, email: `${each.department}${each.to}moved` }
      const next = { ...current, ...changed }
      await people.change(current, (it) => it && { ...it, ...changed })
      model.delete(nameOf(each))
      model.set(nameOf(target), next)
      return
    }
    case 'relay':
      await relay.runOnce()
      return
    case 'relay much later':
      await relay.runOnce()
      await later.relay.runOnce()
      return
  }
}

function nameOf({
  department: of,
  id: number,
}: {
  readonly department: string
  readonly id: number
}): string {
  return `${of}/${number}`
}

// ---------------------------------------------------------------- support

async function prepared({ before: start }: Pick<Scenario, 'before'>): Promise<Colleagues> {
  const world = await newColleagues(service)
  for (const each of start) await world.people.insert(each)
  await world.relay.runOnce()
  return world
}

/** The other relay has done its work before the write as well as after it. */
function shownThen(write: (world: Colleagues) => Promise<unknown>) {
  return async (world: Colleagues): Promise<void> => {
    await world.relay.runOnce()
    await write(world)
  }
}

function insert(person: Person) {
  return ({ people }: Colleagues) => people.insert(person)
}

function put(person: Person) {
  return ({ people }: Colleagues) => people.upsert(person)
}

function remove(person: Person) {
  return ({ people }: Colleagues) => people.remove(person)
}

/** Until the request that the test waits for is no longer met. */
async function atEveryRequest(run: (request: number) => Promise<boolean>): Promise<void> {
  for (let request = 1; await run(request); request++) assert(request < 100, 'it never ends')
}

async function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    assert(tries < 1000, 'it never comes to be')
    await pause(5)
  }
}

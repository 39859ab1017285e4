/** An index always shows what the entities show: after every operation, after a death at any request, after lost answers. */
import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { type EntityTable, isPatternsError, openTable, type Write } from '../../src/index.ts'
import { Employee } from '../support/company.ts'
import { Died, newFaults } from '../support/faults.ts'
import { runs } from '../support/runs.ts'
import { startTestService, type TestService } from '../support/service.ts'

type Staff = EntityTable<typeof Employee>
type Person = Write<typeof Employee>

const department = 'Sales'
const jones: Person = { department, id: 1, email: 'jones@x', name: 'Jones', age: 40 }
const smith: Person = { department, id: 2, email: 'smith@x', name: 'Smith' }

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

describe('an index', () => {
  it('is read by its value, in its order, and by the beginning of its value', async () => {
    const staff = openTable(await service.newTable()).of(Employee)
    for (const [id, name] of ['Jones', 'Smith', 'Jones', 'Adams'].entries()) {
      await staff.insert({ department, id, email: `${name}${id}@x`.toLowerCase(), name })
    }
    const byEmail = staff.by('byEmail')
    assert.equal((await byEmail.get({ department, email: 'jones2@x' }))?.id, 2)
    assert.equal(await byEmail.get({ department, email: 'nobody@x' }), undefined)
    const emails = await byEmail.query({ department }, { startsWith: { email: 'jones' } }).toArray()
    assert.deepEqual(
      emails.map(({ email }) => email),
      ['jones0@x', 'jones2@x'],
    )
    const range = await byEmail
      .query({ department }, { from: { email: 'b' }, until: { email: 'jones1' } })
      .toArray()
    assert.deepEqual(
      range.map(({ email }) => email),
      ['jones0@x'],
    )
    const named = await staff
      .by('byName')
      .query({ department }, { prefix: { name: 'Jones' } })
      .toArray()
    assert.deepEqual(
      named.map(({ id, email }) => [id, email]),
      [
        [0, 'jones0@x'],
        [2, 'jones2@x'],
      ],
    )
    const inOrder = await staff.by('byName').query({ department }).toArray()
    assert.deepEqual(
      inOrder.map(({ name }) => name),
      ['Adams', 'Jones', 'Jones', 'Smith'],
    )
    const filtered = await byEmail.query({ department }, { where: (it) => it.name.eq('Smith') }).toArray()
    assert.deepEqual(
      filtered.map(({ id }) => id),
      [1],
    )
  })

  it('keeps its values unique, and says which index refused', async () => {
    const staff = openTable(await service.newTable()).of(Employee)
    await staff.insert(jones)
    const twin = staff.insert({ ...smith, email: jones.email })
    await assert.rejects(twin, {
      code: 'AlreadyExists',
      message: /^Employee\.byEmail at \(Sales, email_jones@x\)/,
    })
    await staff.insert(smith)
    const taken = staff.change(smith, (it) => it && { ...it, email: jones.email })
    await assert.rejects(taken, { code: 'AlreadyExists', message: /^Employee\.byEmail/ })
    await assertShows(staff, [jones, smith])
  })

  it('shows what a model shows, after every step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 14 }), async (commands) => {
        const staff = openTable(await service.newTable()).of(Employee)
        const model = new Map<number, Person>()
        for (const each of commands) {
          const expected = predict(each, model)
          assert.equal(await attempt(() => perform(staff, each)), expected, JSON.stringify(each))
          await assertShows(staff, [...model.values()])
        }
      }),
      { numRuns: runs(25) },
    )
  })

  it('stays whole while many write at once', async () => {
    const client = await service.newTable()
    const writers = Array.from({ length: 4 }, () =>
      openTable(service.clientOf(client.tableName)).of(Employee),
    )
    const model = new Map<number, Person>()
    await Promise.all(
      writers.map(async (staff, writer) => {
        for (let step = 0; step < 6; step++) {
          const id = (writer + step) % 3
          const next = { department, id, email: `${id}-${writer}-${step}@x`, name: `n${step}` }
          if (step % 3 === 2) await staff.remove({ department, id })
          else await staff.upsert(next)
        }
      }),
    )
    const staff = writers[0] as Staff
    for (const entity of await staff.query({ department }).toArray()) model.set(entity.id, entity)
    await assertShows(staff, [...model.values()])
  })
})

const scenarios: Readonly<
  Record<string, { readonly after: readonly Person[]; run(staff: Staff): Promise<unknown> }>
> = {
  'an insert': { after: [jones, smith], run: (staff) => staff.insert(smith) },
  'an upsert': {
    after: [{ ...jones, email: 'new@x' }],
    run: (staff) => staff.upsert({ ...jones, email: 'new@x' }),
  },
  'a change': {
    after: [{ ...jones, name: 'Mrs Jones', age: 41 }],
    run: (staff) => staff.change(jones, (it) => it && { ...it, name: 'Mrs Jones', age: (it.age ?? 0) + 1 }),
  },
  'a move': {
    after: [{ ...jones, id: 9 }],
    run: (staff) => staff.change(jones, (it) => it && { ...it, id: 9 }),
  },
  'a removal': { after: [], run: (staff) => staff.remove(jones) },
}

describe('a client that dies', () => {
  for (const [name, { after: done, run }] of Object.entries(scenarios)) {
    it(`during ${name} leaves all of it or nothing, and another can go on`, async () => {
      for (const moment of ['before', 'after'] as const) {
        for (let request = 1; ; request++) {
          const faults = newFaults()
          const { tableName } = await service.newTable()
          const healthy = openTable(service.clientOf(tableName)).of(Employee)
          await healthy.insert(jones)
          faults.dieAt(request, moment)
          const dying = openTable(service.clientOf(tableName, faults)).of(Employee)
          const error = await run(dying).then(
            () => undefined,
            (thrown: unknown) => thrown,
          )
          if (error === undefined) {
            assert(request > 1, 'the fault was never met')
            await assertShows(healthy, done)
            break
          }
          assert(error instanceof Died || isPatternsError(error, 'OutcomeUnknown'), inspect(error))
          await assertShowsEither(healthy, [jones], done)
          await healthy.upsert({ ...jones, email: 'again@x' })
          await healthy.remove({ department, id: 9 })
          await healthy.remove(smith)
          await assertShows(healthy, [{ ...jones, email: 'again@x' }])
        }
      }
    })
  }
})

describe('an answer that is lost', () => {
  for (const [name, { after: done, run }] of Object.entries(scenarios)) {
    for (const how of ['connection', 'busy'] as const) {
      it(`during ${name} (${how}) does not make it fail, nor happen twice`, async () => {
        for (const moment of ['before', 'after'] as const) {
          for (let request = 1; ; request++) {
            const faults = newFaults()
            const { tableName } = await service.newTable()
            const healthy = openTable(service.clientOf(tableName)).of(Employee)
            await healthy.insert(jones)
            faults.loseAt(request, moment, how)
            await run(openTable(service.clientOf(tableName, faults)).of(Employee))
            await assertShows(healthy, done)
            if (faults.requests >= request) continue
            assert(request > 1, 'the fault was never met')
            break
          }
        }
      })
    }
  }
})

// ---------------------------------------------------------------- the model

type Command =
  | { readonly kind: 'insert' | 'upsert' | 'upsertMerge' | 'replace'; readonly entity: Person }
  | { readonly kind: 'change'; readonly id: number; readonly entity: Person }
  | { readonly kind: 'remove'; readonly id: number }

const id = fc.nat(3)
const entity: fc.Arbitrary<Person> = fc
  .record({
    id,
    email: fc.constantFrom('a', 'b', 'c/d', 'e f'),
    name: fc.constantFrom('A', 'A B', ''),
    age: fc.option(fc.nat(2), { nil: undefined }),
  })
  .map((fields) => ({ department, ...fields }))
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constantFrom('insert', 'upsert', 'upsertMerge', 'replace'), entity }),
  fc.record({ kind: fc.constant('change'), id, entity }),
  fc.record({ kind: fc.constant('remove'), id }),
)

/** Changes the model, and says how the operation must end. */
function predict(each: Command, model: Map<number, Person>): string {
  if (each.kind === 'remove') return model.delete(each.id) ? 'done' : 'done'
  const own = each.kind === 'change' ? each.id : each.entity.id
  const current = model.get(own)
  if (each.kind === 'insert' && current !== undefined) return 'AlreadyExists'
  if (each.kind === 'replace' && current === undefined) return 'NotFound'
  if (each.kind === 'change' && current === undefined) return 'done'
  const others = [...model.values()].filter((other) => other !== current)
  if (others.some((other) => other.email === each.entity.email || other.id === each.entity.id))
    return 'AlreadyExists'
  const { age, ...rest } = each.entity
  const kept = each.kind === 'upsertMerge' ? (age ?? current?.age) : age
  model.delete(own)
  model.set(each.entity.id, { ...rest, ...(kept !== undefined && { age: kept }) })
  return 'done'
}

function perform(staff: Staff, each: Command): Promise<unknown> {
  switch (each.kind) {
    case 'insert':
      return staff.insert(each.entity)
    case 'upsert':
      return staff.upsert(each.entity)
    case 'upsertMerge':
      return staff.upsertMerge(each.entity)
    case 'replace':
      return staff.replace(each.entity, { etag: '*' })
    case 'change':
      return staff.change({ department, id: each.id }, (it) => it && each.entity)
    case 'remove':
      return staff.remove({ department, id: each.id })
  }
}

async function attempt(run: () => Promise<unknown>): Promise<string> {
  try {
    await run()
    return 'done'
  } catch (error) {
    if (isPatternsError(error)) return error.code
    throw error
  }
}

async function assertShowsEither(
  staff: Staff,
  one: readonly Person[],
  other: readonly Person[],
): Promise<void> {
  const shown = await staff.query({ department }).toArray()
  const emails = shown.map(({ email, name }) => `${email} ${name}`)
  const isOne =
    one.every(({ email, name }) => emails.includes(`${email} ${name}`)) && shown.length === one.length
  await assertShows(staff, isOne && shown[0]?.id === one[0]?.id ? one : other)
}

/** The entities, and each index, hold exactly these: no copy is missing, left over or different. */
async function assertShows(staff: Staff, people: readonly Person[]): Promise<void> {
  const [own, byEmail, byName] = await Promise.all([
    staff.query({ department }).toArray(),
    staff.by('byEmail').query({ department }).toArray(),
    staff.by('byName').query({ department }).toArray(),
  ])
  const expected = people.toSorted((a, b) => a.id - b.id).map(fields)
  assert.deepEqual(own.map(fields), expected)
  assert.deepEqual(byEmail.toSorted((a, b) => a.id - b.id).map(fields), expected)
  assert.deepEqual(
    byName.toSorted((a, b) => a.id - b.id).map((copy) => [copy.id, copy.name, copy.email]),
    expected.map((each) => [each[0], each[1], each[2]]),
  )
}

function fields({ id: number, name, email, age }: Person): readonly (string | number | undefined)[] {
  return [number, name, email, age]
}

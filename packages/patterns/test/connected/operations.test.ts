/** Every operation against a real service, whose pages are short and odd. */
import { strict as assert } from 'node:assert'
import { after, before, beforeEach, describe, it } from 'node:test'
import {
  and,
  digits,
  entity,
  type EntityTable,
  insert,
  Instant,
  int32,
  isPatternsError,
  key,
  openTable,
  parallel,
  patch,
  remove,
  type Reading,
  string,
  type Table,
  text,
} from '../../src/index.ts'
import { AllTypes, Claim, Department, Employee, Member, Review, Session, Signin } from '../support/company.ts'
import { stepBytes } from '../../src/write/plan.ts'
import { newFaults } from '../support/faults.ts'
import { startTestService, type TestService } from '../support/service.ts'

const sales = { department: 'Sales', title: 'All sales', staff: 3 }
const jones = { department: 'Sales', id: 223, email: 'jonesj@contoso.com', name: 'Jones' }
function plain<T extends { etag: string; timestamp: Instant }>(stored: T): Omit<T, 'etag' | 'timestamp'> {
  const { etag, timestamp, ...rest } = stored
  assert(etag !== '' && timestamp instanceof Instant)
  return rest
}

let service: TestService
let table: Table
before(async () => {
  service = await startTestService()
})
after(() => service.close())
beforeEach(async () => {
  table = openTable(await service.newTable())
})

describe('one entity', () => {
  it('comes back exactly, whatever its types', async () => {
    const types = table.of(AllTypes)
    const everything = {
      group: 'a/b#c?d\\e f~é😀',
      id: 7,
      text: "it's \u0001 'so'",
      flag: false,
      small: -(2 ** 31),
      large: -(2n ** 63n),
      real: 5,
      at: Instant.parse('2026-11-15T12:00:00.0000001Z'),
      guid: '0f0e0d0c-0000-4000-8000-000000000001',
      bytes: Uint8Array.from([0, 1, 255]),
    }
    await types.insert(everything)
    const read = await types.get(everything)
    assert.deepEqual(read && plain(read), everything)
    for (const real of [0.1, 1e300, 2 ** 53, NaN, Infinity, -Infinity]) {
      await types.upsert({ ...everything, real })
      assert.equal((await types.get(everything))?.real, real)
    }
    const at = new Date('2026-11-15T12:00:00.123Z')
    await types.upsert({ group: 'g', id: 1, at })
    assert.deepEqual((await types.get({ group: 'g', id: 1 }))?.at, Instant.from(at))
    assert.deepEqual(plain((await types.get({ group: 'g', id: 1 })) as never), {
      group: 'g',
      id: 1,
      at: Instant.from(at),
    })
  })

  it('is inserted once', async () => {
    const departments = table.of(Department)
    const { etag } = await departments.insert(sales)
    assert.equal((await departments.get(sales))?.etag, etag)
    await assert.rejects(departments.insert(sales), { code: 'AlreadyExists' })
    assert.equal(await departments.get({ department: 'HR' }), undefined)
  })

  it('is replaced and patched only if it is there, and as it was', async () => {
    const reviews = table.of(Review)
    const review = { department: 'Sales', employee: 1, year: 2026, rating: 3, remark: 'good' }
    await assert.rejects(reviews.replace(review, { etag: '*' }), { code: 'NotFound' })
    await assert.rejects(reviews.patch(review, { rating: 1 }), { code: 'NotFound' })
    const first = await reviews.insert(review)
    const second = await reviews.patch(review, { rating: 4.5 })
    await assert.rejects(reviews.patch(review, { rating: 1 }, { etag: first.etag as string }), {
      code: 'Changed',
    })
    assert.deepEqual(plain((await reviews.get(review)) as never), { ...review, rating: 4.5 })
    const { remark: _, ...rest } = review
    await assert.rejects(reviews.replace(rest, { etag: first.etag as string }), { code: 'Changed' })
    await reviews.replace(rest, { etag: second.etag as string })
    assert.deepEqual(plain((await reviews.get(review)) as never), rest)
  })

  it('is upserted in two ways', async () => {
    const reviews = table.of(Review)
    const review = { department: 'Sales', employee: 1, year: 2026, rating: 3 }
    await reviews.upsertMerge({ ...review, remark: 'good' })
    await reviews.upsertMerge({ ...review, rating: 4 })
    assert.deepEqual(plain((await reviews.get(review)) as never), { ...review, rating: 4, remark: 'good' })
    await reviews.upsert(review)
    assert.deepEqual(plain((await reviews.get(review)) as never), review)
  })

  it('is removed, and the caller is told whether it was there', async () => {
    const departments = table.of(Department)
    const { etag } = await departments.insert(sales)
    await departments.patch(sales, { staff: 4 })
    await assert.rejects(departments.remove(sales, { etag: etag as string }), { code: 'Changed' })
    assert.equal(await departments.remove(sales), true)
    assert.equal(await departments.remove(sales), false)
  })

  it('is read in part', async () => {
    const reviews = table.of(Review)
    await reviews.insert({ department: 'Sales', employee: 1, year: 2026, rating: 3, remark: 'good' })
    const read = await reviews.get(
      { department: 'Sales', employee: 1, year: 2026 },
      { select: ['rating', 'year'] },
    )
    assert.deepEqual(read && plain(read), { rating: 3, year: 2026 })
  })

  it('can live under a hash of its key', async () => {
    const sessions = table.of(Session)
    await sessions.insert({ token: 'x', user: 'jones' })
    assert.deepEqual(plain((await sessions.get({ token: 'x' })) as never), { token: 'x', user: 'jones' })
    assert.equal(await sessions.get({ token: 'y' }), undefined)
  })
})

describe('change', () => {
  it('loses no update when many change at once', async () => {
    const departments = table.of(Department)
    await departments.insert({ ...sales, staff: 0 })
    const results = await Promise.all(
      Array.from({ length: 16 }, () =>
        departments.change(sales, (it) => it && { ...it, staff: it.staff + 1 }),
      ),
    )
    assert.equal((await departments.get(sales))?.staff, 16)
    assert(results.some(({ attempts }) => attempts > 1))
  })

  it('may make the first, and may end in none', async () => {
    const departments = table.of(Department)
    await Promise.all(
      Array.from({ length: 6 }, () =>
        departments.change(sales, (it) => ({ ...sales, staff: (it?.staff ?? 0) + 1 })),
      ),
    )
    assert.equal((await departments.get(sales))?.staff, 6)
    await departments.change(sales, () => undefined)
    assert.equal(await departments.get(sales), undefined)
    assert.deepEqual(await departments.change(sales, () => undefined), { etag: undefined, attempts: 1 })
  })

  it('gives up after as many conflicts as it was told', async () => {
    const client = await service.newTable()
    const departments = openTable(client, { backoff: { attemptsMax: 3, firstMs: 0 } }).of(Department)
    await departments.insert(sales)
    let computed = 0
    const meddled = departments.change(sales, async (it) => {
      computed += 1
      await departments.patch(sales, { title: `meddled ${computed}` })
      return it && { ...it, staff: 9 }
    })
    await assert.rejects(meddled, { code: 'Changed' })
    assert.equal(computed, 3)
  })

  it('does not try again what another write could not have caused', async () => {
    const employees = table.of(Employee)
    await employees.insert(jones)
    let computed = 0
    const twin = employees.change({ ...jones, id: 224 }, () => {
      computed += 1
      return { ...jones, id: 224 }
    })
    await assert.rejects(twin, { code: 'AlreadyExists', message: /^Employee\.byEmail/ })
    assert.equal(computed, 1)
  })

  it('keeps what others have put into the row', async () => {
    const client = await service.newTable()
    const members = openTable(client).of(Member)
    const member = { club: 'c', id: 1, nick: 'n' }
    await members.insert(member)
    await client.updateEntity({ partitionKey: 'c', rowKey: 'id_000001', stripes: 12 })
    const stripes = async (row = 'id_000001') => (await client.getEntity('c', row))['stripes']
    await members.change(member, (it) => it && { ...it, nick: 'm' })
    assert.equal(await stripes(), 12)
    await members.upsertMerge({ ...member, points: 5 })
    assert.equal(await stripes(), 12)
    await members.change(member, (it) => it && { ...it, id: 2 })
    assert.equal(await stripes('id_000002'), 12)
    await members.replace({ ...member, id: 2 }, { etag: '*' })
    assert.equal(await stripes('id_000002'), undefined)
  })

  it('moves an entity to another key of its partition', async () => {
    const reviews = table.of(Review)
    const review = { department: 'Sales', employee: 1, year: 2025, rating: 3 }
    await reviews.insert(review)
    const { etag } = await reviews.change(review, (it) => it && { ...it, year: 2026 })
    assert.equal(await reviews.get(review), undefined)
    assert.equal((await reviews.get({ ...review, year: 2026 }))?.etag, etag)
  })
})

describe('a lost answer to one request', () => {
  const writes: Readonly<
    Record<string, (of: EntityTable<typeof Department>, etag: string) => Promise<unknown>>
  > = {
    'an insert': (of) => of.insert({ ...sales, department: 'HR' }),
    'a replace under an ETag': (of, etag) => of.replace({ ...sales, staff: 4 }, { etag }),
    'a patch under an ETag': (of, etag) => of.patch(sales, { staff: 4 }, { etag }),
    'a blind patch': (of) => of.patch(sales, { staff: 4 }),
    'an upsert': (of) => of.upsert({ ...sales, staff: 4 }),
    'a removal under an ETag': async (of, etag) => assert.equal(await of.remove(sales, { etag }), true),
    'a change': async (of) => {
      const { attempts } = await of.change(sales, (it) => it && { ...it, staff: it.staff + 1 })
      assert.equal(attempts, 1)
    },
  }
  for (const [name, run] of Object.entries(writes)) {
    it(`does not make ${name} fail, nor happen twice`, async () => {
      const states: object[] = []
      for (const fault of ['none', 'connection', 'busy'] as const) {
        const faults = newFaults()
        const client = await service.newTable(faults)
        const departments = openTable(client).of(Department)
        const { etag } = await departments.insert(sales)
        if (fault !== 'none') faults.loseAt(name === 'a change' ? 2 : 1, 'after', fault)
        await run(departments, etag as string)
        if (fault !== 'none') assert(faults.requests > 1)
        states.push((await departments.scan().toArray()).map(plain))
      }
      assert.deepEqual(states[1], states[0])
      assert.deepEqual(states[2], states[0])
    })
  }

  it('is no excuse: a conflict with another stays one', async () => {
    const faults = newFaults()
    const departments = openTable(await service.newTable(faults)).of(Department)
    const { etag } = await departments.insert(sales)
    faults.loseAt(1, 'before')
    await assert.rejects(departments.insert({ ...sales, staff: 9 }), { code: 'AlreadyExists' })
    await departments.patch(sales, { staff: 5 })
    faults.loseAt(1, 'before')
    await assert.rejects(departments.replace({ ...sales, staff: 9 }, { etag: etag as string }), {
      code: 'OutcomeUnknown',
    })
    assert.equal((await departments.get(sales))?.staff, 5)
  })
})

describe('a transaction', () => {
  it('writes all of its intents, of several types', async () => {
    const first = await table.transaction([insert(Department, sales), insert(Employee, jones)])
    assert.equal((await table.of(Department).get(sales))?.etag, first[0]?.etag)
    assert.equal((await table.of(Employee).get(jones))?.etag, first[1]?.etag)
    const second = await table.transaction([
      patch(Department, sales, { staff: 4 }, { etag: first[0]?.etag as string }),
      remove(Employee, jones),
    ])
    assert.equal(second[1]?.etag, undefined)
    assert.equal((await table.of(Department).get(sales))?.staff, 4)
    assert.equal(await table.of(Employee).get(jones), undefined)
  })

  it('or none of them', async () => {
    await table.of(Department).insert(sales)
    const failed = table.transaction([insert(Employee, jones), insert(Department, sales)])
    await assert.rejects(failed, { code: 'AlreadyExists', message: /^Department at \(Sales, dept\)/ })
    assert.deepEqual(
      await table
        .anyOf(Department, Employee)
        .query({ department: 'Sales' })
        .toArray()
        .then((all) => all.length),
      1,
    )
  })

  it('deletes under an ETag, which the client itself cannot do in a transaction', async () => {
    const employees = table.of(Employee)
    const { etag } = await employees.insert(jones)
    await employees.change(jones, (it) => it && { ...it, age: 40 })
    await assert.rejects(employees.remove(jones, { etag: etag as string }), { code: 'Changed' })
    const tricky = { ...jones, department: "O'Neill's / 100%", id: 5, email: "o'b+c%20@x", name: "O'B" }
    const current = await employees.insert(tricky)
    assert.equal(await employees.remove(tricky, { etag: current.etag as string }), true)
    assert.equal(await employees.query({ department: tricky.department }).first(), undefined)
    assert.equal((await employees.get(jones))?.age, 40)
  })

  it('is never larger than it was reckoned to be', async () => {
    const bodies: number[] = []
    const client = await service.newTable()
    client.pipeline.addPolicy(
      {
        name: 'testBodies',
        sendRequest(request, next) {
          if (typeof request.body === 'string') bodies.push(Buffer.byteLength(request.body))
          return next(request)
        },
      },
      { phase: 'Sign' },
    )
    let reckoned = 0
    const noted = openTable(client, {
      onCommit: (steps) => {
        reckoned = steps.reduce((sum, step) => sum + stepBytes(step), 0)
      },
    })
    for (const remark of ['', 'x'.repeat(30_000), '\u0001"\\é😀'.repeat(2000)]) {
      const department = `O'Neill / ${'é%'.repeat(50)}`
      const all = [1, 2, 3].map((employee) => ({ department, employee, year: 2026, rating: 0.1, remark }))
      await noted.transaction(all.map((review) => insert(Review, review)))
      assert(reckoned >= (bodies.at(-1) ?? Infinity), `${reckoned} < ${bodies.at(-1)}`)
      assert(reckoned < (bodies.at(-1) ?? 0) + 3 * 1500, `${reckoned} is far above ${bodies.at(-1)}`)
      await noted.transaction(all.map((review) => remove(Review, review)))
      assert(reckoned >= (bodies.at(-1) ?? Infinity), `${reckoned} < ${bodies.at(-1)}`)
    }
  })

  it('is refused before sending what no transaction can do', async () => {
    const many = Array.from({ length: 34 }, (_, id) =>
      insert(Employee, { ...jones, id, email: `${id}`, name: 'n' }),
    )
    await assert.rejects(table.transaction(many), { code: 'LimitExceeded', message: /102 steps/ })
    assert.equal(await table.of(Employee).scan().first(), undefined)
  })
})

describe('a reading', () => {
  const reviewsOf = (employee: number, years: number) =>
    Array.from({ length: years }, (_, index) => ({
      department: 'Sales',
      employee,
      year: 2000 + index,
      rating: index / 2,
      ...(index % 3 === 0 && { remark: `remark ${index}` }),
    }))
  const years = async (reading: Reading<{ year: number }>) =>
    (await reading.toArray()).map(({ year }) => year)

  beforeEach(async () => {
    const all = [...reviewsOf(122, 3), ...reviewsOf(123, 40), ...reviewsOf(124, 3)]
    await table.transaction(all.map((review) => insert(Review, review)))
    await table.of(Employee).insert(jones)
  })

  it('gives the rows of its own type, by leading parts and by ranges', async () => {
    const reviews = table.of(Review)
    const whole = await reviews.query({ department: 'Sales' }).toArray()
    assert.equal(whole.length, 46)
    assert.deepEqual(plain(whole[3] as never), {
      department: 'Sales',
      employee: 123,
      year: 2000,
      rating: 0,
      remark: 'remark 0',
    })
    assert.equal(
      (await reviews.query({ department: 'Sales' }, { prefix: { employee: 123 } }).toArray()).length,
      40,
    )
    const range = { from: { employee: 123, year: 2010 }, until: { employee: 123, year: 2013 } }
    assert.deepEqual(await years(reviews.query({ department: 'Sales' }, range)), [2010, 2011, 2012])
    const open = { prefix: { employee: 123 }, from: { employee: 123, year: 2038 } }
    assert.deepEqual(await years(reviews.query({ department: 'Sales' }, open)), [2038, 2039])
    assert.deepEqual(await reviews.query({ department: 'HR' }).toArray(), [])
    assert.equal((await reviews.scan().toArray()).length, 46)
  })

  it('filters, selects, and takes so many in all', async () => {
    const reviews = table.of(Review)
    const found = reviews.query(
      { department: 'Sales' },
      {
        where: (it) => and(it.rating.ge(1), it.remark.startsWith('remark')),
        select: ['year', 'rating'],
        take: 5,
      },
    )
    assert.deepEqual((await found.toArray()).map(plain), [
      { year: 2003, rating: 1.5 },
      { year: 2006, rating: 3 },
      { year: 2009, rating: 4.5 },
      { year: 2012, rating: 6 },
      { year: 2015, rating: 7.5 },
    ])
    assert.deepEqual(await reviews.query({ department: 'Sales' }, { take: 0 }).toArray(), [])
  })

  it('is taken page by page, from a cursor that was stored', async () => {
    const seen: number[] = []
    let cursor: string | undefined
    do {
      // A new table each time, as another process would have it.
      const reviews = openTable(service.clientOf(table.name)).of(Review)
      const asked = reviews.query(
        { department: 'Sales' },
        { prefix: { employee: 123 }, where: (it) => it.rating.ge(5) },
      )
      const page = await asked.page({ size: 7, cursor })
      seen.push(...page.items.map(({ year }) => year))
      assert(page.items.length === 7 || page.cursor === undefined)
      cursor = page.cursor
    } while (cursor !== undefined)
    assert.deepEqual(
      seen,
      Array.from({ length: 30 }, (_, index) => 2010 + index),
    )
  })

  it('refuses a cursor of another query', async () => {
    const reviews = table.of(Review)
    const { cursor } = await reviews.query({ department: 'Sales' }).page({ size: 1 })
    assert(cursor !== undefined)
    for (const wrong of [cursor, 'nonsense', '']) {
      const page = reviews.query({ department: 'HR' }).page({ size: 1, cursor: wrong })
      await assert.rejects(page, { code: 'InvalidCursor' })
    }
  })

  it('runs beside others, merged in order or as they come', async () => {
    const reviews = table.of(Review)
    const each = [122, 123, 124].map((employee) =>
      reviews.query({ department: 'Sales' }, { prefix: { employee } }),
    )
    const byYear = { order: (a: { year: number }, b: { year: number }) => a.year - b.year, take: 12 }
    const merged = await collect(parallel(each, byYear))
    assert.deepEqual(
      merged.map(({ year }) => year),
      [2000, 2000, 2000, 2001, 2001, 2001, 2002, 2002, 2002, 2003, 2004, 2005],
    )
    assert.equal((await collect(parallel(each, { concurrency: 2 }))).length, 46)
    const inOrder = await collect(parallel(each, { order: 'key', concurrency: 1 }))
    assert.deepEqual(
      inOrder.map(({ employee }) => employee),
      inOrder.map(({ employee }) => employee).toSorted((a, b) => a - b),
    )
  })
})

describe('latest', () => {
  it('gives the newest first, also those of one tick', async () => {
    const claims = table.of(Claim)
    const at = (second: number) =>
      Instant.parse(`2026-11-15T12:00:${String(second).padStart(2, '0')}.1234567Z`)
    for (const second of [5, 59, 0, 30, 30])
      await claims.insert({ office: 'a', at: at(second), amount: BigInt(second) })
    await claims.insert({ office: 'b', at: at(7), amount: 7n })
    const newest = await claims.latest({ office: 'a' }, 4)
    assert.deepEqual(
      newest.map(({ amount }) => amount),
      [59n, 30n, 30n, 5n],
    )
    assert.deepEqual(newest[0]?.at, at(59))
    await assert.rejects(table.of(Review).latest({ department: 'Sales' }, 1), { code: 'InvalidDefinition' })
  })
})

describe('a spread key', () => {
  it('is read over all its partitions in order, page by page too', async () => {
    const signins = table.of(Signin)
    const start = Instant.parse('2026-11-15T12:00:00Z').ticks
    const all = Array.from({ length: 60 }, (_, index) => ({
      user: `user${index % 13}`,
      at: Instant.ofTicks(start + BigInt(index >> 1)),
      address: `10.0.0.${index}`,
    }))
    for await (const result of signins.load(all)) assert.equal(result.error, undefined)
    const read = await signins.query({}).toArray()
    const sorted = all.toSorted((a, b) =>
      a.at.ticks === b.at.ticks ? (a.user < b.user ? -1 : 1) : a.at.ticks < b.at.ticks ? -1 : 1,
    )
    assert.deepEqual(read.map(plain), sorted)
    const paged: object[] = []
    let cursor: string | undefined
    do {
      const page = await signins.query({}, { take: 50 }).page({ size: 7, cursor })
      paged.push(...page.items.map(plain))
      cursor = page.cursor
    } while (cursor !== undefined)
    assert.deepEqual(paged, sorted.slice(0, 50))
    const mine = await signins
      .query({ user: 'user3' }, { where: (it) => it.address.startsWith('10.') })
      .toArray()
    assert(mine.length > 0 && mine.length < 60)
  })
})

describe('load', () => {
  it('writes many partitions, with a result for each entity and progress', async () => {
    const members = table.of(Member)
    const all = Array.from({ length: 500 }, (_, id) => ({ club: `club${id % 3}`, id, nick: `nick${id}` }))
    await members.insert(all[250] as (typeof all)[0])
    const bad = { club: 'club1', id: -1, nick: 'bad' }
    const clash = { club: 'club1', id: 999, nick: 'nick1' }
    let progress = { written: 0, failed: 0 }
    const results = await collect(
      members.load([...all, bad, clash], { onProgress: (now) => (progress = now) }),
    )
    const failed = results.filter(({ error }) => error !== undefined)
    const codes = failed.map(({ entity, error }) => [entity.id, isPatternsError(error) && error.code])
    assert.deepEqual(
      new Map(codes as [number, string][]),
      new Map([
        [-1, 'InvalidValue'],
        [250, 'AlreadyExists'],
        [999, 'AlreadyExists'],
      ]),
    )
    assert.deepEqual(progress, { written: 499, failed: 3 })
    assert.equal((await members.scan().toArray()).length, 500)
    assert.equal((await members.by('byNick').scan().toArray()).length, 500)
  })

  it('can write over what is there', async () => {
    const members = table.of(Member)
    const all = Array.from({ length: 120 }, (_, id) => ({ club: 'c', id, nick: `nick${id}` }))
    await collect(members.load(all))
    const renamed = all.map((member) => ({ ...member, nick: `${member.nick}!` }))
    const results = await collect(members.load(renamed, { mode: 'upsert', concurrency: 2 }))
    assert(results.every(({ error }) => error === undefined))
    const nicks = await members.by('byNick').query({ club: 'c' }).toArray()
    assert.equal(nicks.length, 120)
    assert(nicks.every(({ nick }) => nick.endsWith('!')))
  })
})

describe('several types', () => {
  it('are read as one union, and what is unknown is handed over raw', async () => {
    const client = await service.newTable()
    table = openTable(client)
    await table.transaction([insert(Department, sales), insert(Employee, jones)])
    await client.createEntity({ partitionKey: 'Sales', rowKey: 'zebra', stripes: 12 })
    const all = await table.anyOf(Department, Employee).query({ department: 'Sales' }).toArray()
    assert.deepEqual(
      all.map(({ type }) => type),
      ['Department', 'Employee', undefined],
    )
    const [department, employee, unknown] = all
    assert(department?.type === 'Department' && department.title === 'All sales')
    assert(employee?.type === 'Employee' && employee.email === jones.email)
    assert(unknown !== undefined && unknown.type === undefined)
    assert.deepEqual(unknown.row.cells, { stripes: { type: 'Int32', value: 12 } })
    assert.equal((await table.anyOf(Department).scan().toArray()).length, 5)

    await table.dynamic.patch(unknown.row, { stripes: { type: 'Int32', value: 13 } })
    await assert.rejects(table.dynamic.patch(unknown.row, {}), { code: 'Changed' })
    assert.deepEqual((await table.dynamic.get('Sales', 'zebra'))?.cells, {
      stripes: { type: 'Int32', value: 13 },
    })
  })

  it('are told apart by a property, with its version', async () => {
    const shape = {
      properties: { group: string(), id: int32(), name: string() },
      partition: key(text('group')),
      row: key(digits('id', 6)),
    }
    const Customer = entity('Customer', { ...shape, typedBy: { property: 'Kind' } })
    const Customer2 = entity('CustomerNow', { ...shape, typedBy: { property: 'Kind', version: 2 } })
    await table.transaction([
      insert(Customer, { group: 'g', id: 1, name: 'old' }),
      insert(Customer2, { group: 'g', id: 2, name: 'new' }),
    ])
    const all = await table.anyOf(Customer, Customer2).query({ group: 'g' }).toArray()
    assert.deepEqual(
      all.map(({ type }) => type),
      ['Customer', 'CustomerNow'],
    )
    assert.deepEqual(
      (await table.of(Customer).query({ group: 'g' }).toArray()).map(({ id }) => id),
      [1],
    )
    assert.deepEqual((await table.dynamic.get('g', '000002'))?.cells['Kind'], {
      type: 'String',
      value: 'CustomerNow@2',
    })
    await assert.rejects(table.of(Customer).get({ group: 'g', id: 2 }), {
      code: 'UnreadableRow',
      message: 'Customer at (g, 000002): it is of the type CustomerNow@2',
    })
    const Bare = entity('Bare', shape)
    assert.throws(() => table.anyOf(Customer, Bare), {
      code: 'InvalidDefinition',
      message: /cannot be told apart/,
    })
  })
})

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

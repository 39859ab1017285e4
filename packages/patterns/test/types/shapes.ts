/** What the type checker refuses of wide entities, data series and relationships. Compiled, never run. */
import {
  byKey,
  counts,
  digits,
  int32,
  join,
  key,
  series,
  string,
  type Table,
  text,
  wide,
} from '../../src/index.ts'
import { Desk, Employee, Messages, Moods, Office, Person, Report, Year } from '../support/shapes.ts'

declare const table: Table
const [reports, years, messages, moods] = [
  table.wide(Report),
  table.wide(Year),
  table.series(Messages),
  table.series(Moods),
]
const q3 = { department: 'Sales', title: 'Q3' }
const jones = { department: 'Sales', employee: 1 }
const at = new Date()
const shape = { partition: key('p'), row: key('r_', text('id')) }
const hourly = { slot: 'hour', per: 'day', value: int32() } as const

export async function refused(): Promise<void> {
  // ---- wide entities
  // @ts-expect-error a wide definition is no definition of a row
  table.of(Report)
  // @ts-expect-error and the other way round
  table.wide(Desk)
  // @ts-expect-error a part holds properties that there are
  wide('W', { ...shape, properties: { id: string(), a: string() }, parts: [['b']] })
  // @ts-expect-error those of the key are in every part
  wide('W', { ...shape, properties: { id: string(), a: string() }, parts: [['a'], ['id']] })
  // @ts-expect-error a required property is missing
  await reports.insert(q3)
  // @ts-expect-error a patch cannot touch the key
  await reports.patch(q3, { title: 'Q4' })
  // @ts-expect-error of its type
  await years.patch({ department: 'Sales', year: 2026 }, { day007: '7' })
  // @ts-expect-error there is no such property
  await years.patch({ department: 'Sales', year: 2026 }, { day300: 7 })
  // @ts-expect-error replace says under which ETag
  await reports.replace({ ...q3, summary: 's' })
  // @ts-expect-error what was not selected was not read
  ;(await reports.get(q3, { select: ['pages'] }))?.summary.toString()

  // ---- data series
  // @ts-expect-error texts have no sum
  await moods.add({ site: 'a' }, { at, value: 'fair' })
  // @ts-expect-error values are of the type declared
  await messages.set(jones, { at, value: 5n })
  // @ts-expect-error the whole key of a series
  await messages.add({ department: 'Sales' }, { at, value: 5 })
  // @ts-expect-error a series is no entity
  table.of(Messages)
  // @ts-expect-error a range has two ends
  messages.read(jones, { from: at })
  // @ts-expect-error a value is always there, or the slot is not
  series('S', { ...shape, ...hourly, properties: { id: string() }, value: int32().optional() })
  // @ts-expect-error no row holds a minute
  series('S', { ...shape, ...hourly, properties: { id: string() }, per: 'minute' })

  // ---- relationships
  // @ts-expect-error a count is an Int32 of the parent
  counts({ parent: Office, children: Desk, link: { office: 'office' }, count: 'office' })
  // @ts-expect-error the link names the whole key of the parent
  counts({ parent: Office, children: Desk, link: {}, count: 'desks' })
  // @ts-expect-error by properties of the same type
  counts({ parent: Office, children: Desk, link: { office: 'number' }, count: 'desks' })
  // @ts-expect-error a relation gives the whole key
  byKey(table.of(Employee), () => ({ department: 'Sales' }))
  const one = await table.anyOf(Person.Customer, Person.Colleague).get({ city: 'Bonn', id: 1 })
  // @ts-expect-error only colleagues have a salary
  one?.salary.toString()
  if (one?.type === 'Colleague') one.salary.toString()
  // @ts-expect-error there are these subtypes only
  table.of(Person.Supplier)
}

/** The same kinds of use, allowed. */
export async function allowed(): Promise<void> {
  await reports.insert({ ...q3, summary: 's', at })
  await reports.patch(q3, { pages: 7 })
  await years.patch({ department: 'Sales', year: 2026 }, { day299: 7 })
  ;(await reports.get(q3, { select: ['summary'] }))?.summary.toString()
  await moods.set({ site: 'a' }, { at, value: 'fair' })
  await messages.add(jones, { at, value: 5 }, { at, value: 6 })
  const relation = byKey(table.of(Office), ({ office }: { office: string }) => ({
    department: 'Sales',
    office,
  }))
  for await (const each of join(table.of(Desk).query({ department: 'Sales' }), { place: relation }))
    each.place?.floor?.toFixed(each.number)
  await table.of(Person.Customer).insert({ city: 'Bonn', id: 1, name: 'Ada' })
  wide('W', { ...shape, properties: { id: string(), a: string(), b: string() }, parts: [['a'], ['b']] })
  series('S', { ...shape, ...hourly, properties: { id: string() } })
  digits('id', 6)
}

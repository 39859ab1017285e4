/** Customers and contractors: several types in one table, read as one union. */
import { lookup } from '@partita/patterns'
import { Department, Person } from '../definitions.ts'
import type { Stage } from '../stage.ts'

export async function people({ company, title, show }: Stage): Promise<void> {
  title('People: several types in one partition (heterogeneous types, inheritance, lookups)')
  await show('a customer and a contractor', async () => {
    await company.of(Person.Customer).insert({ city: 'Bonn', id: 1, name: 'Ada', credit: 100 })
    await company.of(Person.Contractor).insert({ city: 'Bonn', id: 2, name: 'Bob', rate: 80 })
  })
  const anybody = company.anyOf(Person.Customer, Person.Contractor)
  await show(
    'one point read, whoever it is',
    () => anybody.get({ city: 'Bonn', id: 2 }),
    (it) => (it?.type === 'Contractor' ? `${it.name} takes ${it.rate}` : 'somebody else'),
  )
  const titles = lookup(() => company.of(Department).scan({ select: ['department', 'title'] }), {
    keyOf: ({ department }) => department,
    expiresAfterMs: 60_000,
  })
  await show(
    'a small table, read once',
    () => titles.get('Sales'),
    (it) => it?.title ?? '',
  )
  await show(
    'and then from memory',
    () => titles.get('Marketing'),
    (it) => it?.title ?? '',
  )
}

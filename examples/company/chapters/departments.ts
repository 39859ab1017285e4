/** Departments, employees and reviews: everything in the partition of its department. */
import { byKey, join, upsert } from '@partita/patterns'
import { Department, Employee, Review } from '../definitions.ts'
import type { Stage } from '../stage.ts'

export async function departments({ company, title, show }: Stage): Promise<void> {
  const [offices, employees, reviews] = [company.of(Department), company.of(Employee), company.of(Review)]
  title('Departments: a count and copies that are always right (relationships, denormalisation)')
  await show('two departments', async () => {
    await offices.insert({ department: 'Sales', title: 'Sales and service' })
    await offices.insert({ department: 'Marketing', title: 'Marketing' })
  })
  await show('60 employees: each with its index, list and count', async () => {
    for (let id = 1; id <= 60; id += 1) {
      const department = id % 3 === 0 ? 'Marketing' : 'Sales'
      await employees.insert({
        department,
        id,
        email: `e${id}@contoso.com`,
        name: names[id % 6] as string,
        age: 20 + id,
      })
    }
  })
  await show('a department gets its manager', () =>
    offices.change({ department: 'Sales' }, (it) => it && { ...it, manager: 1 }),
  )
  await show('the manager changes their e-mail; the department follows', () =>
    employees.change({ department: 'Sales', id: 1 }, (it) => it && { ...it, email: 'boss@contoso.com' }),
  )
  await show(
    'one point read shows department, manager and count',
    () => offices.get({ department: 'Sales' }),
    (it) => `${it?.title}: ${it?.staff} people under ${it?.managerName}, ${it?.managerEmail}`,
  )

  title('Employees: found by e-mail as by id (intra-partition index, index entities)')
  await show(
    'by e-mail, through the index',
    () => employees.by('byEmail').get({ department: 'Sales', email: 'e20@contoso.com' }),
    (it) => `${it?.id} ${it?.name}`,
  )
  await show(
    'the same without it: the whole partition is read',
    () =>
      employees.query({ department: 'Sales' }, { where: (it) => it.email.eq('e20@contoso.com') }).toArray(),
    ([it]) => `${it?.id} ${it?.name}`,
  )
  await show(
    'e-mails that begin with e1, in order',
    () =>
      employees
        .by('byEmail')
        .query({ department: 'Sales' }, { startsWith: { email: 'e1' } })
        .toArray(),
    (all) => all.map(({ email }) => email.split('@')[0]).join(' '),
  )
  await show(
    'all who are called Brown: their list, then each of them',
    () => employees.by('namesakes').get({ department: 'Sales', name: 'Brown' }),
    (all) => all.map(({ id }) => id).join(' '),
  )

  title('Reviews: related entities under a key of several parts (compound key)')
  await show('20 employees, their reviews of three years in one transaction', async () => {
    for (let employee = 1; employee <= 20; employee += 1)
      await company.transaction(
        [2024, 2025, 2026].map((year) =>
          upsert(Review, { department: 'Sales', employee, year, rating: (employee % 5) + 0.5 }),
        ),
      )
  })
  await show(
    'all reviews of one employee: one range',
    () => reviews.query({ department: 'Sales' }, { prefix: { employee: 7 } }).toArray(),
    (all) => all.map(({ year, rating }) => `${year}: ${rating}`).join(', '),
  )
  await show(
    'joined with their employees, each read once',
    async () => {
      const found: string[] = []
      const some = reviews.query({ department: 'Sales' }, { from: { employee: 7 }, until: { employee: 9 } })
      const relation = byKey(employees, ({ employee }: { employee: number }) => ({
        department: 'Sales',
        id: employee,
      }))
      for await (const each of join(some, { person: relation }))
        found.push(`${each.person?.name} ${each.year}`)
      return found
    },
    (found) => found.join(', '),
  )
}

const names = ['Jones', 'Smith', 'Brown', 'Wilson', 'Taylor', 'Davies']

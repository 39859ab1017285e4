/** Message counts by the hour, and an entity that no row could hold. */
import { Budget, lines, Messages } from '../definitions.ts'
import type { Stage } from '../stage.ts'

export async function seriesAndWide({ company, title, show }: Stage): Promise<void> {
  const messages = company.series(Messages)
  const jones = { department: 'Sales', employee: 1 }
  const hour = (day: number, of: number) => new Date(Date.UTC(2026, 10, day, of))
  title('Message counts: an hour is a property, a day is a row (data series)')
  await show('one more message this hour: read, and merged under the ETag', () =>
    messages.add(jones, { at: hour(15, 9), value: 1 }),
  )
  await show('a week of hours, set without a read', async () => {
    for (let day = 8; day < 15; day += 1)
      await messages.set(
        jones,
        ...Array.from({ length: 24 }, (_, of) => ({ at: hour(day, of), value: of * day })),
      )
  })
  await show(
    'a day: one point read',
    () => messages.get(jones, hour(14, 0)),
    (points) => `${points.length} hours, ${points.reduce((sum, { value }) => sum + value, 0)} messages`,
  )
  await show(
    'a week: one range of eight rows, not of 169',
    async () => {
      let [hours, sum] = [0, 0]
      for await (const { value } of messages.read(jones, { from: hour(8, 0), until: hour(16, 0) })) {
        hours += 1
        sum += value
      }
      return { hours, sum }
    },
    ({ hours, sum }) => `${hours} hours, ${sum} messages`,
  )

  title('A budget of 400 lines: one entity over four rows (wide entities)')
  const budgets = company.wide(Budget)
  const budget = { department: 'Sales', year: 2026 }
  const amounts = Object.fromEntries(lines.map((line, index) => [line, index]))
  await show('written whole: one transaction', () => budgets.insert({ ...budget, ...amounts }))
  await show('one line changed: one merge of one row', () => budgets.patch(budget, { line007: 70 }))
  await show(
    'one line read: one point read',
    () => budgets.get(budget, { select: ['line007'] }),
    (it) => `line 7 is ${it?.line007}`,
  )
  await show(
    'the whole budget: one range',
    () => budgets.get(budget),
    (it) => `${lines.filter((line) => it?.[line] !== undefined).length} lines`,
  )
}

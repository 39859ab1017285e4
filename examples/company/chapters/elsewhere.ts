/** An order that spans departments: copies in other partitions, which a relay keeps. */
import { Employee } from '../definitions.ts'
import type { Stage } from '../stage.ts'

export async function elsewhere({ company, title, show }: Stage): Promise<void> {
  const employees = company.of(Employee)
  const relay = company.relay([Employee])
  title('Across departments: an index in other partitions, kept by a relay (inter-partition index)')
  await show(
    'what waits in the outbox',
    () => relay.lag(),
    (lag) => (lag === undefined ? 'nothing' : `${lag.definition} in ${lag.partitionKey}, and more`),
  )
  await show(
    'one run of the relay',
    () => relay.runOnce(),
    ({ applied, failed }) => `${applied} entries applied, ${failed} failed`,
  )
  await show(
    'by e-mail, whichever department it is',
    () => employees.by('everywhereByEmail').get({ email: 'e21@contoso.com' }),
    (it) => `${it?.name} of ${it?.department}`,
  )
  await show(
    'the same without it: the whole table is read',
    () => employees.scan({ where: (it) => it.email.eq('e21@contoso.com') }).toArray(),
    ([it]) => `${it?.name} of ${it?.department}`,
  )
}

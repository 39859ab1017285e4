/** Claims, newest first; sign-ins, spread over partitions and thrown away by the day. */
import { openTable, sliced } from '@partita/patterns'
import { Claim, Signin } from '../definitions.ts'
import type { Stage } from '../stage.ts'

const dayMs = 86_400_000

export async function newestFirst({ company, client, service, title, show }: Stage): Promise<void> {
  const claims = company.of(Claim)
  title('Claims: the newest first, without reading the old ones (log tail)')
  const start = Date.parse('2026-11-15T00:00:00Z')
  await show('500 claims, loaded in bulk', async () => {
    const all = Array.from({ length: 500 }, (_, minute) => ({
      office: 'Bonn',
      at: new Date(start + minute * 60_000),
      amount: BigInt(minute),
    }))
    for await (const { error } of claims.load(all)) if (error !== undefined) throw error
  })
  await show(
    'the three newest',
    () => claims.latest({ office: 'Bonn' }, 3),
    (newest) => newest.map(({ at, amount }) => `${amount} at ${at.toString().slice(11, 16)}`).join(', '),
  )

  title('Sign-ins: four partitions at a time, and a table for each day (spread keys, high-volume delete)')
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const signins = sliced('Signins', {
    by: 'day',
    keep: 3,
    service,
    open: (name) => openTable(client(name)).of(Signin),
    clock: () => new Date(today + dayMs / 2),
  })
  await show('100 sign-ins on each of three days', async () => {
    for (const day of [2, 1, 0]) {
      const at = today - day * dayMs
      const all = Array.from({ length: 100 }, (_, n) => ({ user: `u${n % 17}`, at: new Date(at + n * 1000) }))
      await signins.write(new Date(at), async (table) => {
        for await (const { error } of table.load(all)) if (error !== undefined) throw error
      })
    }
  })
  await show(
    'the first five of yesterday, merged from all partitions',
    async () => {
      const found: string[] = []
      const range = { from: new Date(today - dayMs), until: new Date(today) }
      const days = signins.query(range, (table) => table.query({}, { take: 5 }))
      for await (const { user } of days) found.push(user)
      return found
    },
    (found) => found.join(' '),
  )
  const later = sliced('Signins', {
    by: 'day',
    keep: 1,
    service,
    open: (name) => openTable(client(name)).of(Signin),
    clock: () => new Date(today + dayMs / 2),
  })
  await show(
    'two days thrown away: a request for each, whatever they hold',
    () => later.prune(),
    (dropped) => dropped.join(' '),
  )
}

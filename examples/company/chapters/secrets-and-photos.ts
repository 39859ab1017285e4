/** Badges: a salary that only the company can read, and a photo that no row could hold. */
import { namedIn, largeValues } from '@partita/patterns/large-values'
import { Badge } from '../definitions.ts'
import type { Stage } from '../stage.ts'

export async function secretsAndPhotos({ company, client, photos, title, show }: Stage): Promise<void> {
  const badges = company.of(Badge)
  const jones = { department: 'Sales', id: 1 }
  title('Badges: encrypted salaries, photos in blobs (encrypted properties, large entities)')
  await show('a badge with a photo of 3 MB: the blob first, then the row', () =>
    badges.insert({ ...jones, salary: '5000', photo: Buffer.alloc(3_000_000, 'photo') }),
  )
  await show(
    'what the service sees of it',
    () => client('company').getEntity('Sales', 'badge_000001'),
    (row) =>
      `salary: ${(row['salary'] as Uint8Array).length} unreadable bytes, photo: ${String(row['photoBytes'])} bytes elsewhere`,
  )
  await show(
    'what we see',
    () => badges.get(jones),
    (it) => `salary: ${it?.salary}, photo: ${it?.photo?.length} bytes`,
  )
  await show(
    'without the photo, its blob is not fetched',
    () => badges.get(jones, { select: ['salary'] }),
    (it) => `salary: ${it?.salary}`,
  )
  await show('a new photo; the old blob waits for the sweep', () =>
    badges.change(jones, (it) => it && { ...it, photo: Buffer.from('a smaller one') }),
  )
  const nextWeek = largeValues(photos, { clock: () => Date.now() + 7 * 86_400_000 })
  await show(
    'the sweep of next week',
    () => nextWeek.sweep('company', namedIn(client('company'))),
    ({ examined, deleted }) => `${examined} blobs looked at, ${deleted} deleted`,
  )
}

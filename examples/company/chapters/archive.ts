/** An employee leaves: moved to another table by a message on a queue, so that a death in between is made good. */
import { archive as archiveSteps, drain, enqueue, pending, saga } from '@partita/patterns/saga'
import { openTable } from '@partita/patterns'
import { Review } from '../definitions.ts'
import type { Stage } from '../stage.ts'

export async function archive({ client, queues, service, title, show }: Stage): Promise<void> {
  title('The archive: a move between tables (eventually consistent transactions)')
  const [queue, poison] = [queues.getQueueClient('archive'), queues.getQueueClient('archive-poison')]
  await Promise.all([service.createTable('archive'), queue.create(), poison.create()])
  const [from, to] = [client('company'), client('archive')]
  const move = saga('archive', archiveSteps({ from, to }))
  await show('three old reviews are put on the queue', async () => {
    for (const employee of [1, 2, 3])
      await enqueue(queue, move, { partitionKey: 'Sales', rowKey: `review_00000${employee}_2024` })
  })
  await show('a worker moves them: read, write, remove, then the message', () =>
    drain({ queues: [{ queue, poison }], sagas: [move] }),
  )
  await show(
    'what is in the archive',
    () => openTable(to).of(Review).query({ department: 'Sales' }).toArray(),
    (all) => all.map(({ employee, year }) => `${employee} of ${year}`).join(', '),
  )
  await show(
    'what is still to be done',
    () => pending(queue),
    ({ messages }) => `${messages} messages`,
  )
}

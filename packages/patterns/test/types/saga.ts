/** What the type checker refuses of sagas. Compiled with everything else, never run. */
import type { TableClient } from '@azure/data-tables'
import type { QueueClient } from '@azure/storage-queue'
import { archive, enqueue, type Found, type Saga, saga, startWorker } from '../../src/saga/saga.ts'

declare const queue: QueueClient
declare const table: TableClient

interface Invoice {
  readonly id: number
  readonly lines: readonly { readonly text: string; readonly note?: string }[]
}
const send = saga<Invoice>('send', [{ name: 'send', run: async ({ input }) => void input.lines[0]?.text }])
const move = saga('move', archive({ from: table, to: table }))
const dated = saga<{ at: Date }>('dated', [{ name: 'a', run: async () => undefined }])

export const accepted = [
  enqueue(queue, send, { id: 1, lines: [{ text: 'a' }, { text: 'b', note: 'c' }] }),
  enqueue(queue, move, { partitionKey: 'Sales', rowKey: '1' }),
  startWorker({ queues: [{ queue, poison: queue }], sagas: [send, move] }),
]

export const refused = [
  // @ts-expect-error a property is missing
  enqueue(queue, send, { id: 1 }),
  // @ts-expect-error a property has another type
  enqueue(queue, send, { id: '1', lines: [] }),
  // @ts-expect-error another saga's input
  enqueue(queue, move, { id: 1, lines: [] }),
  // @ts-expect-error JSON makes a text of a date
  enqueue(queue, dated, { at: new Date() }),
  // @ts-expect-error JSON refuses a bigint
  enqueue(queue, saga<bigint>('numbers', [{ name: 'a', run: async () => undefined }]), 1n),
  // @ts-expect-error JSON makes an object of bytes
  enqueue(queue, saga<Uint8Array>('bytes', [{ name: 'a', run: async () => undefined }]), new Uint8Array()),
  // @ts-expect-error a step returns what no step knows of
  saga<string, Found>('strange', [{ name: 'a', run: async () => ({ entities: 1 }) }]),
  // @ts-expect-error a worker needs somewhere to put what fails
  startWorker({ queues: [{ queue }], sagas: [send] }),
  // @ts-expect-error a saga of one input is not one of another
  send satisfies Saga<{ id: string }>,
]

import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { TableClient, TableEntity } from '@azure/data-tables'
import type { QueueClient } from '@azure/storage-queue'
import {
  archive,
  decodePoison,
  drain,
  type EntityKey,
  enqueue,
  type Measurement,
  pending,
  type PoisonMessage,
  revive,
  type Saga,
  saga,
  type SagaEvent,
  startWorker,
  type Worker,
  type WorkerOptions,
} from '../../src/saga/saga.ts'
import { type Azurite, startAzurite } from '../support/azurite.ts'
import { type Death, Died, type Mortal, mortal } from '../support/mortal.ts'
import { startTables, type Tables } from '../support/tables.ts'

let azurite: Azurite
let tables: Tables
let places = 0
const workers: Worker[] = []

before(async () => {
  azurite = await startAzurite()
  tables = await startTables()
})
after(async () => {
  // Those of a test that failed are still at work.
  await Promise.all(workers.map(async (worker) => await worker.stop({ withinMs: 0 })))
  await azurite.stop()
  await tables.close()
})

describe('a saga', () => {
  it('archives an employee, every type as it was', async () => {
    const place = await newPlace()
    const employee: TableEntity = {
      partitionKey: 'Sales',
      rowKey: '000456',
      name: 'Jones',
      salary: { type: 'Double', value: 5 },
      level: 5,
      staffNumber: { type: 'Int64', value: '9007199254740993' },
      since: { type: 'DateTime', value: '2012-02-29T01:02:03.1234567Z' },
      badge: { type: 'Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' },
      photo: new Uint8Array([1, 2, 3]),
      active: true,
    }
    await place.current.createEntity(employee)
    const before = await rawBody(place.current)
    await enqueue(place.queue, place.saga(), { partitionKey: 'Sales', rowKey: '000456' })
    await drain(place.options())
    assert.equal(await count(place.current), 0)
    assert.deepEqual(withoutTime(await rawBody(place.archive)), withoutTime(before))
    assert.match(before, /"salary":5\.0/)
    assert.deepEqual(await pending(place.queue), { messages: 0, oldest: undefined })
  })

  it('tells its progress and its measurements', async () => {
    const place = await newPlace()
    const events: SagaEvent[] = []
    const measured: Measurement[] = []
    await place.current.createEntity({ partitionKey: 'Sales', rowKey: '1' })
    await enqueue(place.queue, place.saga(), { partitionKey: 'Sales', rowKey: '1' })
    await drain({
      ...place.options(),
      observe: (event) => events.push(event),
      measure: (measurement) => measured.push(measurement),
    })
    assert.deepEqual(
      events.map((event) => ('step' in event ? `${event.kind} ${event.step}` : event.kind)),
      [
        'taken',
        `step-started read from ${place.current.tableName}`,
        `step-finished read from ${place.current.tableName}`,
        `step-started write to ${place.archive.tableName}`,
        `step-finished write to ${place.archive.tableName}`,
        `step-started remove from ${place.current.tableName}`,
        `step-finished remove from ${place.current.tableName}`,
        'done',
      ],
    )
    assert.deepEqual(
      measured.map(({ name, value }) => (name === 'saga.busy' ? `${name} ${value}` : name)),
      [
        'saga.wait.ms',
        'saga.busy 1',
        ...Array<string>(3).fill('saga.step.ms'),
        'saga.message.ms',
        'saga.busy 0',
      ],
    )
  })

  it('refuses an input without room for a reason, before anything is sent', async () => {
    const { queue } = await newPlace()
    const long = saga<string>('long', [{ name: 'nothing', run: async () => undefined }])
    await assert.rejects(enqueue(queue, long, 'x'.repeat(60_000)), { code: 'LimitExceeded' })
    assert.equal((await pending(queue)).messages, 0)
  })

  it('carries any text', async () => {
    const { queue, poison } = await newPlace()
    const text = 'a<b>&"\' \u0000\u001f\ufffe\uffff\u2028 \ud800 é 😀 '
    const seen: string[] = []
    const echo = saga<string>('echo', [{ name: 'echo', run: async ({ input }) => void seen.push(input) }])
    await enqueue(queue, echo, text)
    await drain({ queues: [{ queue, poison }], sagas: [echo] })
    assert.deepEqual(seen, [text])
  })

  it('takes along what changed between reading and removing', async () => {
    const place = await newPlace()
    const key = { partitionKey: 'Sales', rowKey: '1' }
    await place.current.createEntity({ ...key, name: 'Jones' })
    const [read, write, remove] = archive({ from: place.current, to: place.archive })
    assert(read && write && remove)
    let changes = 1
    const move = saga('move', [
      read,
      write,
      {
        name: 'somebody else changes it',
        run: async () => {
          if (changes-- > 0) await place.current.updateEntity({ ...key, name: 'Smith' }, 'Merge')
        },
      },
      remove,
    ])
    await enqueue(place.queue, move, key)
    const events = await workUntil({ ...place.options(), sagas: [move] }, 'done')
    assert(
      events.some(
        (event) => event.kind === 'failed' && /UpdateConditionNotSatisfied/.test(event.failure.error),
      ),
    )
    assert.equal((await place.archive.getEntity('Sales', '1'))['name'], 'Smith')
    assert.equal(await count(place.current), 0)
  })
})

describe('a worker that dies', () => {
  // One message at a time, so that its requests come in order: receive, read, write, remove, delete the message.
  const concurrency = 1
  const requests = 5
  const deaths: Death[] = []
  for (let request = 1; request <= requests; request += 1)
    deaths.push({ request, when: 'before' }, { request, when: 'after' })

  it('needs five requests for a message, and a sixth to see that there are no more', async () => {
    const place = await newPlace()
    const alive = mortal()
    await place.seed()
    await drain({ ...place.options(alive), concurrency })
    assert.equal(alive.sent, requests + 1)
  })

  it('at any request leaves the entity in one of the tables, and the next worker ends the move', async () => {
    await Promise.all(
      deaths.map(async (death) => {
        const place = await newPlace()
        const victim = mortal(death)
        await place.seed()
        await assert.rejects(drain({ ...place.options(victim), concurrency }), Died)
        const label = JSON.stringify(death)
        const found = [await count(place.current), await count(place.archive)]
        assert.deepEqual(found, expectedAfter(death), label)
        await assertConverges(place, label)
      }),
    )
  })

  /** What readers see: [in current, in archive]. Requests: 1 receive, 2 read, 3 write, 4 remove, 5 delete message. */
  function expectedAfter({ request, when }: Death): [number, number] {
    const done = when === 'after' ? request : request - 1
    return [done >= 4 ? 0 : 1, done >= 3 ? 1 : 0]
  }

  async function assertConverges(place: Place, label: string): Promise<void> {
    const deadlineMs = performance.now() + 20_000
    for (;;) {
      await drain(place.options())
      if ((await pending(place.queue)).messages === 0) break
      assert(performance.now() < deadlineMs, `${label}: the message did not come back`)
      await pause(200)
    }
    assert.deepEqual([await count(place.current), await count(place.archive)], [0, 1], label)
    assert.equal((await place.archive.getEntity('Sales', '000456'))['name'], 'Jones', label)
    assert.equal((await poisoned(place.poison)).length, 0, label)
  }
})

describe('workers', () => {
  it('of two processes on one queue do each piece of work, and no harm', async () => {
    const place = await newPlace()
    const ids = Array.from({ length: 60 }, (_, index) => String(index).padStart(6, '0'))
    await place.current.submitTransaction(
      ids.map((rowKey) => ['create', { partitionKey: 'Sales', rowKey, name: `n${rowKey}` }]),
    )
    // Twice each, so that both work on the same entities at once.
    for (const rowKey of [...ids, ...ids])
      await enqueue(place.queue, place.saga(), { partitionKey: 'Sales', rowKey })
    const both = [start(place.options()), start(place.options())]
    await eventually(async () => (await pending(place.queue)).messages === 0)
    await Promise.all(both.map(async (worker) => await worker.stop()))
    assert.deepEqual([await count(place.current), await count(place.archive)], [0, ids.length])
    assert.deepEqual(await poisoned(place.poison), [])
  })

  it('serve several queues and several sagas', async () => {
    const places = [await newPlace(), await newPlace()]
    const seen: string[] = []
    const note = (name: string) =>
      saga<string>(name, [{ name: 'note', run: async ({ input }) => void seen.push(`${name} ${input}`) }])
    const [red, blue] = [note('red'), note('blue')]
    for (const [index, { queue }] of places.entries()) {
      await enqueue(queue, red, `r${index}`)
      await enqueue(queue, blue, `b${index}`)
    }
    await drain({ queues: places.map(({ queue, poison }) => ({ queue, poison })), sagas: [red, blue] })
    assert.deepEqual(seen.toSorted(), ['blue b0', 'blue b1', 'red r0', 'red r1'])
  })

  it('work on no more messages at once than they are told', async () => {
    const { queue, poison } = await newPlace()
    let now = 0
    let most = 0
    const slow = saga<number>('slow', [
      {
        name: 'sleep',
        async run() {
          now += 1
          most = Math.max(most, now)
          await pause(100)
          now -= 1
        },
      },
    ])
    for (let index = 0; index < 9; index += 1) await enqueue(queue, slow, index)
    await drain({ queues: [{ queue, poison }], sagas: [slow], concurrency: 3 })
    assert.equal(most, 3)
  })

  it('keep a message hidden for as long as a step runs', async () => {
    const { queue, poison } = await newPlace()
    let runs = 0
    const slow = saga<string>('slow', [
      {
        name: 'longer than the message stays hidden by itself',
        async run() {
          runs += 1
          await pause(3500)
        },
      },
    ])
    await enqueue(queue, slow, '')
    const options = { queues: [{ queue, poison }], sagas: [slow], visibilitySeconds: 1, idleMsMax: 100 }
    const both = [start(options), start(options)]
    await eventually(async () => (await pending(queue)).messages === 0)
    await Promise.all(both.map(async (worker) => await worker.stop()))
    assert.equal(runs, 1)
  })

  it('tell a step when its message was lost, and leave it to whoever has it', async () => {
    const { queue, poison } = await newPlace()
    const aborted: unknown[] = []
    const slow = saga<string>('slow', [
      {
        name: 'until aborted',
        async run({ signal }) {
          await pause(10_000, undefined, { signal }).catch(() => aborted.push((signal.reason as Error).name))
        },
      },
    ])
    await enqueue(queue, slow, '')
    const events: SagaEvent[] = []
    const worker = start({
      queues: [{ queue, poison }],
      sagas: [slow],
      visibilitySeconds: 3,
      observe: (event) => {
        events.push(event)
        if (event.kind === 'step-started') void queue.clearMessages()
      },
    })
    await eventually(async () => events.some((event) => event.kind === 'lost'))
    await worker.stop()
    assert.deepEqual(aborted, ['MessageLost'])
    assert.equal(
      events.some((event) => event.kind === 'done'),
      false,
    )
  })

  it('stop when what they have is finished', async () => {
    const { queue, poison } = await newPlace()
    let finished = false
    const { slow, started } = sleeper(500, () => (finished = true))
    await enqueue(queue, slow, '')
    const worker = start({ queues: [{ queue, poison }], sagas: [slow] })
    await started
    await worker.stop()
    assert.equal(finished, true)
    assert.equal((await pending(queue)).messages, 0)
  })

  it('give back at once what they cannot finish in time', async () => {
    const { queue, poison } = await newPlace()
    const { slow, started } = sleeper(60_000, () => undefined)
    await enqueue(queue, slow, '')
    const events: SagaEvent[] = []
    const worker = start({
      queues: [{ queue, poison }],
      sagas: [slow],
      observe: (event) => events.push(event),
    })
    await started
    await worker.stop({ withinMs: 100 })
    assert.equal(events.at(-1)?.kind, 'returned')
    const again = await queue.receiveMessages()
    assert.equal(again.receivedMessageItems.length, 1)
  })

  it('go on after a queue did not answer', async () => {
    const { queue, poison } = await newPlace()
    const seen: string[] = []
    const note = saga<string>('note', [{ name: 'note', run: async ({ input }) => void seen.push(input) }])
    const unreliable = Object.create(queue, {
      name: { value: queue.name },
      receiveMessages: {
        value: async (...args: Parameters<QueueClient['receiveMessages']>) => {
          if (events.length === 0) throw new Error('no answer')
          return await queue.receiveMessages(...args)
        },
      },
    }) as QueueClient
    const events: SagaEvent[] = []
    await enqueue(queue, note, 'x')
    const worker = start({
      queues: [{ queue: unreliable, poison }],
      sagas: [note],
      observe: (event) => events.push(event),
    })
    await eventually(async () => seen.length === 1)
    await worker.stop()
    assert.equal(events[0]?.kind, 'trouble')
  })
})

describe('a poison message', () => {
  const failing = saga<{ id: number }>('failing', [
    { name: 'fine', run: async () => undefined },
    {
      name: 'broken',
      run: async () => {
        throw new RangeError('the archive is on fire')
      },
    },
  ])
  const impatient = { attemptsMax: 2, retrySeconds: () => 0, visibilitySeconds: 1 }

  it('ends in the poison queue with its reason, after so many attempts', async () => {
    const { queue, poison } = await newPlace()
    await enqueue(queue, failing, { id: 7 })
    const events = await workUntil(
      { queues: [{ queue, poison }], sagas: [failing], ...impatient },
      'poisoned',
    )
    const [message, ...more] = await poisoned(poison)
    assert.deepEqual(more, [])
    assert.deepEqual(
      { ...message, poison: { ...message?.poison, id: '', at: '' } },
      {
        saga: 'failing',
        input: { id: 7 },
        poison: {
          queue: queue.name,
          id: '',
          attempts: 2,
          reason: 'RangeError: the archive is on fire',
          step: 'broken',
          at: '',
        },
      },
    )
    assert.equal(events.filter((event) => event.kind === 'failed').length, 1)
    assert.equal((await pending(queue)).messages, 0)
  })

  it('can be given another chance', async () => {
    const { queue, poison } = await newPlace()
    await enqueue(queue, failing, { id: 7 })
    await workUntil({ queues: [{ queue, poison }], sagas: [failing], ...impatient }, 'poisoned')
    assert.equal(await revive(poison, queue), 1)
    const seen: number[] = []
    const mended = saga<{ id: number }>('failing', [
      { name: 'mended', run: async ({ input }) => void seen.push(input.id) },
    ])
    await drain({ queues: [{ queue, poison }], sagas: [mended] })
    assert.deepEqual(seen, [7])
    assert.equal((await pending(poison)).messages, 0)
  })

  it('that is no message of a saga goes there at once, with its text', async () => {
    const { queue, poison } = await newPlace()
    const events: SagaEvent[] = []
    await queue.sendMessage('hello')
    await queue.sendMessage('"'.repeat(60_000))
    await drain({ queues: [{ queue, poison }], sagas: [failing], observe: (event) => events.push(event) })
    const messages = await poisoned(poison)
    assert.deepEqual(
      messages.map(({ poison }) => poison.reason),
      Array(2).fill('the message is not one of a saga'),
    )
    const texts = messages.map(({ text = '' }) => text).toSorted((a, b) => a.length - b.length)
    assert.equal(texts[0], 'hello')
    assert.match(texts[1] ?? '', /^"{10000,59999}$/)
    assert.equal(events.filter((event) => event.kind === 'poisoned').length, 2)
  })

  it('of a saga that nobody here knows is left to others first', async () => {
    const { queue, poison } = await newPlace()
    const strange = saga<string>('strange', [{ name: 'a', run: async () => undefined }])
    await enqueue(queue, strange, '')
    const options = { queues: [{ queue, poison }], sagas: [failing], ...impatient }
    const events = await workUntil(options, 'poisoned')
    assert.equal(events.filter((event) => event.kind === 'failed').length, 1)
    assert.equal((await poisoned(poison))[0]?.poison.reason, 'Error: this worker knows no saga strange')
  })

  it('whose input is refused says why', async () => {
    const { queue, poison } = await newPlace()
    const strict = saga<number>('strict', [{ name: 'a', run: async () => undefined }], {
      parse: (input) => {
        if (typeof input !== 'number') throw new TypeError('not a number')
        return input
      },
    })
    const loose: Saga<string> = saga<string>('strict', [{ name: 'a', run: async () => undefined }])
    await enqueue(queue, loose, 'seven')
    await workUntil({ queues: [{ queue, poison }], sagas: [strict], ...impatient }, 'poisoned')
    assert.equal((await poisoned(poison))[0]?.poison.reason, 'TypeError: not a number')
  })

  it('keeps its reason when the worker dies before giving it up', async () => {
    // Fails once and is put back; then dies at each request of the last attempt.
    for (const death of [
      { request: 1, when: 'after' },
      { request: 2, when: 'before' },
      { request: 2, when: 'after' },
      { request: 3, when: 'before' },
      { request: 3, when: 'after' },
    ] as const) {
      const { queue, poison } = await newPlace()
      await enqueue(queue, failing, { id: 7 })
      await workUntil({ queues: [{ queue, poison }], sagas: [failing], ...impatient }, 'failed')
      const victim = mortal(death)
      const dying = { queue: victim.queue(queue.url), poison: victim.queue(poison.url) }
      const doomed = start({ queues: [dying], sagas: [failing], ...impatient, concurrency: 1 })
      await eventually(async () => victim.dead)
      await doomed.stop()
      if (!(death.request === 3 && death.when === 'after'))
        await workUntil({ queues: [{ queue, poison }], sagas: [failing], ...impatient }, 'poisoned')
      const messages = await poisoned(poison)
      assert(messages.length >= 1 && messages.length <= 2, JSON.stringify(death))
      for (const message of messages) {
        assert.equal(message.poison.reason, 'RangeError: the archive is on fire', JSON.stringify(death))
        assert.equal(message.poison.step, 'broken')
      }
      assert.equal((await pending(queue)).messages, 0, JSON.stringify(death))
    }
  })
})

interface Place {
  readonly queue: QueueClient
  readonly poison: QueueClient
  readonly current: TableClient
  readonly archive: TableClient
  saga(owner?: Mortal): Saga<EntityKey>
  /** A worker whose clients all belong to the mortal. */
  options(owner?: Mortal): WorkerOptions
  /** One employee, and the message to archive them. */
  seed(): Promise<void>
}

async function newPlace(): Promise<Place> {
  places += 1
  const number = places
  const { queue, poison } = queuesOf(mortal())
  const { current, archive: archived } = tablesOf(mortal())
  await Promise.all([queue.create(), poison.create(), current.createTable(), archived.createTable()])
  return { queue, poison, current, archive: archived, saga: sagaOf, options, seed }

  function sagaOf(owner: Mortal = mortal()): Saga<EntityKey> {
    const { current: from, archive: to } = tablesOf(owner)
    return saga('archive', archive({ from, to }))
  }

  function options(owner: Mortal = mortal()): WorkerOptions {
    return {
      queues: [queuesOf(owner)],
      sagas: [sagaOf(owner)],
      visibilitySeconds: 1,
      retrySeconds: () => 0,
      idleMsMax: 100,
    }
  }

  function queuesOf(owner: Mortal) {
    return {
      queue: owner.queue(`${azurite.queueUrl}/work-${number}`),
      poison: owner.queue(`${azurite.queueUrl}/work-${number}-poison`),
    }
  }

  function tablesOf(owner: Mortal) {
    return {
      current: owner.table(tables.open(`Current${number}`)),
      archive: owner.table(tables.open(`Archive${number}`)),
    }
  }

  async function seed(): Promise<void> {
    const key = { partitionKey: 'Sales', rowKey: '000456' }
    await current.createEntity({ ...key, name: 'Jones' })
    await enqueue(queue, sagaOf(), key)
  }
}

function start(options: WorkerOptions): Worker {
  const worker = startWorker(options)
  workers.push(worker)
  return worker
}

/** Runs a worker that has one message at a time, until it tells of such an event; it takes no other afterwards. */
async function workUntil(options: WorkerOptions, kind: SagaEvent['kind']): Promise<SagaEvent[]> {
  const events: SagaEvent[] = []
  let stopping: Promise<void> | undefined
  const worker = start({
    idleMsMax: 100,
    ...options,
    concurrency: 1,
    observe(event) {
      events.push(event)
      if (event.kind === kind) stopping ??= worker.stop()
    },
  })
  await eventually(async () => stopping !== undefined)
  await stopping
  return events
}

function sleeper(ms: number, finish: () => void) {
  let start: () => void
  const started = new Promise<void>((resolve) => (start = resolve))
  const slow = saga<string>('sleep', [
    {
      name: 'sleep',
      async run({ signal }) {
        start()
        await pause(ms, undefined, { signal })
        finish()
      },
    },
  ])
  return { slow, started }
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 30_000
  while (!(await holds())) {
    assert(performance.now() < deadlineMs, 'it did not come to that')
    await pause(50)
  }
}

async function poisoned(queue: QueueClient): Promise<PoisonMessage[]> {
  const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 })
  return peekedMessageItems.map(({ messageText }) => {
    const message = decodePoison(messageText)
    assert(message, messageText)
    return message
  })
}

async function count(table: TableClient): Promise<number> {
  let found = 0
  for await (const _ of table.listEntities()) found += 1
  return found
}

async function rawBody(table: TableClient): Promise<string> {
  let body = ''
  await table.getEntity('Sales', '000456', { onResponse: ({ bodyAsText }) => (body = bodyAsText ?? '') })
  return body
}

/** Own properties as they are written, in any order. */
function withoutTime(body: string): string[] {
  return body
    .slice(1, -1)
    .split(',')
    .filter((member) => !/^"(?:odata\.|Timestamp)/.test(member))
    .toSorted()
}

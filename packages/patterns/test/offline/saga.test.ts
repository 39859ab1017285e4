/** Sagas and the exact messages and steps they come to, without a queue. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { decodeMessage, decodePoison, encodeMessage, encodeUnreadable } from '../../src/saga/message.ts'
import { enqueue, saga, type Step } from '../../src/saga/saga.ts'

interface Move {
  readonly id: number
}

const attempt = { attempt: 1, signal: new AbortController().signal }

/** Steps that write down when they run and what they know. */
function newSteps(failing?: string) {
  const ran: string[] = []
  const step = (name: string, learns: object): Step<Move, Record<string, number>> => ({
    name,
    async run({ input, known }) {
      ran.push(`${name} ${input.id} ${JSON.stringify(known)}`)
      if (name === failing) throw new Error(`${name} failed`)
      return learns
    },
  })
  return { ran, steps: [step('read', { found: 7 }), step('write', {}), step('remove', { gone: 1 })] }
}

describe('a saga', () => {
  it('is sent as one message that does not expire', async () => {
    const sent: unknown[] = []
    const queue = { sendMessage: async (...given: unknown[]) => void sent.push(given) } as never
    const move = saga<Move, Record<string, number>>('move', newSteps().steps)
    await enqueue(queue, move, { id: 456 })
    await enqueue(queue, move, { id: 457 }, { delaySeconds: 30 })
    assert.deepEqual(sent, [
      ['{"saga":"move","input":{"id":456}}', { messageTimeToLive: -1 }],
      ['{"saga":"move","input":{"id":457}}', { messageTimeToLive: -1, visibilityTimeout: 30 }],
    ])
  })

  it('too large to be kept with a reason is not sent', async () => {
    const queue = { sendMessage: () => assert.fail('nothing may be sent') } as never
    const move = saga<{ text: string }>('move', newSteps().steps as never)
    await assert.rejects(enqueue(queue, move, { text: 'x'.repeat(60_000) }), { code: 'LimitExceeded' })
  })

  it('does its steps in order, each knowing what those before it found', async () => {
    const { ran, steps } = newSteps()
    const told: string[] = []
    const progress = {
      started: (name: string) => void told.push(`started ${name}`),
      finished: (name: string) => void told.push(`finished ${name}`),
    }
    await saga<Move, Record<string, number>>('move', steps).perform({ id: 1 }, attempt, progress)
    assert.deepEqual(ran, ['read 1 {}', 'write 1 {"found":7}', 'remove 1 {"found":7}'])
    const names = ['read', 'write', 'remove']
    assert.deepEqual(
      told,
      names.flatMap((name) => [`started ${name}`, `finished ${name}`]),
    )
  })

  it('does no step behind one that fails, and begins with the first again', async () => {
    const { ran, steps } = newSteps('write')
    const move = saga<Move, Record<string, number>>('move', steps)
    const progress = { started: () => undefined, finished: () => undefined }
    for (let i = 0; i < 2; i++) {
      await assert.rejects(move.perform({ id: 1 }, attempt, progress), /write failed/)
    }
    assert.deepEqual(ran, ['read 1 {}', 'write 1 {"found":7}', 'read 1 {}', 'write 1 {"found":7}'])
  })

  it('refuses an input before any step', async () => {
    const { ran, steps } = newSteps()
    const parse = (): Move => {
      throw new Error('not ours')
    }
    const progress = { started: () => undefined, finished: () => undefined }
    const move = saga<Move, Record<string, number>>('move', steps, { parse })
    await assert.rejects(move.perform({}, attempt, progress), /not ours/)
    assert.deepEqual(ran, [])
  })

  it('has a name, steps, and no two of one name', () => {
    const [first] = newSteps().steps as never[]
    for (const [name, steps] of [
      ['', [first]],
      ['move', []],
      ['move', [first, first]],
    ] as const) {
      assert.throws(() => saga(name, steps as never), { code: 'InvalidDefinition' })
    }
  })
})

describe('a message', () => {
  const poison = {
    queue: 'work',
    id: 'm1',
    attempts: 5,
    reason: 'it never works',
    at: '2026-11-15T00:00:00Z',
  }

  it('comes back as it was sent', () => {
    const failure = { step: 'write', error: 'no', attempt: 2, at: '2026-11-15T00:00:00Z' }
    const message = { saga: 'move', input: { text: 'a"<&\u0001\u2028😀' }, failure }
    assert.deepEqual(decodeMessage(encodeMessage(message)), message)
    assert.deepEqual(decodePoison(encodeMessage({ saga: 'move', input: 1, poison })), {
      saga: 'move',
      input: 1,
      poison,
    })
  })

  it('of others is none of ours', () => {
    for (const text of ['', 'null', '[]', '7', '{"saga":1,"input":2}', '{"saga":"a"}', '{']) {
      assert.equal(decodeMessage(text), undefined, text)
    }
    assert.equal(decodePoison('{"poison":1}'), undefined)
  })

  it('that cannot be read is kept as far as it fits', () => {
    assert.equal(decodePoison(encodeUnreadable('{', poison))?.text, '{')
    const long = encodeUnreadable('é'.repeat(60_000), poison)
    assert(Buffer.byteLength(long) <= 65_536)
    assert.match(decodePoison(long)?.text ?? '', /^é{10000,}$/)
  })
})

import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TableId } from '../../src/model/table.ts'
import { newServedCount, openCommitQueue } from '../../src/store/lmdb/commit-queue.ts'
import { unpackCommits } from '../../src/store/lmdb/writer-message.ts'
import { keyAt, put } from '../support/entities.ts'

const key = keyAt('p', 'r')

describe('the queue of commits', () => {
  it('posts at once what comes alone', () => {
    const { come, posted } = queue()
    come(1)
    assert.deepEqual(posted, [1])
  })

  it('has two messages under way at most, and leaves nothing behind', async () => {
    const { come, posted, serve } = queue()
    for (let i = 0; i < 10; i++) {
      come(1)
      await nextTurn()
    }
    assert(posted.length <= 2)
    await serve()
    assert.equal(sum(posted), 10)
  })

  it('takes a third of a crowd together, also in the middle of a turn', async () => {
    const { come, posted, serve } = queue()
    come(64)
    await serve()
    posted.length = 0
    come(64)
    assert.equal(posted.length, 1)
    const [together = 0] = posted
    assert(together > 12 && together < 24, `${together} went together`)
    await serve()
    assert.equal(sum(posted), 64)
    assert(posted.length <= 3)
  })

  it('waits for company as long as each turn brings some', async () => {
    const { come, posted, serve } = queue()
    come(64)
    await serve()
    posted.length = 0
    for (let i = 0; i < 5; i++) {
      come(1)
      await nextTurn()
    }
    assert.deepEqual(posted, [])
    await nextTurn()
    await nextTurn()
    assert.deepEqual(posted, [5])
  })

  it('forgets a crowd that has gone', async () => {
    const { come, posted, serve } = queue()
    come(64)
    await serve()
    for (let i = 0; i < 50; i++) {
      come(1)
      await serve()
    }
    posted.length = 0
    come(1)
    assert.deepEqual(posted, [1])
  })

  it('goes on when the count of messages wraps around', async () => {
    const { come, posted, serve } = queue(2 ** 31 - 2)
    for (let i = 0; i < 5; i++) {
      come(1)
      assert.equal(posted.length, i + 1)
      await serve()
    }
  })
})

/** A queue, and a writer that serves when told to. `posted` has how many commits went together. */
function queue(servedBefore = 0) {
  const served = newServedCount()
  Atomics.store(served, 0, servedBefore)
  const posted: number[] = []
  const underWay: number[] = []
  let left = 0
  let lastId = 0
  const { add, answered } = openCommitQueue(served, (packed) => {
    const commits = [...unpackCommits(packed)].length
    posted.push(commits)
    underWay.push(commits)
  })
  return { come, serve, posted }

  function come(count: number): void {
    left += count
    for (let i = 0; i < count; i++) add(++lastId, 7 as TableId, key.partition, [put(key)])
  }

  /** Serves all messages, and those that are posted then. */
  async function serve(): Promise<void> {
    for (let idleTurns = 0; idleTurns < 3; idleTurns++) {
      for (let commits = underWay.shift(); commits !== undefined; commits = underWay.shift()) {
        Atomics.add(served, 0, 1)
        left -= commits
        answered(left, [])
        idleTurns = 0
      }
      await nextTurn()
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => one + other, 0)
}

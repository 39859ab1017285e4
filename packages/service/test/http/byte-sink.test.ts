/** Bytes that were taken stay as they are until they are given back, however many answers are on their way. */
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as passed } from 'node:timers/promises'
import { parsePartitionKey } from '../../src/model/keys.ts'
import { byteSink, giveBack } from '../../src/http/byte-sink.ts'
import { account, startTables, table, type TestTables } from '../support/batch.ts'
import { commit, keyAt, put, text } from '../support/entities.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { openRaw, requestBytes } from '../support/raw-http.ts'

describe('byte sink', () => {
  it('collects what it is given, however much', () => {
    const random = seededRandom(1)
    for (const bytes of [0, 1, 4095, 70_000, 300_000, 3_000_000]) {
      const sink = byteSink(4096)
      let expected = ''
      while (expected.length < bytes) {
        const piece = String.fromCharCode(97 + random.below(26)).repeat(1 + random.below(5000))
        if (random.below(2) === 0) sink.write(piece)
        else sink.copy(Buffer.from(`-${piece}-`), 1, piece.length + 1)
        expected += piece
      }
      const taken = sink.take()
      assert.equal(taken.toString('latin1'), expected)
      giveBack(taken)
    }
  })

  it('uses long buffers again, but none that was not given back, and none twice', () => {
    const held = filled('a')
    const returned = filled('b')
    giveBack(returned)
    giveBack(returned)
    const others = 'cdefghijklmn'.split('').map((letter) => ({ letter, bytes: filled(letter) }))
    assert.equal(others.filter(({ bytes }) => bytes.buffer === returned.buffer).length, 1)
    for (const { letter, bytes } of [{ letter: 'a', bytes: held }, ...others]) {
      assert.ok(bytes.every((byte) => byte === letter.charCodeAt(0)))
      giveBack(bytes)
    }
  })

  it('takes no bytes of others', () => {
    const other = Buffer.alloc(200_000, 'x')
    giveBack(other)
    filled('y')
    assert.ok(other.every((byte) => byte === 0x78))
  })
})

describe('long answers', () => {
  const partitions = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7']
  let tables: TestTables

  before(async () => {
    tables = await startTables()
    for (const partition of partitions) {
      for (let group = 0; group < 4; group++) {
        const rows = Array.from({ length: 100 }, (_, i) =>
          put(keyAt(partition, `${group}-${i}`), { a: text(`${partition} `.repeat(700)) }),
        )
        await commit(tables.store, tables.id, parsePartitionKey(partition), rows)
      }
    }
  })
  after(() => tables.close())

  it('are those asked for, while others are read slowly, cut off or asked for at once', async () => {
    const random = seededRandom(2)
    await Promise.all(
      Array.from({ length: 16 }, async (_, client) => {
        if (client < 4) return await readSlowly(random.shuffled([...partitions, ...partitions]), random)
        for (let round = 0; round < 6; round++) {
          const partition = random.pick(partitions)
          if (client % 2 === 0) await leaveEarly(partition, random)
          else assertPage(partition, await readAtOnce(partition))
        }
      }),
    )
  })

  function pageOf(partition: string): Buffer {
    const filter = `PartitionKey%20eq%20'${partition}'`
    return requestBytes({ method: 'GET', target: `/${account}/${table}()?$filter=${filter}` })
  }

  async function readAtOnce(partition: string): Promise<string> {
    const connection = await openRaw(tables.url)
    const { body } = await connection.send(pageOf(partition))
    connection.close()
    return body.toString()
  }

  /** Many pages on one connection, of which none is read until the system holds no more of them. */
  async function readSlowly(asked: readonly string[], random: Random): Promise<void> {
    const socket = await ask(asked)
    await passed(50 + random.below(100))
    let received = ''
    let answered = 0
    for await (const chunk of socket) {
      received += (chunk as Buffer).toString('latin1')
      for (let end = received.indexOf(lastChunk); end >= 0; end = received.indexOf(lastChunk)) {
        assertPage(asked[answered++] as string, received.slice(received.indexOf('{'), end))
        received = received.slice(end + lastChunk.length)
      }
      if (answered === asked.length) break
    }
    assert.equal(answered, asked.length)
  }

  async function leaveEarly(partition: string, random: Random): Promise<void> {
    const socket = await ask([partition])
    await once(socket, 'data')
    await passed(random.below(5))
    socket.destroy()
  }

  async function ask(asked: readonly string[]) {
    const socket = connect(Number(new URL(tables.url).port), '127.0.0.1')
    await once(socket, 'connect')
    for (const partition of asked) socket.write(pageOf(partition))
    return socket
  }
})

const lastChunk = '\r\n0\r\n\r\n'

function filled(letter: string): Buffer {
  const sink = byteSink(100_000)
  for (let i = 0; i < 1000; i++) sink.write(letter.repeat(100))
  return sink.take()
}

function assertPage(partition: string, body: string): void {
  const { value } = JSON.parse(body) as { value: { PartitionKey: string; a: string }[] }
  assert.equal(value.length, 400)
  for (const row of value) {
    assert.equal(row.PartitionKey, partition)
    assert.equal(row.a, `${partition} `.repeat(700))
  }
}

import { strict as assert } from 'node:assert'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ContainerClient } from '@azure/storage-blob'
import { blobLog, type TimeRange, type Writer, type WriterEvent } from '../../src/blob-log/blob-log.ts'
import { type Azurite, startAzurite } from '../support/azurite.ts'
import { type Death, Died, type Mortal, mortal } from '../support/mortal.ts'

let azurite: Azurite
let containers = 0

before(async () => {
  azurite = await startAzurite()
})
after(async () => await azurite.stop())

const definition = { name: 'queue', columns: ['operation', 'account'] } as const
const always = range('2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z')

describe('a log in blobs', () => {
  it('is written by hour and read by range', async () => {
    const { container, log } = await newLog()
    const writer = log.openWriter()
    for (const minute of [0, 20, 40, 60, 80, 100])
      writer.append(
        { operation: `op${minute}`, account: 'a;b\n' },
        new Date(Date.UTC(2014, 6, 31, 18, minute)),
      )
    await writer.close()
    assert.deepEqual(await blobsOf(container), [
      ['queue/2014/07/31/1800/000001.log', '2014-07-31T18:00:00.000Z', '2014-07-31T18:40:00.000Z'],
      ['queue/2014/07/31/1900/000001.log', '2014-07-31T19:00:00.000Z', '2014-07-31T19:40:00.000Z'],
    ])
    const found = await all(log.read(range('2014-07-31T18:20:00Z', '2014-07-31T19:20:00Z')))
    assert.deepEqual(
      found.map(({ operation }) => operation),
      ['op20', 'op40', 'op60'],
    )
    assert.deepEqual(found[0], { at: new Date('2014-07-31T18:20:00Z'), operation: 'op20', account: 'a;b\n' })
  })

  it('leaves out blobs that say they lie outside', async () => {
    const { container, log } = await newLog()
    const writer = log.openWriter()
    writer.append({ operation: 'early', account: '' }, new Date('2014-07-31T18:10:00Z'))
    await writer.close()
    const early = container.getBlobClient('queue/2014/07/31/1800/000001.log')
    const observer = mortal()
    const watched = blobLog(observer.container(container.url), definition)
    assert.deepEqual(await all(watched.read(range('2014-07-31T18:30:00Z', '2014-07-31T18:50:00Z'))), [])
    assert.equal(observer.sent, 1, 'a listing and no download')
    // Of a blob that does not say so, because its writer died, every line is looked at.
    await early.setMetadata({})
    assert.equal((await all(log.read(range('2014-07-31T18:00:00Z', '2014-07-31T18:50:00Z')))).length, 1)
  })

  it('reads lines of an earlier definition with the new column empty', async () => {
    const { container, log } = await newLog()
    await writeAll(log.openWriter(), ['a'])
    const wider = blobLog(container, { name: 'queue', columns: ['operation', 'account', 'status'] })
    assert.deepEqual(
      (await all(wider.read(always))).map(({ operation, status }) => [operation, status]),
      [['a', '']],
    )
  })

  it('rolls over to another blob before one grows too large', async () => {
    const { container, log } = await newLog()
    const writer = log.openWriter({ blobBytesMax: 100, clock: () => new Date('2014-07-31T18:00:00Z') })
    for (const operation of ['a', 'b', 'c', 'd']) {
      writer.append({ operation, account: 'x'.repeat(20) })
      await writer.flush()
    }
    await writer.close()
    assert.deepEqual(
      (await blobsOf(container)).map(([name]) => name),
      ['queue/2014/07/31/1800/000001.log', 'queue/2014/07/31/1800/000002.log'],
    )
    assert.deepEqual(operationsOf(await all(log.read(always))), ['a', 'b', 'c', 'd'])
    assert.throws(() => log.openWriter({ blobBytesMax: 10 }).append({ operation: '', account: '' }), {
      code: 'LimitExceeded',
    })
  })

  it('flushes by itself, by size and by time', async () => {
    const { log } = await newLog()
    const events: WriterEvent[] = []
    const observe = (event: WriterEvent) => void (event.kind === 'appended' && events.push(event))
    const bySize = log.openWriter({ flushBytes: 100, flushMs: 60_000, observe })
    bySize.append({ operation: 'a', account: 'short' })
    await pause(100)
    assert.equal(events.length, 0)
    bySize.append({ operation: 'b', account: 'x'.repeat(100) })
    await eventually(() => events.length === 1)
    const byTime = log.openWriter({ flushMs: 50, observe })
    byTime.append({ operation: 'c', account: '' })
    await eventually(() => events.length === 2)
    assert.deepEqual(operationsOf(await all(log.read(always))).toSorted(), ['a', 'b', 'c'])
    await bySize.close()
    await byTime.close()
  })

  it('gives each of several writers blobs of its own', async () => {
    const { container, log } = await newLog()
    const clock = () => new Date('2014-07-31T18:00:00Z')
    const writers = Array.from({ length: 4 }, () => log.openWriter({ clock }))
    await Promise.all(
      writers.map(async (writer, index) => await writeAll(writer, [`a${index}`, `b${index}`])),
    )
    assert.equal((await blobsOf(container)).length, 4)
    assert.deepEqual(operationsOf(await all(log.read(always))).toSorted(), [
      'a0',
      'a1',
      'a2',
      'a3',
      'b0',
      'b1',
      'b2',
      'b3',
    ])
  })

  it('takes late lines, and goes on when its blob was deleted', async () => {
    const { container, log } = await newLog()
    const writer = log.openWriter()
    const [early, late] = [new Date('2014-07-31T18:00:00Z'), new Date('2014-07-31T20:00:00Z')]
    writer.append({ operation: 'now', account: '' }, late)
    await writer.flush()
    writer.append({ operation: 'late', account: '' }, early)
    await writer.flush()
    await container.deleteBlob('queue/2014/07/31/2000/000001.log')
    writer.append({ operation: 'later', account: '' }, late)
    await writer.close()
    assert.deepEqual(operationsOf(await all(log.read(always))), ['late', 'later'])
  })

  it('refuses lines once its buffer is full, and loses none that it took', async () => {
    const { container, owner, log } = await newLog({ request: 1, when: 'before', recovers: true })
    const events: WriterEvent[] = []
    const writer = log.openWriter({ bufferBytesMax: 80, observe: (event) => events.push(event) })
    writer.append({ operation: 'a', account: 'x'.repeat(20) })
    assert.throws(() => writer.append({ operation: 'b', account: 'x'.repeat(30) }), { code: 'LimitExceeded' })
    await assert.rejects(writer.flush(), Died)
    await writer.flush()
    writer.append({ operation: 'c', account: '' })
    await writer.close()
    assert.throws(() => writer.append({ operation: 'd', account: '' }), { code: 'InvalidValue' })
    assert.equal(owner.dead, false)
    assert.deepEqual(operationsOf(await all(blobLog(container, definition).read(always))), ['a', 'c'])
  })
})

describe('a log writer', () => {
  // Two blocks into one blob: list, create, append, append, note the span.
  const requests = 5
  const lines = ['a', 'b', 'c']

  it('needs five requests for two flushes', async () => {
    const { owner, log } = await newLog()
    assert.deepEqual(await writeInTwo(log.openWriter()), { flushed: ['a', 'b', 'c'] })
    assert.equal(owner.sent, requests)
  })

  it('that dies at any request leaves whole lines, once each, and all that it had flushed', async () => {
    await Promise.all(
      deaths().map(async (death) => {
        const { container, log } = await newLog(death)
        const { flushed } = await writeInTwo(log.openWriter())
        const found = operationsOf(await all(blobLog(container, definition).read(always)))
        const label = JSON.stringify({ death, flushed, found })
        assert.deepEqual(found, lines.slice(0, found.length), label)
        assert(found.length >= flushed.length, label)
        const next = blobLog(container, definition)
        await writeAll(next.openWriter(), ['next'])
        assert.deepEqual(
          operationsOf(await all(next.read(always))).toSorted(),
          [...found, 'next'].toSorted(),
          label,
        )
      }),
    )
  })

  it('that misses any one answer still writes each line once', async () => {
    await Promise.all(
      deaths().map(async (death) => {
        const { container, log } = await newLog({ ...death, recovers: true })
        const writer = log.openWriter({ flushMs: 60_000 })
        for (const operation of lines) {
          writer.append({ operation, account: '' })
          await insist(async () => await writer.flush())
        }
        await insist(async () => await writer.close())
        const found = operationsOf(await all(blobLog(container, definition).read(always)))
        assert.deepEqual(found, lines, JSON.stringify(death))
      }),
    )
  })

  function deaths(): Death[] {
    return Array.from({ length: requests }, (_, index) => index + 1).flatMap((request): Death[] => [
      { request, when: 'before' },
      { request, when: 'after' },
    ])
  }

  /** Which lines it believes to be stored when it ends or dies. */
  async function writeInTwo(writer: Writer<Line>): Promise<{ flushed: readonly string[] }> {
    let flushed: readonly string[] = []
    try {
      writer.append({ operation: 'a', account: '' })
      writer.append({ operation: 'b', account: '' })
      await writer.flush()
      flushed = ['a', 'b']
      writer.append({ operation: 'c', account: '' })
      await writer.flush()
      flushed = ['a', 'b', 'c']
      await writer.close()
    } catch (error) {
      assert(error instanceof Died)
    }
    return { flushed }
  }
})

type Line = { readonly operation: string; readonly account: string }

/** A log of its own; `log` uses clients of the mortal, `container` does not. */
async function newLog(death?: Death) {
  containers += 1
  const url = `${azurite.blobUrl}/log-${containers}`
  const container = mortal().container(url)
  await container.create()
  const owner: Mortal = mortal(death)
  return { container, owner, log: blobLog(owner.container(url), definition) }
}

async function writeAll(writer: Writer<Line>, operations: readonly string[]): Promise<void> {
  for (const operation of operations) writer.append({ operation, account: '' })
  await writer.close()
}

async function blobsOf(container: ContainerClient): Promise<(string | undefined)[][]> {
  const found: (string | undefined)[][] = []
  for await (const { name, metadata } of container.listBlobsFlat({ includeMetadata: true }))
    found.push([name, metadata?.['first'], metadata?.['last']])
  return found
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

function operationsOf(lines: readonly Line[]): string[] {
  return lines.map(({ operation }) => operation)
}

function range(from: string, until: string): TimeRange {
  return { from: new Date(from), until: new Date(until) }
}

async function insist(action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    assert(error instanceof Died)
    await action()
  }
}

async function eventually(holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000
  while (!holds()) {
    assert(performance.now() < deadlineMs, 'it did not come to that')
    await pause(20)
  }
}

/** Broken batches by the thousand: every one is answered, none by a fault of the service's own. */
import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { answer } from '../../src/http/answer.ts'
import { systemClock } from '../../src/model/ticks.ts'
import { openMemoryStore } from '../../src/store/memory/memory-store.ts'
import {
  account,
  type Batch,
  batchRequest,
  batchTarget,
  changeSet,
  contextOf,
  direct,
  insert,
  merge,
  read,
  remove,
  replace,
  startTables,
  table,
} from '../support/batch.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { signedHeaders } from '../support/raw-http.ts'
import { newSeed } from '../support/seed.ts'

const bodies = process.env['PARTITA_NIGHTLY'] === undefined ? 50_000 : 1_000_000
const overSockets = 300
const seed = newSeed()
const folder = new URL('../../../test/fixtures/batch/', import.meta.url)
const heapBytesMax = 128 * 1024 * 1024

describe(`Entity group transactions, mutated (PARTITA_SEED=${seed})`, () => {
  it(`${bodies} bodies against the pipeline`, async () => {
    const store = openMemoryStore({ clock: systemClock() })
    await store.create(account, table)
    const context = contextOf(store)
    const next = mutations(seed)
    const heapBefore = process.memoryUsage().heapUsed
    const counts = new Map<number, number>()
    for (let i = 0; i < bodies; i++) {
      const { contentType, body } = next()
      const headers = [...signed, 'Content-Type', contentType]
      const request = {
        method: 'POST',
        target: batchTarget,
        rawHeaders: headers,
        secure: false,
        hungUp: () => false,
      }
      const { reply, fault } = await answer({ ...request, body: async () => Buffer.from(body) }, context)
      assert(reply.status < 500, `body ${i}: ${String(fault?.cause)}\n${body.toString('latin1')}`)
      if (reply.status === 202) assertAnswered(reply.body as Buffer, i, body)
      counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1)
      // Rows that got through are not what is measured.
      if (i % 1_000 === 999) {
        await store.drop(account, table)
        await store.create(account, table)
      }
    }
    const grown = process.memoryUsage().heapUsed - heapBefore
    assert(grown < heapBytesMax, `the heap grew by ${grown} bytes`)
    assert.deepEqual(new Set(counts.keys()), new Set([202, 400]))
    assert(
      [...counts.values()].every((count) => count > bodies / 100),
      JSON.stringify([...counts]),
    )
  })

  it(`${overSockets} bodies over a socket`, async () => {
    const tables = await startTables()
    const next = mutations(seed + 1)
    try {
      for (let i = 0; i < overSockets; i++) {
        const { status } = await tables.send(batchRequest(next()))
        assert([202, 400].includes(status), `${status}`)
      }
    } finally {
      await tables.close()
    }
  })
})

const signed = signedHeaders({ method: 'POST', target: batchTarget })

/** However broken the request, the answer is whole: a status and its end. */
function assertAnswered(bytes: Buffer, i: number, body: Buffer | string): void {
  const text = bytes.toString('latin1')
  const statuses = [...text.matchAll(/\r\n\r\nHTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  const whole = /^--(batchresponse_[0-9a-f-]{36})\r\n[^]*\r\n--\1--\r\n$/.test(text)
  assert(
    whole && statuses.length > 0 && statuses.every((status) => status < 500 || status === 501),
    `body ${i}: ${text}\n${body.toString('latin1')}`,
  )
}

/** The same ones for the same seed. */
function mutations(from: number): () => Batch & { readonly body: Buffer } {
  const random = seededRandom(from)
  const originals = readOriginals()
  return () => {
    const original = random.pick(originals)
    let body = Buffer.from(original.body)
    for (let left = 1 + random.below(1 + random.below(6)); left > 0; left--)
      body = mutate(body, random, originals)
    const contentType =
      random.below(50) === 0 ? original.contentType.replace(/.$/, '"') : original.contentType
    return { contentType, body: body.subarray(0, 64 * 1024) }
  }
}

const fragments = [
  '--',
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  ':',
  '"',
  "'",
  '(',
  ')',
  '%',
  '%00',
  '%ff',
  '{',
  '}',
  '\u0000',
  '\u00ff',
  'HTTP/1.1',
  'GET ',
  'POST ',
  'DELETE ',
  'OPTIONS ',
  'If-Match: *\r\n',
  'If-Match: W/"x"\r\n',
  'If-None-Match: *\r\n',
  'X-HTTP-Method: MERGE\r\n',
  'Content-ID: 1\r\n',
  '$batch',
  'Tables',
  '?comp=acl',
  '?$format=atom',
  '?$select=*',
  'Accept: application/atom+xml\r\n',
  'Content-Encoding: gzip\r\n',
  '--batch_b',
  '--batch_b--',
  '--changeset_c\r\n',
  '--changeset_c--\r\n',
  'Content-Type: multipart/mixed; boundary=changeset_c\r\n',
  '[1]',
  '1e999',
  '"Edm.Int64"',
  '@odata.type',
  'http://',
  '/../',
  '#',
  '日本',
]

function mutate(body: Buffer, random: Random, originals: readonly Batch[]): Buffer<ArrayBuffer> {
  const at = random.below(body.length + 1)
  // Mostly short, now and then most of what is left.
  const until = Math.min(body.length, at + random.below(1 + random.below(1 + random.below(body.length + 1))))
  const [head, middle, tail] = [body.subarray(0, at), body.subarray(at, until), body.subarray(until)]
  switch (random.below(8)) {
    case 0: {
      const flipped = Buffer.from(body)
      if (at < flipped.length) flipped[at] = random.below(256)
      return flipped
    }
    case 1:
      return Buffer.concat([head, tail])
    case 2:
      return Buffer.concat([head, middle, middle, tail])
    case 3:
      return Buffer.concat([head, Buffer.from(random.pick(fragments)), middle, tail])
    case 4:
      return Buffer.concat([head, Buffer.from(random.pick(fragments)), tail])
    case 5:
      return Buffer.from(
        random.pick([
          body.toString('latin1').replaceAll('\r\n', '\n'),
          body.toString('latin1').replace('\r\n', ''),
        ]),
        'latin1',
      )
    case 6: {
      const other = Buffer.from(random.pick(originals).body)
      const from = random.below(other.length)
      return Buffer.concat([head, other.subarray(from, from + random.below(400)), tail])
    }
    default:
      return random.below(5) === 0 ? Buffer.from(head) : Buffer.concat([tail, middle, head])
  }
}

function readOriginals(): Batch[] {
  const fixtures = readdirSync(folder).filter((name) => name.endsWith('.request.http'))
  const batches = fixtures.map((name): Batch => {
    const text = readFileSync(new URL(name, folder), 'latin1')
    const [, head = '', body = ''] = /^(.*?)\r?\n\r?\n(.*)$/s.exec(text) ?? []
    return {
      contentType: /^content-type: (.*?)\r?$/im.exec(head)?.[1] as string,
      body: Buffer.from(body, 'latin1'),
    }
  })
  const mixed = [
    insert('1', { a: 1, b: 'é', c: true, d: 1.5 }),
    replace('2', { x: '1', 'x@odata.type': 'Edm.Int64' }),
    merge('3'),
    remove('4'),
  ]
  return [...batches, changeSet(mixed), changeSet([insert('9')]), direct(read('1')), direct(insert('8'))]
}

/**
 * The server is killed, again and again, while clients write; each time it is started anew on what the kill
 * left. Every client is the only writer of its partition, so it knows what each row must be: what was
 * acknowledged last, or what the one request cut off by the kill would have made of it.
 */
import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEtag } from '../../src/model/version.ts'
import {
  type ClientAnswer,
  entityPath,
  type KeepAliveClient,
  keepAliveClient,
} from '../support/keep-alive-client.ts'
import { openTablesFile } from '../support/tables-file.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { newSeed, withSeed } from '../support/seed.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const nightly = process.env['PARTITA_NIGHTLY'] !== undefined
const clients = 16
const table = 'ledger'

describe('a server that is killed', () => {
  it('has every acknowledged write when it is back, and no half of another', async (test) => {
    const seed = newSeed()
    await withSeed(seed, async () => {
      const random = seededRandom(seed)
      const kills = nightly ? 300 : 20
      const data = await temporaryFolder()
      const partitions = Array.from({ length: clients }, (_, i) => newPartition(`client ${i}`))
      const counter: Counter = { certain: 0, cutOff: 0 }
      let cutOff = 0
      for (let kill = 0; kill < kills; kill++) {
        const server = await startServer(data)
        if (kill === 0) await makeTable(server)
        await readBack(server, partitions, counter, (row) => row.round === kill - 1 || random.below(40) === 0)
        const load = Promise.all(
          partitions.map((partition) => writeUntilCut(server.url, partition, counter, kill, random)),
        )
        await pause(random.below(350) + 10)
        // A slow machine gets the time it needs to write as much as is asked for below.
        await until(() => acknowledgedIn(partitions) > (kill + 1) * clients, 'hardly anything is written')
        await server.kill()
        await load
        cutOff += partitions.filter(({ rows }) => rows.some((row) => row.cutOff !== undefined)).length
      }
      const server = await startServer(data)
      await readBack(server, partitions, counter, () => true)
      assert.equal((await server.stop()).code, 0)
      const rows = partitions.reduce((sum, partition) => sum + partition.rows.length, 0)
      const acknowledged = acknowledgedIn(partitions)
      test.diagnostic(`${kills} kills, ${acknowledged} writes acknowledged, ${cutOff} cut off, ${rows} rows`)
      assert(cutOff > kills, 'the kills came when hardly anything was under way')
      assert(acknowledged > kills * clients, 'hardly anything was written')
    })
  })

  it('goes on reclaiming a dropped table, whose name and rows are free at once', async (test) => {
    const seed = newSeed()
    await withSeed(seed, async () => {
      const random = seededRandom(seed)
      const data = await temporaryFolder()
      const doomed = Array.from({ length: nightly ? 20 : 4 }, (_, i) => `doomed${i}`)
      const rows = 600
      let server = await startServer(data)
      await withClients(server.url, async (each) => {
        const [first] = each
        for (const name of ['before', ...doomed, 'behind']) {
          await create(first, name)
          await fill(each, name, doomed.includes(name) ? rows : 20)
        }
      })
      const file = openTablesFile(data)
      const ids = file.tables()
      let midway = 0
      for (const [kill, name] of doomed.entries()) {
        await withClient(server.url, async (client) => {
          expect(await client.send('DELETE', `/Tables('${name}')`), 204)
        })
        if (kill % 2 === 1) await pause(random.below(5))
        await server.kill()
        if (file.rows(ids.get(name) as number) > 0) midway++
        server = await startServer(data)
        await withClient(server.url, async (client) => {
          await create(client, name)
          for (const row of [0, 1, rows - 1]) {
            expect(await client.send('GET', entityPath(name, 'p', `r${row}`)), 404)
            await insert(client, name, row)
          }
          expect(await client.send('DELETE', `/Tables('${name}')`), 204)
        })
      }
      await until(() => file.waiting() === 0, 'the rows are still there')
      for (const name of doomed) assert.equal(file.rows(ids.get(name) as number), 0)
      await withClient(server.url, async (client) => {
        for (const name of ['before', 'behind']) {
          for (let row = 0; row < 20; row++) {
            expect(await client.send('GET', entityPath(name, 'p', `r${row}`)), 200)
          }
        }
        assert.deepEqual(await tableNames(client), ['before', 'behind'])
      })
      await file.close()
      assert.equal((await server.stop()).code, 0)
      test.diagnostic(`${midway} kills came while rows were being reclaimed`)
      assert(midway > 0, 'no kill came while rows were being reclaimed')
    })
  })

  it('has a catalogue in order: no table half made, and none with the rows of another', async () => {
    const seed = newSeed()
    await withSeed(seed, async () => {
      const random = seededRandom(seed)
      const data = await temporaryFolder()
      const names = Array.from({ length: clients }, (_, i) => newNamedTable(`table${i}`))
      const given = new Map<number, string>()
      for (let kill = 0; kill < (nightly ? 60 : 6); kill++) {
        const server = await startServer(data)
        await checkCatalogue(server, data, names, given)
        const load = Promise.all(names.map((named) => comeAndGoUntilCut(server.url, named, random)))
        await pause(random.below(200) + 10)
        await until(() => madeOf(names) > (kill + 1) * clients, 'hardly any table is made')
        await server.kill()
        await load
      }
      const server = await startServer(data)
      await checkCatalogue(server, data, names, given)
      assert.equal((await server.stop()).code, 0)
      assert(given.size > clients, 'hardly any table was made')
    })
  })
})

/** What an entity holds; its texts are made from numbers, so that a model of thousands stays small. */
interface Content {
  readonly text: number
  readonly count: number
  readonly note: number
}

/** `content` is undefined while the row is absent. */
interface State {
  readonly content: Content | undefined
  readonly etag: string | undefined
}

interface Row {
  readonly name: string
  /** As last acknowledged. */
  state: State
  /** What the request under way would leave; kept when the kill cut it off. */
  cutOff: { readonly content: Content | undefined } | undefined
  /** When it was last written. */
  round: number
}

interface Partition {
  readonly name: string
  readonly rows: Row[]
  acknowledged: number
  /** The highest seen. */
  version: bigint
}

/** A number that all clients raise, each raise under the ETag it was read with. */
interface Counter {
  certain: number
  cutOff: number
}

const absent: State = { content: undefined, etag: undefined }
const counterPath = entityPath(table, 'shared', 'counter')

function newPartition(name: string): Partition {
  return { name, rows: [], acknowledged: 0, version: 0n }
}

function acknowledgedIn(partitions: readonly Partition[]): number {
  return partitions.reduce((sum, partition) => sum + partition.acknowledged, 0)
}

async function makeTable(server: ServerProcess): Promise<void> {
  await withClient(server.url, async (client) => {
    await create(client, table)
    const body = { PartitionKey: 'shared', RowKey: 'counter', Count: 0 }
    expect(await client.send('POST', `/${table}`, { body }), 201)
  })
}

/** One client's work: one request after the other until the connection breaks. */
async function writeUntilCut(
  url: string,
  partition: Partition,
  counter: Counter,
  round: number,
  random: Random,
): Promise<void> {
  const client = keepAliveClient(url)
  try {
    for (;;) {
      const turn = random.below(100)
      const row = turn < 45 ? undefined : recentRow(partition, random)
      if (turn >= 96) await raise(client, counter)
      else if (row === undefined) await write(client, partition, newRow(partition), round, 'insert', random)
      else if (row.state.content === undefined) await write(client, partition, row, round, 'insert', random)
      else if (turn < 70) await write(client, partition, row, round, 'merge', random)
      else if (turn < 88) await write(client, partition, row, round, 'replace', random)
      else await write(client, partition, row, round, 'delete', random)
    }
  } catch (error) {
    if (!isCut(error)) throw error
  } finally {
    client.close()
  }
}

function newRow(partition: Partition): Row {
  const row: Row = { name: `row ${partition.rows.length}`, state: absent, cutOff: undefined, round: 0 }
  partition.rows.push(row)
  return row
}

/** Mostly one of the last, at times any. */
function recentRow({ rows }: Partition, random: Random): Row | undefined {
  if (rows.length === 0) return undefined
  const span = random.below(10) === 0 ? rows.length : Math.min(rows.length, 30)
  return rows[rows.length - 1 - random.below(span)]
}

type Write = 'insert' | 'merge' | 'replace' | 'delete'

async function write(
  client: KeepAliveClient,
  partition: Partition,
  row: Row,
  round: number,
  kind: Write,
  random: Random,
): Promise<void> {
  const fresh = { text: random.below(2 ** 31), count: random.below(2 ** 31), note: random.below(2 ** 31) }
  const before = row.state.content
  const changed: (keyof Content)[] =
    kind === 'merge'
      ? random.shuffled(['text', 'count', 'note'] as const).slice(0, 2)
      : ['text', 'count', 'note']
  const content = kind === 'delete' ? undefined : { ...fresh, ...before, ...only(fresh, changed) }
  const etag = random.below(2) === 0 ? '*' : (row.state.etag ?? '*')
  const path = entityPath(table, partition.name, row.name)
  row.round = round
  row.cutOff = { content }
  let answer: ClientAnswer
  switch (kind) {
    case 'insert': {
      const keys = { PartitionKey: partition.name, RowKey: row.name }
      const body = { ...keys, ...properties(content as Content, changed) }
      answer = await client.send('POST', `/${table}`, { body, headers: { Prefer: 'return-no-content' } })
      break
    }
    case 'merge':
    case 'replace': {
      const body = properties(content as Content, changed)
      // At times without a condition, which makes it an upsert.
      const headers: Record<string, string> = random.below(4) === 0 ? {} : { 'If-Match': etag }
      answer = await client.send(kind === 'merge' ? 'MERGE' : 'PUT', path, { body, headers })
      break
    }
    case 'delete':
      answer = await client.send('DELETE', path, { headers: { 'If-Match': etag } })
      break
  }
  expect(answer, 204)
  partition.acknowledged++
  row.cutOff = undefined
  row.state = { content, etag: answer.headers.etag }
  if (kind !== 'delete') noteVersion(partition, answer.headers.etag)
}

async function raise(client: KeepAliveClient, counter: Counter): Promise<void> {
  const read = await client.send('GET', counterPath)
  const count = (JSON.parse(read.body) as { Count: number }).Count
  counter.cutOff++
  const answer = await client.send('MERGE', counterPath, {
    body: { Count: count + 1 },
    headers: { 'If-Match': read.headers.etag ?? '' },
  })
  counter.cutOff--
  if (answer.status === 412) return
  expect(answer, 204)
  counter.certain++
}

/** Compares the rows chosen, and those cut off, with what the model allows; the model then follows. */
async function readBack(
  server: ServerProcess,
  partitions: readonly Partition[],
  counter: Counter,
  chosen: (row: Row) => boolean,
): Promise<void> {
  await Promise.all(
    partitions.map((partition) =>
      withClient(server.url, async (client) => {
        for (const row of partition.rows) {
          if (row.cutOff !== undefined || chosen(row)) await readBackRow(client, partition, row)
        }
      }),
    ),
  )
  await withClient(server.url, async (client) => {
    const { Count: count } = JSON.parse((await client.send('GET', counterPath)).body) as { Count: number }
    const { certain, cutOff } = counter
    assert(
      count >= certain && count <= certain + cutOff,
      `${count} raises, ${certain} told, ${cutOff} cut off`,
    )
    counter.certain = count
    counter.cutOff = 0
  })
}

async function readBackRow(client: KeepAliveClient, partition: Partition, row: Row): Promise<void> {
  const answer = await client.send('GET', entityPath(table, partition.name, row.name))
  const { state, cutOff } = row
  row.cutOff = undefined
  const where = `${partition.name}, ${row.name}`
  if (answer.status === 404) {
    const allowed = state.content === undefined || (cutOff !== undefined && cutOff.content === undefined)
    assert(allowed, `${where}: an acknowledged write is gone`)
    row.state = absent
    return
  }
  expect(answer, 200)
  const found = JSON.parse(answer.body) as Record<string, unknown>
  const { etag } = answer.headers
  assert.equal(found['Sum'], sumOf(found['Text'], found['Count'], found['Note']), `${where}: torn`)
  if (etag === state.etag) {
    assert.deepEqual(found['Sum'], state.content && sumOfContent(state.content), `${where}: another content`)
    return
  }
  assert(cutOff?.content !== undefined, `${where}: ${etag} instead of ${state.etag}, which was acknowledged`)
  assert.equal(found['Sum'], sumOfContent(cutOff.content), `${where}: not what was being written`)
  noteVersion(partition, etag)
  row.state = { content: cutOff.content, etag }
}

/** Every version handed out in a partition is above all before it, also across a restart. */
function noteVersion(partition: Partition, etag: string | undefined): void {
  const version = parseEtag(etag ?? '')
  assert(version !== undefined && version > partition.version, `${etag} is not above ${partition.version}`)
  partition.version = version
}

/** The properties named, and the sum over all of them as they will then be. */
function properties(content: Content, names: readonly (keyof Content)[]): Record<string, unknown> {
  const all = {
    text: { Text: textOf(content) },
    count: { Count: content.count },
    note: { Note: noteOf(content) },
  }
  return Object.assign({ Sum: sumOfContent(content) }, ...names.map((name) => all[name]))
}

function sumOfContent(content: Content): string {
  return sumOf(textOf(content), content.count, noteOf(content))
}

function sumOf(text: unknown, count: unknown, note: unknown): string {
  return createHash('sha1')
    .update(JSON.stringify([text, count, note]))
    .digest('base64')
}

/** Two to six KiB: more than fits a page of the store beside others. */
function textOf({ text }: Content): string {
  return `${text} `.repeat(200 + (text % 400))
}

function noteOf({ note }: Content): string {
  return `note ${note}`
}

function only(content: Content, names: readonly (keyof Content)[]): Partial<Content> {
  return Object.fromEntries(names.map((name) => [name, content[name]]))
}

/** A name that one client makes and deletes tables under. */
interface NamedTable {
  readonly name: string
  /** Whether the table is there, as last acknowledged. */
  there: boolean
  /** What the last table of this name was made as; also what its one row says. */
  generation: number
  marked: boolean
  cutOff: 'create' | 'mark' | 'delete' | undefined
}

function newNamedTable(name: string): NamedTable {
  return { name, there: false, generation: 0, marked: false, cutOff: undefined }
}

/** How many tables were made under these names. */
function madeOf(names: readonly NamedTable[]): number {
  return names.reduce((sum, named) => sum + named.generation, 0)
}

async function comeAndGoUntilCut(url: string, named: NamedTable, random: Random): Promise<void> {
  const client = keepAliveClient(url)
  try {
    for (;;) {
      if (!named.there) {
        named.cutOff = 'create'
        expect(await client.send('POST', '/Tables', { body: { TableName: named.name } }), 201)
        named.there = true
        named.generation++
        named.marked = false
        named.cutOff = undefined
        expect(await client.send('GET', entityPath(named.name, 'p', 'mark')), 404)
      } else if (!named.marked && random.below(4) > 0) {
        named.cutOff = 'mark'
        const body = { PartitionKey: 'p', RowKey: 'mark', Generation: named.generation }
        expect(await client.send('POST', `/${named.name}`, { body }), 201)
        named.marked = true
        named.cutOff = undefined
      } else {
        named.cutOff = 'delete'
        expect(await client.send('DELETE', `/Tables('${named.name}')`), 204)
        named.there = false
        named.cutOff = undefined
      }
    }
  } catch (error) {
    if (!isCut(error)) throw error
  } finally {
    client.close()
  }
}

/** `given` remembers, for all time, which table an id was given to. */
async function checkCatalogue(
  server: ServerProcess,
  data: string,
  names: readonly NamedTable[],
  given: Map<number, string>,
): Promise<void> {
  await withClient(server.url, async (client) => {
    const listed = new Set(await tableNames(client))
    for (const named of names) {
      const there = listed.delete(named.name)
      if (there !== named.there) {
        const explained = there ? named.cutOff === 'create' : named.cutOff === 'delete'
        assert(explained, `${named.name} is ${there ? 'there' : 'gone'}, against what was acknowledged`)
        if (there) {
          named.generation++
          named.marked = false
        }
        named.there = there
      }
      expect(await client.send('GET', `/Tables('${named.name}')`), there ? 200 : 404)
      const mark = await client.send('GET', entityPath(named.name, 'p', 'mark'))
      if (!there) {
        expect(mark, 404)
        assert.match(mark.body, /TableNotFound/)
      } else if (mark.status === 404) {
        assert(!named.marked, `${named.name}: its row is gone`)
      } else {
        const { Generation: generation } = JSON.parse(mark.body) as { Generation: number }
        assert.equal(generation, named.generation, `${named.name} has a row of another table`)
        assert(named.marked || named.cutOff === 'mark', `${named.name} has a row that was never written`)
        named.marked = true
      }
      named.cutOff = undefined
    }
    assert.deepEqual([...listed], [], 'tables nobody made')
  })
  const file = openTablesFile(data)
  const tables = file.tables()
  for (const [name, id] of tables) {
    const generation = `${name} ${names.find((named) => named.name === name)?.generation}`
    assert(file.isLiving(id), `${name} has an id that is dead`)
    assert.equal(given.get(id) ?? generation, generation, `id ${id} was given twice`)
    given.set(id, generation)
  }
  assert.equal(new Set(tables.values()).size, tables.size, 'two tables share an id')
  assert.equal(file.livingCount(), tables.size, 'a table lives that the catalogue does not have')
  await file.close()
}

async function tableNames(client: KeepAliveClient): Promise<string[]> {
  const { value } = JSON.parse((await client.send('GET', '/Tables')).body) as {
    value: { TableName: string }[]
  }
  return value.map((entry) => entry.TableName)
}

async function create(client: KeepAliveClient, name: string): Promise<void> {
  expect(await client.send('POST', '/Tables', { body: { TableName: name } }), 201)
}

async function fill(each: readonly KeepAliveClient[], name: string, rows: number): Promise<void> {
  let next = 0
  await Promise.all(
    each.map(async (client) => {
      while (next < rows) await insert(client, name, next++)
    }),
  )
}

async function insert(client: KeepAliveClient, name: string, row: number): Promise<void> {
  const body = { PartitionKey: 'p', RowKey: `r${row}`, Filler: 'x'.repeat(3000) }
  const headers = { Prefer: 'return-no-content' }
  expect(await client.send('POST', `/${name}`, { body, headers }), 204)
}

function expect(answer: ClientAnswer, status: number): void {
  assert.equal(answer.status, status, answer.body)
}

async function withClient(url: string, work: (client: KeepAliveClient) => Promise<void>): Promise<void> {
  const client = keepAliveClient(url)
  try {
    await work(client)
  } finally {
    client.close()
  }
}

async function withClients(
  url: string,
  work: (each: [KeepAliveClient, ...KeepAliveClient[]]) => Promise<void>,
): Promise<void> {
  const first = keepAliveClient(url)
  const others = Array.from({ length: clients - 1 }, () => keepAliveClient(url))
  try {
    await work([first, ...others])
  } finally {
    for (const client of [first, ...others]) client.close()
  }
}

/** What a client meets when its server dies. */
function isCut(error: unknown): boolean {
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes((error as { code?: string }).code ?? '')
}

async function until(done: () => boolean, otherwise: string): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!done()) {
    assert(performance.now() < deadline, otherwise)
    await pause(5)
  }
}

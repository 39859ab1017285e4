/**
 * Random histories, told to a service in memory and to one on disk, which must answer alike. The clock
 * belongs to the test and at times stands still or goes back; the service on disk is closed and opened anew
 * in between. Both read the same clock, so times and ETags must agree to the tick; only the ids of requests
 * are masked.
 */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { type Ticks, unixMsOfTicks } from '../../src/model/ticks.ts'
import { type RunningService, startService } from '../../src/service.ts'
import {
  entityPath,
  type Exchange,
  type KeepAliveClient,
  keepAliveClient,
} from '../support/keep-alive-client.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { newSeed, withSeed } from '../support/seed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testClock } from '../support/test-clock.ts'

const nightly = process.env['PARTITA_NIGHTLY'] !== undefined
const histories = nightly ? 300 : 6
const steps = 150

describe('a service in memory and a service on disk', () => {
  it('answer every request alike', async (test) => {
    const first = newSeed()
    const statuses = new Map<number, number>()
    for (let seed = first; seed < first + histories; seed++) {
      await withSeed(seed, () => playHistory(seed, statuses))
    }
    const counts = [...statuses]
      .toSorted(([a], [b]) => a - b)
      .map(([status, count]) => `${count} × ${status}`)
    test.diagnostic(`${histories} histories of ${steps} requests: ${counts.join(', ')}`)
    for (const status of [200, 201, 204, 304, 400, 404, 409, 412]) {
      assert(statuses.has(status), `no history led to ${status}`)
    }
  })
})

/** A request of a history. */
interface Step {
  readonly method: string
  readonly resource: string
  readonly exchange: Exchange
  /** The entity it is about, if any. */
  readonly entity?: string
  readonly condition?: { readonly header: 'If-Match' | 'If-None-Match'; readonly etag: Etag }
}

/** As both services told it, or a text that neither may have. */
type Etag = 'the last' | 'the last but one' | { readonly text: string }

async function playHistory(seed: number, statuses: Map<number, number>): Promise<void> {
  const random = seededRandom(seed)
  const clock = testClock()
  const data = await temporaryFolder()
  const memory = await startPlayer(':memory:', clock.read)
  let disk = await startPlayer(data, clock.read)
  const etags = newEtags()
  const told: string[] = []
  try {
    for (let index = 0; index < steps; index++) {
      clock.move(nextMove(random))
      const step = index < tables.length ? creation(tables[index] as string) : randomStep(random)
      told.push(JSON.stringify(step))
      const sent = etags.fillIn(step)
      const [expected, found] = await Promise.all([memory.play(sent), disk.play(sent)])
      assert.deepEqual(found, expected, `the answers to step ${index} differ, after\n${told.join('\n')}`)
      etags.note(step, expected)
      statuses.set(expected.status, (statuses.get(expected.status) ?? 0) + 1)
      if (random.below(60) === 0) disk = await disk.restart()
    }
  } finally {
    await memory.close()
    await disk.close()
  }
}

/** Mostly forward by far, at times by a tick, not at all, or back. */
function nextMove(random: Random): bigint {
  const turn = random.below(20)
  if (turn === 0) return -BigInt(random.below(10_000_000))
  if (turn < 4) return BigInt(random.below(2))
  return BigInt(random.below(10_000_000))
}

/** As it is sent: a condition has become a header. */
type SentStep = Pick<Step, 'method' | 'resource' | 'exchange'>

interface MaskedAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Player {
  play(step: SentStep): Promise<MaskedAnswer>
  /** The same player in front of a service opened anew. */
  restart(): Promise<Player>
  close(): Promise<void>
}

async function startPlayer(data: string, clock: () => Ticks): Promise<Player> {
  const service: RunningService = await startService({ data, clock })
  const now = () => new Date(unixMsOfTicks(clock()))
  const client: KeepAliveClient = keepAliveClient(service.url, { now })
  return { play, restart, close }

  async function play({ method, resource, exchange }: SentStep): Promise<MaskedAnswer> {
    // Links in answers begin with the host, and ports differ.
    const headers = { Host: 'tables.example', ...exchange.headers }
    const answer = await client.send(method, resource, { ...exchange, headers })
    const { date: _date, 'x-ms-request-id': _id, ...kept } = answer.headers
    const masked = Object.entries(kept).map(([name, value]) => [name, mask(String(value))])
    return {
      status: answer.status,
      headers: Object.fromEntries(masked) as Record<string, string>,
      body: mask(answer.body),
    }
  }

  async function restart(): Promise<Player> {
    await close()
    return startPlayer(data, clock)
  }

  async function close(): Promise<void> {
    client.close()
    await service.close()
  }
}

function mask(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id')
}

/** The ETags each entity was seen with. */
function newEtags() {
  const seen = new Map<string, string[]>()
  return { fillIn, note }

  function fillIn({ method, resource, exchange, entity = '', condition }: Step): SentStep {
    if (condition === undefined) return { method, resource, exchange }
    const headers = { ...exchange.headers, [condition.header]: etagOf(entity, condition.etag) }
    return { method, resource, exchange: { ...exchange, headers } }
  }

  function etagOf(entity: string, etag: Etag): string {
    if (typeof etag === 'object') return etag.text
    return seen.get(entity)?.at(etag === 'the last' ? -1 : -2) ?? '*'
  }

  function note({ entity = '' }: Step, { headers: { etag } }: MaskedAnswer): void {
    const known = seen.get(entity) ?? []
    if (etag !== undefined && etag !== known.at(-1)) seen.set(entity, [...known, etag])
  }
}

const tables = ['people', 'People', 'orders', 'abc', 'x1y2z3']
const keys = ['', 'a', 'b', 'B', 'ä', '\u{1f3bc}', "it's", 'a b', '100%', 'a+b', 'ﬀ', 'a,b', '=()']
const levels = ['nometadata', 'minimalmetadata', 'fullmetadata']

const values: readonly Readonly<Record<string, unknown>>[] = [
  { Text: 'plain' },
  { Text: 'ünïcödé \u{1f3bc} "quoted" \\ \n' },
  { Number: 42 },
  { Number: -1.5 },
  { Number: 1e300 },
  { 'Number@odata.type': 'Edm.Double', Number: 'NaN' },
  { 'Number@odata.type': 'Edm.Double', Number: 3 },
  { 'Big@odata.type': 'Edm.Int64', Big: '9223372036854775807' },
  { 'Id@odata.type': 'Edm.Guid', Id: 'C9DA6455-213D-42C9-9A79-3E9149A57833' },
  { 'When@odata.type': 'Edm.DateTime', When: '2008-07-10T00:00:00.1234567Z' },
  { 'Bytes@odata.type': 'Edm.Binary', Bytes: 'AAEC/w==' },
  { Yes: true },
  { Gone: null },
  { Long: 'x'.repeat(5000) },
]

/** What no service accepts, each for another reason. */
const refused: readonly (string | object)[] = [
  '{"a":',
  '[]',
  '"text"',
  { Text: { nested: 1 } },
  { 'Big@odata.type': 'Edm.Int64', Big: 'many' },
  { 'Thing@odata.type': 'Edm.Thing', Thing: 'x' },
  { [`n${'x'.repeat(300)}`]: 1 },
  { Long: 'x'.repeat(40_000) },
  '{"Text":"a","Text":"b"}',
]

function creation(table: string): Step {
  return { method: 'POST', resource: '/Tables', exchange: { body: { TableName: table } } }
}

function randomStep(random: Random): Step {
  const turn = random.below(100)
  if (turn < 14) return tableStep(random)
  if (turn < 20) return listStep(random)
  if (turn < 38) return insertStep(random)
  if (turn < 60) return readStep(random)
  if (turn < 95) return writeStep(random)
  return strangeStep(random)
}

function tableStep(random: Random): Step {
  const name = random.below(12) === 0 ? random.pick(['ab', '1abc', 'a-b', 'Tables']) : random.pick(tables)
  const turn = random.below(10)
  if (turn < 3) return { method: 'GET', resource: `/Tables('${name}')`, exchange: accepting(random) }
  if (turn < 5) return { method: 'DELETE', resource: `/Tables('${name}')`, exchange: accepting(random) }
  const exchange = { body: { TableName: name }, ...preferring(random) }
  return { method: 'POST', resource: '/Tables', exchange }
}

/** Both the list of tables and of entities, with and without options. */
function listStep(random: Random): Step {
  const collection = random.pick(['/Tables', '/Tables()', '/people()', '/orders()'])
  const options = [
    '',
    '?$top=2',
    '?$top=0',
    '?$top=1&$select=Text',
    "?$filter=PartitionKey%20eq%20'a'",
    "?$filter=TableName%20ge%20'b'",
    '?$filter=Number%20gt%201',
    '?$filter=nonsense',
    '?NextTableName=none',
  ]
  return { method: 'GET', resource: `${collection}${random.pick(options)}`, exchange: accepting(random) }
}

function insertStep(random: Random): Step {
  const { table, partition, row, entity } = randomEntity(random)
  const body = { PartitionKey: partition, RowKey: row, ...randomProperties(random) }
  const exchange = { body: randomBody(random, body), ...preferring(random) }
  return { method: 'POST', resource: `/${table}`, exchange, entity }
}

function readStep(random: Random): Step {
  const select = random.pick(['', '', '?$select=Text,Number', '?$select=RowKey', '?$select=*', '?$select='])
  const { path, entity } = randomEntity(random)
  const step = { method: 'GET', resource: `${path}${select}`, exchange: accepting(random), entity }
  if (random.below(3) === 0) return step
  const header = random.pick(['If-Match', 'If-None-Match'] as const)
  return { ...step, condition: { header, etag: randomEtag(random) } }
}

function writeStep(random: Random): Step {
  const method = random.pick(['PUT', 'MERGE', 'PATCH', 'DELETE', 'POST'])
  const verb = method === 'POST' ? random.pick(['PUT', 'MERGE', 'DELETE']) : method
  const headers: Record<string, string> = method === 'POST' ? { 'X-HTTP-Method': verb } : {}
  const body = verb === 'DELETE' ? {} : { body: randomBody(random, randomProperties(random)) }
  const { path, entity } = randomEntity(random)
  const step = { method, resource: path, exchange: { headers, ...body }, entity }
  if (random.below(3) === 0) return step
  return { ...step, condition: { header: 'If-Match', etag: randomEtag(random) } }
}

/** Requests that get nowhere. */
function strangeStep(random: Random): Step {
  return random.pick<Step>([
    { method: 'GET', resource: '/', exchange: {} },
    { method: 'GET', resource: '/$metadata', exchange: {} },
    { method: 'POST', resource: "/people(PartitionKey='a',RowKey='b')", exchange: { body: {} } },
    { method: 'PUT', resource: '/people', exchange: { body: {} } },
    { method: 'GET', resource: "/people(PartitionKey='a')", exchange: {} },
    { method: 'GET', resource: '/people?comp=nothing', exchange: {} },
    { method: 'GET', resource: '/Tables', exchange: { headers: { 'x-ms-version': 'latest' } } },
    {
      method: 'GET',
      resource: '/Tables',
      exchange: { headers: { Authorization: `SharedKeyLite a:${'A'.repeat(43)}=` } },
    },
    { method: 'GET', resource: '/Tables', exchange: { headers: { Accept: 'application/atom+xml' } } },
    { method: 'POST', resource: '/people', exchange: { body: {}, headers: { 'If-Match': '*' } } },
  ])
}

/** Few for most requests, so that they meet. */
function randomEntity(random: Random) {
  const table = random.below(40) === 0 ? 'nobody' : random.pick(tables.slice(0, 2))
  const few = random.below(4) > 0 ? ['a', 'b'] : keys
  const [partition, row] = [random.pick(few), random.pick(few)]
  const path = entityPath(table, partition, row)
  return { table, partition, row, path, entity: path.toLowerCase() }
}

function randomEtag(random: Random): Etag {
  const turn = random.below(10)
  if (turn < 2) return { text: '*' }
  if (turn < 7) return 'the last'
  if (turn < 9) return 'the last but one'
  return {
    text: random.pick(['nonsense', 'W/"datetime\'yesterday\'"', 'W/"datetime\'2024-01-01T00%3A00%3A00Z\'"']),
  }
}

function randomProperties(random: Random): Record<string, unknown> {
  const all: Record<string, unknown> = {}
  for (let count = random.below(4); count > 0; count--) Object.assign(all, random.pick(values))
  return all
}

function randomBody(random: Random, body: object): string | object {
  return random.below(15) === 0 ? random.pick(refused) : body
}

function accepting(random: Random): Exchange {
  return { headers: { Accept: `application/json;odata=${random.pick(levels)}` } }
}

function preferring(random: Random): Exchange {
  const { headers } = accepting(random)
  const prefer = random.pick([undefined, 'return-content', 'return-no-content'])
  return { headers: prefer === undefined ? { ...headers } : { ...headers, Prefer: prefer } }
}

/**
 * The prepend/append anti-pattern, found: keys that send most writes to one partition, or all writes of a moment.
 *
 * | seen in the keys                                   | finding           |
 * | -------------------------------------------------- | ----------------- |
 * | one partition takes at least half of all writes    | `hot-partition`   |
 * | nearly every write goes to the last partition yet, |                   |
 * | and the last one moves on (time as PartitionKey)   | `appending`       |
 * | the same at the front (inverted time)              | `prepending`      |
 * | one partition after another takes all writes       | `bursts`          |
 *
 * Guarantee   none: it reads, and judges a sample.
 */
import type { TableClient } from '@azure/data-tables'

/** A write, or an entity with the time of its last one. */
export interface KeySample {
  readonly partitionKey: string
  readonly rowKey: string
  /** Milliseconds since 1970; fractions count. */
  readonly atMs: number
}

export type FindingKind = 'hot-partition' | 'appending' | 'prepending' | 'bursts'

export interface Finding {
  readonly kind: FindingKind
  /** What was seen, with figures. */
  readonly text: string
  readonly advice: string
}

export interface Report {
  /** Keys that were looked at. */
  readonly sampled: number
  /** Keys the sample stands for. */
  readonly seen: number
  /** Whether there were more that nobody looked at. */
  readonly complete: boolean
  readonly partitions: number
  readonly hottest: { readonly partitionKey: string; readonly share: number } | undefined
  readonly findings: readonly Finding[]
}

export interface InspectOptions {
  /** How many keys are kept to be judged, at random; 10 000 when left out. */
  readonly sampleMax?: number
  /** At least 0 and less than 1. */
  readonly random?: () => number
}

/**
 * Judges the entities of a table by their keys and the times they were last written.
 * It reads from the beginning: a table of more than `examineMax` entities (100 000) is judged by its first ones.
 */
export async function inspect(
  table: Pick<TableClient, 'listEntities'>,
  { examineMax = 100_000, ...options }: InspectOptions & { readonly examineMax?: number } = {},
): Promise<Report> {
  const reservoir = newReservoir(options)
  const select = ['partitionKey', 'rowKey', 'timestamp']
  for await (const { partitionKey, rowKey, timestamp } of table.listEntities({ queryOptions: { select } })) {
    if (reservoir.seen() >= examineMax) return report(reservoir, false)
    const key = { partitionKey: partitionKey ?? '', rowKey: rowKey ?? '' }
    reservoir.add({ ...key, atMs: msOf(timestamp ?? '') })
  }
  return report(reservoir, true)
}

/** Judges keys that were gathered otherwise. */
export function inspectKeys(samples: Iterable<KeySample>, options: InspectOptions = {}): Report {
  const reservoir = newReservoir(options)
  for (const sample of samples) reservoir.add(sample)
  return report(reservoir, true)
}

export interface WriteSampler {
  /** For writes that do not go through the policy. */
  note(key: { readonly partitionKey: string; readonly rowKey: string }): void
  /** `client.pipeline.addPolicy(sampler.policy)` notes every write of an official client. */
  readonly policy: Policy
  report(): Report
}

type Policy = Parameters<TableClient['pipeline']['addPolicy']>[0]

/** Judges writes as they are made, which tells more than the last write of each entity. */
export function sampleWrites(options: InspectOptions & { readonly clock?: () => number } = {}): WriteSampler {
  const { clock = () => performance.timeOrigin + performance.now() } = options
  const reservoir = newReservoir(options)
  return { note, policy: { name: 'sampleWrites', sendRequest }, report: () => report(reservoir, true) }

  function note({ partitionKey, rowKey }: { partitionKey: string; rowKey: string }): void {
    reservoir.add({ partitionKey, rowKey, atMs: clock() })
  }

  async function sendRequest(...[request, next]: Parameters<Policy['sendRequest']>) {
    const { method, url, body } = request
    for (const key of keysWritten(method, url, typeof body === 'string' ? body : '')) note(key)
    return await next(request)
  }
}

interface WriteRequest {
  readonly method: string
  readonly url: string
  readonly body: string
}

function* keysWritten(method: string, url: string, body: string) {
  for (const part of partsOf({ method, url, body })) {
    const key = keyOf(part)
    if (key !== undefined) yield key
  }
}

/** The operations of a batch, or the request itself. */
function partsOf(request: WriteRequest): readonly WriteRequest[] {
  if (!new URL(request.url).pathname.endsWith('/$batch')) return [request]
  const parts = request.body.split(/^(?=(?:POST|PUT|PATCH|MERGE|DELETE) \S+ HTTP\/1\.1)/m).slice(1)
  return parts.map((text) => {
    const [method = '', url = ''] = text.split(' ', 2)
    return { method, url, body: /^\{.*$/m.exec(text)?.[0] ?? '' }
  })
}

/** In the address, or for an insert in the body. Undefined for a request that writes no entity. */
function keyOf({ method, url, body }: WriteRequest) {
  if (method === 'GET' || method === 'HEAD') return undefined
  const [, partition, row] = /\(PartitionKey='(.*)',RowKey='(.*)'\)/.exec(url) ?? []
  if (partition !== undefined && row !== undefined)
    return { partitionKey: fromAddress(partition), rowKey: fromAddress(row) }
  const { PartitionKey: partitionKey, RowKey: rowKey } = parsed(body)
  return typeof partitionKey === 'string' && typeof rowKey === 'string' ? { partitionKey, rowKey } : undefined
}

function fromAddress(text: string): string {
  return decodeURIComponent(text).replaceAll("''", "'")
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(body) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Any so many of the samples it was given, each with the same chance. */
function newReservoir({ sampleMax = 10_000, random = Math.random }: InspectOptions) {
  const kept: KeySample[] = []
  let seen = 0
  return { add, seen: () => seen, inTime }

  function add(sample: KeySample): void {
    seen += 1
    if (kept.length < sampleMax) kept.push(sample)
    else {
      const place = Math.floor(random() * seen)
      if (place < sampleMax) kept[place] = sample
    }
  }

  function inTime(): readonly KeySample[] {
    return kept.toSorted((a, b) => a.atMs - b.atMs)
  }
}

/** Fewer keys than this show no habit. */
const sampleMin = 50
const hotShareMin = 0.5
/** Of writes at the very end of the table; a little disorder is natural where there are several writers. */
const endShareMin = 0.9
/** How often the end must move on within the second half of the sample: an end that stands still is only hot. */
const movesMin = 3
/** So many writes in a row are a moment. */
const momentWrites = 50
const burstShareMin = 0.8

function report(reservoir: ReturnType<typeof newReservoir>, complete: boolean): Report {
  const samples = reservoir.inTime()
  const counts = countsOf(samples)
  const hottest = largestOf(counts, samples.length)
  const facts = {
    sampled: samples.length,
    seen: reservoir.seen(),
    complete,
    partitions: counts.size,
    hottest,
  }
  const enough = samples.length >= sampleMin && hottest !== undefined
  return { ...facts, findings: enough ? findingsOf(samples, hottest) : [] }
}

function findingsOf(
  samples: readonly KeySample[],
  hottest: { partitionKey: string; share: number },
): Finding[] {
  const findings: Finding[] = []
  const { partitionKey, share } = hottest
  if (share >= hotShareMin) {
    const rows = samples.filter((sample) => sample.partitionKey === partitionKey).map(({ rowKey }) => rowKey)
    const growth = staysAtEnd(rows, ascending)
      ? ', at its end'
      : staysAtEnd(rows, descending)
        ? ', at its front'
        : ''
    findings.push({
      kind: 'hot-partition',
      text: `${percent(share)} of the writes go to partition ${JSON.stringify(partitionKey)}${growth}`,
      advice:
        'A partition is served by one machine. Add something that differs between writes to the PartitionKey, or a spread part: a stable hash bucket of some property.',
    })
  }
  const partitions = samples.map((sample) => sample.partitionKey)
  if (staysAtEnd(partitions, ascending)) {
    findings.push({
      kind: 'appending',
      text: 'PartitionKeys only grow: nearly every write goes to the last partition of the table',
      advice:
        'Load cannot spread over partitions that nobody writes to any more. Put a spread part, or what the entity is about, before the time; keep the time for the RowKey. For logs, consider blobs.',
    })
  } else if (staysAtEnd(partitions, descending)) {
    findings.push({
      kind: 'prepending',
      text: 'PartitionKeys only fall: nearly every write goes to the first partition of the table',
      advice:
        'An inverted time belongs in the RowKey, where it puts the newest first inside a partition. Put a spread part, or what the entity is about, into the PartitionKey.',
    })
  } else if (share < hotShareMin) {
    const moment = typicalMomentShare(samples)
    if (moment >= burstShareMin)
      findings.push({
        kind: 'bursts',
        text: `at a typical moment ${percent(moment)} of the writes go to a single partition, though over time they spread`,
        advice:
          'Write to several partitions at once: shuffle what is loaded, or load partitions side by side.',
      })
  }
  return findings
}

type Beyond = (key: string, end: string) => boolean
const ascending: Beyond = (key, end) => key > end
const descending: Beyond = (key, end) => key < end

/** Whether nearly every key is at the end reached so far, or beyond it, and the end keeps moving. */
function staysAtEnd(keys: readonly string[], beyond: Beyond): boolean {
  if (keys.length < sampleMin) return false
  let end = keys[0] as string
  let atEnd = 0
  let lateMoves = 0
  for (const [index, key] of keys.entries()) {
    if (key === end) atEnd += 1
    else if (beyond(key, end)) {
      atEnd += 1
      end = key
      if (index >= keys.length / 2) lateMoves += 1
    }
  }
  return atEnd / keys.length >= endShareMin && lateMoves >= movesMin
}

/** The median, over moments, of the largest partition's share. */
function typicalMomentShare(samples: readonly KeySample[]): number {
  const shares: number[] = []
  for (let from = 0; from + momentWrites <= samples.length; from += momentWrites) {
    const moment = samples.slice(from, from + momentWrites)
    shares.push(largestOf(countsOf(moment), moment.length)?.share ?? 0)
  }
  return shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)] ?? 0
}

function countsOf(samples: readonly KeySample[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { partitionKey } of samples) counts.set(partitionKey, (counts.get(partitionKey) ?? 0) + 1)
  return counts
}

function largestOf(counts: ReadonlyMap<string, number>, total: number) {
  let largest: { partitionKey: string; share: number } | undefined
  for (const [partitionKey, count] of counts) {
    if (largest === undefined || count / total > largest.share)
      largest = { partitionKey, share: count / total }
  }
  return largest
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Date keeps milliseconds only; the digits behind them order writes of the same one. */
function msOf(timestamp: string): number {
  const fraction = /\.(\d{4,7})Z$/.exec(timestamp)?.[1]
  return Date.parse(timestamp) + Number(`0.${fraction?.slice(3) ?? 0}`)
}

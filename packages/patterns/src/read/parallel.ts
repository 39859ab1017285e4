/** Several readings at once, merged into one. */
import type { Keyed, Reading } from './reading.ts'

export interface ParallelOptions<T> {
  /** How many are read at a time; in order, all must have begun before the first item can be told. */
  readonly concurrency?: number
  /** `key` merges by RowKey, then PartitionKey; undefined gives items as they come. */
  readonly order?: 'key' | ((a: T, b: T) => number)
  /** In all. */
  readonly take?: number
}

/**
 * Back-pressure: a reading is asked for its next item only when its last one was taken, so at most a page of each is
 * held. Leaving the loop ends them all. REQUIRES, with an order: each reading is in that order.
 */
export async function* parallel<T>(
  readings: readonly Reading<T>[],
  options: ParallelOptions<T> = {},
): AsyncGenerator<T> {
  for await (const { item } of parallelKeyed(readings, options)) yield item
}

export async function* parallelKeyed<T>(
  readings: readonly Reading<T>[],
  { concurrency = 8, order, take = Number.POSITIVE_INFINITY }: ParallelOptions<T> = {},
): AsyncGenerator<Keyed<T>> {
  if (take === 0) return
  const items =
    order === undefined ? asTheyCome(readings, concurrency) : inOrder(readings, concurrency, comparer(order))
  let left = take
  for await (const item of items) {
    yield item
    left -= 1
    if (left === 0) return
  }
}

type Compare<T> = (a: Keyed<T>, b: Keyed<T>) => number

function comparer<T>(order: 'key' | ((a: T, b: T) => number)): Compare<T> {
  return order === 'key' ? byKey : (a, b) => order(a.item, b.item)
}

export function byKey<T>(a: Keyed<T>, b: Keyed<T>): number {
  if (a.rowKey !== b.rowKey) return a.rowKey < b.rowKey ? -1 : 1
  if (a.partitionKey !== b.partitionKey) return a.partitionKey < b.partitionKey ? -1 : 1
  return 0
}

async function* inOrder<T>(
  readings: readonly Reading<T>[],
  concurrency: number,
  compare: Compare<T>,
): AsyncGenerator<Keyed<T>> {
  const sources = readings.map((reading) => reading.keyed()[Symbol.asyncIterator]())
  try {
    const heads: Head<T>[] = []
    for (let at = 0; at < sources.length; at += concurrency) {
      const opened = sources.slice(at, at + concurrency)
      const firsts = await Promise.all(opened.map((source) => source.next()))
      for (const [index, first] of firsts.entries()) {
        const source = opened[index] as AsyncIterator<Keyed<T>>
        if (first.done !== true) heads.push({ source, next: first.value })
      }
    }
    while (heads.length > 0) {
      const least = heads.reduce((a, b) => (compare(b.next, a.next) < 0 ? b : a))
      yield least.next
      const following = await least.source.next()
      if (following.done === true) heads.splice(heads.indexOf(least), 1)
      else least.next = following.value
    }
  } finally {
    await Promise.all(sources.map(async (source) => source.return?.()))
  }
}

interface Head<T> {
  readonly source: AsyncIterator<Keyed<T>>
  next: Keyed<T>
}

async function* asTheyCome<T>(
  readings: readonly Reading<T>[],
  concurrency: number,
): AsyncGenerator<Keyed<T>> {
  const waiting = readings.map((reading) => reading.keyed()[Symbol.asyncIterator]())
  const running = new Map<AsyncIterator<Keyed<T>>, Promise<Arrival<T>>>()
  try {
    for (;;) {
      while (running.size < concurrency) {
        const source = waiting.shift()
        if (source === undefined) break
        running.set(source, arrival(source))
      }
      if (running.size === 0) return
      const { source, result } = await Promise.race(running.values())
      running.delete(source)
      if (result.done === true) continue
      yield result.value
      running.set(source, arrival(source))
    }
  } finally {
    await Promise.allSettled(running.values())
    await Promise.all([...running.keys(), ...waiting].map(async (source) => source.return?.()))
  }
}

interface Arrival<T> {
  readonly source: AsyncIterator<Keyed<T>>
  readonly result: IteratorResult<Keyed<T>>
}

async function arrival<T>(source: AsyncIterator<Keyed<T>>): Promise<Arrival<T>> {
  return { source, result: await source.next() }
}

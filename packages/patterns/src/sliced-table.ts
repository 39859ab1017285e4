/**
 * High-volume delete: data that is thrown away by age is kept in one table for each period, and a whole table is
 * dropped at once instead of its entities one by one.
 *
 * | table             | holds                                  |
 * | ----------------- | -------------------------------------- |
 * | `Signins20261115` | sign-ins of 15 November 2026, UTC      |
 * | `Signins20261116` | those of the next day                  |
 *
 * Guarantee   none between slices: a transaction never spans two. A slice is dropped whole.
 * Given up    one name for the data; and a new table starts cold, so `prepare` it ahead of the load.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { TableServiceClient } from '@azure/data-tables'
import { PatternsError } from './patterns-error.ts'
import { codeOf } from './refusal.ts'

export type Period = 'hour' | 'day' | 'month' | 'year'

export interface SlicedOptions<Table> {
  readonly by: Period
  /** How many periods are kept, the present one among them. */
  readonly keep: number
  readonly service: Pick<TableServiceClient, 'createTable' | 'deleteTable' | 'listTables'>
  /** Whatever reads and writes a table: the official client, or a table of this library around it. */
  readonly open: (tableName: string) => Table
  /** How long to wait for the name of a table that is being deleted; a minute when left out. */
  readonly nameWaitMs?: number
  readonly clock?: () => Date
}

export interface Slice<Table> {
  readonly name: string
  readonly from: Date
  /** Not included. */
  readonly until: Date
  readonly table: Table
}

export interface Sliced<Table> {
  readonly guarantee: 'none'
  nameOf(at: Date): string
  /**
   * Runs the action on the slice of this time, which is created on first use, and again if it was dropped by somebody
   * else since. Refuses a time that is not kept any more: what `prune` has dropped must not come back.
   */
  write<Result>(at: Date, action: (table: Table, slice: Slice<Table>) => Promise<Result>): Promise<Result>
  /** The slices that exist and are kept, of [from, until) or of all time, oldest first. */
  slices(range?: SliceRange): Promise<readonly Slice<Table>[]>
  /** What the reading gives for each slice of the range, one slice after another. */
  query<Item>(
    range: SliceRange & { readonly order?: 'oldest-first' | 'newest-first' },
    read: (table: Table, slice: Slice<Table>) => AsyncIterable<Item>,
  ): AsyncGenerator<Item>
  /** Creates the slices of the present period and of so many to come; 1 when left out. */
  prepare(periods?: number): Promise<readonly string[]>
  /** Drops the slices that are not kept any more, oldest first, and tells their names. */
  prune(): Promise<readonly string[]>
}

export interface SliceRange {
  readonly from?: Date
  /** Not included. */
  readonly until?: Date
}

export function sliced<Table>(name: string, options: SlicedOptions<Table>): Sliced<Table> {
  const { by, keep, service, open, nameWaitMs = 60_000, clock = () => new Date() } = options
  const { digits } = periods[by]
  // A digit at its end would make `Log2` by day and `Log` by hour share names.
  if (!new RegExp(`^[A-Za-z](?:[A-Za-z0-9]{0,${61 - digits}}[A-Za-z])?$`).test(name))
    throw new PatternsError(
      'InvalidDefinition',
      `${JSON.stringify(name)} cannot be sliced: letters and digits, ending in a letter, at most ${63 - digits}`,
    )
  if (!Number.isInteger(keep) || keep < 1)
    throw new PatternsError('InvalidDefinition', `${name} must keep at least one ${by}`)
  const created = new Map<string, Promise<void>>()
  return { guarantee: 'none', nameOf, write, slices, query, prepare, prune }

  function nameOf(at: Date): string {
    return name + at.toISOString().replaceAll(/\D/g, '').slice(0, digits)
  }

  async function write<Result>(
    at: Date,
    action: (table: Table, slice: Slice<Table>) => Promise<Result>,
  ): Promise<Result> {
    if (at < horizon())
      throw new PatternsError('InvalidValue', `${nameOf(at)} is not kept any more: ${keep} ${by}s are`)
    const slice = sliceAt(at)
    await ensure(slice.name)
    try {
      return await action(slice.table, slice)
    } catch (error) {
      if (codeOf(error) !== 'TableNotFound' && codeOf(error) !== 'TableBeingDeleted') throw error
      created.delete(slice.name)
      await ensure(slice.name)
      return await action(slice.table, slice)
    }
  }

  async function slices({ from, until }: SliceRange = {}): Promise<readonly Slice<Table>[]> {
    const first = horizon()
    const found = await existing()
    return found.filter(
      (slice) =>
        slice.from >= first &&
        (from === undefined || slice.until > from) &&
        (until === undefined || slice.from < until),
    )
  }

  async function* query<Item>(
    { order = 'oldest-first', ...range }: SliceRange & { readonly order?: 'oldest-first' | 'newest-first' },
    read: (table: Table, slice: Slice<Table>) => AsyncIterable<Item>,
  ): AsyncGenerator<Item> {
    const found = await slices(range)
    for (const slice of order === 'oldest-first' ? found : found.toReversed()) {
      try {
        yield* read(slice.table, slice)
      } catch (error) {
        // Dropped since it was listed: it is not kept any more.
        if (codeOf(error) !== 'TableNotFound' && codeOf(error) !== 'TableBeingDeleted') throw error
      }
    }
  }

  async function prepare(ahead = 1): Promise<readonly string[]> {
    const names: string[] = []
    for (let count = 0, at = clock(); count <= ahead; count += 1, at = sliceAt(at).until)
      names.push(nameOf(at))
    await Promise.all(names.map(ensure))
    return names
  }

  async function prune(): Promise<readonly string[]> {
    const first = horizon()
    const dropped: string[] = []
    for (const slice of await existing()) {
      if (slice.from >= first) break
      await drop(slice.name)
      dropped.push(slice.name)
    }
    return dropped
  }

  async function drop(slice: string): Promise<void> {
    created.delete(slice)
    try {
      await service.deleteTable(slice)
    } catch (error) {
      if (codeOf(error) !== 'TableBeingDeleted') throw error
    }
  }

  /** When the oldest period that is kept began. */
  function horizon(): Date {
    let { from } = sliceAt(clock())
    for (let count = 1; count < keep; count += 1) from = periods[by].from(new Date(from.getTime() - 1))
    return from
  }

  function sliceAt(at: Date): Slice<Table> {
    const sliceName = nameOf(at)
    const from = periods[by].from(at)
    return { name: sliceName, from, until: periods[by].until(from), table: open(sliceName) }
  }

  /** All tables of ours, kept or not, in the order of time. */
  async function existing(): Promise<Slice<Table>[]> {
    const found: Slice<Table>[] = []
    // After the last digit comes `:`.
    const filter = `TableName ge '${name}0' and TableName lt '${name}:'`
    for await (const { name: tableName } of service.listTables({ queryOptions: { filter } })) {
      const from = periodOf(tableName ?? '')
      if (from !== undefined) found.push(sliceAt(from))
    }
    return found.toSorted((a, b) => a.from.getTime() - b.from.getTime())
  }

  /** Undefined for a table that only looks like one of ours. */
  function periodOf(tableName: string): Date | undefined {
    const stamp = tableName.slice(name.length)
    if (!tableName.startsWith(name) || stamp.length !== digits || /\D/.test(stamp)) return undefined
    const [year, month, day, hour] = [stamp.slice(0, 4), stamp.slice(4, 6), stamp.slice(6, 8), stamp.slice(8)]
    const at = new Date(`${year}-${month || '01'}-${day || '01'}T${hour || '00'}:00:00Z`)
    return !Number.isNaN(at.getTime()) && nameOf(at) === tableName ? at : undefined
  }

  /** Creates a table once in the life of this object, unless it turns out to be gone. */
  async function ensure(slice: string): Promise<void> {
    const known = created.get(slice)
    if (known !== undefined) return await known
    const creating = create(slice)
    created.set(slice, creating)
    try {
      await creating
    } catch (error) {
      created.delete(slice)
      throw error
    }
  }

  /** A name is not free at once after its table was dropped. */
  async function create(slice: string): Promise<void> {
    const deadlineMs = performance.now() + nameWaitMs
    for (let waitMs = 100; ; waitMs = Math.min(waitMs * 2, 5000)) {
      try {
        return await service.createTable(slice)
      } catch (error) {
        if (codeOf(error) !== 'TableBeingDeleted' || performance.now() + waitMs > deadlineMs) throw error
      }
      await pause(waitMs)
    }
  }
}

/** How many digits of a date name a period, and when it begins and ends. */
const periods = {
  hour: {
    digits: 10,
    from: (at) => new Date(Math.floor(at.getTime() / hourMs) * hourMs),
    until: (from) => new Date(from.getTime() + hourMs),
  },
  day: {
    digits: 8,
    from: (at) => new Date(Math.floor(at.getTime() / dayMs) * dayMs),
    until: (from) => new Date(from.getTime() + dayMs),
  },
  month: {
    digits: 6,
    from: (at) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth())),
    until: (from) => new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1)),
  },
  year: {
    digits: 4,
    from: (at) => new Date(Date.UTC(at.getUTCFullYear(), 0)),
    until: (from) => new Date(Date.UTC(from.getUTCFullYear() + 1, 0)),
  },
} as const satisfies Record<Period, PeriodRule>

interface PeriodRule {
  readonly digits: number
  readonly from: (at: Date) => Date
  readonly until: (from: Date) => Date
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

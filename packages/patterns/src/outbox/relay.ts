/**
 * The relay: sees to the entries of the outbox, and only then removes them. Any number may run at once, and any may die
 * at any moment: an entry that was not removed is seen to again, which does no harm (settle.ts).
 *
 *   for each partition that may have entries (registry.ts), several at a time:
 *     read its entries, oldest first; entries of the same place are seen to together
 *     set every place right
 *     remove the entries; where a mark was left, put down in their stead when it may be cleared away
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Definition } from '../definition/entity.ts'
import type { Instant } from '../definition/instant.ts'
import { allOf, beginsWith, compare, or, type Filter } from '../filter/filter.ts'
import { mapConcurrently } from '../map-concurrently.ts'
import { PatternsError } from '../patterns-error.ts'
import type { WriteContext } from '../write/execute.ts'
import type { Elsewhere, Place } from './elsewhere.ts'
import {
  type Applied,
  applyEntries,
  clearDue,
  type EntriesContext,
  msBetween,
  type OwnedPart,
} from './entries.ts'
import { clearPrefix, entryPrefix, timedKey, timeOf } from './keys.ts'
import type { Entry } from './outbox.ts'
import { everyRow, forget, forgetMs, registerAgain, registrations, type Registration } from './registry.ts'

export interface RelayOptions {
  /** Partitions seen to at a time; 4 when left out. */
  readonly concurrency?: number
  /** How long to wait after a run that found something, and how long at most as runs go on finding nothing. */
  readonly pollMs?: number
  readonly pollMsMax?: number
  /** How long marks stay: longer than any relay can be asleep between two requests. Ten minutes when left out. */
  readonly graceMs?: number
  readonly observe?: (event: RelayEvent) => void
  readonly measure?: (measurement: RelayMeasurement) => void
}

export interface Relay {
  readonly guarantee: 'eventual'
  /** Runs until it is stopped. A second call changes nothing. */
  start(): void
  /** Begins nothing more, and resolves when what was begun is done. */
  stop(): Promise<void>
  /** Everything that is pending now; for tests, and for those who have a scheduler of their own. */
  runOnce(): Promise<RelayRun>
  /** The oldest entry that no relay has seen to; undefined if there is none. */
  lag(): Promise<Lag | undefined>
  /** Looks through the whole table for entries that no registration leads to; says how many partitions have rows. */
  sweep(): Promise<number>
}

export interface RelayRun {
  readonly partitions: number
  /** Entries seen to and removed. */
  readonly applied: number
  /** Entries that must be tried again. */
  readonly failed: number
  /** Marks that were cleared away. */
  readonly cleared: number
}

export interface Lag {
  readonly definition: string
  readonly partitionKey: string
  readonly since: Instant
  readonly ms: number
}

export type RelayEvent =
  | ({ readonly kind: 'applied'; readonly lagMs: number; readonly places: number } & OfEntry)
  | ({ readonly kind: 'failed'; readonly error: unknown } & OfEntry)
  | { readonly kind: 'ran'; readonly ms: number; readonly run: RelayRun }
  /** The table did not answer as it should. The relay goes on. */
  | { readonly kind: 'trouble'; readonly error: unknown }

interface OfEntry {
  readonly partitionKey: string
  readonly rowKey: string
}

export type RelayMeasurement =
  /** From the write of an entry to its removal. */
  | { readonly name: 'relay.lag.ms'; readonly value: number }
  | { readonly name: 'relay.run.ms'; readonly value: number }
  | { readonly name: 'relay.applied' | 'relay.failed'; readonly value: number }

export interface RelayContext extends WriteContext {
  elsewhereOf(definition: Definition): readonly Elsewhere[]
}

export function openRelay(
  context: RelayContext,
  definitions: readonly Definition[],
  {
    concurrency = 4,
    pollMs = 500,
    pollMsMax = 10_000,
    graceMs = 600_000,
    observe,
    measure,
  }: RelayOptions = {},
): Relay {
  const { rows, clock } = context
  const entries: EntriesContext = {
    ...context,
    graceMs,
    attemptMsMax: graceMs / 2,
    partOf,
    onFailed: ({ partitionKey, rowKey }, error) => observe?.({ kind: 'failed', partitionKey, rowKey, error }),
  }
  let stopping = new AbortController()
  let loop: Promise<void> | undefined
  return { guarantee: 'eventual', start, stop, runOnce, lag, sweep: () => registerAgain(rows) }

  function start(): void {
    if (loop !== undefined) return
    stopping = new AbortController()
    loop = run(stopping.signal)
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await loop
    loop = undefined
  }

  async function run(stopped: AbortSignal): Promise<void> {
    let waitMs = pollMs
    while (!stopped.aborted) {
      const found = await runUntil(stopped).then(
        ({ applied, cleared }) => applied + cleared > 0,
        (error: unknown) => {
          observe?.({ kind: 'trouble', error })
          return false
        },
      )
      waitMs = found ? pollMs : Math.min(pollMsMax, waitMs * 2)
      await pause(waitMs, undefined, { signal: stopped }).catch(() => undefined)
    }
  }

  function runOnce(): Promise<RelayRun> {
    return runUntil(new AbortController().signal)
  }

  async function runUntil(stopped: AbortSignal): Promise<RelayRun> {
    const began = performance.now()
    let total: RelayRun = { partitions: 0, applied: 0, failed: 0, cleared: 0 }
    for await (const { applied, failed, cleared } of mapConcurrently(
      registered(stopped),
      concurrency,
      drainOrReport,
    )) {
      total = {
        partitions: total.partitions + 1,
        applied: total.applied + applied,
        failed: total.failed + failed,
        cleared: total.cleared + cleared,
      }
    }
    const ms = performance.now() - began
    observe?.({ kind: 'ran', ms, run: total })
    measure?.({ name: 'relay.run.ms', value: ms })
    measure?.({ name: 'relay.applied', value: total.applied })
    measure?.({ name: 'relay.failed', value: total.failed })
    return total
  }

  async function* registered(stopped: AbortSignal): AsyncGenerator<Registration> {
    for await (const each of registrations(rows)) {
      if (stopped.aborted) return
      yield each
    }
  }

  async function drainOrReport(registration: Registration): Promise<Drained> {
    try {
      return await drain(registration)
    } catch (error) {
      observe?.({ kind: 'trouble', error })
      return { applied: 0, failed: 1, cleared: 0 }
    }
  }

  async function drain(registration: Registration): Promise<Drained> {
    const { partitionKey } = registration
    const total = { applied: 0, failed: 0, cleared: 0 }
    let token: string | undefined
    do {
      const page = await rows.page(
        { filter: dueRows(partitionKey, clock()), select: undefined },
        { size: entriesAtOnce, token },
      )
      const pending = page.rows.filter(({ rowKey }) => rowKey.startsWith(entryPrefix))
      const applied = await applyEntries(entries, pending)
      for (const each of applied) report(each)
      total.applied += applied.length
      total.failed += pending.length - applied.length
      for (const row of page.rows) {
        if (row.rowKey.startsWith(clearPrefix)) total.cleared += await clearDue(entries, row)
      }
      token = page.token
    } while (token !== undefined)
    await forgetIfIdle(registration)
    return total
  }

  function report({ row: { partitionKey, rowKey }, entry }: Applied): void {
    const lagMs = msBetween(timeOf(entryPrefix, rowKey), clock())
    observe?.({ kind: 'applied', partitionKey, rowKey, lagMs, places: entry.places.length })
    measure?.({ name: 'relay.lag.ms', value: lagMs })
  }

  function partOf(entry: Entry, { label }: Place): OwnedPart {
    const definition = definitions.find(({ name }) => name === entry.definition)
    const part = definition && context.elsewhereOf(definition).find((each) => each.label === label)
    if (definition !== undefined && part !== undefined) return { definition, part }
    throw new PatternsError('InvalidDefinition', `the relay knows no ${entry.definition}.${label}`)
  }

  async function forgetIfIdle(registration: Registration): Promise<void> {
    if (msBetween(registration.row.timestamp, clock()) < forgetMs) return
    const filter = allOf([inPartition(registration.partitionKey), or(entryRows, clearRows)])
    for await (const _ of everyRow(rows, filter, [])) return
    await forget(rows, registration)
  }

  async function lag(): Promise<Lag | undefined> {
    let oldest: Lag | undefined
    for await (const each of mapConcurrently(registrations(rows), concurrency, lagOf)) {
      if (each !== undefined && (oldest === undefined || each.since.ticks < oldest.since.ticks)) oldest = each
    }
    return oldest
  }

  async function lagOf({ partitionKey }: Registration): Promise<Lag | undefined> {
    for await (const { rowKey, cells } of everyRow(rows, allOf([inPartition(partitionKey), entryRows]))) {
      const since = timeOf(entryPrefix, rowKey)
      const definition = String(cells['outboxDefinition']?.value)
      return { definition, partitionKey, since, ms: msBetween(since, clock()) }
    }
    return undefined
  }
}

interface Drained {
  readonly applied: number
  readonly failed: number
  readonly cleared: number
}

const entriesAtOnce = 200

const entryRows = beginsWith('RowKey', entryPrefix) as Filter
const clearRows = beginsWith('RowKey', clearPrefix) as Filter

/** Entries, and marks whose time has come. */
function dueRows(partitionKey: string, now: Instant): Filter {
  const notLater = compare('RowKey', 'lt', { type: 'String', value: timedKey(clearPrefix, now, '') })
  const due = allOf([compare('RowKey', 'ge', { type: 'String', value: clearPrefix }), notLater]) as Filter
  return allOf([inPartition(partitionKey), or(entryRows, due)]) as Filter
}

function inPartition(partitionKey: string): Filter {
  return compare('PartitionKey', 'eq', { type: 'String', value: partitionKey })
}

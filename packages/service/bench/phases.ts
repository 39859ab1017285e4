/** The questions asked of every target, and the memory of what has been written to it. */
import type { Stream } from './client.ts'
import { rowsPerGroup, rowsPerPartition } from './rows.ts'
import type { Work } from './work.ts'

export interface Phase {
  readonly title: string
  /** Changes rows, so that a target may still be busy with them afterwards. */
  readonly writes: boolean
  /** Targets that do not answer it are left out of it instead of failing the run. */
  readonly optional: boolean
  /** Needs the rows that another phase leaves behind. */
  readonly after?: PhaseName
  /** All at once, each with connections of its own. */
  readonly parts: readonly Part[]
}

export interface Part {
  readonly name: string
  readonly connections: number
  readonly unit: string
  unitsPerOperation(ledger: Ledger): number
  work(ledger: Ledger, client: number, seed: number): Work
  /** Times the best round of the base: what must be reached, and what we want. */
  readonly goal?: readonly [atLeast: number, wanted: number]
}

export type PhaseName = 'GET' | 'INSERT' | 'MERGE' | 'DELETE' | 'GROUP' | 'PAGE' | 'QUERY' | 'SCAN' | 'MIXED'

const get: Part = {
  name: 'GET',
  connections: 64,
  unit: 'ops',
  unitsPerOperation: () => 1,
  work: ({ rows, canned }, _client, seed) => ({ kind: 'get', rows, seed, canned }),
}
const insert: Part = {
  name: 'INSERT',
  connections: 64,
  unit: 'ops',
  unitsPerOperation: () => 1,
  work: ({ rows, written }, client) => ({ kind: 'insert', rows, client, from: written(client).inserted }),
}

export const phases: Readonly<Record<PhaseName, Phase>> = {
  GET: {
    title: 'GET of an entity by its keys',
    writes: false,
    optional: false,
    parts: [{ ...get, goal: [10, 15] }],
  },
  INSERT: {
    title: 'INSERT of new entities into random partitions',
    writes: true,
    optional: false,
    parts: [{ ...insert, goal: [10, 15] }],
  },
  MERGE: {
    title: 'MERGE of two properties into loaded entities',
    writes: true,
    optional: false,
    parts: [
      {
        name: 'MERGE',
        connections: 64,
        unit: 'ops',
        unitsPerOperation: () => 1,
        work: ({ rows }, _client, seed) => ({ kind: 'merge', rows, seed }),
        goal: [10, 15],
      },
    ],
  },
  DELETE: {
    title: 'DELETE of entities inserted before',
    writes: true,
    optional: false,
    after: 'INSERT',
    parts: [
      {
        name: 'DELETE',
        connections: 64,
        unit: 'ops',
        unitsPerOperation: () => 1,
        work: ({ rows, written }, client) => {
          const { deleted, inserted } = written(client)
          return { kind: 'delete', rows, client, from: deleted, until: inserted }
        },
      },
    ],
  },
  GROUP: {
    title: `groups of ${rowsPerGroup} inserts`,
    writes: true,
    optional: true,
    parts: [
      {
        name: 'GROUP',
        connections: 8,
        unit: 'entities',
        unitsPerOperation: () => rowsPerGroup,
        work: ({ rows, written }, client) => ({
          kind: 'insert group',
          rows,
          client,
          from: written(client).groups,
        }),
        goal: [20, 30],
      },
    ],
  },
  PAGE: {
    title: `pages of ${rowsPerPartition} entities of a partition`,
    writes: false,
    optional: true,
    parts: [
      {
        name: 'PAGE',
        connections: 8,
        unit: 'rows',
        unitsPerOperation: () => rowsPerPartition,
        work: ({ rows }, _client, seed) => ({ kind: 'query page', rows, seed }),
        goal: [14, 20],
      },
    ],
  },
  QUERY: {
    title: 'query of one entity by a filter on both keys',
    writes: false,
    optional: true,
    parts: [
      {
        name: 'QUERY',
        connections: 64,
        unit: 'ops',
        unitsPerOperation: () => 1,
        work: ({ rows }, _client, seed) => ({ kind: 'query row', rows, seed }),
      },
    ],
  },
  SCAN: {
    title: 'query of the whole table by a filter on a property, to its last page',
    writes: false,
    optional: true,
    parts: [
      {
        name: 'SCAN',
        connections: 1,
        unit: 'rows',
        unitsPerOperation: (ledger) => ledger.rowsNow(),
        work: ({ rows }, _client, seed) => ({ kind: 'query table', rows, seed }),
        goal: [1, 3],
      },
    ],
  },
  MIXED: {
    title: 'readers and writers at once',
    writes: true,
    optional: false,
    parts: [
      { ...get, name: 'MIXED GET', connections: 32 },
      { ...insert, name: 'MIXED INSERT', connections: 32 },
    ],
  },
}

export const phaseNames = Object.keys(phases) as PhaseName[]

/** What a target holds: the loaded rows, and what each load client has written and deleted since. */
export interface Ledger {
  readonly rows: number
  readonly canned: boolean
  written(client: number): Readonly<Written>
  rowsNow(): number
  /** Notes that `client` has finished this many operations of `work`. */
  note(client: number, work: Work, operations: number): void
}

interface Written {
  inserted: number
  deleted: number
  groups: number
}

export function openLedger(rows: number, clients: number, canned: boolean): Ledger {
  const all: Written[] = Array.from({ length: clients }, () => ({ inserted: 0, deleted: 0, groups: 0 }))
  return { rows, canned, written, rowsNow, note }

  function written(client: number): Written {
    const found = all[client]
    if (found === undefined) throw new Error(`there is no client ${client}`)
    return found
  }

  function rowsNow(): number {
    return all.reduce((sum, of) => sum + of.inserted - of.deleted + of.groups * rowsPerGroup, rows)
  }

  function note(client: number, work: Work, operations: number): void {
    if (work.kind === 'insert') written(client).inserted += operations
    if (work.kind === 'delete') written(client).deleted += operations
    if (work.kind === 'insert group') written(client).groups += operations
  }
}

/** A phase's streams, for each client its share of the connections. */
export function streamsOf(phase: Phase, ledger: Ledger, clients: number, seed: number): Stream[][] {
  return Array.from({ length: clients }, (_, client) =>
    phase.parts.map((part) => ({
      connections: shareOf(part.connections, client, clients),
      work: part.work(ledger, client, seed * clients + client),
    })),
  )
}

/** Splits `total` as evenly as whole numbers allow. */
export function shareOf(total: number, client: number, clients: number): number {
  return Math.floor(total / clients) + (client < total % clients ? 1 : 0)
}

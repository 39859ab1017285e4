/** The questions asked of every target, and the memory of what has been written to it. */
import type { Stream } from './client.ts'
import type { ScanFilter } from './requests.ts'
import { rowsPerGroup, rowsPerPartition } from './rows.ts'
import { partitaName, twoWorkersName } from './targets.ts'
import type { Work } from './work.ts'

export interface Phase {
  readonly title: string
  /** Changes rows: runs after all phases that do not, and long enough to meet what a target does in the background. */
  readonly writes: boolean
  /** Needs the rows that another phase leaves behind. */
  readonly after?: PhaseName
  /** All at once, each with connections of its own. */
  readonly parts: readonly Part[]
}

export interface Part {
  readonly name: string
  readonly title: string
  readonly connections: number
  readonly unit: string
  unitsPerOperation(rows: number): number
  work(ledger: Ledger, client: number, seed: number): Work
  /** Whether a server that stores nothing can answer it, and so show the ceiling. */
  readonly cannable: boolean
  /** By target: what its median must reach, and what we want, as times the best round of the base. */
  goals(rows: number): Readonly<Record<string, Goal>>
  /** The part this one is compared with, which does the same without company. */
  readonly solo?: string
}

export type Goal = readonly [atLeast: number, wanted: number]

// biome-ignore format: names of a kind share a line
export type PhaseName =
  | 'GET' | 'PAGE' | 'QUERY' | 'TWO-KEYS'
  | 'SCAN-INT' | 'SCAN-INT-RANGE' | 'SCAN-DATE-RANGE' | 'SCAN-TEXT'
  | 'INSERT' | 'MERGE' | 'GROUP' | 'DELETE' | 'MIXED'

const point = {
  connections: 64,
  unit: 'ops',
  unitsPerOperation: () => 1,
  cannable: false,
  goals: () => ({}),
}
const bulk = { ...point, connections: 8 }

const get: Part = {
  ...point,
  name: 'GET',
  title: 'GET of an entity by its keys',
  work: ({ rows, canned }, _client, seed) => ({ kind: 'get', rows, seed, canned }),
  cannable: true,
  goals: () => ({ [partitaName]: [10, 15], [twoWorkersName]: [15, 25] }),
}
const insert: Part = {
  ...point,
  name: 'INSERT',
  title: 'INSERT into random partitions',
  work: ({ rows, written }, client) => ({ kind: 'insert', rows, client, from: written(client).inserted }),
  cannable: true,
  goals: () => ({ [partitaName]: [10, 15] }),
}
const beside = { connections: 32, cannable: false, goals: () => ({}) }

export const phases: Readonly<Record<PhaseName, Phase>> = {
  GET: reading(get),
  PAGE: reading({
    ...bulk,
    name: 'PAGE',
    title: 'page of 1,000 entities',
    unit: 'rows',
    unitsPerOperation: () => rowsPerPartition,
    work: ({ rows }, _client, seed) => ({ kind: 'query page', rows, seed }),
    goals: () => ({ [partitaName]: [14, 20] }),
  }),
  QUERY: reading({
    ...point,
    name: 'QUERY',
    title: 'query of one entity by both keys',
    work: ({ rows }, _client, seed) => ({ kind: 'query row', rows, seed }),
  }),
  'TWO-KEYS': reading({
    ...point,
    name: 'TWO-KEYS',
    title: 'query of two entities by “or”',
    work: ({ rows }, _client, seed) => ({ kind: 'query two rows', rows, seed }),
  }),
  'SCAN-INT': scanning('SCAN-INT', 'Int32 equality'),
  'SCAN-INT-RANGE': scanning('SCAN-INT-RANGE', 'Int32 range'),
  'SCAN-DATE-RANGE': scanning('SCAN-DATE-RANGE', 'DateTime range'),
  'SCAN-TEXT': scanning('SCAN-TEXT', 'String equality'),
  INSERT: writing(insert),
  MERGE: writing({
    ...point,
    name: 'MERGE',
    title: 'MERGE of two properties',
    work: ({ rows }, _client, seed) => ({ kind: 'merge', rows, seed }),
    cannable: true,
    goals: () => ({ [partitaName]: [10, 15] }),
  }),
  GROUP: writing({
    ...bulk,
    name: 'GROUP',
    title: `groups of ${rowsPerGroup} inserts`,
    unit: 'entities',
    unitsPerOperation: () => rowsPerGroup,
    work: ({ rows, written }, client) => ({
      kind: 'insert group',
      rows,
      client,
      from: written(client).groups,
    }),
    goals: () => ({ [partitaName]: [20, 30] }),
  }),
  DELETE: {
    ...writing({
      ...point,
      name: 'DELETE',
      title: 'DELETE of an entity',
      work: ({ rows, written }, client) => {
        const { groups, groupsDeleted } = written(client)
        return { kind: 'delete', rows, client, from: groupsDeleted, until: groups }
      },
    }),
    after: 'GROUP',
  },
  MIXED: {
    title: '32 readers and 32 writers at once',
    writes: true,
    parts: [
      { ...get, name: 'MIXED-GET', title: 'GET beside 32 writers', solo: 'GET', ...beside },
      { ...insert, name: 'MIXED-INSERT', title: 'INSERT beside 32 readers', solo: 'INSERT', ...beside },
    ],
  },
}

function reading(part: Part): Phase {
  return { title: part.title, writes: false, parts: [part] }
}

function writing(part: Part): Phase {
  return { title: part.title, writes: true, parts: [part] }
}

/** Once through the table, by one client: rows looked at a second. */
function scanning(name: string, filter: ScanFilter): Phase {
  return reading({
    ...point,
    name,
    title: `scan of the table by ${filter}`,
    connections: 1,
    unit: 'rows',
    unitsPerOperation: (rows) => rows,
    work: ({ rows }, _client, seed) => ({ kind: 'query table', rows, seed, filter }),
    goals: (rows) => ({ [partitaName]: rows < 500_000 ? [1, 3] : [2, 3] }),
  })
}

export const phaseNames = Object.keys(phases) as PhaseName[]

/** What a target holds: the loaded rows, and what each load client has written and deleted since. */
export interface Ledger {
  readonly rows: number
  readonly canned: boolean
  written(client: number): Readonly<Written>
  /** Notes that `client` has finished this many operations of `work`. */
  note(client: number, work: Work, operations: number): void
}

interface Written {
  inserted: number
  groups: number
  /** Groups of which rows have been deleted; what is left of them stays. */
  groupsDeleted: number
}

export function openLedger(rows: number, clients: number, canned: boolean): Ledger {
  const all: Written[] = Array.from({ length: clients }, () => ({
    inserted: 0,
    groups: 0,
    groupsDeleted: 0,
  }))
  return { rows, canned, written, note }

  function written(client: number): Written {
    const found = all[client]
    if (found === undefined) throw new Error(`there is no client ${client}`)
    return found
  }

  function note(client: number, work: Work, operations: number): void {
    if (work.kind === 'insert') written(client).inserted += operations
    if (work.kind === 'insert group') written(client).groups += operations
    if (work.kind === 'delete') written(client).groupsDeleted = work.until
  }
}

/** A phase's streams, for each client its share of the connections; no more clients than have any. */
export function streamsOf(phase: Phase, ledger: Ledger, clientsMax: number, seed: number): Stream[][] {
  const clients = Math.min(clientsMax, ...phase.parts.map(({ connections }) => connections))
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

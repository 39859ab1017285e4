/** The table of colleagues, the tables that follow it, and what all of them must come to. */
import { strict as assert } from 'node:assert'
import type { TableClient } from '@azure/data-tables'
import {
  type EntityTable,
  Instant,
  openTable,
  type Relay,
  type RelayEvent,
  type RelayOptions,
  type Table,
  type TableOptions,
  type Write,
} from '../../src/index.ts'
import { Colleague } from './company.ts'
import type { Faults } from './faults.ts'
import type { TestService } from './service.ts'

export type Person = Write<typeof Colleague>

export interface Colleagues {
  readonly table: Table
  readonly people: EntityTable<typeof Colleague>
  readonly relay: Relay
  /** What the relay could not do. */
  readonly errors: unknown[]
  /** Rows of all tables as they are, for what only a look at them tells. */
  raw(): Promise<{ readonly own: Raw[]; readonly ages: Raw[]; readonly names: Raw[] }>
  /** The same tables through other clients, which may be at fault. */
  again(fault?: Pick<Faults, 'policy'>, options?: RelayOptions & Pick<TableOptions, 'clock'>): Colleagues
}

type Raw = { readonly partitionKey: string; readonly rowKey: string } & Record<string, unknown>

export async function newColleagues(service: TestService): Promise<Colleagues> {
  const [own, ages, names] = await Promise.all([service.newTable(), service.newTable(), service.newTable()])
  return openColleagues(service, [own.tableName, ages.tableName, names.tableName])
}

function openColleagues(
  service: TestService,
  tables: readonly [string, string, string],
  fault?: Pick<Faults, 'policy'>,
  { clock, ...relayOptions }: RelayOptions & Pick<TableOptions, 'clock'> = {},
): Colleagues {
  const [own, ages, names] = tables.map((each) => service.clientOf(each, fault)) as [
    TableClient,
    TableClient,
    TableClient,
  ]
  const backoff = { firstMs: 1, longestMs: 4 }
  const table = openTable(own, { tables: { ages, names }, backoff, ...(clock && { clock }) })
  const errors: unknown[] = []
  const observe = (event: RelayEvent): void => {
    if (event.kind === 'failed' || event.kind === 'trouble') errors.push(event.error)
    relayOptions.observe?.(event)
  }
  return {
    table,
    people: table.of(Colleague),
    relay: table.relay([Colleague], { ...relayOptions, observe }),
    errors,
    async raw() {
      return { own: await allOf(own), ages: await allOf(ages), names: await allOf(names) }
    },
    again: (newFault, options) => openColleagues(service, tables, newFault, options),
  }
}

/** A clock ahead of the others by so much. */
export const ahead = (ms: number) => (): Instant => Instant.from(new Date(Date.now() + ms))

/** Every index and list shows these, and nothing is pending. */
export async function assertShows(
  { people, relay, raw }: Colleagues,
  expected: readonly Person[],
): Promise<void> {
  const inOrder = expected.map(fields).toSorted(compare)
  const own = await people.scan().toArray()
  assert.deepEqual(own.map(fields).toSorted(compare), inOrder)
  const [byEmail, byAge] = await Promise.all([
    people.by('byEmail').query({}).toArray(),
    people.by('byAge').scan().toArray(),
  ])
  assert.deepEqual(byEmail.map(fields).toSorted(compare), inOrder, 'byEmail')
  assert.deepEqual(
    byAge.map(({ department, id, name, age }) => JSON.stringify([department, id, name, age])).toSorted(),
    expected.map(({ department, id, name, age }) => JSON.stringify([department, id, name, age])).toSorted(),
    'byAge',
  )
  const { names, own: rows } = await raw()
  const listed = names.flatMap(({ ids, rowKey }) =>
    ids === undefined
      ? []
      : (JSON.parse(ids as string) as string[]).map((id) => `${rowKey.slice(0, -4)}${id}`),
  )
  const wanted = expected.map(
    ({ department, id, name }) => `name_${name.replaceAll(' ', '!0')} ${department}/empid_${digits(id)}`,
  )
  assert.deepEqual(listed.toSorted(), wanted.toSorted(), 'allNamesakes')
  await assertListed(people, expected)
  assert.equal(await relay.lag(), undefined)
  assert.deepEqual(
    rows.filter(({ rowKey }) => rowKey.startsWith('~outbox_entry_')),
    [],
  )
}

/** The lists in the partitions, which are right at every moment. */
export async function assertListed(
  people: EntityTable<typeof Colleague>,
  expected: readonly Person[],
): Promise<void> {
  for (const { department, name } of expected) {
    const found = await people.by('namesakes').get({ department, name })
    const same = expected.filter((each) => each.department === department && each.name === name)
    assert.deepEqual(found.map(fields).toSorted(compare), same.map(fields).toSorted(compare), 'namesakes')
  }
}

export function fields({ department, id, email, name, age }: Omit<Person, 'remark'>): string {
  return JSON.stringify([department, id, email, name, age])
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function digits(id: number): string {
  return id.toString().padStart(6, '0')
}

async function allOf(client: TableClient): Promise<Raw[]> {
  const rows: Raw[] = []
  for await (const row of client.listEntities()) rows.push(row as unknown as Raw)
  return rows
}

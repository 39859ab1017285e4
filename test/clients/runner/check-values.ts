/** Values written by each client, and read by every client. */
import { failed } from './check-client.ts'
import type { Client } from './clients.ts'
import { fewAtOnce } from './few-at-once.ts'
import { readValuesOf, type Result, writeValues } from './program.ts'
import { startService } from './service.ts'
import { difference, readValues } from './values.ts'

export interface ValueMatrix {
  /** Result of `writer` read by `reader`, by the names of both. */
  cell(writer: string, reader: string): Result
  /** What a client cannot write or read: its name, the verb, the value's name, and why. */
  readonly gaps: readonly ValueGap[]
}

export interface ValueGap {
  readonly client: string
  readonly verb: 'write' | 'read'
  readonly value: string
  readonly reason: string
}

const values = readValues()
const table = 'values'

export async function checkValues(clients: readonly Client[]): Promise<ValueMatrix> {
  const gaps = new Map<string, ValueGap>()
  const cells = new Map<string, Result>()
  const service = await startService('values')
  try {
    await service.post('Tables', { TableName: table })
    const written = new Map(
      await fewAtOnce(clients, async (writer) => [writer.name, await write(writer).catch(failed)] as const),
    )
    const pairs = clients.flatMap((reader) => clients.map((writer) => ({ reader, writer })))
    await fewAtOnce(pairs, async ({ reader, writer }) => {
      const names = written.get(writer.name) ?? failed('not run')
      const result = 'kind' in names ? names : await read(reader, writer, names).catch(failed)
      cells.set(slot(writer.name, reader.name), result)
    })
  } finally {
    await service.close()
  }
  return {
    cell: (writer, reader) => cells.get(slot(writer, reader)) ?? failed('not run'),
    gaps: [...gaps.values()],
  }

  /** The names of what was written. */
  async function write(writer: Client): Promise<ReadonlySet<string>> {
    const answers = await writeValues(writer, service, table)
    const names = new Set<string>()
    for (const { name } of values) {
      if (!answers.has(name)) throw new Error(`${name} was neither written nor explained`)
      const gap = answers.get(name)
      if (gap === undefined) names.add(name)
      else note(writer, 'write', name, gap)
    }
    return names
  }

  async function read(reader: Client, writer: Client, names: ReadonlySet<string>): Promise<Result> {
    const answers = await readValuesOf(reader, service, table, writer.name)
    const differences: string[] = []
    for (const value of values.filter(({ name }) => names.has(name))) {
      const answer = answers.get(value.name)
      if (typeof answer === 'string') note(reader, 'read', value.name, answer)
      else if (answer === undefined) differences.push(`${value.name} was not read`)
      else differences.push(difference(value, answer.type, answer.text) ?? '')
    }
    const found = differences.filter((text) => text !== '')
    return found.length === 0 ? { kind: 'pass' } : failed(found.join('; '))
  }

  function note(client: Client, verb: ValueGap['verb'], value: string, reason: string): void {
    gaps.set(`${client.name} ${verb} ${value}`, { client: client.name, verb, value, reason })
  }
}

function slot(writer: string, reader: string): string {
  return `${writer} ${reader}`
}

/** One client against a service of its own: its scenarios, and paging over two processes. */
import type { Client } from './clients.ts'
import {
  type Identity,
  install,
  pageFirst,
  pageRest,
  type Result,
  runScenarios,
  type ScenarioReport,
} from './program.ts'
import { programScenarios, resumeScenario, scenarios } from './scenarios.ts'
import { type Service, startService } from './service.ts'

export interface Column {
  readonly client: Client
  /** Undefined when it did not come to say who it is. */
  readonly identity: Identity | undefined
  readonly installed: boolean
  /** One for each scenario. */
  readonly results: ReadonlyMap<string, Result>
}

export async function checkClient(client: Client): Promise<Column> {
  try {
    await install(client)
  } catch (error) {
    return { client, identity: undefined, installed: false, results: allFailed(error) }
  }
  const service = await startService(client.name.replaceAll('-', ''))
  try {
    const report = await runScenarios(client, service)
    const resumed = await resume(client, service).catch(failed)
    const results = new Map([...completed(report), [resumeScenario, resumed]])
    return { client, identity: report.identity, installed: true, results }
  } catch (error) {
    return { client, identity: undefined, installed: true, results: allFailed(error) }
  } finally {
    await service.close()
  }
}

/** A scenario that was not reported has failed: nothing is left out in silence. */
function completed({ results, missing }: ScenarioReport): [string, Result][] {
  const unknown = [...results.keys()].filter((name) => !programScenarios.some((known) => known === name))
  if (unknown.length > 0) throw new Error(`unknown scenarios: ${unknown.join(', ')}`)
  return programScenarios.map((name) => [name, results.get(name) ?? failed(missing)])
}

/** Rows whose keys are not easy to carry in a token, in the order of the service. */
const rows = ['one', "two & 'two'", '漢字 🎼'].flatMap((partition) =>
  Array.from({ length: 9 }, (_, n) => ({ partition, row: `${partition} + ${n}` })),
)

async function resume(client: Client, service: Service): Promise<Result> {
  const table = 'paging'
  await service.post('Tables', { TableName: table })
  for (const { partition, row } of rows) await service.post(table, { PartitionKey: partition, RowKey: row })
  const first = await pageFirst(client, service, table)
  if ('gap' in first) return { kind: 'gap', reason: first.gap }
  const found = [...first.rows, ...(await pageRest(client, service, table, first.token))]
  const expected = rows.map(({ row }) => row)
  if (first.rows.length !== 7) throw new Error(`the first page has ${first.rows.length} rows`)
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`found ${JSON.stringify(found)}`)
  return { kind: 'pass' }
}

function allFailed(error: unknown): Map<string, Result> {
  return new Map(scenarios.map((name) => [name, failed(error)]))
}

export function failed(error: unknown): Result {
  return { kind: 'fail', reason: error instanceof Error ? error.message : String(error) }
}

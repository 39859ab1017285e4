/** A client's program, called by the contract of `README.md`. */
import { join } from 'node:path'
import { type Client, clientsFolder } from './clients.ts'
import { type Outcome, run } from './processes.ts'
import type { Service } from './service.ts'

export interface Identity {
  readonly client: string
  readonly version: string
  readonly runtime: string
}

/** What became of a scenario, a value or a cell. */
export type Result =
  | { readonly kind: 'pass' }
  /** All passed but for something that the client lacks. */
  | { readonly kind: 'partial'; readonly reason: string }
  | { readonly kind: 'fail'; readonly reason: string }
  | { readonly kind: 'gap'; readonly reason: string }

export interface ScenarioReport {
  readonly identity: Identity | undefined
  readonly results: ReadonlyMap<string, Result>
  /** Why a scenario may not be among the results. */
  readonly missing: string
}

export interface PresentedValue {
  readonly type: string
  readonly text: string
}

const installMsMax = 450_000
const scenariosMsMax = 240_000
const commandMsMax = 90_000

/** Prepares the program; rejects with one line that says what is missing. */
export async function install(client: Client): Promise<void> {
  const folder = join(clientsFolder, client.folder)
  const outcome = await run(join(folder, 'install'), [], { folder, timeoutMs: installMsMax })
  if (outcome.code !== 0) throw new Error(`install: ${failureOf(outcome)}`)
}

export async function runScenarios(client: Client, service: Service): Promise<ScenarioReport> {
  const outcome = await call(client, service, ['scenarios'], scenariosMsMax)
  const results = new Map<string, Result>()
  let identity: Identity | undefined
  for (const line of linesOf(outcome)) {
    if (typeof line['client'] === 'string') identity = line as unknown as Identity
    const name = line['scenario']
    if (typeof name === 'string') results.set(name, results.has(name) ? twice : resultOf(line))
  }
  if ([...results.values()].some(({ kind }) => kind === 'fail')) process.stderr.write(outcome.stderr)
  const missing = outcome.code === 0 ? 'not reported' : failureOf(outcome)
  return { identity, results, missing }
}

const twice: Result = { kind: 'fail', reason: 'reported twice' }

function resultOf(line: Line): Result {
  const gap = line['gap']
  if (typeof gap === 'string') return { kind: line['ok'] === true ? 'partial' : 'gap', reason: gap }
  if (line['ok'] === true) return { kind: 'pass' }
  return { kind: 'fail', reason: typeof line['error'] === 'string' ? line['error'] : JSON.stringify(line) }
}

/** Maps each name to `undefined` when it was written, else to why that client cannot. */
export async function writeValues(
  client: Client,
  service: Service,
  table: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  const lines = await linesOfCall(client, service, ['write-values', table, client.name])
  return new Map(
    lines.map((line) =>
      'wrote' in line ? [String(line['wrote']), undefined] : [String(line['name']), String(line['gap'])],
    ),
  )
}

/** Maps each name to what the client presents, or to why it cannot. */
export async function readValuesOf(
  client: Client,
  service: Service,
  table: string,
  writer: string,
): Promise<ReadonlyMap<string, PresentedValue | string>> {
  const lines = await linesOfCall(client, service, ['read-values', table, writer])
  return new Map<string, PresentedValue | string>(
    lines.map((line) =>
      'read' in line
        ? [String(line['read']), { type: String(line['type']), text: String(line['text']) }]
        : [String(line['name']), String(line['gap'])],
    ),
  )
}

export async function pageFirst(client: Client, service: Service, table: string) {
  const line = await lineOfCall(client, service, ['page-first', table])
  if ('gap' in line) return { gap: String(line['gap']) }
  return { rows: line['rows'] as readonly string[], token: String(line['token']) }
}

export async function pageRest(
  client: Client,
  service: Service,
  table: string,
  token: string,
): Promise<readonly string[]> {
  return (await lineOfCall(client, service, ['page-rest', table, token]))['rows'] as readonly string[]
}

type Line = Readonly<Record<string, unknown>>

async function lineOfCall(client: Client, service: Service, args: readonly string[]): Promise<Line> {
  const lines = await linesOfCall(client, service, args)
  if (lines.length !== 1 || lines[0] === undefined)
    throw new Error(`${args[0]} printed ${lines.length} lines instead of one`)
  return lines[0]
}

async function linesOfCall(
  client: Client,
  service: Service,
  args: readonly string[],
): Promise<readonly Line[]> {
  const outcome = await call(client, service, args, commandMsMax)
  if (outcome.code !== 0) throw new Error(`${args[0]}: ${failureOf(outcome)}`)
  return linesOf(outcome)
}

async function call(
  client: Client,
  { environment }: Service,
  args: readonly string[],
  timeoutMs: number,
): Promise<Outcome> {
  const folder = join(clientsFolder, client.folder)
  return await run(join(folder, client.program), args, { folder, environment, timeoutMs })
}

function linesOf({ stdout }: Outcome): readonly Line[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}

/** One line: the last that was said, which is where installers put their reason. All of it goes to stderr. */
function failureOf({ code, timedOut, stdout, stderr }: Outcome): string {
  if (timedOut) return 'took too long'
  process.stderr.write(stderr)
  const said = stderr.trim() || stdout.trim()
  return `exit ${code}: ${said.split('\n').at(-1) ?? ''}`
}

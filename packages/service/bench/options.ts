/** The command line of the benchmark. */
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type PhaseName, phaseNames } from './phases.ts'
import { rowsPerPartition } from './rows.ts'
import { type Target, targets } from './targets.ts'

export interface BenchOptions {
  readonly quick: boolean
  readonly rows: number
  readonly rounds: number
  readonly durationMs: number
  readonly clients: number
  readonly phases: readonly PhaseName[]
  readonly targets: readonly Target[]
  readonly scratchFolder: string
  readonly jsonFile: string | undefined
}

/** Half the cores for the clients, the other half for the server; more than a few are never needed. */
const clientsByDefault = Math.min(4, Math.ceil(availableParallelism() / 2))

export const usage = `Usage: npm run bench -- [options]

  --quick           20,000 rows, 2 rounds of 1 s: about two minutes
  --rows N          rows loaded before measuring, a multiple of ${rowsPerPartition} (100000)
  --rounds N        rounds; medians are reported (3)
  --seconds N       length of one measurement (2)
  --phase A,B       only these of ${phaseNames.join(', ')}
  --target A,B      only these of ${targets.map(({ name }) => name).join(', ')}
  --clients N       processes that make the load (${clientsByDefault} on this machine)
  --scratch DIR     for installed peers and, during the run, data (${join(tmpdir(), 'partita-bench')})
  --json FILE       also write every measurement to FILE
  --help            this text
`

/** Undefined when only help is asked for. Throws an Error that says what is wrong. */
export function parseOptions(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rows: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      phase: { type: 'string' },
      target: { type: 'string' },
      clients: { type: 'string' },
      scratch: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { quick } = values
  const rows = numberIn('--rows', values.rows ?? (quick ? '20000' : '100000'), rowsPerPartition, 100_000_000)
  if (rows % rowsPerPartition !== 0) throw new Error(`--rows must be a multiple of ${rowsPerPartition}.`)
  return {
    quick,
    rows,
    rounds: numberIn('--rounds', values.rounds ?? (quick ? '2' : '3'), 1, 100),
    durationMs: 1000 * numberIn('--seconds', values.seconds ?? (quick ? '1' : '2'), 1, 600),
    clients: numberIn('--clients', values.clients ?? String(clientsByDefault), 1, 63),
    phases: chosen('--phase', values.phase?.toUpperCase(), phaseNames, (name) => name),
    targets: chosen('--target', values.target, targets, ({ name }) => name),
    scratchFolder: resolve(values.scratch ?? join(tmpdir(), 'partita-bench')),
    jsonFile: values.json,
  }
}

function numberIn(option: string, text: string, first: number, last: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= first && number <= last) return number
  throw new Error(`${option} must be a whole number from ${first} to ${last}, not '${text}'.`)
}

/** The named ones among `all`, in the order of `all`. */
function chosen<T>(
  option: string,
  text: string | undefined,
  all: readonly T[],
  nameOf: (one: T) => string,
): readonly T[] {
  if (text === undefined) return all
  const names = new Set(text.split(','))
  const found = all.filter((one) => names.delete(nameOf(one)))
  const [unknown] = names
  if (unknown === undefined) return found
  throw new Error(`${option} does not know '${unknown}'. It knows ${all.map(nameOf).join(', ')}.`)
}

/** The command line of the benchmark. */
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { numberIn, wholeIn } from './command-line.ts'
import { type PhaseName, phaseNames } from './phases.ts'
import { rowsPerPartition } from './rows.ts'
import { scratchByDefault } from './scratch.ts'
import { azuriteSaveMs, type Target, targets } from './targets.ts'

export interface BenchOptions {
  readonly quick: boolean
  readonly rows: number
  readonly rounds: number
  /** The length of one measurement that changes nothing. */
  readonly readMs: number
  /** The length of one measurement that writes. */
  readonly writeMs: number
  /** Load clients at most; one is used until it is too busy. */
  readonly clients: number
  readonly phases: readonly PhaseName[]
  readonly targets: readonly Target[]
  readonly scratchFolder: string
  readonly jsonFile: string | undefined
  readonly svgFile: string | undefined
}

/**
 * Two of the periods after which the peer saves. In a round of one period there may be no save, since a busy peer is
 * late for it, and the best of several rounds would be the one that missed it.
 */
export const writeMsToJudge = 2 * azuriteSaveMs

const usual = { rows: '100000', rounds: '5', seconds: '2', writeSeconds: String(writeMsToJudge / 1000) }
const quickly = { rows: '20000', rounds: '2', seconds: '0.5', writeSeconds: '1.5' }

const clientsByDefault = Math.max(2, Math.ceil(availableParallelism() / 2))

export const usage = `Usage: npm run bench -- [options]

  --quick            ${quickly.rows} rows, ${quickly.rounds} rounds of ${quickly.seconds} s, ${quickly.writeSeconds} s for writes: under three minutes
  --rows N           rows loaded before measuring, a multiple of ${rowsPerPartition} (${usual.rows})
  --rounds N         rounds; medians are reported (${usual.rounds})
  --seconds N        length of one measurement of reads (${usual.seconds})
  --write-seconds N  length of one measurement of writes (${usual.writeSeconds}); see docs/performance.md before choosing less
  --phase A,B        only these of ${phaseNames.join(', ')}
  --target A,B       only these of ${targets.map(({ name }) => name).join(', ')}
  --clients N        at most so many processes make the load (${clientsByDefault} on this machine)
  --scratch DIR      for installed peers and, during the run, data (${scratchByDefault})
  --json FILE        also write every measurement to FILE
  --svg FILE         also draw the comparison as a chart into FILE
  --help             this text
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
      'write-seconds': { type: 'string' },
      phase: { type: 'string' },
      target: { type: 'string' },
      clients: { type: 'string' },
      scratch: { type: 'string' },
      json: { type: 'string' },
      svg: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { quick } = values
  const defaults = quick ? quickly : usual
  const rows = wholeIn('--rows', values.rows ?? defaults.rows, rowsPerPartition, 100_000_000)
  if (rows % rowsPerPartition !== 0) throw new Error(`--rows must be a multiple of ${rowsPerPartition}.`)
  return {
    quick,
    rows,
    rounds: wholeIn('--rounds', values.rounds ?? defaults.rounds, 1, 100),
    readMs: 1000 * numberIn('--seconds', values.seconds ?? defaults.seconds, 0.1, 600),
    writeMs: 1000 * numberIn('--write-seconds', values['write-seconds'] ?? defaults.writeSeconds, 0.1, 600),
    clients: wholeIn('--clients', values.clients ?? String(clientsByDefault), 1, 63),
    phases: chosen('--phase', values.phase?.toUpperCase(), phaseNames, (name) => name),
    targets: chosen('--target', values.target, targets, ({ name }) => name),
    scratchFolder: resolve(values.scratch ?? scratchByDefault),
    jsonFile: values.json,
    svgFile: values.svg,
  }
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

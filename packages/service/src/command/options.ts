/** Options of subcommands: a table of facts, from which both the parser and the help are made. */
import { parseArgs } from 'node:util'

export interface OptionFacts {
  /** What the option takes, as shown in the help; left out for a flag. */
  readonly value?: string
  readonly fallback?: string
  readonly says: string
}

export type OptionTable = Readonly<Record<string, OptionFacts>>

export type Environment = Readonly<Record<string, string | undefined>>

/** A mistake in how the command was called: told in a line, without a stack. */
export class UsageError extends Error {}

/** By name; `help` is an option of every subcommand. */
export function parseGiven(
  table: OptionTable,
  argv: readonly string[],
): Readonly<Record<string, string | boolean | undefined>> {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    help: { type: 'boolean', short: 'h' },
  }
  for (const [name, facts] of Object.entries(table)) {
    options[name] = { type: facts.value === undefined ? 'boolean' : 'string' }
  }
  try {
    return parseArgs({ args: [...argv], options, strict: true }).values
  } catch (error) {
    // Its first line says what is wrong; some go on with advice.
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new UsageError(line)
  }
}

/** What is wrong with a value that was given is a mistake in how the command was called. */
export function readGiven<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** One line of help for each option. */
export function optionLines(table: OptionTable): string[] {
  return Object.entries(table).map(([name, { value, fallback, says }]) => {
    const left = `  --${name}${value === undefined ? '' : ` ${value}`}`
    return `${left.padEnd(36)} ${says}${fallback === undefined ? '' : ` (${fallback})`}`
  })
}

/** Runs a subcommand whose result is a text, and returns the exit code. */
export function printResult(result: () => string): number {
  try {
    console.log(result())
    return 0
  } catch (error) {
    console.error(`partita: ${error instanceof Error ? error.message : String(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

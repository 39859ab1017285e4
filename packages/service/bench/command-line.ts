/** What the command lines of the benchmarks share. */

/** What `parse` makes of the command line; undefined, with the exit code set, after it was told what is wrong. */
export function parsedOrExit<T>(usage: string, parse: () => T | undefined): T | undefined {
  try {
    const parsed = parse()
    if (parsed === undefined) console.log(usage)
    return parsed
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exitCode = 2
    return undefined
  }
}

export function wholeIn(option: string, text: string, first: number, last: number): number {
  const number = numberIn(option, text, first, last)
  if (Number.isInteger(number)) return number
  throw new Error(`${option} must be a whole number, not '${text}'.`)
}

export function numberIn(option: string, text: string, first: number, last: number): number {
  const number = Number(text)
  if (text.trim() !== '' && number >= first && number <= last) return number
  throw new Error(`${option} must be a number from ${first} to ${last}, not '${text}'.`)
}

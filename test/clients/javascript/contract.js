/** What the JavaScript programs share: the commands and lines of the contract in `../README.md`. */
import { readFileSync } from 'node:fs'
import process from 'node:process'

/** What the runner tells a program. */
export const given = {
  url: process.env.TABLES_URL,
  account: process.env.TABLES_ACCOUNT,
  key: process.env.TABLES_KEY,
  connectionString: process.env.TABLES_CONNECTION_STRING,
  sasUrl: process.env.TABLES_SAS_URL,
  flakyUrl: process.env.TABLES_FLAKY_URL,
  prefix: process.env.TABLES_PREFIX,
}

/** Thrown where the client itself cannot do what is asked for. */
export class Gap extends Error {}

/** Runs what the command line says. A scenario returns what its client lacks, if anything. */
export async function runProgram({ identity, scenarios, writeValue, readValue, pageFirst, pageRest }) {
  const [command, table, argument] = process.argv.slice(2)
  switch (command) {
    case 'scenarios':
      print(identity)
      for (const [scenario, run] of Object.entries(scenarios)) {
        await attempt(
          () => run(),
          (lack) => ({ scenario, ok: true, gap: lack }),
          (gap) => ({ scenario, gap }),
          (error) => ({ scenario, ok: false, error }),
        )
      }
      return
    case 'write-values':
      for (const value of readValues()) {
        await attempt(
          () => writeValue(table, argument, value),
          () => ({ wrote: value.name }),
          (gap) => ({ name: value.name, gap }),
        )
      }
      return
    case 'read-values':
      for (const { name } of readValues()) {
        await attempt(
          () => readValue(table, argument, name),
          (found) => found && { read: name, ...found },
          (gap) => ({ name, gap }),
        )
      }
      return
    case 'page-first':
      print(await pageFirst(table))
      return
    case 'page-rest':
      print({ rows: await pageRest(table, argument) })
      return
    default:
      throw new Error(`unknown command ${command}`)
  }
}

/** Without `failed`, a failure ends the program. */
async function attempt(work, done, gap, failed) {
  try {
    const line = done(await work())
    if (line !== undefined) print(line)
  } catch (error) {
    if (error instanceof Gap) print(gap(error.message))
    else if (failed === undefined) throw error
    else {
      process.stderr.write(`${error.stack}\n`)
      print(failed(error.message.replace(/\s+/g, ' ')))
    }
  }
}

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

export function readValues() {
  const values = JSON.parse(readFileSync(process.env.TABLES_VALUES, 'utf8'))
  return values.map(({ name, type, text, repeat }) => ({
    name,
    type,
    text: text ?? repeat[0].repeat(repeat[1]),
  }))
}

/** The canonical text of a double. */
export function doubleText(number) {
  if (Number.isNaN(number)) return 'NaN'
  if (Object.is(number, -0)) return '-0'
  return String(number).replace('Infinity', 'INF')
}

/** What a number stands for that came without its type, given the type it should have. */
export function numberText(number, expectedType) {
  const couldBeInt32 = Object.is(number, number | 0)
  if (couldBeInt32 && expectedType === 'Edm.Double')
    throw new Gap('a small whole Double arrives as a number that could be an Int32')
  return { type: couldBeInt32 ? 'Edm.Int32' : 'Edm.Double', text: doubleText(number) }
}

/** The canonical text of a date given in any number of digits. */
export function dateText(text) {
  const [, whole, fraction = ''] = /^(.*?)(?:\.(\d+))?Z$/.exec(text)
  return `${whole}.${fraction.padEnd(7, '0')}Z`
}

/** Answers a preflight of a browser that wants to read entities. */
export async function preflight(origin) {
  return await fetch(`${given.url}/any`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'GET',
      'Access-Control-Request-Headers': 'x-ms-date',
    },
  })
}

/** Keys that are legal and easy to spoil on their way. */
export const unusualKeys = [
  "it's",
  "''",
  "'",
  'a b',
  ' ',
  '100%',
  '%27',
  'a&b',
  'a+b',
  'a=b',
  'a;b',
  'a@b',
  'a~b',
  '(a,b)',
  'a:b,c$d!e*f',
  '"quoted"',
  '<a>',
  'naïve',
  '漢字',
  '🎼',
  '',
]

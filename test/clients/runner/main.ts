/** `npm run test:clients`: every official client against the service, as a matrix. */
import { parseArgs } from 'node:util'
import { checkClient } from './check-client.ts'
import { checkValues } from './check-values.ts'
import { type Client, clients } from './clients.ts'
import { writeDocument } from './document.ts'
import { fewAtOnce } from './few-at-once.ts'
import { countResults, type Matrix, renderForTerminal } from './matrix.ts'

const usage = `Usage: npm run test:clients -- [options] [client …]

  --list    the clients there are
  --write   also put the matrix into docs/compatibility.md
  --help    this text
`

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { values: options, positionals } = parseArgs({
    args: [...args],
    options: { list: { type: 'boolean' }, write: { type: 'boolean' }, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (options.help) return print(usage)
  if (options.list) return print(clients.map(({ name }) => `${name}\n`).join(''))
  if (options.write && positionals.length > 0) throw new Error('--write is for all clients together')
  const matrix = await check(chosen(positionals))
  print(renderForTerminal(matrix))
  if (options.write) writeDocument(matrix)
  const { pass, partial, fail, gap } = countResults(matrix)
  print(`\nℹ pass ${pass}\nℹ partial ${partial}\nℹ fail ${fail}\nℹ gap ${gap}\n`)
  return fail === 0 ? 0 : 1
}

function chosen(names: readonly string[]): readonly Client[] {
  const unknown = names.filter((name) => !clients.some((client) => client.name === name))
  if (unknown.length > 0) throw new Error(`no such client: ${unknown.join(', ')} (try --list)`)
  return names.length === 0 ? clients : clients.filter(({ name }) => names.includes(name))
}

async function check(these: readonly Client[]): Promise<Matrix> {
  const columns = await fewAtOnce(these, async (client) => {
    const beganMs = performance.now()
    const column = await checkClient(client)
    process.stderr.write(`${client.name}: ${((performance.now() - beganMs) / 1000).toFixed(1)} s\n`)
    return column
  })
  const installed = columns.filter((column) => column.installed).map(({ client }) => client)
  return { columns, values: await checkValues(installed) }
}

function print(text: string): 0 {
  process.stdout.write(text)
  return 0
}

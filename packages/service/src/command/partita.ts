#!/usr/bin/env node
/** The command `partita`: picks the subcommand. */
import { explainHelp, explainQuery } from './explain.ts'
import { serve, serveHelp } from './serve.ts'

const [subcommand, ...rest] = process.argv.slice(2)

switch (subcommand) {
  case 'serve':
    process.exitCode = await serve(rest, process.env)
    break
  case 'explain':
    process.exitCode = await explainQuery(rest, process.env)
    break
  case undefined:
  case 'help':
  case '--help':
  case '-h':
    console.log(
      `partita: a durable table service that speaks the Azure Table storage protocol\n\n${serveHelp}\n\n${explainHelp}`,
    )
    break
  default:
    console.error(`partita: unknown command '${subcommand}'. Try: partita help`)
    process.exitCode = 2
}

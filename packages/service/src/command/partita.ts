#!/usr/bin/env node
/** The command `partita`: picks the subcommand. */
import { explainHelp, explainQuery } from './explain.ts'
import { key, keyHelp } from './key.ts'
import { sas, sasHelp } from './sas.ts'
import { serve, serveHelp } from './serve.ts'

const [subcommand, ...rest] = process.argv.slice(2)

switch (subcommand) {
  case 'serve':
    process.exitCode = await serve(rest, process.env)
    break
  case 'explain':
    process.exitCode = await explainQuery(rest, process.env)
    break
  case 'sas':
    process.exitCode = sas(rest, process.env, Date.now())
    break
  case 'key':
    process.exitCode = key(rest, process.env)
    break
  case undefined:
  case 'help':
  case '--help':
  case '-h':
    console.log(
      [
        'partita: a durable table service that speaks the Azure Table storage protocol',
        serveHelp,
        explainHelp,
        sasHelp,
        keyHelp,
      ].join('\n\n'),
    )
    break
  default:
    console.error(`partita: unknown command '${subcommand}'. Try: partita help`)
    process.exitCode = 2
}

/** The JavaScript client before the current one, `azure-storage`, which is still in use. */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { runProgram } from '../javascript/contract.js'
import { scenarios } from './scenarios.js'
import { pageFirst, pageRest, readValue, writeValue } from './values.js'

const description = new URL('./node_modules/azure-storage/package.json', import.meta.url)
const { name, version } = JSON.parse(readFileSync(description, 'utf8'))

await runProgram({
  identity: { client: name, version, runtime: `Node ${process.versions.node}` },
  scenarios,
  writeValue,
  readValue,
  pageFirst,
  pageRest,
})

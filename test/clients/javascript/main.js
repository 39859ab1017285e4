/** The current JavaScript client, `@azure/data-tables`. */
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { runProgram } from './contract.js'
import { scenarios } from './scenarios.js'
import { pageFirst, pageRest, readValue, writeValue } from './values.js'

const description = new URL('./node_modules/@azure/data-tables/package.json', import.meta.url)
const { name, version } = JSON.parse(readFileSync(description, 'utf8'))

await runProgram({
  identity: { client: name, version, runtime: `Node ${process.versions.node}` },
  scenarios,
  writeValue,
  readValue,
  pageFirst,
  pageRest,
})

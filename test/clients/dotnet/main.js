/** What `Azure.Data.Tables` sends, without the client itself; see `README.md`. */
import { runProgram } from '../javascript/contract.js'
import { version } from './requests.js'
import { scenarios } from './scenarios.js'
import { pageFirst, pageRest, readValue, writeValue } from './values.js'

await runProgram({
  identity: {
    client: 'Azure.Data.Tables',
    version: `${version}, its requests`,
    runtime: 'replayed over a socket',
  },
  scenarios,
  writeValue,
  readValue,
  pageFirst,
  pageRest,
})

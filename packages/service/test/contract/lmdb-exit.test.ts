/** Programs may end whenever they like: what they wrote is kept, and what they were writing stops nobody else. */
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/temporary-folder.ts'

const writer = fileURLToPath(new URL('../support/exiting-writer.js', import.meta.url))
const rounds = 12
const endMsMax = 20_000

it('a process that exits in the middle of a commit ends, and leaves the store free', async () => {
  const path = await temporaryFolder()
  for (let round = 0; round < rounds; round++) {
    const child = spawn(process.execPath, [writer, path, `round${round}`, String(20 + 7 * round)], {
      stdio: 'inherit',
      timeout: endMsMax,
      killSignal: 'SIGKILL',
    })
    assert.deepEqual(await once(child, 'exit'), [0, null], `in round ${round}`)
  }
})

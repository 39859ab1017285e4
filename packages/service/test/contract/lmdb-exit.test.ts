/** Programs may end whenever they like: what they wrote is kept, and what they were writing stops nobody else. */
import { strict as assert } from 'node:assert'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDataFolder } from '../../src/store/lmdb/data-folder.ts'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const writer = fileURLToPath(new URL('../support/exiting-writer.js', import.meta.url))
const rounds = 12
const endMsMax = 20_000

it('a process that exits in the middle of a commit ends, and leaves the store free', async () => {
  const path = await temporaryFolder()
  for (let round = 0; round < rounds; round++) {
    const child = startWriter(path, `round${round}`, 'writing', 20 + 7 * round)
    assert.deepEqual(await once(child, 'exit'), [0, null], `in round ${round}`)
  }
})

it('so does one whose writer still waits to open the store', async () => {
  const path = await temporaryFolder()
  const exitMs = 200
  const child = startWriter(path, 'waits', 'open', exitMs)
  const exited = once(child, 'exit')
  await once(child, 'message')
  const environment = openEnvironment(openDataFolder(path), { keys: false })
  environment.transactionSync(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * exitMs))
  assert.deepEqual(await exited, [0, null])
  await environment.close()
})

function startWriter(path: string, table: string, since: 'open' | 'writing', exitMs: number): ChildProcess {
  return fork(writer, [path, table, since, String(exitMs)], { timeout: endMsMax, killSignal: 'SIGKILL' })
}

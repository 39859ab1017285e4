import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

// On exit and not earlier: whoever still has files open in a folder has closed them by then.
process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

/** An empty folder of its own, gone when the process ends. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'partita-test-'))
  made.push(path)
  return path
}

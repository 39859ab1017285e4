/**
 * Runs a program on the release of Node that our figures are of, whichever release runs this:
 *
 *   node on-lts.js program.js [arguments]
 *
 * The release comes from npm, as the package for this platform that holds nothing but its files.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { installed } from './install.ts'
import { startChild } from './processes.ts'
import { scratchByDefault } from './scratch.ts'

/** The newest release with long-term support. */
const release = '26.10.0'

const child = startChild(await nodeOfRelease(), process.argv.slice(2), { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = (await once(child, 'exit')) as [number | null]
process.exitCode = code ?? 1

async function nodeOfRelease(): Promise<string> {
  if (process.versions.node === release) return process.execPath
  const name = `node-${process.platform}-${process.arch}`
  const { folder } = await installed(join(scratchByDefault, `node-${release}`), name, [release])
  return join(folder, 'bin', 'node')
}

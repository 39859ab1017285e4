/** Packages from npm that take part in a run but are not ours: installed once, and kept from one run to the next. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from './processes.ts'

const installMsMax = 300_000

export interface Installed {
  readonly folder: string
  readonly version: string
}

/** The package as it is found in `folder`; installed there, in the first of the versions that can be, if it is not. */
export async function installed(
  folder: string,
  name: string,
  versions: readonly string[],
): Promise<Installed> {
  const packageFolder = join(folder, 'node_modules', name)
  const description = join(packageFolder, 'package.json')
  for (const version of versions) {
    if (existsSync(description)) break
    process.stderr.write(`installing ${name}@${version} into ${folder}\n`)
    mkdirSync(folder, { recursive: true })
    const npm = startChild(
      'npm',
      ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`],
      { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: installMsMax },
    )
    await once(npm, 'exit')
  }
  if (!existsSync(description))
    throw new Error(`${name} could not be installed: is npm able to fetch packages?`)
  const { version } = JSON.parse(readFileSync(description, 'utf8')) as { version: string }
  return { folder: packageFolder, version }
}

/** A benchmark's run: a folder for its data while it lasts, and nothing left of it afterwards, however it ends. */
import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { killAll } from './processes.ts'

export const scratchByDefault = join(tmpdir(), 'partita-bench')

/** Runs `body` with a new folder below `scratchFolder`; a failure is printed and becomes the exit code. */
export async function withDataFolder(
  scratchFolder: string,
  body: (dataFolder: string) => Promise<void>,
): Promise<void> {
  const dataFolder = join(resolve(scratchFolder), `data-${process.pid}`)
  process.once('exit', () => remove(dataFolder))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  mkdirSync(dataFolder, { recursive: true })
  try {
    await body(dataFolder)
  } catch (error) {
    console.error(`The benchmark failed: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    killAll()
  }
}

export function remove(folder: string): void {
  // Servers that were just killed may still be letting go of their files.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

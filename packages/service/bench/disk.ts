/** The disk under the data folders: what it can do, asked in the simplest way, and what is on it. */
import { closeSync, fdatasyncSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What a database writes at least to make one change durable. */
export const probedPageBytes = 4096

/** How many times a second a page can be appended and made durable, one after the other. */
export function syncsPerSecond(folder: string, durationMs: number): number {
  const file = join(folder, 'sync-probe')
  const descriptor = openSync(file, 'a')
  const page = Buffer.alloc(probedPageBytes, 'x')
  try {
    const beganMs = performance.now()
    let count = 0
    let elapsedMs = 0
    while (elapsedMs < durationMs) {
      writeSync(descriptor, page)
      fdatasyncSync(descriptor)
      count += 1
      elapsedMs = performance.now() - beganMs
    }
    return (count / elapsedMs) * 1000
  } finally {
    closeSync(descriptor)
    rmSync(file)
  }
}

/** Has all that was written below a folder on the disk. */
export function syncFiles(folder: string): void {
  for (const file of filesIn(folder)) {
    try {
      const descriptor = openSync(file, 'r')
      fdatasyncSync(descriptor)
      closeSync(descriptor)
    } catch (error) {
      // A server that saves may have put another in its place.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** A folder that lives in memory makes every write look durable and free. */
export function isInMemory(folder: string): boolean {
  return memoryFileSystems.has(statfsSync(folder).type)
}

// Source: linux/magic.h, TMPFS_MAGIC and RAMFS_MAGIC.
const memoryFileSystems = new Set([0x01021994, 0x858458f6])

/**
 * Reading ahead of a scan, off the thread that scans. The system is asked not to read around what is touched
 * (environment.ts), which for single rows is reading in vain. A scan that has to wait for the disk has the leaves it
 * will visit next read before it goes on, and others are served meanwhile.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pageBytes } from './environment.ts'

/** Sees to it that a scan neither waits for the disk nor lets others wait. */
export interface Pace {
  /** How many leaves may be visited before the next rest. */
  readonly leavesMax: number
  /** Lets others run. `visited` leaves were visited since the last rest; `following` are the pages of the next ones. */
  rest(visited: number, following: () => readonly number[]): Promise<void>
}

/** Reads pages into memory. */
export type Fetch = (pages: readonly number[]) => Promise<void>

/** Of leaves in memory, a scan visits several times as many in a slice; of leaves on a disk, not even half. */
const leavesOfSliceMin = 32
/** Leaves come from memory if one takes less than this, in milliseconds. */
const leafFromMemoryMs = 0.01
/** How often that must be so before it is believed: the system reads ahead, too, and a disk may have been quick. */
const fromMemoryMin = 8

export function newPace(fetch: Fetch): Pace {
  const pace = { leavesMax: Number.POSITIVE_INFINITY, rest }
  let fromMemory = 0
  return pace

  async function rest(visited: number, following: () => readonly number[]): Promise<void> {
    if (pace.leavesMax === Number.POSITIVE_INFINITY) {
      if (visited >= leavesOfSliceMin) return await nextTurn()
      fromMemory = 0
    }
    const pages = following()
    if (pages.length === 0) {
      // The next leaf is below another branch, and what follows it will be known there; or never is.
      pace.leavesMax = pace.leavesMax === 1 ? Number.POSITIVE_INFINITY : 1
      return await nextTurn()
    }
    const beganMs = performance.now()
    await fetch(pages)
    fromMemory = performance.now() - beganMs < pages.length * leafFromMemoryMs ? fromMemory + 1 : 0
    pace.leavesMax = fromMemory < fromMemoryMin ? pages.length : Number.POSITIVE_INFINITY
  }
}

export interface ReadAhead {
  readonly fetch: Fetch
  close(): Promise<void>
}

/** One read takes no more than this, and all of them go here: nobody looks at it. */
const readBytesMax = 2 ** 20

/** Where it fails, as where no more files may be opened, the scan reads for itself, and waits. */
export function openReadAhead(path: string): ReadAhead {
  let file: Promise<FileHandle | undefined> | undefined
  let unwanted: Buffer | undefined
  return { fetch, close }

  async function fetch(pages: readonly number[]): Promise<void> {
    file ??= open(join(path, 'data.mdb'), 'r').catch(forget)
    const handle = await file
    if (handle === undefined) return
    const into = (unwanted ??= Buffer.allocUnsafeSlow(readBytesMax))
    await Promise.allSettled(runsOf(pages).map(({ from, bytes }) => handle.read(into, 0, bytes, from)))
  }

  function forget(): undefined {
    file = undefined
  }

  async function close(): Promise<void> {
    await (await file)?.close()
  }
}

interface Run {
  readonly from: number
  bytes: number
}

/** Pages that follow each other in the file are one run, up to what is read at once. */
function runsOf(pages: readonly number[]): Run[] {
  const runs: Run[] = []
  let run: Run | undefined
  for (const page of pages.toSorted((a, b) => a - b)) {
    const from = page * pageBytes
    if (run !== undefined && from === run.from + run.bytes && run.bytes < readBytesMax) {
      run.bytes += pageBytes
    } else {
      run = { from, bytes: pageBytes }
      runs.push(run)
    }
  }
  return runs
}

import { type Clock, parseTicks, type Ticks } from '../../src/model/ticks.ts'

export interface TestClock {
  readonly read: Clock
  set(now: Ticks): void
  /** Moves by so many ticks; backwards when negative. */
  move(ticks: bigint): void
}

/** A clock that stands still until it is told otherwise. */
export function testClock(start = '2024-05-06T07:08:09.1234567Z'): TestClock {
  let now = ticksAt(start)
  return {
    read: () => now,
    set(ticks) {
      now = ticks
    },
    move(ticks) {
      now = (now + ticks) as Ticks
    },
  }
}

export function ticksAt(text: string): Ticks {
  const ticks = parseTicks(text)
  if (ticks === undefined) throw new Error(`${text} is not a time`)
  return ticks
}

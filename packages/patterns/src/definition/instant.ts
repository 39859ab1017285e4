/**
 * A point in time as the protocol knows it: 100 ns ticks since 0001-01-01T00:00:00Z. Date keeps milliseconds only,
 * and an ETag or a key that lost its last digits names something else.
 */
export class Instant {
  readonly ticks: bigint

  private constructor(ticks: bigint) {
    this.ticks = ticks
  }

  static ofTicks(ticks: bigint): Instant {
    if (ticks < 0n || ticks > ticksMax) throw new RangeError(`no point in time has ${ticks} ticks`)
    return new Instant(ticks)
  }

  static from(time: Instant | Date): Instant {
    if (time instanceof Instant) return time
    const ms = time.getTime()
    if (Number.isNaN(ms)) throw new RangeError('an invalid Date')
    return Instant.ofTicks((BigInt(ms) + unixEpochMs) * ticksPerMs)
  }

  /** Reads `2026-11-15T12:00:00.1234567Z`, with up to seven digits after the dot. */
  static parse(text: string): Instant {
    const match = pattern.exec(text)
    const [, seconds = '', fraction = ''] = match ?? []
    const ms = match === null ? Number.NaN : Date.parse(`${seconds}Z`)
    if (Number.isNaN(ms)) throw new RangeError(`not a point in time: ${text}`)
    return Instant.ofTicks((BigInt(ms) + unixEpochMs) * ticksPerMs + BigInt(fraction.padEnd(7, '0')))
  }

  /** Rounded down to milliseconds. */
  toDate(): Date {
    return new Date(Number(this.ticks / ticksPerMs - unixEpochMs))
  }

  /** Always with seven digits after the dot. */
  toString(): string {
    const seconds = this.toDate().toISOString().slice(0, 19)
    return `${seconds}.${(this.ticks % ticksPerSecond).toString().padStart(7, '0')}Z`
  }

  toJSON(): string {
    return this.toString()
  }
}

/** Reads the time. Given as an argument, so that a test can own it. */
export type Clock = () => Instant

export const systemClock: Clock = () => Instant.from(new Date())

/** The last tick of the year 9999. */
export const ticksMax = 3_155_378_975_999_999_999n

const ticksPerMs = 10_000n
const ticksPerSecond = 10_000_000n
const unixEpochMs = 62_135_596_800_000n
const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,7}))?Z$/

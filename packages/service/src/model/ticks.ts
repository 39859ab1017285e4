/**
 * Points in time as the protocol knows them: 100 ns ticks since 0001-01-01T00:00:00Z, exact in a bigint.
 * JavaScript's Date keeps milliseconds only and is used here for whole seconds alone.
 */
import type { Brand } from './brand.ts'

export type Ticks = Brand<bigint, 'Ticks'>

/** Reads the time. Given as an argument everywhere, so that a test can own it. */
export type Clock = () => Ticks

export const ticksPerSecond = 10_000_000n
const ticksPerMs = 10_000
const unixEpochSeconds = 62_135_596_800
const dateTimePattern = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))?$/

export const ticksMax = (3_155_378_976_000_000_000n - 1n) as Ticks

/** `2020-12-18T17:08:59.8611145Z`, trailing zeros of the fraction and an empty fraction left out. */
export function formatTicks(ticks: Ticks): string {
  return `${formatSeconds(ticks)}${formatFraction(ticks)}`
}

/** As formatTicks, but always with seven digits: the form error messages use. */
export function formatTicksFully(ticks: Ticks): string {
  const seconds = formatSeconds(ticks)
  return `${seconds}.${fractionOf(ticks).toString().padStart(7, '0')}Z`
}

/**
 * Reads `yyyy-MM-ddTHH:mm:ss[.f…][Z|±hh:mm]`; without a zone it is UTC.
 * Undefined for anything else, and for days and hours that do not exist.
 */
export function parseTicks(text: string): Ticks | undefined {
  const match = dateTimePattern.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHour, zoneMinute] = match
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second))
  // Date rolls 02-30 over to March: what it shows must be what was asked for.
  if (!isoSeconds(date).startsWith(text.slice(0, 19))) return undefined
  let seconds = date.getTime() / 1000 + unixEpochSeconds
  if (sign !== undefined) {
    if (Number(zoneHour) > 14 || Number(zoneMinute) > 59) return undefined
    const offset = Number(zoneHour) * 3600 + Number(zoneMinute) * 60
    seconds += sign === '+' ? -offset : offset
  }
  const ticks = BigInt(seconds) * ticksPerSecond + fractionTicks(fraction ?? '')
  return ticks < 0n || ticks > ticksMax ? undefined : (ticks as Ticks)
}

/** Digits beyond the seventh round the last tick, a half to the even one: clients with nanoseconds send nine. */
function fractionTicks(digits: string): bigint {
  const ticks = BigInt(digits.slice(0, 7).padEnd(7, '0'))
  const beyond = trimZeros(digits.slice(7))
  if (beyond < '5') return ticks
  return beyond === '5' ? ticks + (ticks & 1n) : ticks + 1n
}

/** Most times as clients write them; every month has 28 days. */
const commonTime =
  /^(?:1[7-9]|[2-9]\d)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,7})?Z$/

/** The text formatTicks would write for the time that parseTicks reads; undefined if it reads none. */
export function normalTimeText(text: string): string | undefined {
  if (!commonTime.test(text)) {
    const ticks = parseTicks(text)
    return ticks === undefined ? undefined : formatTicks(ticks)
  }
  if (text.length === 20) return text
  const digits = trimZeros(text.slice(0, -1))
  if (digits.length === text.length - 1) return text
  return digits.endsWith('.') ? `${digits.slice(0, -1)}Z` : `${digits}Z`
}

/** `MM/dd/yyyy HH:mm:ss`, which the protocol uses in one error text. */
export function formatTicksInvariant(ticks: Ticks): string {
  const [date = '', time] = formatSeconds(ticks).split('T')
  const [year, month, day] = date.split('-')
  return `${month}/${day}/${year} ${time}`
}

export function ticksOfUnixMs(ms: number): Ticks {
  return ((BigInt(Math.floor(ms)) + BigInt(unixEpochSeconds) * 1000n) * BigInt(ticksPerMs)) as Ticks
}

export function unixMsOfTicks(ticks: Ticks): number {
  return Number(ticks / BigInt(ticksPerMs)) - unixEpochSeconds * 1000
}

/**
 * The wall clock at microsecond resolution: the monotonic clock carries the digits below a millisecond,
 * and is set again whenever the wall clock was moved.
 */
export function systemClock(): Clock {
  let offsetMs = Date.now() - performance.now()
  return () => {
    const wallMs = Date.now()
    let ms = offsetMs + performance.now()
    if (Math.abs(ms - wallMs) > 2) {
      offsetMs = wallMs - performance.now()
      ms = wallMs
    }
    const whole = Math.floor(ms)
    return (ticksOfUnixMs(whole) + BigInt(Math.floor((ms - whole) * ticksPerMs))) as Ticks
  }
}

/** Versions of a busy moment share their second, and each is written more than once. */
let secondFrom = 0n
let secondUntil = 0n
let secondText = ''

/** `2020-12-18T17:08:59`, the beginning of formatTicks. */
export function formatSeconds(ticks: Ticks): string {
  if (ticks < secondFrom || ticks >= secondUntil) {
    const seconds = ticks / ticksPerSecond
    secondText = isoSeconds(new Date((Number(seconds) - unixEpochSeconds) * 1000))
    secondFrom = seconds * ticksPerSecond
    secondUntil = secondFrom + ticksPerSecond
  }
  return secondText
}

/** `.8611145Z`, the end of formatTicks. REQUIRES: formatSeconds was asked for the same ticks last. */
export function formatFraction(ticks: Ticks): string {
  const fraction = fractionOf(ticks)
  return fraction === 0 ? 'Z' : `.${trimZeros(fraction.toString().padStart(7, '0'))}Z`
}

/** Ticks since the second began. REQUIRES: formatSeconds was asked for the same ticks last. */
function fractionOf(ticks: Ticks): number {
  return Number(ticks - secondFrom)
}

function isoSeconds(date: Date): string {
  return date.toISOString().slice(0, 19)
}

function trimZeros(digits: string): string {
  let length = digits.length
  while (digits.charCodeAt(length - 1) === 0x30) length--
  return digits.slice(0, length)
}

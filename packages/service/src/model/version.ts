/** The moment of an entity's last change: its Timestamp, and in quotes its ETag. */
import type { Brand } from './brand.ts'
import { formatFraction, formatSeconds, parseTicks, type Ticks } from './ticks.ts'

export type Version = Brand<Ticks, 'Version'>

export function etagOf(version: Version): string {
  const seconds = formatSeconds(version)
  if (seconds !== etagSeconds) {
    etagSeconds = seconds
    // Joined, it is one piece of memory; concatenated, it would be put together anew in each answer.
    etagLead = [`W/"datetime'`, escapeColons(seconds)].join('')
  }
  return `${etagLead}${formatFraction(version)}'"`
}

/** Versions of a busy moment share their second. */
let etagSeconds = ''
let etagLead = ''

/** Of a time as formatTicks writes it, or the beginning of it: its two colons stand in fixed places. */
export function escapeColons(time: string): string {
  return `${time.slice(0, 13)}%3A${time.slice(14, 16)}%3A${time.slice(17)}`
}

/** Reads what etagOf wrote, or anything that means the same moment; undefined for all else. */
export function parseEtag(text: string): Version | undefined {
  const match = /^W\/"datetime'([^'"]*)'"$/.exec(text)
  if (match?.[1] === undefined) return undefined
  // Rounded, a tag finer than a tick would match an entity it was not made for.
  if (/\.\d{8}/.test(match[1])) return undefined
  return parseTicks(match[1].replaceAll(/%3a/gi, ':')) as Version | undefined
}

/** Versions only grow, whatever the clock does. */
export function nextVersion(last: Version, now: Ticks): Version {
  return (now > last ? now : last + 1n) as Version
}

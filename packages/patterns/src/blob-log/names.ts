/**
 * Names of log blobs: `queue/2014/07/31/1800/000001.log` is the first blob of the hour from 18:00 to 19:00 UTC.
 * Names sort as time does, and a prefix is a year, a month, a day or an hour.
 */
export const hourMs = 3_600_000

/** `queue/2014/07/31/1800/` */
export function hourPrefix(log: string, at: Date): string {
  const [date = '', time = ''] = at.toISOString().split('T')
  return `${log}/${date.replaceAll('-', '/')}/${time.slice(0, 2)}00/`
}

export function blobName(prefix: string, number: number): string {
  return `${prefix}${String(number).padStart(6, '0')}.log`
}

/** Undefined for a name that is not one of ours. */
export function numberOf(name: string): number | undefined {
  const digits = /\/(\d{6,})\.log$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** How each unit of time begins and ends, largest first, and how many characters of an hour's prefix name it. */
const units = [
  { characters: 5, next: (at: Date) => Date.UTC(at.getUTCFullYear() + 1, 0) },
  { characters: 8, next: (at: Date) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1) },
  { characters: 11, next: (at: Date) => at.getTime() + 24 * hourMs },
  { characters: 16, next: (at: Date) => at.getTime() + hourMs },
] as const

/**
 * The fewest prefixes that cover the hours touched by [from, until), in the order of time: whole years, months and
 * days where they fit.
 */
export function prefixesOf(log: string, from: Date, until: Date): string[] {
  const prefixes: string[] = []
  if (from >= until) return prefixes
  const end = Math.ceil(until.getTime() / hourMs) * hourMs
  let at = Math.floor(from.getTime() / hourMs) * hourMs
  while (at < end) {
    const date = new Date(at)
    const unit = units.find(({ characters, next }) => begins(date, characters) && next(date) <= end)
    if (unit === undefined) break
    prefixes.push(hourPrefix(log, date).slice(0, log.length + 1 + unit.characters))
    at = unit.next(date)
  }
  return prefixes
}

/** Whether a unit named by so many characters begins at this hour: what the name leaves out is at its lowest. */
function begins(hour: Date, characters: number): boolean {
  return '0000/01/01/0000/'.slice(characters) === hourPrefix('', hour).slice(1 + characters)
}

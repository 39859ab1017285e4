/**
 * Sets of texts, and sets of keys (partition × row), as the cuts between inside and outside.
 *
 * A TextSet is its cuts in ascending order: a text is inside when an odd number of cuts is not above it. A
 * Region is a step function from partitions to sets of rows. Both forms are canonical, so equal sets have
 * equal cuts, and every operation is one merge of two ascending lists.
 */
import { type KeyRange, successor } from '../model/keys.ts'
import type { Group, Operator } from './filter.ts'

export type TextSet = readonly string[]

export const noText: TextSet = []
export const everyText: TextSet = ['']

export function textsWhere(operator: Operator, text: string): TextSet {
  switch (operator) {
    case 'eq':
      return [text, successor(text)]
    case 'ne':
      return complement([text, successor(text)])
    case 'lt':
      return text === '' ? noText : ['', text]
    case 'le':
      return ['', successor(text)]
    case 'gt':
      return [successor(text)]
    case 'ge':
      return [text]
  }
}

/** `until` is undefined when there is no end. */
export function textsBetween(from: string, until: string | undefined): TextSet {
  return until === undefined ? [from] : [from, until]
}

export function complement(set: TextSet): TextSet {
  return set[0] === '' ? set.slice(1) : ['', ...set]
}

/** Intersection of two sets for `and`, union for `or`. */
export function combineTexts(kind: Group['kind'], a: TextSet, b: TextSet): TextSet {
  if (a === b) return a
  if (isEvery(a) || b.length === 0) return kind === 'and' ? b : a
  if (isEvery(b) || a.length === 0) return kind === 'and' ? a : b
  const cuts: string[] = []
  const needed = kind === 'and' ? 2 : 1
  let [i, j] = [0, 0]
  let inside = false
  for (;;) {
    const [x, y] = [a[i], b[j]]
    const cut = y === undefined || (x !== undefined && x <= y) ? x : y
    if (cut === undefined) return cuts
    if (x === cut) i++
    if (y === cut) j++
    // An odd number of cuts passed is inside.
    const now = (i & 1) + (j & 1) >= needed
    if (now !== inside) cuts.push(cut)
    inside = now
  }
}

export function isEvery(set: TextSet): boolean {
  return set.length === 1 && set[0] === ''
}

export function containsTexts(whole: TextSet, part: TextSet): boolean {
  for (let i = 0; i < part.length; i += 2) {
    const passed = cutsNotAbove(whole, part[i] as string)
    if ((passed & 1) === 0) return false
    const [end, partEnd] = [whole[passed], part[i + 1]]
    if (end !== undefined && (partEnd === undefined || partEnd > end)) return false
  }
  return true
}

/** Costs the size of `few` times the logarithm of that of `many`. */
export function areDisjoint(few: TextSet, many: TextSet): boolean {
  for (let i = 0; i < few.length; i += 2) {
    const passed = cutsNotAbove(many, few[i] as string)
    if ((passed & 1) === 1) return false
    const [until, next] = [few[i + 1], many[passed]]
    if (next !== undefined && (until === undefined || next < until)) return false
  }
  return true
}

/** How many cuts are not above `text`. */
export function cutsNotAbove(set: TextSet, text: string): number {
  let [low, high] = [0, set.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((set[middle] as string) <= text) low = middle + 1
    else high = middle
  }
  return low
}

/** Partitions from `from` until the next strip's share one set of rows. */
export interface Strip {
  readonly from: string
  readonly rows: TextSet
}

/** Invariant: the first strip is from '', and neighbours differ in their rows. */
export type Region = readonly Strip[]

export const noKey: Region = [{ from: '', rows: noText }]
export const everyKey: Region = [{ from: '', rows: everyText }]

export function regionOf(partitions: TextSet, rows: TextSet): Region {
  const strips: Strip[] = partitions[0] === '' ? [] : [{ from: '', rows: noText }]
  for (const [index, from] of partitions.entries())
    strips.push({ from, rows: index % 2 === 0 ? rows : noText })
  return strips
}

/** The keys of a range that has no skip set. */
export function regionOfRange({ from, until }: KeyRange): Region {
  const after = successor(from.partition)
  if (until?.partition === from.partition) {
    return regionOf([from.partition, after], textsBetween(from.row, until.row))
  }
  const first = regionOf([from.partition, after], [from.row])
  const middle = regionOf(textsBetween(after, until?.partition), everyText)
  if (until === undefined) return combineRegions('or', first, middle)
  const last =
    until.row === '' ? noKey : regionOf([until.partition, successor(until.partition)], ['', until.row])
  // Nothing lies between a partition and its successor.
  if (until.partition === after) return combineRegions('or', first, last)
  return combineAll('or', [first, middle, last])
}

export function complementRegion(region: Region): Region {
  const known = new Map<TextSet, TextSet>()
  return region.map(({ from, rows }) => {
    let others = known.get(rows)
    if (others === undefined) {
      others = complement(rows)
      known.set(rows, others)
    }
    return { from, rows: others }
  })
}

export function combineRegions(kind: Group['kind'], a: Region, b: Region): Region {
  if (a === b) return a
  const strips: Strip[] = []
  let [i, j] = [0, 0]
  let [leftRows, rightRows, rows] = [noText, noText, noText]
  for (;;) {
    const [x, y] = [a[i]?.from, b[j]?.from]
    const from = y === undefined || (x !== undefined && x <= y) ? x : y
    if (from === undefined) return strips
    const left = x === from ? (a[i++] as Strip).rows : leftRows
    const right = y === from ? (b[j++] as Strip).rows : rightRows
    if (left !== leftRows || right !== rightRows) rows = combineTexts(kind, left, right)
    leftRows = left
    rightRows = right
    const last = strips.at(-1)
    if (last === undefined || !sameTexts(last.rows, rows)) strips.push({ from, rows })
  }
}

/** Pair by pair, so that k equalities cost k log k. */
export function combineAll(kind: Group['kind'], regions: readonly Region[]): Region {
  let left = regions
  while (left.length > 1) {
    const next: Region[] = []
    for (let i = 0; i < left.length; i += 2) {
      const [one, other] = [left[i] as Region, left[i + 1]]
      next.push(other === undefined ? one : combineRegions(kind, one, other))
    }
    left = next
  }
  return left[0] ?? (kind === 'and' ? everyKey : noKey)
}

export function containsRegion(whole: Region, part: Region): boolean {
  for (const [index, { from, rows }] of part.entries()) {
    if (rows.length === 0) continue
    const until = part[index + 1]?.from
    for (let i = stripAt(whole, from); i < whole.length; i++) {
      const strip = whole[i] as Strip
      if (until !== undefined && strip.from >= until) break
      if (!containsTexts(strip.rows, rows)) return false
    }
  }
  return true
}

/** Index of the strip that `partition` lies in. */
function stripAt(region: Region, partition: string): number {
  let [low, high] = [0, region.length]
  while (low + 1 < high) {
    const middle = (low + high) >>> 1
    if ((region[middle] as Strip).from <= partition) low = middle
    else high = middle
  }
  return low
}

function sameTexts(a: TextSet, b: TextSet): boolean {
  return a === b || (a.length === b.length && a.every((cut, index) => cut === b[index]))
}

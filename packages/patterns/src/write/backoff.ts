/** How long to wait before trying again after a conflict, and how often to try. */
import { setTimeout } from 'node:timers/promises'

export interface Backoff {
  readonly attemptsMax: number
  readonly firstMs: number
  readonly longestMs: number
  /** From 0 inclusive to 1: spreads those who met apart. */
  readonly random: () => number
}

export const usualBackoff: Backoff = { attemptsMax: 20, firstMs: 5, longestMs: 1000, random: Math.random }

/** Doubles each time, and takes a random part of it: whoever lost a race should not meet the same rivals again. */
export async function waitBefore(attempt: number, { firstMs, longestMs, random }: Backoff): Promise<void> {
  await setTimeout(Math.min(longestMs, firstMs * 2 ** (attempt - 1)) * random())
}

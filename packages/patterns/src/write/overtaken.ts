/** Read, compute, write under what was read; and once more where another was faster. */
import { isPatternsError } from '../patterns-error.ts'
import { type Backoff, waitBefore } from './backoff.ts'

/** REQUIRES: each attempt reads anew, and every condition it writes under follows from what it has read. */
export async function againWhileOvertaken<T>(backoff: Backoff, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isOvertaken(error) || attempts >= backoff.attemptsMax) throw error
      await waitBefore(attempts, backoff)
    }
  }
}

/** It changed, went, or came to be since the read. */
function isOvertaken(error: unknown): boolean {
  return (
    isPatternsError(error, 'Changed') ||
    isPatternsError(error, 'NotFound') ||
    isPatternsError(error, 'AlreadyExists')
  )
}

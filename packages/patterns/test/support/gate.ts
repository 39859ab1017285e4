/** A client that falls asleep at a request of the test's choice, as a process does that its machine suspends. */
import type { Moment, PipelinePolicy } from './faults.ts'

export interface Gate {
  readonly policy: PipelinePolicy
  /** Resolves when the client has fallen asleep. */
  readonly asleep: Promise<void>
  wake(): void
}

/** At the n-th request, counted from 1: before it is sent, or when its answer is there but not yet read. */
export function newGate(at: number, moment: Moment): Gate {
  const [asleep, awake] = [signal(), signal()]
  let requests = 0
  return {
    policy: {
      name: 'testGate',
      async sendRequest(request, next) {
        requests += 1
        if (requests !== at) return next(request)
        if (moment === 'after') {
          const response = await next(request)
          asleep.give()
          await awake.given
          return response
        }
        asleep.give()
        await awake.given
        return next(request)
      },
    },
    asleep: asleep.given,
    wake: () => awake.give(),
  }
}

function signal(): { readonly given: Promise<void>; give(): void } {
  let give = (): void => undefined
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

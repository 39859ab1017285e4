/** A client that dies, or loses answers, at a request of the test's choice. */
import { RestError, type TableClient } from '@azure/data-tables'

export type PipelinePolicy = Parameters<TableClient['pipeline']['addPolicy']>[0]

export interface Faults {
  readonly policy: PipelinePolicy
  /** How many requests were sent since the last plan, those that failed included. */
  readonly requests: number
  /** From the n-th request on, counted from 1, the process is dead. */
  dieAt(request: number, moment: Moment): void
  /** The n-th request alone fails as a broken connection, or a 503, does. */
  loseAt(request: number, moment: Moment, how?: 'connection' | 'busy'): void
  heal(): void
}

/** `before`: the service never sees the request. `after`: it is carried out, but its answer is lost. */
export type Moment = 'before' | 'after'

/** What a dead process throws: no client tries that again. */
export class Died extends Error {}

export function newFaults(): Faults {
  let requests = 0
  let fault: { at: number; moment: Moment; how: 'die' | 'connection' | 'busy' } | undefined
  return {
    get requests() {
      return requests
    },
    policy: { name: 'testFaults', sendRequest },
    dieAt: (at, moment) => plan({ at, moment, how: 'die' }),
    loseAt: (at, moment, how = 'connection') => plan({ at, moment, how }),
    heal: () => plan(undefined),
  }

  function plan(next: typeof fault): void {
    requests = 0
    fault = next
  }

  async function sendRequest(
    ...[request, next]: Parameters<PipelinePolicy['sendRequest']>
  ): ReturnType<PipelinePolicy['sendRequest']> {
    requests += 1
    const number = requests
    if (fault === undefined || number < fault.at) return next(request)
    const { how, moment, at } = fault
    if (number > at) {
      if (how === 'die') throw new Died('dead since an earlier request')
      return next(request)
    }
    const response = moment === 'after' ? await next(request) : undefined
    if (how === 'die') throw new Died(`died ${moment} request ${number}`)
    if (how === 'connection') throw new RestError('the connection broke', { code: 'ECONNRESET', request })
    return {
      ...response,
      request,
      status: 503,
      headers: response?.headers ?? request.headers,
      bodyAsText: '',
    }
  }
}

/** Counts what the clients send, and asks the service what each query examined. */
import type { TableClient, TableServiceClient } from '@azure/data-tables'

export interface Cost {
  readonly requests: number
  /** Rows the service looked at for queries; a point read or write looks at its own rows only. */
  readonly examined: number
  readonly returned: number
}

export interface Meter {
  /** Everything this client sends from now on is counted. */
  watch<Client extends TableClient | TableServiceClient>(client: Client): Client
  /** What the work costs, and what it gave. REQUIRES: one at a time. */
  measure<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly cost: Cost }>
}

export function newMeter(): Meter {
  let cost = { requests: 0, examined: 0, returned: 0 }
  return {
    watch(client) {
      client.pipeline.addPolicy(
        {
          name: 'exampleMeter',
          async sendRequest(request, next) {
            // Any service but ours passes it over.
            request.headers.set('x-explain', 'analyze')
            const response = await next(request)
            cost.requests += 1
            const explained = response.headers.get('x-explain')
            const run = explained === undefined ? undefined : (JSON.parse(explained) as Explained).run
            cost.examined += run?.scanned ?? 0
            cost.returned += run?.returned ?? 0
            return response
          },
        },
        { afterPhase: 'Retry' },
      )
      return client
    },
    async measure(work) {
      cost = { requests: 0, examined: 0, returned: 0 }
      const result = await work()
      return { result, cost }
    },
  }
}

interface Explained {
  readonly run?: { readonly scanned: number; readonly returned: number }
}

/**
 * What the client of the service does not offer, added to it by one policy:
 *
 * Lost answers   The client sends a request again when its answer is lost, and reports only how the last attempt
 *                ended: an insert that was done twice looks like a conflict. The policy notes the loss.
 * Conditions     The client cannot delete under an ETag inside a transaction: it always writes `If-Match: *` there.
 *                The policy puts the ETags in.
 *
 * Each call runs in a watch of its own, found again by async context, so calls may run side by side.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { TableClient } from '@azure/data-tables'

export interface Watch {
  /** An attempt ended without an answer that says what became of it. */
  answerLost: boolean
  /** ETags of deletes in a transaction, by RowKey. */
  readonly deletes?: ReadonlyMap<string, string>
}

const policyName = 'partitaPatternsWatch'
const watches = new AsyncLocalStorage<Watch>()

export function watched<T>(watch: Watch, call: () => Promise<T>): Promise<T> {
  return watches.run(watch, call)
}

/** Once for each client, however many tables are opened on it. */
export function addWatchPolicy({ pipeline }: Pick<TableClient, 'pipeline'>): void {
  if (pipeline.getOrderedPolicies().some(({ name }) => name === policyName)) return
  pipeline.addPolicy(
    {
      name: policyName,
      async sendRequest(request, next) {
        const watch = watches.getStore()
        if (watch === undefined) return next(request)
        if (watch.deletes !== undefined && typeof request.body === 'string') {
          request.body = withConditions(request.body, watch.deletes)
          request.headers.set('Content-Length', Buffer.byteLength(request.body))
        }
        try {
          const response = await next(request)
          if (isOutcomeUnknown(response.status)) watch.answerLost = true
          return response
        } catch (error) {
          watch.answerLost = true
          throw error
        }
      },
    },
    { afterPhase: 'Retry' },
  )
}

/** No status at all is a broken connection or a timeout. */
export function isOutcomeUnknown(status: number | undefined): boolean {
  return status === undefined || status >= 500 || status === 408
}

/** A second time it finds nothing left to do, so a request that is sent again is not changed again. */
function withConditions(body: string, deletes: ReadonlyMap<string, string>): string {
  return body.replaceAll(
    /^DELETE \S*?RowKey='([^\s]*)'\) HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*/gm,
    (part, escapedKey: string) => {
      const etag = deletes.get(decodeURIComponent(escapedKey).replaceAll("''", "'"))
      return etag === undefined ? part : part.replace(/^If-Match: \*\r$/im, () => `If-Match: ${etag}\r`)
    },
  )
}

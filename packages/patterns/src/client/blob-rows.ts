/**
 * A container as a table whose rows are lists: the blob `PartitionKey/RowKey` holds the ids as a JSON array. One that
 * holds none is what a mark is in a table.
 */
import { buffer } from 'node:stream/consumers'
import { Instant } from '../definition/instant.ts'
import { goneRow } from '../outbox/gone.ts'
import { PatternsError } from '../patterns-error.ts'
import type { StoredRow } from '../row/row.ts'
import type { Step } from '../write/step.ts'
import type { Commit, Rows } from './rows.ts'
import type { Rejection } from './service-error.ts'

/** What is asked of a `ContainerClient`, in our words: who has no lists in blobs need not install its package. */
export interface BlobRowsClient {
  readonly containerName: string
  getBlockBlobClient(name: string): BlobClient
}

interface BlobClient {
  download(): Promise<{
    readonly etag?: string
    readonly lastModified?: Date
    readonly readableStreamBody?: NodeJS.ReadableStream
  }>
  upload(
    text: string,
    bytes: number,
    options: {
      readonly conditions: { readonly ifMatch?: string; readonly ifNoneMatch?: string }
      readonly blobHTTPHeaders: { readonly blobContentType: string }
    },
  ): Promise<{ readonly etag?: string }>
  delete(options: { readonly conditions: { readonly ifMatch: string } }): Promise<unknown>
}

/** Only what lists need: one blob at a time, always under a condition. */
export function openBlobRows(container: BlobRowsClient): Rows {
  return { table: container.containerName, get, page, commit }

  async function get(partitionKey: string, rowKey: string): Promise<StoredRow | undefined> {
    try {
      const answer = await blobOf(partitionKey, rowKey).download()
      const text = (await buffer(answer.readableStreamBody as NodeJS.ReadableStream)).toString()
      return {
        partitionKey,
        rowKey,
        etag: answer.etag as string,
        timestamp: Instant.from(answer.lastModified as Date),
        cells: text === noIds ? goneRow : { ids: { type: 'String', value: text } },
      }
    } catch (error) {
      if (rejectionOf(error) === 'missing') return undefined
      throw error
    }
  }

  async function page(): Promise<never> {
    throw new PatternsError('InvalidDefinition', `the container ${container.containerName} cannot be queried`)
  }

  async function commit(steps: readonly Step[]): Promise<Commit> {
    const [step, ...others] = steps as [Step, ...Step[]]
    if (others.length > 0) throw new PatternsError('LimitExceeded', 'blobs are written one at a time')
    try {
      return { kind: 'committed', etags: [await send(step)] }
    } catch (cause) {
      const reason = rejectionOf(cause)
      if (reason === undefined) throw cause
      return { kind: 'rejected', reason, step, cause }
    }
  }

  async function send(step: Step): Promise<string | undefined> {
    const blob = blobOf(step.partitionKey, step.rowKey)
    if (step.kind === 'delete') {
      await blob.delete({ conditions: { ifMatch: step.etag } })
      return undefined
    }
    // Blobs have no merge; what is there is sent again, under the same ETag.
    const row = step.kind === 'merge' ? (await get(step.partitionKey, step.rowKey))?.cells : step.row
    const text = String(row?.['ids']?.value ?? noIds)
    const conditions = step.kind === 'insert' ? { ifNoneMatch: '*' } : { ifMatch: step.etag as string }
    const { etag } = await blob.upload(text, Buffer.byteLength(text), {
      conditions,
      blobHTTPHeaders: { blobContentType: 'application/json' },
    })
    return etag
  }

  function blobOf(partitionKey: string, rowKey: string): BlobClient {
    return container.getBlockBlobClient(`${partitionKey}/${rowKey}`)
  }
}

const noIds = '[]'

const rejections: Readonly<Record<number, Rejection>> = { 404: 'missing', 409: 'exists', 412: 'changed' }

function rejectionOf(error: unknown): Rejection | undefined {
  return rejections[(error as { readonly statusCode?: number }).statusCode ?? 0]
}

/** Reads the lines of a range of time, from as few blobs as possible. */
import type { ContainerClient } from '@azure/storage-blob'
import { statusOf } from '../refusal.ts'
import { decodeLine } from './line.ts'
import { prefixesOf } from './names.ts'

export interface TimeRange {
  /** Included. */
  readonly from: Date
  /** Not included. */
  readonly until: Date
}

export type Container = Pick<ContainerClient, 'listBlobsFlat' | 'getBlobClient'>

export async function* readLines(
  container: Container,
  log: string,
  range: TimeRange,
): AsyncGenerator<{ readonly at: Date; readonly fields: readonly string[] }> {
  for (const prefix of prefixesOf(log, range.from, range.until)) {
    for await (const { name, metadata } of container.listBlobsFlat({ prefix, includeMetadata: true })) {
      if (!name.endsWith('.log') || liesOutside(metadata, range)) continue
      for await (const text of linesOf(container, name)) {
        const line = decodeLine(text)
        if (line !== undefined && line.at >= range.from && line.at < range.until) yield line
      }
    }
  }
}

/** A blob that is still written, or whose writer died, does not say which time it spans: it must be read. */
function liesOutside(metadata: Readonly<Record<string, string>> | undefined, range: TimeRange): boolean {
  const [first, last] = [metadata?.['first'], metadata?.['last']]
  if (first === undefined || last === undefined) return false
  return new Date(last) < range.from || new Date(first) >= range.until
}

async function* linesOf(container: Container, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of await contentOf(container, name)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** Nothing for a blob that was deleted since it was listed. */
async function contentOf(container: Container, name: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    const { readableStreamBody } = await container.getBlobClient(name).download()
    return (readableStreamBody ?? nothing()) as AsyncIterable<Uint8Array>
  } catch (error) {
    if (statusOf(error) === 404) return nothing()
    throw error
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // Ends at once.
}

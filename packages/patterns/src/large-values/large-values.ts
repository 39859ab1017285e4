/**
 * Large entities: values beyond 64 KiB (or 1 MiB for a whole entity) live in blobs, the entity keeps their address.
 *
 * | kept in                                | what                                                    |
 * | -------------------------------------- | ------------------------------------------------------- |
 * | `PhotoBlob` of the entity, a String    | the blob's name, `Employees/` and a random id           |
 * | `PhotoBytes`, `PhotoType`, `PhotoHash` | its length (Int64), content type and SHA-256 (String)   |
 * | the blob's metadata                    | which entity and property it was made for               |
 *
 * The blob is written first and the entity last; deletion goes the other way round. A blob is never written twice, so
 * a reader has either the old value or the new one. What a death leaves behind is a blob that no entity names: `sweep`
 * deletes it once it is old enough that nobody can still be about to name it.
 *
 * Guarantee   eventual: between the two there may be blobs too many, never an entity whose blob is missing.
 * Given up    one round trip; and blobs too many cost space until the next sweep.
 */
import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ContainerClient } from '@azure/storage-blob'
import { PatternsError } from '../patterns-error.ts'
import { statusOf } from '../refusal.ts'
import type { LargeValue } from './cells.ts'

export { type LargeValue, largeValueCells, largeValueOf } from './cells.ts'
export { largeProperties, namedIn } from './large-properties.ts'

/** Whose value it is. */
export interface Owner {
  readonly table: string
  readonly partitionKey: string
  readonly rowKey: string
  readonly property: string
}

export type Content = Uint8Array | AsyncIterable<Uint8Array>

/** A value in its blob, which no entity names yet. */
export interface Staged {
  readonly value: LargeValue
  readonly sinceMs: number
}

export interface LargeValues {
  readonly guarantee: 'eventual'
  /** Step one of a write: the blob. */
  stage(owner: Owner, content: Content, type?: string): Promise<Staged>
  /**
   * Step two: the entity, by a function that writes it and returns the values it named before, whose blobs are then
   * deleted. When it throws, the staged blobs are left for the sweep: a refusal may follow upon a write that was done.
   */
  commit(staged: readonly Staged[], writeRow: () => Promise<readonly LargeValue[]>): Promise<void>
  /** Both steps, for one value. */
  write(
    owner: Owner,
    content: Content,
    type: string,
    writeRow: (value: LargeValue) => Promise<readonly LargeValue[]>,
  ): Promise<LargeValue>
  /** The entity, by a function that deletes it and returns the values it named; then their blobs. */
  remove(removeRow: () => Promise<readonly LargeValue[]>): Promise<void>
  /**
   * The value that the function finds in the entity; undefined when it finds none. The content is verified when its
   * end is reached. Reads the entity again when the value was replaced or removed meanwhile.
   */
  open(readRow: () => Promise<LargeValue | undefined>): Promise<Opened | undefined>
  /**
   * Deletes blobs of a table that their entities do not name, if they are older than `sweepAfterMs`.
   * `valueOf` reads what the owner names now.
   */
  sweep(table: string, valueOf: (owner: Owner) => Promise<LargeValue | undefined>): Promise<Swept>
}

/** The content can be taken once, in one of the two ways. */
export interface Opened {
  readonly value: LargeValue
  stream(): Readable
  bytes(): Promise<Buffer>
}

export interface Swept {
  readonly examined: number
  readonly deleted: number
}

export interface LargeValuesOptions {
  /** How old a blob must be to be swept; a day when left out. A write must name its blob within half of it. */
  readonly sweepAfterMs?: number
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** Told what went wrong when it does not matter now, because the sweep will see to it. */
  readonly observe?: (event: {
    readonly kind: 'left-behind'
    readonly blob: string
    readonly error: unknown
  }) => void
}

const dayMs = 24 * 3_600_000
const uploadBufferBytes = 4 * 1024 * 1024
const uploadConcurrency = 4
const defaultType = 'application/octet-stream'

export function largeValues(
  container: Pick<ContainerClient, 'getBlockBlobClient' | 'listBlobsFlat'>,
  { sweepAfterMs = dayMs, clock = Date.now, observe }: LargeValuesOptions = {},
): LargeValues {
  return { guarantee: 'eventual', stage, commit, write, remove, open, sweep }

  async function stage(owner: Owner, content: Content, type = defaultType): Promise<Staged> {
    const blob = `${owner.table}/${randomUUID()}`
    const client = container.getBlockBlobClient(blob)
    const options = { metadata: metadataOf(owner), blobHTTPHeaders: { blobContentType: type } }
    const meter = newMeter()
    if (content instanceof Uint8Array) {
      meter.add(content)
      await client.uploadData(content, options)
    } else {
      const counted = Readable.from(meter.through(content))
      await client.uploadStream(counted, uploadBufferBytes, uploadConcurrency, options)
    }
    return { value: { blob, type, ...meter.result() }, sinceMs: clock() }
  }

  async function commit(
    staged: readonly Staged[],
    writeRow: () => Promise<readonly LargeValue[]>,
  ): Promise<void> {
    for (const { value, sinceMs } of staged) {
      // Invariant: what is named is younger than what is swept, by the other half for requests under way.
      if (clock() - sinceMs > sweepAfterMs / 2)
        throw new PatternsError('InvalidValue', `blob ${value.blob} was staged too long ago to be named now`)
    }
    await discard(await writeRow())
  }

  async function write(
    owner: Owner,
    content: Content,
    type: string,
    writeRow: (value: LargeValue) => Promise<readonly LargeValue[]>,
  ): Promise<LargeValue> {
    const staged = await stage(owner, content, type)
    await commit([staged], async () => await writeRow(staged.value))
    return staged.value
  }

  async function remove(removeRow: () => Promise<readonly LargeValue[]>): Promise<void> {
    await discard(await removeRow())
  }

  /** No entity names them any more. Failing is no harm: the sweep finds them. */
  async function discard(values: readonly LargeValue[]): Promise<void> {
    for (const { blob } of values) {
      try {
        await container.getBlockBlobClient(blob).deleteIfExists()
      } catch (error) {
        observe?.({ kind: 'left-behind', blob, error })
      }
    }
  }

  async function open(readRow: () => Promise<LargeValue | undefined>): Promise<Opened | undefined> {
    let missing: string | undefined
    for (;;) {
      const value = await readRow()
      if (value === undefined) return undefined
      if (value.blob === missing)
        throw new PatternsError('UnreadableRow', `blob ${missing} is missing, and its entity still names it`)
      const content = await download(value.blob)
      if (content !== undefined) return opened(value, content)
      missing = value.blob
    }
  }

  async function download(blob: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      const { readableStreamBody } = await container.getBlockBlobClient(blob).download()
      return readableStreamBody as AsyncIterable<Uint8Array> | undefined
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }

  async function sweep(
    table: string,
    valueOf: (owner: Owner) => Promise<LargeValue | undefined>,
  ): Promise<Swept> {
    let examined = 0
    let deleted = 0
    const blobs = container.listBlobsFlat({ prefix: `${table}/`, includeMetadata: true })
    for await (const { name, metadata, properties } of blobs) {
      examined += 1
      const owner = ownerOf(metadata)
      if (owner === undefined || clock() - properties.lastModified.getTime() <= sweepAfterMs) continue
      const named = await valueOf(owner)
      if (named?.blob === name) continue
      const { succeeded } = await container.getBlockBlobClient(name).deleteIfExists()
      if (succeeded) deleted += 1
    }
    return { examined, deleted }
  }
}

function opened(value: LargeValue, content: AsyncIterable<Uint8Array>): Opened {
  return { value, stream, bytes: async () => await buffer(stream()) }

  function stream(): Readable {
    return Readable.from(verified(value, content), { objectMode: false })
  }
}

async function* verified(value: LargeValue, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const meter = newMeter()
  yield* meter.through(content)
  const { bytes, hash } = meter.result()
  if (bytes !== value.bytes || hash !== value.hash)
    throw new PatternsError('UnreadableRow', `blob ${value.blob} does not hold what its entity says`)
}

function newMeter() {
  const sha256 = createHash('sha256')
  let bytes = 0
  return {
    add,
    async *through(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        add(chunk)
        yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      }
    },
    result: () => ({ bytes, hash: sha256.digest('hex') }),
  }

  function add(chunk: Uint8Array): void {
    sha256.update(chunk)
    bytes += chunk.byteLength
  }
}

/** Metadata travels in headers, which hold no more than ASCII. */
function metadataOf(owner: Owner): Record<string, string> {
  const { table, partitionKey, rowKey, property } = owner
  return { owner: Buffer.from(JSON.stringify([table, partitionKey, rowKey, property])).toString('base64url') }
}

/** Undefined for a blob that is not one of ours. */
function ownerOf(metadata: Readonly<Record<string, string>> | undefined): Owner | undefined {
  try {
    const text = Buffer.from(metadata?.['owner'] ?? '', 'base64url').toString()
    const [table, partitionKey, rowKey, property] = JSON.parse(text) as [string, string, string, string]
    return { table, partitionKey, rowKey, property }
  } catch {
    return undefined
  }
}

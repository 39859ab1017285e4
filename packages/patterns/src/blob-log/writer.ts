/** Buffers lines and appends them in blocks to blobs of their hour. */
import type { AppendBlobClient, ContainerClient } from '@azure/storage-blob'
import { PatternsError } from '../patterns-error.ts'
import { isRefusal, statusOf } from '../refusal.ts'
import { encodeLine } from './line.ts'
import { blobName, hourPrefix, numberOf } from './names.ts'

export interface WriterOptions {
  /** What is buffered is appended once it is so large; 256 KiB when left out. */
  readonly flushBytes?: number
  /** Or once its first line has waited so long; 1000 when left out. */
  readonly flushMs?: number
  /** A blob that would grow beyond this is followed by another; 64 MiB when left out. */
  readonly blobBytesMax?: number
  /** While blobs cannot be written, `append` throws beyond this; 16 MiB when left out. */
  readonly bufferBytesMax?: number
  readonly clock?: () => Date
  readonly observe?: (event: WriterEvent) => void
}

export type WriterEvent =
  | { readonly kind: 'opened' | 'closed'; readonly blob: string }
  | { readonly kind: 'appended'; readonly blob: string; readonly lines: number; readonly bytes: number }
  /** The lines are kept and tried again with the next flush. */
  | { readonly kind: 'trouble'; readonly error: unknown }

export interface Writer<Line> {
  /** Into the buffer: lost if the process dies before the next flush. */
  append(line: Line, at?: Date): void
  /** When it resolves, all lines given before it are in blobs. When it rejects, they wait for the next flush. */
  flush(): Promise<void>
  /** Flushes, and notes in the blobs which time they span. */
  close(): Promise<void>
}

type Container = Pick<ContainerClient, 'listBlobsFlat' | 'getAppendBlobClient'>

/** The service's limits for an append blob. */
const blocksMax = 50_000
const blockBytesMax = 4 * 1024 * 1024

interface OpenBlob {
  readonly name: string
  readonly client: AppendBlobClient
  bytes: number
  blocks: number
  firstMs: number
  lastMs: number
}

/** Lines of one hour, to be appended as one block. Keeps its place from the first try on. */
interface Block {
  readonly prefix: string
  text: string
  bytes: number
  lines: number
  firstMs: number
  lastMs: number
  place?: { readonly blob: OpenBlob; readonly position: number }
}

export function openWriter<Line>(
  container: Container,
  log: string,
  fieldsOf: (line: Line) => readonly string[],
  options: WriterOptions,
): Writer<Line> {
  const { flushBytes = 256 * 1024, flushMs = 1000, blobBytesMax = 64 * 1024 * 1024 } = options
  const { bufferBytesMax = 16 * 1024 * 1024, clock = () => new Date(), observe } = options
  const open = new Map<string, OpenBlob>()
  const full: OpenBlob[] = []
  let buffer: Block[] = []
  let bufferBytes = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()
  let closed = false
  return { append, flush, close }

  function append(line: Line, at: Date = clock()): void {
    if (closed) throw new PatternsError('InvalidValue', `the writer of log ${log} is closed`)
    const text = encodeLine(at, fieldsOf(line))
    const bytes = Buffer.byteLength(text)
    if (bytes > Math.min(blockBytesMax, blobBytesMax))
      throw new PatternsError('LimitExceeded', `a line of ${bytes} bytes is too long for log ${log}`)
    if (bufferBytes + bytes > bufferBytesMax)
      throw new PatternsError('LimitExceeded', `log ${log} cannot be written, and its buffer is full`)
    const block = blockFor(hourPrefix(log, at), bytes)
    block.text += text
    block.bytes += bytes
    block.lines += 1
    block.firstMs = Math.min(block.firstMs, at.getTime())
    block.lastMs = Math.max(block.lastMs, at.getTime())
    bufferBytes += bytes
    if (bufferBytes >= flushBytes) flushSoon(0)
    else flushSoon(flushMs)
  }

  /** The buffered block of this hour that has room and was not tried yet, or a new one. */
  function blockFor(prefix: string, bytes: number): Block {
    const found = buffer.findLast((block) => block.prefix === prefix)
    const bytesMax = Math.min(blockBytesMax, blobBytesMax)
    if (found !== undefined && found.place === undefined && found.bytes + bytes <= bytesMax) return found
    const [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    const block: Block = { prefix, text: '', bytes: 0, lines: 0, firstMs, lastMs }
    buffer.push(block)
    return block
  }

  function flushSoon(ms: number): void {
    if (timer !== undefined && ms > 0) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      flush().catch((error: unknown) => {
        observe?.({ kind: 'trouble', error })
        if (!closed) flushSoon(flushMs)
      })
    }, ms)
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const mine = flushing.then(writeBuffer)
    flushing = mine.catch(() => undefined)
    await mine
  }

  async function close(): Promise<void> {
    closed = true
    await flush()
    full.push(...open.values())
    open.clear()
    await closeFull()
  }

  async function writeBuffer(): Promise<void> {
    const blocks = buffer
    buffer = []
    try {
      while (blocks[0] !== undefined) {
        await write(blocks[0])
        bufferBytes -= blocks[0].bytes
        blocks.shift()
      }
    } finally {
      buffer = [...blocks, ...buffer]
    }
    // Late lines may still come for an hour that has passed; they get a blob of their own then.
    const newest = [...open.keys()].reduce((a, b) => (a > b ? a : b), '')
    for (const [prefix, blob] of open) {
      if (prefix === newest) continue
      open.delete(prefix)
      full.push(blob)
    }
    await closeFull()
  }

  async function write(block: Block): Promise<void> {
    block.place ??= await placeFor(block)
    const { blob, position } = block.place
    if (!(await appendAt(blob, position, block))) {
      // Somebody else has had their hands on our blob: it is not ours any more.
      open.delete(block.prefix)
      full.push(blob)
      delete block.place
      return await write(block)
    }
    blob.bytes = position + block.bytes
    blob.blocks += 1
    blob.firstMs = Math.min(blob.firstMs, block.firstMs)
    blob.lastMs = Math.max(blob.lastMs, block.lastMs)
    observe?.({ kind: 'appended', blob: blob.name, lines: block.lines, bytes: block.bytes })
  }

  async function placeFor({ prefix, bytes }: Block): Promise<{ blob: OpenBlob; position: number }> {
    let blob = open.get(prefix)
    if (blob !== undefined && (blob.bytes + bytes > blobBytesMax || blob.blocks >= blocksMax)) {
      open.delete(prefix)
      full.push(blob)
      blob = undefined
    }
    if (blob === undefined) {
      blob = await create(container, prefix)
      open.set(prefix, blob)
      observe?.({ kind: 'opened', blob: blob.name })
    }
    return { blob, position: blob.bytes }
  }

  async function closeFull(): Promise<void> {
    while (full[0] !== undefined) {
      await noteSpan(full[0])
      observe?.({ kind: 'closed', blob: full[0].name })
      full.shift()
    }
  }
}

/** The first free number. Creation fails if the blob exists, so no two writers share one. */
async function create(container: Container, prefix: string): Promise<OpenBlob> {
  let number = 1
  for await (const { name } of container.listBlobsFlat({ prefix })) {
    number = Math.max(number, (numberOf(name) ?? 0) + 1)
  }
  for (;;) {
    const name = blobName(prefix, number)
    const client = container.getAppendBlobClient(name)
    try {
      await client.create({
        conditions: { ifNoneMatch: '*' },
        blobHTTPHeaders: { blobContentType: 'text/plain; charset=utf-8' },
      })
      const [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      return { name, client, bytes: 0, blocks: 0, firstMs, lastMs }
    } catch (error) {
      if (statusOf(error) !== 409 && statusOf(error) !== 412) throw error
      number += 1
    }
  }
}

/**
 * Appends once, however often it is tried: the position is part of the request, and the blob is nobody else's.
 * False when other bytes stand there, or the blob was deleted.
 */
async function appendAt({ client }: OpenBlob, position: number, { text, bytes }: Block): Promise<boolean> {
  try {
    await client.appendBlock(text, bytes, { conditions: { appendPosition: position } })
    return true
  } catch (error) {
    if (statusOf(error) === 404) return false
    if (isRefusal(error) && statusOf(error) !== 412) throw error
    const { contentLength } = await client.getProperties()
    if (contentLength === position + bytes) return true
    if (contentLength === position) throw error
    return false
  }
}

/** Only once nothing more is appended, so that what a blob says of itself is exact. */
async function noteSpan({ client, firstMs, lastMs }: OpenBlob): Promise<void> {
  if (firstMs > lastMs) return
  const span = { first: new Date(firstMs).toISOString(), last: new Date(lastMs).toISOString() }
  try {
    await client.setMetadata(span)
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}

/**
 * Logs in blobs: entries that are written often, never changed, and read by ranges of time.
 *
 * In a table they would all be appended to the newest partition, one request each. Here lines are buffered and
 * appended in blocks; blobs are named by time, so that a prefix finds a range.
 *
 * | blob                               | holds                                                       |
 * | ---------------------------------- | ----------------------------------------------------------- |
 * | `queue/2014/07/31/1800/000001.log` | lines of one hour from one writer, as they came             |
 * | its metadata `first` and `last`    | the time they span, once the blob is closed                 |
 *
 * Guarantee   none between lines. A block is seen whole or not at all, and never twice; what is in the buffer when
 *             the process dies is lost.
 * Given up    looking up single entries, and changing them.
 */
import type { ContainerClient } from '@azure/storage-blob'
import { PatternsError } from '../patterns-error.ts'
import { readLines, type TimeRange } from './reader.ts'
import { openWriter, type Writer, type WriterOptions } from './writer.ts'

export type { TimeRange } from './reader.ts'
export type { Writer, WriterEvent, WriterOptions } from './writer.ts'

export interface BlobLogDefinition<Column extends string> {
  /** What names begin with. */
  readonly name: string
  /** In the order of the line. Add new ones at the end: lines written before have them empty. */
  readonly columns: readonly Column[]
}

export type LogLine<Column extends string> = Readonly<Record<Column, string>>

export interface BlobLog<Column extends string> {
  readonly guarantee: 'none'
  /** Any number of writers may be open, in any number of processes: each has blobs of its own. */
  openWriter(options?: WriterOptions): Writer<LogLine<Column>>
  /** By hour; within an hour by blob, and within a blob as written. */
  read(range: TimeRange): AsyncGenerator<{ readonly at: Date } & LogLine<Column>>
}

export function blobLog<const Column extends string>(
  container: Pick<ContainerClient, 'listBlobsFlat' | 'getBlobClient' | 'getAppendBlobClient'>,
  { name, columns }: BlobLogDefinition<Column>,
): BlobLog<Column> {
  if (!/^[\w-]+(?:\/[\w-]+)*$/.test(name))
    throw new PatternsError('InvalidDefinition', `${JSON.stringify(name)} cannot be what names begin with`)
  if (new Set<string>([...columns, 'at']).size !== columns.length + 1)
    throw new PatternsError('InvalidDefinition', `the columns of log ${name} must differ, also from \`at\``)
  return {
    guarantee: 'none',
    openWriter: (options = {}) => openWriter(container, name, fieldsOf, options),
    read,
  }

  function fieldsOf(line: LogLine<Column>): readonly string[] {
    return columns.map((column) => line[column])
  }

  async function* read(range: TimeRange) {
    for await (const { at, fields } of readLines(container, name, range)) {
      const named = columns.map((column, index) => [column, fields[index] ?? ''])
      yield { at, ...(Object.fromEntries(named) as LogLine<Column>) }
    }
  }
}

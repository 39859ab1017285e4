/** What a stream of a load client does: the operations, one after the other, and how their answers are judged. */
import type { Answer } from './connection.ts'
import {
  markOf,
  partitionQuery,
  type RequestWriter,
  rowQuery,
  type ScanFilter,
  scanFilters,
  scanQuery,
  twoRowsQuery,
} from './requests.ts'
import {
  changeJson,
  groupJsons,
  groupRow,
  loadedRow,
  loadedRowJson,
  newRow,
  newRowJson,
  partitionName,
  rowBytesMax,
  rowBytesMin,
  rowsPerGroup,
  rowsPerPartition,
  scatter,
} from './rows.ts'

/**
 * `rows` is the number of loaded rows; `from` and `until` are numbers in the sequence of one client: of rows when
 * loading and inserting, of groups when deleting and inserting groups.
 */
export type Work =
  | { readonly kind: 'load groups'; readonly from: number; readonly until: number }
  | { readonly kind: 'get'; readonly rows: number; readonly seed: number; readonly canned: boolean }
  | { readonly kind: 'query row'; readonly rows: number; readonly seed: number }
  | { readonly kind: 'query two rows'; readonly rows: number; readonly seed: number }
  | { readonly kind: 'query page'; readonly rows: number; readonly seed: number }
  | {
      readonly kind: 'query table'
      readonly rows: number
      readonly seed: number
      readonly filter: ScanFilter
    }
  | { readonly kind: 'query table for nothing'; readonly rows: number }
  | { readonly kind: 'merge'; readonly rows: number; readonly seed: number }
  | { readonly kind: 'insert'; readonly rows: number; readonly client: number; readonly from: number }
  | { readonly kind: 'insert group'; readonly rows: number; readonly client: number; readonly from: number }
  | {
      readonly kind: 'delete'
      readonly rows: number
      readonly client: number
      readonly from: number
      readonly until: number
    }

export interface Operation {
  readonly request: string
  /** What is wrong with the answer, if anything. */
  complaint(answer: Answer): string | undefined
  /** The operation that finishes this one, as the further pages of a query do. */
  rest?(answer: Answer): Operation | undefined
}

/** Yields the next operation; undefined once there is nothing left to do. */
export type Operations = () => Operation | undefined

/** Requests that need a signature of their own are signed in advance, this many, and then sent again. */
const signedAheadMax = 20_000
const deletedAheadMax = 150_000

export function operationsOf(work: Work, write: RequestWriter): Operations {
  switch (work.kind) {
    case 'load groups':
      return preparedAhead((work.until - work.from) / rowsPerGroup, (group) => {
        const first = work.from + group * rowsPerGroup
        return groupOf(Array.from({ length: rowsPerGroup }, (_, place) => loadedRowJson(first + place)))
      })
    case 'get':
      return cycled(signedAheadMax, (turn) => {
        const address = loadedRow(picked(turn, work.seed, work.rows))
        return { request: write.get(address), complaint: work.canned ? ok : holds([markOf(address)], 1) }
      })
    case 'query row':
      return counted(0, Infinity, (turn) => {
        const address = loadedRow(picked(turn, work.seed, work.rows))
        return { request: write.query(rowQuery(address)), complaint: holds([markOf(address)], 1) }
      })
    case 'query two rows':
      return counted(0, Infinity, (turn) => {
        const one = loadedRow(picked(2 * turn, work.seed, work.rows))
        const other = loadedRow(picked(2 * turn + 1, work.seed, work.rows))
        const marks = [...new Set([markOf(one), markOf(other)])]
        return { request: write.query(twoRowsQuery(one, other)), complaint: holds(marks, marks.length) }
      })
    case 'query page':
      return counted(0, Infinity, (turn) => {
        const partition = picked(turn, work.seed, work.rows / rowsPerPartition)
        const first = loadedRow(partition * rowsPerPartition)
        const last = loadedRow((partition + 1) * rowsPerPartition - 1)
        return {
          request: write.query(partitionQuery(partitionName(partition))),
          complaint: holds([markOf(first), markOf(last)], rowsPerPartition),
        }
      })
    case 'query table':
      return counted(0, Infinity, (turn) => {
        const { matches } = scanFilters[work.filter]
        const first = picked(turn, work.seed, work.rows - matches)
        const marks = Array.from({ length: matches }, (_, place) => markOf(loadedRow(first + place)))
        return scanFor(marks, scanQuery(work.filter, first), '')
      })
    case 'query table for nothing':
      return pageByPage(scanQuery('Int32 equality', work.rows))
    case 'merge':
      return cycled(signedAheadMax, (turn) => {
        const number = picked(turn, work.seed, work.rows)
        return { request: write.merge(loadedRow(number), changeJson(turn)), complaint: noContent }
      })
    case 'insert':
      return counted(work.from, Infinity, (number) => ({
        request: write.insert(newRowJson(newRow(work.client, number, work.rows / rowsPerPartition))),
        complaint: noContent,
      }))
    case 'insert group':
      return counted(work.from, Infinity, (group) =>
        groupOf(groupJsons(work.client, group, work.rows / rowsPerPartition)),
      )
    case 'delete': {
      // A place of each group in turn: neighbours in time are no neighbours in the table.
      const groups = work.until - work.from
      return preparedAhead(Math.min(groups * rowsPerGroup, deletedAheadMax), (turn) => {
        const place = Math.floor(turn / groups)
        const address = groupRow(
          work.client,
          work.from + (turn % groups),
          place,
          work.rows / rowsPerPartition,
        )
        return { request: write.remove(address), complaint: noContent }
      })
    }
    default:
      return unreachable(work)
  }

  function groupOf(jsons: readonly string[]): Operation {
    return { request: write.group(jsons), complaint: allWritten }
  }

  /** A query of the whole table to its last page; the rows asked for must be met on the way, each once. */
  function scanFor(missing: readonly string[], filter: string, position: string): Operation {
    const stillMissing = (answer: Answer) => missing.filter((mark) => !answer.body.includes(mark))
    return {
      request: write.query(filter + position),
      complaint: (answer) => {
        if (answer.status !== 200) return refusal(answer, 200)
        const left = stillMissing(answer)
        const rows = missing.length - left.length
        if (answer.body.length > bytesAround + rows * rowBytesMax) return `more than ${rows} rows met`
        return left.length > 0 && positionIn(answer) === '' ? `the query ended without ${left[0]}` : undefined
      },
      rest: (answer) => {
        const next = positionIn(answer)
        return next === '' ? undefined : scanFor(stillMissing(answer), filter, next)
      },
    }
  }

  /** A query that matches nothing; each of its pages is an operation, and after the last it begins again. */
  function pageByPage(filter: string): Operations {
    let position = ''
    return () => ({
      request: write.query(filter + position),
      complaint: (answer) => {
        position = positionIn(answer)
        return answer.body.includes('"RowKey"') ? 'a row that was not asked for' : ok(answer)
      },
    })
  }
}

function counted(from: number, until: number, make: (number: number) => Operation): Operations {
  let next = from
  return () => (next < until ? make(next++) : undefined)
}

function preparedAhead(count: number, make: (turn: number) => Operation): Operations {
  const operations = Array.from({ length: count }, (_, turn) => make(turn))
  let next = 0
  return () => operations[next++]
}

function cycled(length: number, make: (turn: number) => Operation): Operations {
  const operations = Array.from({ length }, (_, turn) => make(turn))
  let next = 0
  return () => operations[next++ % length]
}

function picked(turn: number, seed: number, count: number): number {
  return scatter(turn + Math.imul(seed, 0x9e3779b1)) % count
}

function ok(answer: Answer): string | undefined {
  return answer.status === 200 ? undefined : refusal(answer, 200)
}

function noContent(answer: Answer): string | undefined {
  return answer.status === 204 ? undefined : refusal(answer, 204)
}

/** What an answer holds beside its rows, at most. */
const bytesAround = 500

function holds(marks: readonly string[], rows: number): (answer: Answer) => string | undefined {
  return (answer) => {
    if (answer.status !== 200) return refusal(answer, 200)
    const { length } = answer.body
    if (length < rows * rowBytesMin || length > bytesAround + rows * rowBytesMax) {
      return `${length} bytes for ${rows} rows`
    }
    const missing = marks.find((mark) => !answer.body.includes(mark))
    return missing === undefined ? undefined : `an answer without ${missing}`
  }
}

const writtenLine = Buffer.from('HTTP/1.1 204')

function allWritten(answer: Answer): string | undefined {
  if (answer.status !== 202) return refusal(answer, 202)
  let at = 0
  for (let part = 0; part < rowsPerGroup; part++) {
    at = answer.body.indexOf(writtenLine, at) + 1
    if (at === 0) return `a group of which ${part} parts were written: ${excerpt(answer)}`
  }
  return undefined
}

function refusal(answer: Answer, expected: number): string {
  return `status ${answer.status} instead of ${expected}: ${excerpt(answer)}`
}

function excerpt(answer: Answer): string {
  return answer.body.toString('latin1', 0, 160).replaceAll(/\s+/g, ' ')
}

const continuation = /\r\nx-ms-continuation-(nextpartitionkey|nextrowkey): *([^\r]*)/gi

/** Where the next page begins, as query parameters; empty after the last page. */
function positionIn(answer: Answer): string {
  let parameters = ''
  for (const [, name, value] of answer.head.matchAll(continuation)) {
    const parameter = name?.toLowerCase() === 'nextrowkey' ? 'NextRowKey' : 'NextPartitionKey'
    parameters += `&${parameter}=${encodeURIComponent(value ?? '')}`
  }
  return parameters
}

function unreachable(value: never): never {
  throw new Error(`unexpected ${JSON.stringify(value)}`)
}

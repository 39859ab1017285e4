/** Query options. */
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'

type Query = ReadonlyMap<string, string>

/** Options of OData that the service does not have. */
const unsupported = [
  '$orderby',
  '$skip',
  '$skiptoken',
  '$expand',
  '$inlinecount',
  '$count',
  '$apply',
  '$search',
]

export function refuseUnsupportedOptions(query: Query): void {
  for (const option of unsupported) {
    if (query.has(option)) throw new Fault('NotImplemented')
  }
}

/** Which properties to return. */
export interface Select {
  /** As the client wrote it: answers repeat it. */
  readonly text: string
  readonly names: readonly string[]
}

/** Undefined for all properties. */
export function readSelect(query: Query, dataServiceVersion: string | undefined): Select | undefined {
  const text = query.get('$select')
  if (text === undefined || text.trim() === '') return undefined
  if (dataServiceVersion?.startsWith('1.0')) throw new Fault('InvalidInput')
  const names = text.split(',').map((name) => name.trim())
  if (names.length > limits.selectNamesMax) throw new Fault('InvalidInput')
  return names.includes('*') ? undefined : { text, names }
}

/** Rows a page may have at most. */
export function readTop(query: Query): number {
  const text = query.get('$top')
  if (text === undefined) return limits.pageRowsMax
  const top = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (top < 1 || top > limits.pageRowsMax) throw new Fault('InvalidInput')
  return top
}

const timeoutSecondsMax = 30

/** How long the client waits for an answer, in seconds. */
export function readTimeout(query: Query): number {
  const text = query.get('timeout')
  if (text === undefined) return timeoutSecondsMax
  if (!/^\d{1,9}$/.test(text)) throw new Fault('InvalidQueryParameterValue')
  if (Number(text) < 1) throw new Fault('OutOfRangeQueryParameterValue')
  return Math.min(Number(text), timeoutSecondsMax)
}

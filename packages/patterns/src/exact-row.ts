/** An entity read so that writing it elsewhere keeps every type and digit. */
import type { TableClient, TableEntity } from '@azure/data-tables'
import { codeOf, statusOf } from './refusal.ts'

export interface ExactRow {
  readonly etag: string
  /** Keys and own properties, each as the client's `{ type, value }`. */
  readonly row: TableEntity
}

/** Undefined when it does not exist. A table that does not exist throws. */
export async function readExactly(
  table: TableClient,
  { partitionKey, rowKey }: { readonly partitionKey: string; readonly rowKey: string },
  abortSignal?: AbortSignal,
): Promise<ExactRow | undefined> {
  let body = ''
  try {
    const found = await table.getEntity(partitionKey, rowKey, {
      disableTypeConversion: true,
      ...(abortSignal === undefined ? {} : { abortSignal }),
      onResponse: ({ bodyAsText }) => (body = bodyAsText ?? ''),
    })
    return { etag: found.etag, row: exactRow(found, body) }
  } catch (error) {
    if (statusOf(error) === 404 && codeOf(error) !== 'TableNotFound') return undefined
    throw error
  }
}

/** What the service adds to an answer, under the client's names. */
const foreign = new Set(['etag', 'timestamp'])

/**
 * `5.0` is a Double and `5` an Int32, and JSON.parse makes both the same number: the text of the answer tells.
 * Source: docs/protocol, "payloads": Double has no annotation when its text has a point or an exponent.
 */
export function exactRow(found: Readonly<Record<string, unknown>>, body: string): TableEntity {
  const doubles = doublesIn(body)
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(found)) {
    if (foreign.has(name) || name.startsWith('odata.')) continue
    row[name] = doubles.has(name) ? { type: 'Double', value: doubles.get(name) } : value
  }
  return row as TableEntity
}

/** An entity is one flat object, so its tokens are enough. */
const member = /("(?:[^"\\]|\\.)*")\s*:\s*(?:"(?:[^"\\]|\\.)*"|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\w+)/g

function doublesIn(body: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const [, name = '', number = ''] of body.matchAll(member)) {
    if (/[.eE]/.test(number)) found.set(JSON.parse(name) as string, Number(number))
  }
  return found
}

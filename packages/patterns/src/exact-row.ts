/** An entity read so that writing it elsewhere keeps every type and digit. */
import type { TableClient, TableEntity } from '@azure/data-tables'
import { PatternsError } from './patterns-error.ts'
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

/** The client's own names for what the service adds; a property of such a name is lost in it, and cannot be copied. */
const clientNames = ['partitionKey', 'rowKey', 'etag', 'timestamp'] as const

/**
 * `5.0` is a Double and `5` an Int32, and JSON.parse makes both the same number: the text of the answer tells them
 * apart, as neither has an annotation.
 */
export function exactRow(found: Readonly<Record<string, unknown>>, body: string): TableEntity {
  const numbers = numbersIn(body)
  const hidden = clientNames.find((name) => numbers.has(name))
  if (hidden !== undefined)
    throw new PatternsError(
      'UnreadableRow',
      `the client hides the property ${hidden} behind one of the service`,
    )
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(found)) {
    if (name === 'etag' || name === 'timestamp' || name.startsWith('odata.')) continue
    const number = numbers.get(name) ?? ''
    row[name] = /[.eE]/.test(number) ? { type: 'Double', value: Number(number) } : value
  }
  return row as TableEntity
}

/** An entity is one flat object, so its tokens are enough. */
const member = /("(?:[^"\\]|\\.)*")\s*:\s*(?:"(?:[^"\\]|\\.)*"|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\w+)/g

/** The text of each number by the name of its member; empty for members of other types. */
function numbersIn(body: string): ReadonlyMap<string, string> {
  const members = [...body.matchAll(member)]
  return new Map(members.map(([, name = '""', number = '']) => [JSON.parse(name) as string, number]))
}

/** What an entity keeps of a large value, as cells of its row and back. */

export interface LargeValue {
  /** Its name in the container. */
  readonly blob: string
  readonly bytes: number
  /** The content type. */
  readonly type: string
  /** SHA-256, in hexadecimal digits. */
  readonly hash: string
}

type Text = { readonly type: 'String'; readonly value: string }
type Length = { readonly type: 'Int64'; readonly value: string }

/** Four cells, which begin with the property's name and which the official client takes as they are. */
export function largeValueCells(
  property: string,
  value: LargeValue,
): Readonly<Record<string, Text | Length>> {
  return {
    [`${property}Blob`]: { type: 'String', value: value.blob },
    [`${property}Bytes`]: { type: 'Int64', value: String(value.bytes) },
    [`${property}Type`]: { type: 'String', value: value.type },
    [`${property}Hash`]: { type: 'String', value: value.hash },
  }
}

/** From cells or from the values the official client makes of them; undefined when there are none. */
export function largeValueOf(
  property: string,
  row: Readonly<Record<string, unknown>>,
): LargeValue | undefined {
  const [blob, bytes, type, hash] = ['Blob', 'Bytes', 'Type', 'Hash'].map((name) =>
    plain(row[property + name]),
  )
  if (typeof blob !== 'string') return undefined
  return { blob, bytes: Number(bytes), type: String(type), hash: String(hash) }
}

function plain(cell: unknown): unknown {
  return typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : cell
}

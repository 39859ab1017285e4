/**
 * The filter parser of the service. It is no part of what the service exports, and the two packages' emitted files lie
 * elsewhere than their sources, so it is imported by address, with the types of what this suite uses of it.
 */
export type Value =
  | { readonly type: 'Edm.Binary'; readonly value: Uint8Array }
  | { readonly type: 'Edm.Boolean'; readonly value: boolean }
  | { readonly type: 'Edm.DateTime' | 'Edm.Int64'; readonly value: bigint }
  | { readonly type: 'Edm.Double' | 'Edm.Int32'; readonly value: number }
  | { readonly type: 'Edm.Guid' | 'Edm.String'; readonly value: string }

export type Parsed =
  | { readonly kind: 'constant'; readonly value: boolean }
  | {
      readonly kind: 'comparison'
      readonly property: string
      readonly operator: 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'
      readonly literal: Value
    }
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Parsed[] }
  | { readonly kind: 'not'; readonly term: Parsed }

interface Parser {
  readonly entitySchema: unknown
  parseFilter(text: string, schema: unknown): Parsed
}

export async function serviceParser(): Promise<Parser> {
  const file = new URL('../../../../service/dist/src/query/parse-filter.js', import.meta.url)
  return (await import(file.href)) as Parser
}

/** Generated values, entities and filters. Texts are few and alike, so that comparisons meet. */
import * as fc from 'fast-check'
import type { EntityKey, PartitionKey, RowKey } from '../../src/model/keys.ts'
import { type Ticks, ticksMax } from '../../src/model/ticks.ts'
import type { Value } from '../../src/model/values.ts'
import type { Version } from '../../src/model/version.ts'
import { type Comparison, type Filter, group, type Operator } from '../../src/query/filter.ts'
import type { PlainEntity } from './naive-filter.ts'

/** Default counts suit every change; a nightly run looks further. */
export function runs(count: number): number {
  return process.env['PARTITA_NIGHTLY'] === undefined ? count : count * 20
}

export const operators: readonly Operator[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']
export const operator = fc.constantFrom(...operators)

/** Legal in keys: ordinary, before and behind U+E000, astral, and half a pair. */
const keyCharacters = ['a', 'b', '0', ' ', "'", '~', 'é', '\ud83d', '😀', '\ue000', '～']
export const keyText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', 'a', 'b', 'aa', 'ab', '1', '2') },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...keyCharacters), maxLength: 3 }) },
)
/** Constants may hold what keys may not. */
const keyLiteral = fc.oneof(
  { weight: 8, arbitrary: keyText },
  { weight: 1, arbitrary: fc.constantFrom('a\u0000', '\u0000', 'a\u0000b', 'a\u0001', '\uffff', 'a/b') },
)

const textCharacters = [
  'a',
  'b',
  '"',
  '\\',
  '\n',
  '\u0001',
  '\u007f',
  '\u0080',
  '/',
  'é',
  '😀',
  '\ud83d',
  '～',
]
const text = fc.string({ unit: fc.constantFrom(...textCharacters), maxLength: 4 })
const int32 = fc.oneof(fc.constantFrom(0, 5, -5, 10, 2 ** 31 - 1, -(2 ** 31)), fc.integer())
const int64 = fc.oneof(
  fc.constantFrom(0n, 5n, -5n, 10n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
)
const double = fc.oneof(
  fc.constantFrom(0, -0, 5, -5, 5.5, 0.1, 1e21, 1e-7, 2 ** 53, 2 ** 63, Number.NaN, Infinity, -Infinity),
  fc.double(),
)
const moments = [0n, 1n, 10_000_000n, 637_134_336_000_000_000n, 637_134_336_000_000_001n, ticksMax - 0n]
export const ticks = fc.oneof(
  fc.constantFrom(...moments, 637_134_336_005_000_000n, 637_134_336_005_500_000n, 637_134_336_010_000_000n),
  fc.bigInt({ min: 0n, max: ticksMax }),
) as fc.Arbitrary<Ticks>
const guid = fc.oneof(fc.constantFrom('00000000-0000-0000-0000-000000000001'), fc.uuid())
const binary = fc.oneof(
  fc.uint8Array({ maxLength: 5 }),
  fc.array(fc.constantFrom(0, 1, 255), { maxLength: 4 }).map((bytes) => Uint8Array.from(bytes)),
)

export const value: fc.Arbitrary<Value> = fc.oneof(
  binary.map((bytes): Value => ({ type: 'Edm.Binary', value: bytes })),
  fc.boolean().map((flag): Value => ({ type: 'Edm.Boolean', value: flag })),
  ticks.map((moment): Value => ({ type: 'Edm.DateTime', value: moment })),
  double.map((number): Value => ({ type: 'Edm.Double', value: number })),
  guid.map((id): Value => ({ type: 'Edm.Guid', value: id })),
  int32.map((number): Value => ({ type: 'Edm.Int32', value: number })),
  int64.map((number): Value => ({ type: 'Edm.Int64', value: number })),
  text.map((string): Value => ({ type: 'Edm.String', value: string })),
)

export const names = ['A', 'B', 'Active', 'é', 'Aa']

export const key = fc
  .tuple(keyText, keyText)
  .map(([partition, row]): EntityKey => ({ partition: partition as PartitionKey, row: row as RowKey }))

export const entity: fc.Arbitrary<PlainEntity> = fc.record({
  key,
  version: ticks as fc.Arbitrary<unknown> as fc.Arbitrary<Version>,
  properties: fc.uniqueArray(fc.record({ name: fc.constantFrom(...names), value }), {
    maxLength: 4,
    selector: ({ name }) => name,
  }),
})

const keyComparison = fc
  .tuple(fc.constantFrom('PartitionKey', 'RowKey'), operator, keyLiteral)
  .map(([property, operator, value]): Comparison => {
    return { kind: 'comparison', property, operator, literal: { type: 'Edm.String', value } }
  })
const timestampComparison = fc.tuple(operator, ticks).map(([operator, value]): Comparison => {
  return { kind: 'comparison', property: 'Timestamp', operator, literal: { type: 'Edm.DateTime', value } }
})
const propertyComparison = fc
  .tuple(fc.constantFrom(...names), operator, value)
  .map(([property, operator, literal]): Comparison => ({ kind: 'comparison', property, operator, literal }))
const constant = fc.boolean().map((flag): Filter => ({ kind: 'constant', value: flag }))

/** Trees as the parser makes them: groups of two terms or more, none inside one of its own kind. */
export const filter: fc.Arbitrary<Filter> = fc.letrec<{ tree: Filter; terms: Filter[] }>((tie) => ({
  terms: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }),
  tree: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'filter' },
    { weight: 6, arbitrary: keyComparison },
    { weight: 3, arbitrary: propertyComparison },
    { weight: 1, arbitrary: timestampComparison },
    { weight: 1, arbitrary: constant },
    { weight: 5, arbitrary: tie('terms').map((terms) => group('and', terms)) },
    { weight: 5, arbitrary: tie('terms').map((terms) => group('or', terms)) },
    { weight: 3, arbitrary: tie('tree').map((term): Filter => ({ kind: 'not', term })) },
  ),
})).tree

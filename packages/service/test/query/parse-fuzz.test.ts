import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { Fault } from '../../src/model/faults.ts'
import { compileFilter } from '../../src/query/compile-filter.ts'
import { type Filter, formatFilter } from '../../src/query/filter.ts'
import { entitySchema, parseFilter } from '../../src/query/parse-filter.ts'
import { planFilter } from '../../src/query/plan-filter.ts'
import { runs } from './arbitraries.ts'
import { type Random, seededRandom } from '../support/random.ts'

const words = (
  "PartitionKey RowKey Timestamp A B Active eq ne gt ge lt le and or not add sub mul div mod ( ) , - + '' 'a' " +
  "'a''b' ' 5 -5 5L 5.5 5. 1e 1e9 1e999 .5 NaN INF -INF null true false True startswith( contains( length( " +
  "datetime'2020-01-01T00:00:00Z' datetime'x' guid'00000000-0000-0000-0000-000000000001' guid' X'01' X'0' " +
  "0x1 = / ? . * : \" ; @ $ _ é 😀 \ud83d \u0000 \u00a0 ﹏ 5M 5f time'PT1S' ((( ))) not( $filter"
).split(' ')

describe('parsing anything', () => {
  it('whatever is written is parsed or refused, in bounded time', () => {
    const seed = Number(process.env['PARTITA_SEED'] ?? Date.now() % 1_000_000)
    const random = seededRandom(seed)
    const outcomes = { parsed: 0, refused: 0 }
    const startMs = performance.now()
    for (let i = 0; i < runs(50_000); i++) {
      const text = i % 2 === 0 ? sentence(random) : spoiled(sentence(random), random)
      const filter = parse(text, seed)
      if (filter === undefined) outcomes.refused++
      else {
        outcomes.parsed++
        planFilter(filter)
        compileFilter(filter)
        const written = formatFilter(filter)
        assert.equal(formatFilter(parseFilter(written, entitySchema)), written, `seed ${seed}: ${text}`)
      }
    }
    assert(outcomes.parsed > 1000 && outcomes.refused > 1000, JSON.stringify(outcomes))
    assert(performance.now() - startMs < runs(20_000), 'too slow')
  })
})

function parse(text: string, seed: number): Filter | undefined {
  try {
    return parseFilter(text, entitySchema)
  } catch (error) {
    assert(error instanceof Fault, `seed ${seed}: ${JSON.stringify(text)}: ${String(error)}`)
    const isServed = error.code === 'InvalidInput' || error.code === 'NotImplemented'
    assert(isServed, `seed ${seed}: ${JSON.stringify(text)}: ${error.code}`)
    return undefined
  }
}

/** Often well formed, at least in part. */
function sentence(random: Random): string {
  if (random.below(10) < 3) {
    const count = random.below(12)
    return Array.from({ length: count }, () => random.pick(words)).join(random.below(5) < 4 ? ' ' : '')
  }
  return expression(random, 3)
}

function expression(random: Random, depth: number): string {
  const kind = depth === 0 ? 0 : random.below(10)
  if (kind < 5) {
    const [property, operator] = [
      random.pick(['PartitionKey', 'RowKey', 'A', 'B']),
      random.pick(['eq', 'ne', 'gt', 'ge', 'lt', 'le']),
    ]
    const literals = property.endsWith('Key')
      ? ["'a'", "''", "'b'"]
      : ["'a'", '5', '5L', '5.5', 'true', "X'01'"]
    return `${property} ${operator} ${random.pick(literals)}`
  }
  if (kind < 6) return `not (${expression(random, depth - 1)})`
  const operator = random.pick(['and', 'or'])
  const terms = [expression(random, depth - 1), expression(random, depth - 1)]
  return random.below(2) === 0 ? terms.join(` ${operator} `) : `(${terms.join(`) ${operator} (`)})`
}

/** One place changed: a word put in, a piece cut out, or a character overwritten. */
function spoiled(text: string, random: Random): string {
  const at = random.below(text.length)
  const kind = random.below(10)
  if (kind < 4) return `${text.slice(0, at)}${random.pick(words)}${text.slice(at)}`
  if (kind < 7) return text.slice(0, at) + text.slice(at + 1 + random.below(5))
  return text.slice(0, at) + String.fromCharCode(random.below(0x300)) + text.slice(at + 1)
}

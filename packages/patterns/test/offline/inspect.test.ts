import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { type FindingKind, inspectKeys, type KeySample } from '../../src/inspect.ts'

type Keys = (index: number) => readonly [partitionKey: string, rowKey: string]

const hash = (value: number) => createHash('sha256').update(String(value)).digest('hex')
const digits = (value: number, width = 8) => String(value).padStart(width, '0')

/** Ten thousand writes, a second apart. */
function writes(keys: Keys, count = 10_000): KeySample[] {
  return Array.from({ length: count }, (_, index) => {
    const [partitionKey, rowKey] = keys(index)
    return { partitionKey, rowKey, atMs: index * 1000 }
  })
}

// biome-ignore format: a table reads in columns
const designs: readonly [what: string, keys: Keys, findings: readonly FindingKind[]][] = [
  ['the hour', (i) => [digits(Math.floor(i / 200)), hash(i)], ['appending']],
  ['the time of each entity', (i) => [digits(i), ''], ['appending']],
  ['the inverted time', (i) => [digits(99_999_999 - i), ''], ['prepending']],
  ['the hour, by several writers who are not quite in step', (i) => [digits(Math.floor((i - Number(`0x${hash(i).slice(0, 1)}`)) / 200)), ''], ['appending']],
  ['one word', (i) => ['all', hash(i)], ['hot-partition']],
  ['one large customer of many', (i) => [i % 3 === 0 ? hash(i % 60) : 'contoso', digits(i)], ['hot-partition']],
  ['departments loaded one after another', (i) => [hash(Math.floor(i / 500)), digits(i)], ['bursts']],
  ['departments', (i) => [hash(Number(`0x${hash(i).slice(0, 6)}`) % 300), digits(i)], []],
  ['a random key', (i) => [hash(i), ''], []],
  ['a spread part before the hour', (i) => [`${Number(`0x${hash(i).slice(0, 4)}`) % 16}_${digits(Math.floor(i / 200))}`, ''], []],
  ['buckets in turn', (i) => [digits(i % 32), digits(i)], []],
]

describe('keys made of', () => {
  for (const [what, keys, findings] of designs) {
    it(`${what}: ${findings.join(', ') || 'nothing to report'}`, () => {
      const report = inspectKeys(writes(keys))
      assert.deepEqual(
        report.findings.map(({ kind }) => kind),
        findings,
      )
      assert.deepEqual([report.sampled, report.seen, report.complete], [10_000, 10_000, true])
    })

    it(`${what}, from a sample and in any order`, () => {
      const shuffled = writes(keys)
        .map((sample) => ({ sample, place: hash(sample.atMs) }))
        .toSorted((a, b) => (a.place < b.place ? -1 : 1))
        .map(({ sample }) => sample)
      let seed = 0
      const random = () => Number(`0x${hash(seed++).slice(0, 8)}`) / 2 ** 32
      const report = inspectKeys(shuffled, { sampleMax: 2000, random })
      assert.deepEqual(
        report.findings.map(({ kind }) => kind),
        findings,
      )
      assert.deepEqual([report.sampled, report.seen], [2000, 10_000])
    })
  }
})

describe('a report', () => {
  it('says what was seen, and where', () => {
    const { findings, hottest, partitions } = inspectKeys(writes((i) => ['all', digits(i)]))
    assert.deepEqual([hottest, partitions], [{ partitionKey: 'all', share: 1 }, 1])
    assert.equal(findings[0]?.text, '100 % of the writes go to partition "all", at its end')
    assert.match(findings[0]?.advice ?? '', /spread part/)
    const falling = inspectKeys(writes((i) => ['all', digits(99_999_999 - i)]))
    assert.equal(falling.findings[0]?.text, '100 % of the writes go to partition "all", at its front')
  })

  it('of too few keys finds nothing', () => {
    assert.deepEqual(inspectKeys(writes((i) => ['all', digits(i)], 49)).findings, [])
    assert.deepEqual(inspectKeys([]), {
      sampled: 0,
      seen: 0,
      complete: true,
      partitions: 0,
      hottest: undefined,
      findings: [],
    })
  })
})

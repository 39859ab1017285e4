import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { blobLog } from '../../src/blob-log/blob-log.ts'
import { decodeLine, encodeLine } from '../../src/blob-log/line.ts'
import { blobName, hourMs, hourPrefix, numberOf, prefixesOf } from '../../src/blob-log/names.ts'

describe('a line', () => {
  it('keeps its fields apart whatever they hold', () => {
    assert.equal(
      encodeLine(new Date('2014-07-31T18:21:46.123Z'), ['a;b', 'c\\d', 'e\r\nf', '']),
      '2014-07-31T18:21:46.123Z;a\\sb;c\\\\d;e\\r\\nf;\n',
    )
  })

  it('comes back as it was', () => {
    const field = fc.string({
      unit: fc.constantFrom(';', '\\', '\n', '\r', 's', 'n', 'r', 'é', '\u2028', '😀'),
    })
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date(0) }),
        fc.array(field, { minLength: 1 }),
        (at, fields) => {
          const line = encodeLine(at, fields)
          assert.equal(line.indexOf('\n'), line.length - 1)
          assert.deepEqual(decodeLine(line.slice(0, -1)), { at, fields })
        },
      ),
    )
  })

  it('of somebody else is told apart', () => {
    for (const line of ['', 'hello', ';', 'x;2014-07-31T18:21:46.123Z'])
      assert.equal(decodeLine(line), undefined)
  })
})

describe('names', () => {
  it('are made of the hour and a number', () => {
    const prefix = hourPrefix('queue', new Date('2014-07-31T18:59:59.999Z'))
    assert.equal(blobName(prefix, 1), 'queue/2014/07/31/1800/000001.log')
    assert.equal(numberOf('queue/2014/07/31/1800/000042.log'), 42)
    assert.equal(numberOf('queue/2014/07/31/1800/readme.txt'), undefined)
  })

  // biome-ignore format: a table reads in columns
  const ranges: readonly [from: string, until: string, prefixes: readonly string[]][] = [
    ['2014-07-31T18:00:00Z', '2014-07-31T19:00:00Z', ['q/2014/07/31/1800/']],
    ['2014-07-31T18:59:00Z', '2014-07-31T19:00:01Z', ['q/2014/07/31/1800/', 'q/2014/07/31/1900/']],
    ['2014-07-31T23:00:00Z', '2014-08-02T01:00:00Z', ['q/2014/07/31/2300/', 'q/2014/08/01/', 'q/2014/08/02/0000/']],
    ['2014-11-30T00:00:00Z', '2016-02-01T00:00:00Z', ['q/2014/11/30/', 'q/2014/12/', 'q/2015/', 'q/2016/01/']],
    ['2014-07-31T18:00:00Z', '2014-07-31T18:00:00Z', []],
    ['2014-07-31T19:00:00Z', '2014-07-31T18:00:00Z', []],
  ]
  for (const [from, until, prefixes] of ranges) {
    it(`from ${from} until ${until} begin with ${prefixes.length} prefixes`, () => {
      assert.deepEqual(prefixesOf('q', new Date(from), new Date(until)), prefixes)
    })
  }

  it('of any range are covered hour by hour, without another', () => {
    const hour = fc.integer({ min: Date.UTC(2015, 11, 30) / hourMs, max: Date.UTC(2016, 2, 2) / hourMs })
    fc.assert(
      fc.property(hour, hour, (first, second) => {
        const [from, until] = [Math.min(first, second), Math.max(first, second)]
        const prefixes = prefixesOf('q', new Date(from * hourMs), new Date(until * hourMs))
        for (let at = from - 30; at < until + 30; at += 1) {
          const covering = prefixes.filter((prefix) =>
            hourPrefix('q', new Date(at * hourMs)).startsWith(prefix),
          )
          assert.equal(covering.length, at >= from && at < until ? 1 : 0)
        }
        assert.deepEqual(prefixes, prefixes.toSorted())
      }),
      { numRuns: 30 },
    )
  })
})

describe('a definition', () => {
  it('is refused when its names could not be found again', () => {
    const container = undefined as never
    for (const name of ['', '/a', 'a/', 'a b', 'a?'])
      assert.throws(() => blobLog(container, { name, columns: ['a'] }), { code: 'InvalidDefinition' })
    for (const columns of [['a', 'a'], ['at']])
      assert.throws(() => blobLog(container, { name: 'a', columns }), { code: 'InvalidDefinition' })
  })
})

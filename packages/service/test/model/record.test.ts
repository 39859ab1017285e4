import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { byName, encodeContent, keysText, type Property } from '../../src/model/content.ts'
import { mergeContent } from '../../src/model/merge-content.ts'
import {
  encodeRecord,
  type EntityRecord,
  keyOf,
  layoutOf,
  membersOf,
  propertiesOf,
  propertyCountOf,
  recordBytes,
  etagOfRecord,
  versionOf,
} from '../../src/model/record.ts'
import { nameHash } from '../../src/model/record-layout.ts'
import { formatTicks, ticksMax } from '../../src/model/ticks.ts'
import {
  edmTypes,
  isAnnotated,
  textOf as valueTextOf,
  type Value,
  valueText,
} from '../../src/model/values.ts'
import { etagOf, type Version } from '../../src/model/version.ts'
import { binary, int32, keyAt, listOf, text } from '../support/entities.ts'
import { ticksAt } from '../support/test-clock.ts'

const key = keyAt('p', 'r')
const version = ticksAt('2020-12-18T17:08:59.8611145Z') as Version

/** Every type at its ends, with the JSON it is written as. */
// biome-ignore format: a table reads in columns
const extremes: readonly (readonly [Value, json: string])[] = [
  [{ type: 'Edm.Binary', value: Buffer.alloc(0) },               '""'],
  [{ type: 'Edm.Binary', value: Buffer.from([0, 255, 16]) },     '"AP8Q"'],
  [{ type: 'Edm.Binary', value: Buffer.from([1]) },              '"AQ=="'],
  [{ type: 'Edm.Boolean', value: true },                         'true'],
  [{ type: 'Edm.Boolean', value: false },                        'false'],
  [{ type: 'Edm.DateTime', value: ticksAt('1601-01-01T00:00:00Z') },         '"1601-01-01T00:00:00Z"'],
  [{ type: 'Edm.DateTime', value: ticksAt('1969-12-31T23:59:59.9999999Z') }, '"1969-12-31T23:59:59.9999999Z"'],
  [{ type: 'Edm.DateTime', value: ticksAt('2024-02-29T12:00:00.1Z') },       '"2024-02-29T12:00:00.1Z"'],
  [{ type: 'Edm.DateTime', value: ticksAt('9999-12-31T23:59:59.9999999Z') }, '"9999-12-31T23:59:59.9999999Z"'],
  [{ type: 'Edm.Double', value: 0 },                             '0.0'],
  [{ type: 'Edm.Double', value: -0 },                            '-0.0'],
  [{ type: 'Edm.Double', value: Number.NaN },                    '"NaN"'],
  [{ type: 'Edm.Double', value: Number.POSITIVE_INFINITY },      '"Infinity"'],
  [{ type: 'Edm.Double', value: Number.NEGATIVE_INFINITY },      '"-Infinity"'],
  [{ type: 'Edm.Double', value: 5e-324 },                        '4.94065645841247E-324'],
  [{ type: 'Edm.Double', value: 2.225073858507201e-308 },        '2.2250738585072009E-308'],
  [{ type: 'Edm.Double', value: Number.MAX_VALUE },              '1.7976931348623157E+308'],
  [{ type: 'Edm.Double', value: -Number.MAX_VALUE },             '-1.7976931348623157E+308'],
  [{ type: 'Edm.Guid', value: '00000000-0000-0000-0000-000000000000' }, '"00000000-0000-0000-0000-000000000000"'],
  [{ type: 'Edm.Guid', value: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }, '"ffffffff-ffff-ffff-ffff-ffffffffffff"'],
  [{ type: 'Edm.Int32', value: -2_147_483_648 },                 '-2147483648'],
  [{ type: 'Edm.Int32', value: 2_147_483_647 },                  '2147483647'],
  [{ type: 'Edm.Int64', value: -9_223_372_036_854_775_808n },    '"-9223372036854775808"'],
  [{ type: 'Edm.Int64', value: 9_223_372_036_854_775_807n },     '"9223372036854775807"'],
  [{ type: 'Edm.String', value: '' },                            '""'],
  [{ type: 'Edm.String', value: '"\\/\b\f\n\r\t<>&\'' },         '"\\"\\\\/\\b\\f\\n\\r\\t<>&\'"'],
  [{ type: 'Edm.String', value: '\u0000\u001f\u007f' },          '"\\u0000\\u001f\u007f"'],
  [{ type: 'Edm.String', value: '\u0080\u00e9\u4e00\uffff' },    '"\\u0080\\u00e9\\u4e00\\uffff"'],
  [{ type: 'Edm.String', value: '\ud83d\ude00' },                '"\\ud83d\\ude00"'],
  [{ type: 'Edm.String', value: '\ud83d' },                      '"\\ud83d"'],
]

describe('a record', () => {
  it('keeps every type at its extremes', () => {
    for (const [value, json] of extremes) {
      const properties = [
        { name: 'before', value: int32(1) },
        { name: 'it', value },
        { name: 'after', value: text('x') },
      ]
      const record = encoded(properties)
      assert.equal(valueText(value), json)
      assertSameProperties(propertiesOf(record), properties)
      const member = membersOf(record)[1]
      assert(member !== undefined)
      assert.equal(record.toString('latin1', member.valueFrom, member.until), json)
    }
  })

  it('keeps strings and binaries of 64 KiB', () => {
    for (const value of [
      text('a'.repeat(32_768)),
      text('\u4e00'.repeat(32_768)),
      text('\u0000'.repeat(32_768)),
      binary(65_536),
      binary(65_535),
    ]) {
      assertSameProperties(propertiesOf(encoded([{ name: 'p', value }])), [{ name: 'p', value }])
    }
  })

  it('keeps any properties in their order', () => {
    fc.assert(
      fc.property(entity, ({ key, version, properties }) => {
        const record = encodeRecord(keysText(key), encodeContent(properties), version)
        assert.deepEqual(keyOf(record), key)
        assert.equal(versionOf(record), version)
        assert.equal(etagOfRecord(record), etagOf(version))
        assert.equal(propertyCountOf(record), properties.length)
        assert.equal(recordBytes(record), record.length)
        assertSameProperties(propertiesOf(record), properties)
      }),
      { numRuns: 400 },
    )
  })

  it('is read alike from a longer buffer', () => {
    const properties = listOf({ a: text('x'), b: binary(5), c: int32(-1) })
    const record = encoded(properties)
    const longer = Buffer.concat([record, Buffer.alloc(100, 0x2c)])
    assert.deepEqual(propertiesOf(longer), propertiesOf(record))
    assert.deepEqual(layoutOf(longer), layoutOf(record))
    assert.deepEqual(mergeContent(longer, encodeContent([])), mergeContent(record, encodeContent([])))
  })

  it('has the text of the protocol at minimal metadata', () => {
    const record = encodeRecord(
      keysText(key),
      encodeContent([
        { name: 'age', value: int32(39) },
        { name: 'big', value: { type: 'Edm.Int64', value: 5_432_873_627_392n } },
        { name: 'born', value: { type: 'Edm.DateTime', value: ticksAt('1973-10-04T00:00:00Z') } },
      ]),
      version,
    )
    assert.equal(
      textOf(record),
      '"odata.etag":"W/\\"datetime\'2020-12-18T17%3A08%3A59.8611145Z\'\\"",' +
        '"PartitionKey":"p","RowKey":"r","Timestamp":"2020-12-18T17:08:59.8611145Z",' +
        '"age":39,"big@odata.type":"Edm.Int64","big":"5432873627392",' +
        '"born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00Z"',
    )
  })

  it('bears stamps with fractions of any length, within a second and over its ends', () => {
    for (const fraction of [
      0, 1, 10, 100_000, 1_000_000, 1_200_000, 1_234_560, 1_234_567, 9_999_999, 10_000_000, 0,
    ]) {
      const at = (ticksAt('2020-12-18T17:08:59Z') + BigInt(fraction)) as Version
      const record = encodeRecord(keysText(key), encodeContent([]), at)
      assert.equal(
        textOf(record),
        `"odata.etag":${JSON.stringify(etagOf(at))},${keysText(key)},"Timestamp":"${formatTicks(at)}"`,
      )
      assert.equal(versionOf(record), at)
    }
  })

  it('lies where layoutOf and membersOf say', () => {
    fc.assert(
      fc.property(entity, ({ key, version, properties }) => {
        const record = encodeRecord(keysText(key), encodeContent(properties), version)
        const { etagFrom, keysFrom, timestampFrom, membersFrom, until } = layoutOf(record)
        const object = (from: number, end: number) =>
          JSON.parse(`{${record.toString('latin1', from, end)}}`) as Record<string, unknown>
        assert(isAscii(textOf(record)), 'text of a record is ASCII')
        assert.deepEqual(object(etagFrom, keysFrom - 1), { 'odata.etag': etagOf(version) })
        assert.deepEqual(object(keysFrom, timestampFrom - 1), {
          PartitionKey: key.partition,
          RowKey: key.row,
        })
        assert.deepEqual(object(timestampFrom, membersFrom), { Timestamp: formatTicks(version) })
        const whole = object(etagFrom, until)
        const members = membersOf(record)
        assert.equal(members.length, properties.length)
        let at = membersFrom
        for (const [i, { name, type, from, nameFrom, valueFrom, until }] of members.entries()) {
          const value = properties[i]?.value
          assert(value !== undefined)
          assert.equal(name, properties[i]?.name)
          assert.equal(type, value.type)
          assert.equal(record.toString('latin1', at, from), ',')
          const annotation = nameFrom > from ? object(from, nameFrom - 1) : undefined
          assert.deepEqual(
            annotation,
            isAnnotated(valueTextOf(value)) ? { [`${name}@odata.type`]: type } : undefined,
          )
          assert.deepEqual(object(nameFrom, until), { [name]: whole[name] })
          assert.deepEqual(JSON.parse(record.toString('latin1', valueFrom, until)), whole[name])
          at = until
        }
        assert.equal(at, until)
        assert.equal(until, record.length)
      }),
      { numRuns: 400 },
    )
  })

  it('carries versions of every length', () => {
    for (const stamp of [
      '2024-01-01T00:00:00Z',
      '2024-01-01T00:00:00.1Z',
      '2024-01-01T00:00:00.1234567Z',
      '0001-01-01T00:00:00.0000001Z',
      '9999-12-31T23:59:59.9999999Z',
    ]) {
      const record = encodeRecord(
        keysText(key),
        encodeContent(listOf({ a: int32(1) })),
        ticksAt(stamp) as Version,
      )
      assert.equal(etagOfRecord(record), `W/"datetime'${stamp.replaceAll(':', '%3A')}'"`)
      assert.equal((JSON.parse(`{${textOf(record)}}`) as { Timestamp: string }).Timestamp, stamp)
      assert.deepEqual(propertiesOf(record), listOf({ a: int32(1) }))
    }
  })

  it('holds 252 properties with the longest names', () => {
    const properties = Array.from({ length: 252 }, (_, i) => ({
      name: `\u4e00${'\u00e9'.repeat(250)}${String(i).padStart(4, '0')}`,
      value: { type: 'Edm.Int64', value: BigInt(i) } as Value,
    }))
    assert.deepEqual(propertiesOf(encoded(properties)), properties)
  })

  it('of an unknown format is not read', () => {
    const record = encoded([])
    record[0] = 9
    assert.throws(() => layoutOf(record), /unknown record format/)
  })
})

describe('mergeContent', () => {
  it('leaves what a naive merge leaves, sorted', () => {
    fc.assert(
      fc.property(propertyList, propertyList, (stored, brought) => {
        const merged = mergeContent(encoded(stored), encodeContent(brought))
        const naive = new Map([...stored, ...brought].map(({ name, value }) => [name, value]))
        const expected = [...naive].map(([name, value]) => ({ name, value })).toSorted(byName)
        assertSameProperties(propertiesOf(encodeRecord(keysText(key), merged, version)), expected)
        assert.deepEqual(merged, encodeContent(expected))
      }),
      { numRuns: 400 },
    )
  })

  it('sorts by code unit, upper case first', () => {
    const names = ['\uffff', 'b', '\ud800\udc00', 'B', '_', '\u00e9', 'a', 'aa', 'Z']
    const merged = mergeContent(encoded(names.map((name) => ({ name, value: int32(1) }))), encodeContent([]))
    assert.deepEqual(
      membersOf(encodeRecord(keysText(key), merged, version)).map(({ name }) => name),
      ['B', 'Z', '_', 'a', 'aa', 'b', '\u00e9', '\ud800\udc00', '\uffff'],
    )
  })
})

describe('nameHash', () => {
  it('is sixteen bits, and tells most names apart', () => {
    const hashes = new Set(Array.from({ length: 1000 }, (_, i) => nameHash(`property${i}`)))
    assert(hashes.size > 900)
    for (const hash of hashes) assert(hash >= 0 && hash <= 0xffff)
  })
})

function encoded(properties: readonly Property[]): EntityRecord {
  return encodeRecord(keysText(key), encodeContent(properties), version)
}

function textOf(record: EntityRecord): string {
  return record.toString('latin1', layoutOf(record).etagFrom, layoutOf(record).until)
}

/** As deepEqual, with binaries compared as bytes. */
function assertSameProperties(actual: readonly Property[], expected: readonly Property[]): void {
  assert.deepEqual(actual.map(plain), expected.map(plain))
}

function plain({ name, value }: Property): unknown {
  return value.type === 'Edm.Binary'
    ? [name, value.type, Buffer.from(value.value).toString('hex')]
    : [name, value]
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text)
}

const keyText = fc
  .string({ unit: 'binary', maxLength: 6 })
  .map((text) => text.replaceAll(/[/\\#?\u0000-\u001f\u007f-\u009f]/g, '_'))

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((bytes): Value => ({ type: 'Edm.Binary', value: bytes })),
  fc.boolean().map((value): Value => ({ type: 'Edm.Boolean', value })),
  fc
    .bigInt({ min: 0n, max: ticksMax })
    .map((value): Value => ({ type: 'Edm.DateTime', value: value as Version })),
  fc.double().map((value): Value => ({ type: 'Edm.Double', value })),
  fc.uuid().map((value): Value => ({ type: 'Edm.Guid', value })),
  fc.integer().map(int32),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): Value => ({ type: 'Edm.Int64', value })),
  fc.string({ unit: 'binary' }).map(text),
  fc.constantFrom(...extremes.map(([value]) => value)),
)

const propertyName = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'A', 'B'),
  fc.string({
    unit: fc.constantFrom('a', 'Z', '_', '9', '\u00e9', '\u4e00', '\ud800\udc00'),
    minLength: 1,
    maxLength: 12,
  }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'Timestamp2', 'etag'),
)

const propertyList: fc.Arbitrary<Property[]> = fc.uniqueArray(fc.record({ name: propertyName, value }), {
  maxLength: 12,
  selector: ({ name }) => name,
})

const entity = fc.record({
  key: fc.tuple(keyText, keyText).map(([partition, row]) => keyAt(partition, row)),
  version: fc.bigInt({ min: 0n, max: ticksMax }).map((ticks) => ticks as Version),
  properties: propertyList,
})

describe('types', () => {
  it('keep their codes, which stand in every record', () => {
    assert.deepEqual(edmTypes, [
      'Edm.Binary',
      'Edm.Boolean',
      'Edm.DateTime',
      'Edm.Double',
      'Edm.Guid',
      'Edm.Int32',
      'Edm.Int64',
      'Edm.String',
    ])
  })
})

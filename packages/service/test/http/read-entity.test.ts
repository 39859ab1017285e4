import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readEntity } from '../../src/http/read-entity.ts'
import { type FaultCode, inputTexts } from '../../src/model/faults.ts'
import { encodeContent, encodeTexts, type Property } from '../../src/model/content.ts'
import { formatTicks, type Ticks, ticksMax } from '../../src/model/ticks.ts'
import type { EdmType, Value } from '../../src/model/values.ts'
import { assertFault } from '../support/assert-fault.ts'
import { int32, listOf, text } from '../support/entities.ts'

describe('an entity read from JSON', () => {
  it('has the content its values have, however they are written', () => {
    fc.assert(
      fc.property(
        fc.array(written, { maxLength: 20 }),
        fc.boolean(),
        fc.array(blanks),
        (members, after, styles) => {
          const distinct = [...new Map(members.map((member) => [member.name, member])).values()]
          const annotations = distinct.filter(({ type }) => type !== undefined)
          const types = annotations.map(({ name, type }) => [spelled(`${name}@odata.type`), `"${type}"`])
          const values = distinct.map(({ name, json }) => [spelled(name), json])
          const all = [...(after ? [] : types), ...values, ...(after ? types : [])]
          const content = encodeContent(distinct.map(({ name, value }) => ({ name, value })))
          // The same entity in one style after another: each time most of the outline is known, but not all.
          for (const [first, second, third, fourth] of [noBlanks, ...styles]) {
            const texts = all.map(([name, json]) => `${first}${name}${second}:${third}${json}${fourth}`)
            const body = `${first}{${texts.join(',')}${third}}${fourth}`
            // By the third time it may be transcribed.
            for (let times = 0; times < 3; times++) assert.deepEqual(contentOf(body), content)
          }
        },
      ),
      { numRuns: 1000 },
    )
  })

  // biome-ignore format: a table reads in columns
  const spellings: readonly (readonly [json: string, value: Value, type?: EdmType])[] = [
    ['0',                              { type: 'Edm.Int32', value: 0 }],
    ['-0',                             { type: 'Edm.Int32', value: 0 }],
    ['2147483647',                     { type: 'Edm.Int32', value: 2_147_483_647 }],
    ['-2147483648',                    { type: 'Edm.Int32', value: -2_147_483_648 }],
    ['2147483648',                     { type: 'Edm.Double', value: 2_147_483_648 }],
    ['-2147483649',                    { type: 'Edm.Double', value: -2_147_483_649 }],
    ['1e1',                            { type: 'Edm.Double', value: 10 }],
    ['1.50',                           { type: 'Edm.Double', value: 1.5 }],
    ['-0.0',                           { type: 'Edm.Double', value: -0 }],
    ['0.0001',                         { type: 'Edm.Double', value: 0.0001 }],
    ['0.00012',                        { type: 'Edm.Double', value: 0.00012 }],
    ['0.00001',                        { type: 'Edm.Double', value: 0.00001 }],
    ['0.1234567890123',                { type: 'Edm.Double', value: 0.1234567890123 }],
    ['9007199254740993.5',             { type: 'Edm.Double', value: 9007199254740994 }],
    ['123456789012345678901234567890', { type: 'Edm.Double', value: 1.2345678901234568e29 }],
    ['"0007"',                         { type: 'Edm.Int32', value: 7 }, 'Edm.Int32'],
    ['"-0"',                           { type: 'Edm.Int64', value: 0n }, 'Edm.Int64'],
    ['"00000000000000000007"',         { type: 'Edm.Int64', value: 7n }, 'Edm.Int64'],
    ['"999999999999999999"',           { type: 'Edm.Int64', value: 999_999_999_999_999_999n }, 'Edm.Int64'],
    ['"-9223372036854775808"',         { type: 'Edm.Int64', value: -9_223_372_036_854_775_808n }, 'Edm.Int64'],
    ['"007.50"',                       { type: 'Edm.Double', value: 7.5 }, 'Edm.Double'],
    ['5',                              { type: 'Edm.Double', value: 5 }, 'Edm.Double'],
    ['"TRUE"',                         { type: 'Edm.Boolean', value: true }, 'Edm.Boolean'],
    ['"AB=="',                         { type: 'Edm.Binary', value: Buffer.from([0]) }, 'Edm.Binary'],
    ['"\\u0031"',                      { type: 'Edm.Int64', value: 1n }, 'Edm.Int64'],
    ['"a\\u0022\\\\"',                 { type: 'Edm.String', value: 'a"\\' }],
    ['"\\\\\\""',                      { type: 'Edm.String', value: '\\"' }],
    ['"\\ud800"',                      { type: 'Edm.String', value: '\ud800' }],
    ['"\x7f"',                         { type: 'Edm.String', value: '\x7f' }],
    ['"\u0080\u2028"',                 { type: 'Edm.String', value: '\u0080\u2028' }],
  ]
  for (const [json, value, type] of spellings) {
    it(`takes ${json} for ${value.type} ${String(value.value)}`, () => {
      const annotation = type === undefined ? '' : `"v@odata.type":"${type}",`
      assert.deepEqual(contentOf(`{${annotation}"v":${json}}`), encodeContent([{ name: 'v', value }]))
    })
  }

  for (const time of [
    '2024-02-29T00:00:00Z',
    '2024-05-17T09:01:07.1230000Z',
    '2024-05-17T09:01:07.0000000Z',
    '2024-05-17T09:01:10.0Z',
    '2024-05-17T09:01:07',
    '2024-05-17T23:59:59.9999999+14:00',
    '1700-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-28T23:59:59.9999999Z',
  ]) {
    it(`keeps the time ${time}`, () => {
      const value: Value = { type: 'Edm.DateTime', value: ticksOf(time) }
      const body = `{"v@odata.type":"Edm.DateTime","v":"${time}"}`
      assert.deepEqual(contentOf(body), encodeContent([{ name: 'v', value }]))
    })
  }

  for (const [type, json] of [
    ['Edm.DateTime', '"2023-02-29T00:00:00Z"'],
    ['Edm.DateTime', '"2024-02-28T24:00:00Z"'],
    ['Edm.DateTime', '"2024-13-01T00:00:00Z"'],
    ['Edm.DateTime', '"2024-01-00T00:00:00Z"'],
    ['Edm.DateTime', '"0000-01-01T00:00:00Z"'],
    ['Edm.DateTime', '"2024-01-01T00:00:00.Z"'],
    ['Edm.Int64', '"9223372036854775808"'],
    ['Edm.Int64', '"1.0"'],
    ['Edm.Int64', '""'],
    ['Edm.Int32', '"2147483648"'],
    ['Edm.Double', '"1e999"'],
    ['Edm.Double', '1e999'],
    ['Edm.Binary', '"A==="'],
    ['Edm.Guid', '"3f2c8a90-5b1d-4e67-9a4f-00000000000g"'],
    ['Edm.String', '5'],
    ['Edm.Decimal', '"5"'],
  ] as const) {
    it(`refuses ${json} as ${type}`, () => {
      assertFault(
        () => contentOf(`{"v@odata.type":"${type}","v":${json}}`),
        'InvalidInput',
        inputTexts.conversion,
      )
    })
  }

  describe('after one that was written alike', () => {
    const before = '{"a@odata.type":"Edm.Int64","a":"5","b":"x","c":1,"c@odata.type":"Edm.Double"}'
    // biome-ignore format: a table reads in columns
    const bodies: readonly (readonly [body: string, properties: Readonly<Record<string, Value>>])[] = [
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","c":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: text('y'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"\\u0079","c":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: text('y'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"é","c":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: text('é'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","c":2}',          { a: int64(6n), b: text('y'), c: int32(2) }],
      ['{"a@odata.type":"Edm.String","a":"z","b":"y","c":2,"c@odata.type":"Edm.Double"}', { a: text('z'), b: text('y'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a": "6","b":\t"y","c":\n2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: text('y'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6" ,"b":"y", "c":2 ,"c@odata.type" :"Edm.Double"} ', { a: int64(6n), b: text('y'), c: double(2) }],
      ['{"a":"z","b":"y","c":2,"c@odata.type":"Edm.Double"}',         { a: text('z'), b: text('y'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":null,"c":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":7,"c":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: int32(7), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":true,"c":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: { type: 'Edm.Boolean', value: true }, c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","c":"2","c@odata.type":"Edm.Double"}', { a: int64(6n), b: text('y'), c: double(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","d":2,"c@odata.type":"Edm.Double"}', { a: int64(6n), b: text('y'), d: int32(2) }],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y"}',                { a: int64(6n), b: text('y') }],
      ['{"a@odata.type":"Edm.Int64","a":"x6","a@odata.type":"Edm.String"}', { a: text('x6') }],
      ['{}',                                                          {}],
    ]
    for (const [body, properties] of bodies) {
      it(`is read for what it says: ${body}`, () => {
        contentOf(before)
        assert.deepEqual(contentOf(body), encodeContent(listOf(properties)))
        assert.deepEqual(contentOf(body), encodeContent(listOf(properties)))
      })
    }

    // biome-ignore format: a table reads in columns
    const refused: readonly (readonly [body: string, code: FaultCode])[] = [
      ['{"a@odata.type":"Edm.Int64","a":"6x","b":"y","c":2,"c@odata.type":"Edm.Double"}',  'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","c":2,"c@odata.type":"Edm.Double"}}',  'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","c":2,"c@odata.type":"Edm.Double"',    'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","c":02,"c@odata.type":"Edm.Double"}',  'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y\n","c":2,"c@odata.type":"Edm.Double"}', 'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y\\","c":2,"c@odata.type":"Edm.Double"}', 'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":["y"],"c":2,"c@odata.type":"Edm.Double"}', 'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","a":"6","b":"y","b":2,"c@odata.type":"Edm.Double"}',   'DuplicatePropertiesSpecified'],
      ['{"a@odata.type":"Edm.Int64","a":"6x","b":"y","b":2}',                              'InvalidInput'],
      ['{"a@odata.type":"Edm.Int64","b":"y","b":2,"a":"6x"}',                              'DuplicatePropertiesSpecified'],
    ]
    for (const [body, code] of refused) {
      it(`is refused for what it says: ${JSON.stringify(body)}`, () => {
        contentOf(before)
        const message = code === 'InvalidInput' ? inputTexts.conversion : undefined
        assertFault(() => contentOf(body), code, message)
        assertFault(() => contentOf(body), code, message)
      })
    }
  })

  it('may begin with a byte order mark', () => {
    assert.deepEqual(contentOf('\ufeff{"a":1}'), contentOf('{"a":1}'))
  })

  it('is known by its names, also by very many and by long ones', () => {
    const names = Array.from({ length: 3000 }, (_, i) => `n${i}`)
    const long = [`${'n'.repeat(64)}a`, `${'n'.repeat(64)}b`]
    const body = (all: readonly string[]) => `{${all.map((name) => `"${name}":1`).join(',')}}`
    for (const all of [names, long, [...names, ...long]]) {
      const content = encodeContent(all.map((each) => ({ name: each, value: int32(1) })))
      assert.deepEqual(contentOf(body(all)), content)
      for (const twice of [all[0], all.at(-1)]) {
        assertFault(() => contentOf(body([...all, twice as string])), 'DuplicatePropertiesSpecified')
      }
    }
  })
})

function contentOf(body: string): Buffer {
  const { properties } = readEntity(Buffer.from(body), 'given')
  return Buffer.isBuffer(properties) ? properties : encodeTexts(properties)
}

function ticksOf(time: string): Ticks {
  const [seconds = '', fraction = ''] = time.replace(/Z|\+14:00$/, '').split('.')
  const date = new Date(0)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = seconds.split(/\D/).map(Number)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour - (time.endsWith('+14:00') ? 14 : 0), minute, second)
  const unixEpoch = 621_355_968_000_000_000n
  return (unixEpoch + BigInt(date.getTime()) * 10_000n + BigInt(fraction.padEnd(7, '0'))) as Ticks
}

/** A name as JSON, its second character escaped where it has an odd length: both forms mean the same. */
function spelled(name: string): string {
  if (name.length % 2 === 0) return JSON.stringify(name)
  const escape = `\\u${name.charCodeAt(1).toString(16).padStart(4, '0')}`
  return name.length < 2 ? JSON.stringify(name) : `"${name[0]}${escape}${name.slice(2)}"`
}

function int64(value: bigint): Value {
  return { type: 'Edm.Int64', value }
}

function double(value: number): Value {
  return { type: 'Edm.Double', value }
}

interface WrittenProperty extends Property {
  /** How the value is written. */
  readonly json: string
  readonly type: EdmType | undefined
}

const noBlanks = ['', '', '', ''] as const
const blank = fc.constantFrom('', '', ' ', '\t', '\r\n', '\n  ')
const blanks = fc.tuple(blank, blank, blank, blank)

const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/).filter((each) => each !== 'Timestamp'),
  fc.stringMatching(/^[\u00e0-\u00ff\u4e00-\u4e10]{1,5}$/),
)

const value: fc.Arbitrary<Omit<WrittenProperty, 'name'>> = fc.oneof(
  fc.oneof(fc.string(), fc.string({ unit: 'binary' })).map((string) => ({
    value: { type: 'Edm.String' as const, value: string.toWellFormed() },
    json: JSON.stringify(string.toWellFormed()),
    type: undefined,
  })),
  fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }).map((number) => ({
    value: { type: 'Edm.Int32' as const, value: number },
    json: String(number),
    type: undefined,
  })),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => ({
    value: { type: 'Edm.Double' as const, value: number },
    json: Object.is(number, -0) ? '-0' : String(number),
    type: 'Edm.Double' as const,
  })),
  fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.stringMatching(/^\d{1,9}$/))
    .map(([whole, rest]) => ({
      value: { type: 'Edm.Double' as const, value: Number(`${whole}.${rest}`) },
      json: `${whole}.${rest}`,
      type: undefined,
    })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((number) => ({
    value: { type: 'Edm.Int64' as const, value: number },
    json: `"${number}"`,
    type: 'Edm.Int64' as const,
  })),
  fc.bigInt({ min: 0n, max: ticksMax }).map((ticks) => ({
    value: { type: 'Edm.DateTime' as const, value: ticks as Ticks },
    json: `"${formatTicks(ticks as Ticks)}"`,
    type: 'Edm.DateTime' as const,
  })),
  fc.uint8Array().map((bytes) => ({
    value: { type: 'Edm.Binary' as const, value: bytes },
    json: `"${Buffer.from(bytes).toString('base64')}"`,
    type: 'Edm.Binary' as const,
  })),
  fc.uuid().map((id) => ({
    value: { type: 'Edm.Guid' as const, value: id },
    json: `"${id.toUpperCase()}"`,
    type: 'Edm.Guid' as const,
  })),
  fc.boolean().map((yes) => ({
    value: { type: 'Edm.Boolean' as const, value: yes },
    json: String(yes),
    type: undefined,
  })),
)

const written: fc.Arbitrary<WrittenProperty> = fc
  .tuple(name, value)
  .map(([named, rest]) => ({ name: named, ...rest }))

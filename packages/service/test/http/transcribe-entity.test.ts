import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { readOutline } from '../../src/http/entity-outline.ts'
import { openJson } from '../../src/http/json-reader.ts'
import { type EntityBody, readEntityText } from '../../src/http/read-entity.ts'
import { transcriptOf } from '../../src/http/transcribe-entity.ts'
import { checkEntity } from '../../src/model/entity.ts'
import { Fault } from '../../src/model/faults.ts'
import { limits } from '../../src/model/limits.ts'
import { byName, encodeTexts, type PropertyOrder, type PropertyText } from '../../src/model/content.ts'
import { keyAt } from '../support/entities.ts'

describe('a transcript', () => {
  it('says what the reader says, or leaves it to the reader', () => {
    fc.assert(
      fc.property(entity, order, (members, asked) => {
        const next = members.map((member) => ({ ...member, value: member.next }))
        assertAgree(bodyOf(members), bodyOf(next), asked)
      }),
      { numRuns: 20_000 },
    )
  })

  it('agrees with the reader whatever byte is put into a body', () => {
    fc.assert(
      fc.property(entity, fc.nat(), fc.nat(255), order, (members, place, byte, asked) => {
        const body = bodyOf(members)
        const broken = Buffer.from(body)
        broken[place % broken.length] = byte
        assertAgree(body, broken, asked)
        assertAgree(body, body.subarray(0, place % body.length), asked)
      }),
      { numRuns: 20_000 },
    )
  })

  it('agrees with the reader on all that looks like a time', () => {
    const two = fc.nat(99).map((number) => String(number).padStart(2, '0'))
    const fraction = fc.stringMatching(/^(\.\d{0,3}0{0,6})?$/)
    fc.assert(
      fc.property(fc.array(two, { minLength: 7, maxLength: 7 }), fraction, (fields, rest) => {
        const [century, year, month, day, hour, minute, second] = fields
        const time = `${century}${year}-${month}-${day}T${hour}:${minute}:${second}${rest}Z`
        // Most fields would be too large: each is tried alone.
        for (const each of [time, `2024${time.slice(4)}`, ...fields.map((_, place) => alone(time, place))]) {
          assertAgree(bodyOfTime('2024-05-17T09:01:07Z'), bodyOfTime(each), 'given')
        }
      }),
      { numRuns: 3000 },
    )

    /** A good time but for one field, and the fraction, of this one. */
    function alone(time: string, place: number): string {
      const good = '2023-02-17T09:01:07'
      const from = [0, 2, 5, 8, 11, 14, 17][place] as number
      return `${good.slice(0, from)}${time.slice(from, from + 2)}${good.slice(from + 2)}${time.slice(good.length)}`
    }
  })

  // biome-ignore format: a table reads in columns
  const taken: readonly (readonly [before: string, body: string])[] = [
    ['{"PartitionKey":"p","RowKey":"r","a":"x","b":1,"c":true}',     '{"PartitionKey":"","RowKey":"~","a":"","b":-999999999,"c":false}'],
    ['{"RowKey":"r","a":1.5,"PartitionKey":"p"}',                    '{"RowKey":"r","a":-7,"PartitionKey":"p"}'],
    ['{"a@odata.type":"Edm.Int64","a":"5","b":"x"}',                 '{"a@odata.type":"Edm.Int64","a":"-123456789012345678","b":"y"}'],
    ['{"a":"5","a@odata.type":"Edm.Int64"}',                         '{"a":"9223372036854775807","a@odata.type":"Edm.Int64"}'],
    ['{"a":0.5,"b":0.5,"c":0.5}',                                    '{"a":5.0,"b":1E+20,"c":1.7976931348623157E+308}'],
    ['{"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07Z"}',   '{"d@odata.type":"Edm.DateTime","d":"1601-01-01T00:00:00.0000001Z"}'],
    ['{"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07Z"}',   '{"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07.10Z"}'],
    ['{"a":1,"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07.000Z","e":"x"}', '{"a":2,"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:08.000Z","e":"y"}'],
    ['{"a":1,"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07.000Z","e":"x"}', '{"a":2,"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:08.001Z","e":"y"}'],
    ['{"g@odata.type":"Edm.Guid","g":"3f2c8a90-5b1d-4e67-9a4f-000000000000"}', '{"g@odata.type":"Edm.Guid","g":"ffffffff-ffff-ffff-ffff-ffffffffffff"}'],
    ['{"b@odata.type":"Edm.Binary","b":""}',                         '{"b@odata.type":"Edm.Binary","b":"AAECAw=="}'],
    ['{ "a" : "x", "b" : null }\n',                                  '{ "a" : "y", "b" : null }\n'],
    ['{"\\u0061":"x","é":1}',                                        '{"\\u0061":"y","é":2}'],
    ['{"Timestamp":"x","odata.etag":"y","a":1}',                     '{"Timestamp":"z","odata.etag":"","a":2}'],
    ['{}',                                                           '{}'],
  ]
  for (const [before, body] of taken) {
    it(`takes ${JSON.stringify(body)}`, () => {
      for (const asked of ['given', 'by name'] as const) {
        assert.equal(assertAgree(Buffer.from(before), Buffer.from(body), asked), 'taken')
      }
    })
  }

  const long = 'x'.repeat(limits.stringCharactersMax)
  // biome-ignore format: a table reads in columns
  const left: readonly (readonly [before: string, body: string])[] = [
    ['{"a":"x"}',                                                    '{"a":"\\u0078"}'],
    ['{"a":"x"}',                                                    '{"a":"é"}'],
    ['{"a":"x"}',                                                    '{"a": "x"}'],
    ['{"a":"x"}',                                                    `{"a":"${long}x"}`],
    ['{"a":1}',                                                      '{"a":-0}'],
    ['{"a":1}',                                                      '{"a":01}'],
    ['{"a":1}',                                                      '{"a":1.50}'],
    ['{"a":1}',                                                      '{"a":0.00001}'],
    ['{"a":1}',                                                      '{"a":1e3}'],
    ['{"a":1}',                                                      '{"a":-}'],
    ['{"a":1,"a@odata.type":"Edm.Double"}',                          '{"a":1,"a@odata.type":"Edm.Double"}'],
    ['{"a":1,"a@odata.type":"Edm.Int32"}',                           '{"a":1.5,"a@odata.type":"Edm.Int32"}'],
    ['{"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07Z"}',   '{"d@odata.type":"Edm.DateTime","d":"1600-12-31T23:59:59Z"}'],
    ['{"d@odata.type":"Edm.DateTime","d":"2024-05-17T09:01:07Z"}',   '{"d@odata.type":"Edm.DateTime","d":"2024-05-17T11:01:07+02:00"}'],
    ['{"g@odata.type":"Edm.Guid","g":"3f2c8a90-5b1d-4e67-9a4f-000000000000"}', '{"g@odata.type":"Edm.Guid","g":"3F2C8A90-5B1D-4E67-9A4F-000000000000"}'],
    ['{"b@odata.type":"Edm.Binary","b":""}',                         '{"b@odata.type":"Edm.Binary","b":"AB=="}'],
    ['{"a":1,"a":2}',                                                '{"a":1,"a":2}'],
    ['{"a-b":1}',                                                    '{"a-b":1}'],
    ['{"PartitionKey":1}',                                           '{"PartitionKey":1}'],
    [manyProperties(limits.propertiesMax + 1),                       manyProperties(limits.propertiesMax + 1)],
  ]
  for (const [before, body] of left) {
    it(`leaves ${JSON.stringify(body.slice(0, 70))} to the reader`, () => {
      for (const asked of ['given', 'by name'] as const) {
        assert.equal(assertAgree(Buffer.from(before), Buffer.from(body), asked), 'left')
      }
    })
  }
})

function bodyOfTime(time: string): Buffer {
  return Buffer.from(`{"a":1,"d@odata.type":"Edm.DateTime","d":"${time}","e":"x"}`)
}

/** Holds the transcript made of one body against the reader, on another. */
function assertAgree(before: Buffer, body: Buffer, asked: PropertyOrder): 'taken' | 'left' {
  const { outline } = readOutline(openJson(before))
  const transcribed = transcriptOf(outline, asked)?.(body)
  if (transcribed === undefined) return 'left'
  const { partition, row, properties } = read(body)
  assert.deepEqual([transcribed.partition, transcribed.row], [partition, row])
  const texts = properties as readonly PropertyText[]
  checkEntity(keyAt('', ''), texts)
  assert.deepEqual(transcribed.properties, encodeTexts(asked === 'given' ? texts : texts.toSorted(byName)))
  return 'taken'
}

function read(body: Buffer): EntityBody {
  try {
    return readEntityText(body)
  } catch (error) {
    assert(error instanceof Fault)
    return assert.fail(`taken, although refused: ${body.toString('latin1')}`)
  }
}

function manyProperties(count: number): string {
  return `{${Array.from({ length: count }, (_, i) => `"n${i}":1`).join(',')}}`
}

interface Written {
  readonly name: string
  readonly type: string | undefined
  readonly value: string
  /** The value in the body that comes next. */
  readonly next: string
  readonly after: boolean
  readonly blank: string
}

function bodyOf(members: readonly Written[]): Buffer {
  const distinct = [...new Map(members.map((member) => [member.name, member])).values()]
  const texts = distinct.map(({ name, value, type, after, blank }) => {
    const own = `${JSON.stringify(name)}:${blank}${value}`
    if (type === undefined) return own
    const annotation = `${JSON.stringify(`${name}@odata.type`)}:"${type}"`
    return after ? `${own},${annotation}` : `${annotation},${own}`
  })
  return Buffer.from(`{${texts.join(',')}}`)
}

const order = fc.constantFrom<PropertyOrder>('given', 'by name')

// biome-ignore format: a table reads in columns
const valuesByType = [
  [undefined,      fc.string().map((text) => JSON.stringify(text))],
  [undefined,      fc.constantFrom('""', '"x"', '"plain text"', '"\\u0041"', '"a\\"b"', '"é"', '"\x7f"')],
  [undefined,      fc.constantFrom('0', '-0', '1', '-1', '999999999', '1000000000', '2147483647', '2147483648', '-2147483648')],
  [undefined,      fc.constantFrom('1999999999', '2000000000', '-2099999999', '2100000000', '2999999999', '10000000000', '-2147483649')],
  [undefined,      fc.constantFrom('0.5', '-0.5', '1.5', '-1.25', '1.50', '5.0', '0.0001', '0.00001', '1e3', '1E+20')],
  [undefined,      fc.integer().map(String)],
  [undefined,      fc.double({ noDefaultInfinity: true, noNaN: true }).map(String)],
  [undefined,      fc.constantFrom('true', 'false')],
  [undefined,      fc.constant('null')],
  ['Edm.String',   fc.constantFrom('""', '"x"', '"5"', '"\\n"')],
  ['Edm.Binary',   fc.constantFrom('""', '"AAECAw=="', '"AB=="', '"AAEC"', '"A"')],
  ['Edm.Boolean',  fc.constantFrom('true', 'false', '"true"')],
  ['Edm.DateTime', fc.constantFrom('"2024-05-17T09:01:07Z"', '"2024-05-17T09:01:07.1Z"', '"2024-05-17T09:01:07.10Z"', '"2024-05-17T09:01:07.000Z"', '"1600-01-01T00:00:00Z"', '"1602-01-01T00:00:00Z"')],
  ['Edm.Double',   fc.constantFrom('1.5', '1', '-0', '0.5', '1.0', '123456789.123456', '1234567890.1234567', '"NaN"', '"1.5"')],
  ['Edm.Guid',     fc.constantFrom('"3f2c8a90-5b1d-4e67-9a4f-0123456789ab"', '"3F2C8A90-5B1D-4E67-9A4F-0123456789AB"', '"3f2c8a90"')],
  ['Edm.Int32',    fc.constantFrom('0', '5', '-5', '1234567890', '"5"', '1.5')],
  ['Edm.Int64',    fc.constantFrom('"0"', '"-0"', '"5"', '"007"', '"999999999999999999"', '"9223372036854775807"', '"9223372036854775808"', '5')],
] as const
const anyValue = fc.oneof(...valuesByType.map(([, value]) => value))
const anyType = fc.constantFrom(...valuesByType.map(([type]) => type))

/** Mostly two values of one type. */
const typed = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.oneof(
      ...valuesByType.map(([type, value]) => fc.record({ type: fc.constant(type), value, next: value })),
    ),
  },
  { weight: 1, arbitrary: fc.record({ type: anyType, value: anyValue, next: anyValue }) },
)

const key = fc.record({
  type: fc.constantFrom(undefined, undefined, 'Edm.String'),
  value: fc.constant('"k"'),
  next: fc.constantFrom('""', '"key"', '"a/b"', '"\\u0041"'),
})

const writing = { after: fc.boolean(), blank: fc.constantFrom('', '', '', ' ') }

const member: fc.Arbitrary<Written> = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'A', 'B', '_', 'é', 'Timestamp', 'odata.etag'), typed),
      fc.tuple(fc.constantFrom('PartitionKey', 'RowKey'), key),
    ),
    fc.record(writing),
  )
  .map(([[name, values], style]) => ({ name, ...values, ...style }))

const entity = fc.array(member, { minLength: 1, maxLength: 6 })

/** Entities to rows and back; refusals before anything is sent. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { entity, Instant, int32, key, string, text } from '../../src/index.ts'
import { checkValues, decodeEntity, encodeEntity, indexLayout, ownLayout } from '../../src/row/codec.ts'
import { fromClientEntity } from '../../src/row/client-row.ts'
import { checkRow } from '../../src/row/limits.ts'
import { AllTypes, Employee } from '../support/company.ts'

const timestamp = Instant.parse('2026-11-15T12:00:00.1234567Z')
const everything = {
  group: 'g/1',
  id: 7,
  text: 'été',
  flag: false,
  small: -5,
  large: 9_007_199_254_740_993n,
  real: 5,
  at: Instant.parse('2026-11-15T12:00:00.0000001Z'),
  guid: '0F0E0D0C-0000-4000-8000-000000000001',
  bytes: Uint8Array.from([0, 1, 255]),
}

describe('a row', () => {
  it('holds each type exactly, and nothing its keys hold', () => {
    const placed = encodeEntity(AllTypes, ownLayout(AllTypes), checkValues(AllTypes, everything))
    assert.deepEqual(placed, {
      partitionKey: 'g.\ufffd31',
      rowKey: '000000007',
      row: {
        text: { type: 'String', value: 'été' },
        flag: { type: 'Boolean', value: false },
        small: { type: 'Int32', value: -5 },
        large: { type: 'Int64', value: '9007199254740993' },
        real: { type: 'Double', value: 5 },
        at: { type: 'DateTime', value: '2026-11-15T12:00:00.0000001Z' },
        guid: { type: 'Guid', value: '0f0e0d0c-0000-4000-8000-000000000001' },
        bytes: { type: 'Binary', value: 'AAH/' },
      },
    })
    const stored = { ...placed, cells: placed.row, etag: 'e', timestamp }
    const read = decodeEntity(AllTypes, ownLayout(AllTypes), stored)
    assert.deepEqual(read, { ...everything, guid: everything.guid.toLowerCase() })
  })

  it('of an index holds what was chosen, and the keys of the entity', () => {
    const jones = { department: 'Sales', id: 223, email: 'j@x', name: 'Jones', age: 40 }
    assert.deepEqual(encodeEntity(Employee, indexLayout(Employee, 'byName'), jones), {
      partitionKey: 'Sales',
      rowKey: 'name_Jones 000223',
      row: { email: { type: 'String', value: 'j@x' } },
    })
    assert.deepEqual(encodeEntity(Employee, indexLayout(Employee, 'byEmail'), jones), {
      partitionKey: 'Sales',
      rowKey: 'email_j@x',
      row: {
        id: { type: 'Int32', value: 223 },
        name: { type: 'String', value: 'Jones' },
        age: { type: 'Int32', value: 40 },
      },
    })
  })

  it('is read from what the client of the service gives', () => {
    const row = fromClientEntity({
      'odata.metadata': { value: 'x', type: 'String' },
      partitionKey: 'p',
      rowKey: 'r',
      etag: 'e',
      timestamp: { value: '2026-11-15T12:00:00.1234567Z', type: 'DateTime' },
      flag: { value: 'true', type: 'Boolean' },
      whole: { value: '5', type: 'Int32' },
      half: { value: '0.5', type: 'Double' },
      none: { value: 'NaN', type: 'Double' },
    })
    assert.deepEqual(row, {
      partitionKey: 'p',
      rowKey: 'r',
      etag: 'e',
      timestamp,
      cells: {
        flag: { type: 'Boolean', value: true },
        whole: { type: 'Int32', value: 5 },
        half: { type: 'Double', value: 0.5 },
        none: { type: 'Double', value: 'NaN' },
      },
    })
  })

  it('that lacks a property, or has it in another type, is refused by name', () => {
    const placed = { partitionKey: 'Sales', rowKey: 'empid_000001', etag: 'e', timestamp }
    const email = { type: 'String', value: 'j' } as const
    assert.throws(() => decodeEntity(Employee, ownLayout(Employee), { ...placed, cells: { email } }), {
      code: 'UnreadableRow',
      message: 'Employee at (Sales, empid_000001): name is missing',
    })
    const cells = { email, name: { type: 'Int32', value: 5 } } as const
    assert.throws(() => decodeEntity(Employee, ownLayout(Employee), { ...placed, cells }), {
      message: /name is a Int32, not a String/,
    })
  })
})

describe('a value', () => {
  it('of the wrong type is refused by name', () => {
    const wrong: readonly (readonly [string, unknown])[] = [
      ['text', 5],
      ['text', '\ud83d'],
      ['flag', 'true'],
      ['small', 2 ** 31],
      ['small', 0.5],
      ['large', 5],
      ['large', 2n ** 63n],
      ['real', '5'],
      ['at', '2026-11-15'],
      ['at', new Date(Number.NaN)],
      ['at', new Date('1600-12-31')],
      ['guid', 'not one'],
      ['bytes', [1]],
      ['text', null],
    ]
    for (const [name, value] of wrong) {
      const message = new RegExp(`^AllTypes\\.${name} `)
      assert.throws(() => checkValues(AllTypes, { ...everything, [name]: value }), {
        code: 'InvalidValue',
        message,
      })
    }
    assert.throws(() => checkValues(AllTypes, { group: 'g' }), { message: 'AllTypes.id is missing' })
  })
})

describe('limits', () => {
  const cell = (characters: number) => ({ type: 'String', value: 'x'.repeat(characters) }) as const
  it('are checked with the name of what is too large', () => {
    const cases: readonly (readonly [() => void, RegExp])[] = [
      [() => checkRow('E', 'p', 'r', { a: cell(32_769) }), /E: a of 32769 characters/],
      [() => checkRow('E', 'x'.repeat(1025), 'r', {}), /E: PartitionKey of 1025 bytes/],
      [() => checkRow('E', 'p', 'é'.repeat(513), {}), /E: RowKey of 1026 bytes/],
      [
        () =>
          checkRow(
            'E',
            'p',
            'r',
            Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`a${i}`, cell(32_000)])),
          ),
        /E: 108\d+ bytes; a row holds 1048576/,
      ],
      [
        () =>
          checkRow(
            'E',
            'p',
            'r',
            Object.fromEntries(Array.from({ length: 253 }, (_, i) => [`a${i}`, cell(1)])),
          ),
        /E: 253 properties/,
      ],
      [
        () =>
          checkRow('E', 'p', 'r', { b: { type: 'Binary', value: Buffer.alloc(65_537).toString('base64') } }),
        /E: b of 65537 bytes/,
      ],
    ]
    for (const [call, message] of cases) assert.throws(call, { code: 'LimitExceeded', message })
    checkRow('E', 'x'.repeat(1024), 'é'.repeat(512), { a: cell(32_768) })
  })
})

describe('a definition', () => {
  const properties = { a: string(), b: string(), n: int32(), maybe: string().optional() }
  it('that contradicts itself is refused where it is made, by name', () => {
    const [partition, row] = [key(text('a')), key('r_', text('b'))]
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [
        () => entity('E', { properties, partition: key(text('n')), row }),
        /E\.partition: n is a Int32, which text/,
      ],
      [() => entity('E', { properties, partition, row: key(text('a')) }), /E: a stands in both keys/],
      [() => entity('E', { properties, partition, row: key(text('maybe')) }), /E\.row: maybe is optional/],
      [
        () => entity('E', { properties, partition, row: key('~x_', text('b')) }),
        /E: RowKeys that begin with ~ are kept for the library/,
      ],
      [
        () => entity('E', { properties, partition, row: key('a/b', text('b')) }),
        /E\.row: the literal "a\/b"/,
      ],
      [
        () => entity('E', { properties: { ...properties, etag: string() }, partition, row }),
        /E: etag is a reserved/,
      ],
      [
        () => entity('E', { properties: { ...properties, 'a-b': string() }, partition, row }),
        /"a-b" is no name/,
      ],
      [
        () => entity('E', { properties, partition, row, indexes: { i: { row: key('r_x', text('a')) } } }),
        /E: the row and its indexes must begin differently/,
      ],
      [
        () => entity('E', { properties, partition, row, typedBy: { property: 'n' } }),
        /E: n is a property and tells the type/,
      ],
      [
        () =>
          entity('E', {
            properties: { ...properties, s: string().encrypted() },
            partition,
            row: key(text('s')),
          }),
        /E\.row: s is encrypted/,
      ],
    ]
    for (const [make, message] of cases) assert.throws(make, { code: 'InvalidDefinition', message })
  })

  it('is frozen', () => {
    assert(
      Object.isFrozen(Employee) && Object.isFrozen(Employee.properties) && Object.isFrozen(Employee.indexes),
    )
  })
})

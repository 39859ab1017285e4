import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { checkEntity, entityBytes } from '../../src/model/entity.ts'
import { limits } from '../../src/model/limits.ts'
import { type PropertyText, propertyText } from '../../src/model/content.ts'
import type { Value } from '../../src/model/values.ts'
import { assertFault } from '../support/assert-fault.ts'
import { binary, int32, keyAt, text } from '../support/entities.ts'
import { ticksAt } from '../support/test-clock.ts'

const key = keyAt('p', 'r')

function check(...properties: readonly PropertyText[]): () => void {
  return () => checkEntity(key, properties)
}

function named(name: string, value: Value = int32(1)): PropertyText {
  return propertyText({ name, value })
}

function born(time: string): PropertyText {
  return named('born', { type: 'Edm.DateTime', value: ticksAt(time) })
}

function numbered(count: number, value: Value = int32(1)): PropertyText[] {
  return Array.from({ length: count }, (_, i) => named(`p${i}`, value))
}

describe('an entity', () => {
  it('may have nothing but its keys', () => check()())

  it('has at most 252 properties', () => {
    check(...numbered(252))()
    assertFault(check(...numbered(253)), 'TooManyProperties')
  })

  it('has names of at most 255 characters', () => {
    check(named('n'.repeat(255)))()
    check(named('\u4e00'.repeat(255)))()
    assertFault(check(named('n'.repeat(256))), 'PropertyNameTooLong')
    assertFault(check(named('\u4e00'.repeat(256))), 'PropertyNameTooLong')
  })

  for (const name of [
    'a',
    'A',
    '_',
    '_1',
    'a1',
    'timestamp',
    'ETag',
    '\u00e9t\u00e9',
    '\u4e2d\u6587',
    '\u2160',
    'a\u0301',
    'a\u203f',
    'a\u200d',
    'a\u0663',
  ]) {
    it(`may have a property ${JSON.stringify(name)}`, () => check(named(name))())
  }

  for (const name of [
    '',
    '1',
    '1a',
    '-',
    'a-b',
    'a b',
    ' a',
    'a.b',
    'a@b',
    'a\n',
    'a/b',
    '\u0301a',
    '\u203fa',
    '\u20ac',
    'a\u0000',
    '\ud800',
    'a\u00b7',
  ]) {
    it(`may not have a property ${JSON.stringify(name)}`, () =>
      assertFault(check(named(name)), 'PropertyNameInvalid'))
  }

  it('has strings of at most 32,768 units', () => {
    check(named('a', text('x'.repeat(32_768))))()
    check(named('a', text('\u4e00'.repeat(32_768))))()
    assertFault(check(named('a', text('x'.repeat(32_769)))), 'PropertyValueTooLarge')
    assertFault(check(named('a', text('\ud83d\ude00'.repeat(16_385)))), 'PropertyValueTooLarge')
  })

  it('has binaries of at most 65,536 bytes', () => {
    check(named('a', binary(65_536)))()
    assertFault(check(named('a', binary(65_537))), 'PropertyValueTooLarge')
  })

  it('has no time before 1601', () => {
    check(born('1601-01-01T00:00:00Z'))()
    check(born('9999-12-31T23:59:59.9999999Z'))()
    assertFault(
      check(born('1600-12-31T23:59:59.9999999Z')),
      'OutOfRangeInput',
      `The 'born' parameter of value '12/31/1600 23:59:59' is out of range.`,
    )
    assertFault(
      check(born('0001-01-01T00:00:00Z')),
      'OutOfRangeInput',
      `The 'born' parameter of value '01/01/0001 00:00:00' is out of range.`,
    )
  })

  it('is as large as the formula says', () => {
    // biome-ignore format: a table reads in columns
    const sizes: readonly (readonly [Value, bytes: number])[] = [
      [binary(0),                                       4],
      [binary(7),                                       11],
      [{ type: 'Edm.Boolean', value: true },            1],
      [{ type: 'Edm.DateTime', value: ticksAt('2020-01-01T00:00:00Z') }, 8],
      [{ type: 'Edm.Double', value: Number.NaN },       8],
      [{ type: 'Edm.Guid', value: '00000000-0000-0000-0000-000000000000' }, 16],
      [int32(1),                                        4],
      [{ type: 'Edm.Int64', value: 1n },                8],
      [text(''),                                        4],
      [text('\u4e00ab'),                                10],
      [text('\ud83d\ude00'),                            8],
    ]
    assert.equal(entityBytes(keyAt('', ''), []), 4)
    assert.equal(entityBytes(keyAt('ab', '\u4e00'), []), 4 + 2 * 3)
    for (const [value, bytes] of sizes) {
      assert.equal(entityBytes(keyAt('', ''), [named('n\u00e9', value)]), 4 + 8 + 2 * 2 + bytes)
    }
  })

  it('has at most 1 MiB by that formula', () => {
    const most = numbered(15, binary(limits.binaryBytesMax))
    const rest = limits.entityBytesMax - entityBytes(key, most) - 8 - 2 - 4
    check(...most, named('f', binary(rest)))()
    assertFault(check(...most, named('f', binary(rest + 1))), 'EntityTooLarge')
    assertFault(() => checkEntity(keyAt('pp', 'r'), [...most, named('f', binary(rest))]), 'EntityTooLarge')
    check()()
  })

  it('is refused for the first rule it breaks', () => {
    const longName = named('n'.repeat(256))
    const badName = named('a-b')
    const largeValue = named('large', text('x'.repeat(32_769)))
    const early = named('early', { type: 'Edm.DateTime', value: ticksAt('0001-01-01T00:00:00Z') })
    const largeEntity = numbered(17, binary(65_536))
    assertFault(check(...numbered(252), longName), 'TooManyProperties')
    assertFault(check(...numbered(252), badName, largeValue), 'TooManyProperties')
    assertFault(check(longName, badName), 'PropertyNameTooLong')
    assertFault(check(badName, longName), 'PropertyNameInvalid')
    assertFault(check(named('-'.repeat(256))), 'PropertyNameTooLong')
    assertFault(check(largeValue, badName), 'PropertyNameInvalid')
    assertFault(check(...largeEntity, badName), 'PropertyNameInvalid')
    assertFault(check(...largeEntity, largeValue), 'EntityTooLarge')
    assertFault(check(named('one', binary(1_048_576))), 'EntityTooLarge')
    assertFault(check(early, ...largeEntity), 'EntityTooLarge')
    assertFault(check(largeValue, early), 'PropertyValueTooLarge')
  })
})

import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { compareKeys, keyBytes, parsePartitionKey, parseRowKey, successor } from '../../src/model/keys.ts'
import { limits } from '../../src/model/limits.ts'
import { assertFault } from '../support/assert-fault.ts'

describe('a key', () => {
  it('may be empty, blank, or any text without forbidden characters', () => {
    for (const text of [
      '',
      ' ',
      ' a ',
      'O\u2019Brien',
      "'",
      '"',
      '%',
      '+',
      '&=',
      '\u00a0',
      '\ud800',
      '\ud83d\ude00',
      '\uffff',
      '.',
      '..',
    ]) {
      assert.equal(parsePartitionKey(text), text)
      assert.equal(parseRowKey(text), text)
    }
  })

  it('may not hold / \\ # ? or control characters', () => {
    const forbidden = new Set(['/', '\\', '#', '?'])
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = `a${String.fromCharCode(unit)}b`
      const refused =
        unit < 0x20 || (unit >= 0x7f && unit <= 0x9f) || forbidden.has(String.fromCharCode(unit))
      if (!refused) assert.equal(parseRowKey(text), text)
      else {
        assertFault(
          () => parsePartitionKey(text),
          'OutOfRangeInput',
          `The 'PartitionKey' parameter of value '${text}' is out of range.`,
        )
        assertFault(
          () => parseRowKey(text),
          'OutOfRangeInput',
          `The 'RowKey' parameter of value '${text}' is out of range.`,
        )
      }
    }
  })

  it('has at most 1,024 units and 1,990 bytes', () => {
    // biome-ignore format: a table reads in columns
    const cases: readonly (readonly [text: string, accepted: boolean])[] = [
      ['k'.repeat(1024),                        true],
      ['k'.repeat(1025),                        false],
      ['\u00e9'.repeat(995),                    true],
      [`${'\u00e9'.repeat(995)}k`,              false],
      ['\u4e00'.repeat(663),                    true],
      [`${'\u4e00'.repeat(663)}k`,              true],
      [`${'\u4e00'.repeat(663)}kk`,             false],
      ['\u4e00'.repeat(664),                    false],
      ['\u4e00'.repeat(512),                    true],
      ['\ud83d\ude00'.repeat(256),              true],
      [`${'\u00e9'.repeat(966)}${'k'.repeat(58)}`, true],
      [`${'\u00e9'.repeat(967)}${'k'.repeat(57)}`, false],
    ]
    for (const [text, accepted] of cases) {
      if (accepted) assert.equal(parseRowKey(text), text)
      else assertFault(() => parseRowKey(text), 'PropertyValueTooLarge')
      assert.equal(accepted, text.length <= limits.keyCharactersMax && keyBytes(text) <= limits.keyBytesMax)
    }
  })

  it('is judged by its characters before its length', () => {
    const slashes = '/'.repeat(2000)
    const told = `The 'RowKey' parameter of value '${slashes}' is out of range.`
    assertFault(() => parseRowKey(slashes), 'OutOfRangeInput', told)
  })

  it('counts one to three bytes for each unit', () => {
    assert.equal(keyBytes(''), 0)
    assert.equal(keyBytes('a~'), 2)
    assert.equal(keyBytes('\u0080\u07ff'), 4)
    assert.equal(keyBytes('\u0800\uffff'), 6)
    assert.equal(keyBytes('\ud83d\ude00'), 6)
  })
})

describe('the order of keys', () => {
  it('is by partition, then row, by code unit', () => {
    const ascending = [
      ['', ''],
      ['', 'a'],
      ['A', ''],
      ['a', ''],
      ['a', '\ud83d\ude00'],
      ['a', '\uffff'],
      ['aa', ''],
      ['\ud83d\ude00', ''],
      ['\uffff', ''],
    ].map(([partition = '', row = '']) => ({ partition, row }))
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) assert.equal(compareKeys(a, b), Math.sign(i - j))
    }
  })

  it('has nothing between a text and its successor', () => {
    assert(successor('a') > 'a')
    assert(successor('a') < 'a!')
  })
})

import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { catalogue, deletions, firstTableId, parseTableName, rowOfTable } from '../../src/model/table.ts'
import { assertFault } from '../support/assert-fault.ts'

const lengthText = 'The specified resource name length is not within the permissible limits.'

describe('a table name', () => {
  for (const name of ['abc', 'ABC', 'a1b', 'a'.repeat(63), 'z99', 'Table', 'tablesx', 'table']) {
    it(`may be ${name}`, () => assert.equal(parseTableName(name), name))
  }

  for (const name of ['', 'a', 'ab', 'a'.repeat(64), '_', '\u00f1', '-'.repeat(64), '1']) {
    it(`may not have ${name.length} characters`, () => {
      assertFault(() => parseTableName(name), 'OutOfRangeInput', lengthText)
    })
  }

  for (const name of [
    'a_b',
    'a-b',
    '1ab',
    '\u00f1ab',
    'ab\u00f1',
    'a b',
    'ab!',
    '$abc',
    'abc\n',
    'ab\u0130',
    '\u212aab',
    '-'.repeat(63),
  ]) {
    it(`may not be ${JSON.stringify(name)}`, () =>
      assertFault(() => parseTableName(name), 'InvalidResourceName'))
  }

  for (const name of ['tables', 'Tables', 'TABLES', 'tAbLeS']) {
    it(`may not be ${name}`, () => assertFault(() => parseTableName(name), 'InvalidInput'))
  }

  it('is the same in any case', () => {
    assert.equal(rowOfTable(parseTableName('MyTable')), rowOfTable(parseTableName('mYtABLE')))
  })
})

describe('table ids', () => {
  it('leave room for tables of our own', () => {
    assert(catalogue < firstTableId)
    assert(deletions < firstTableId)
    assert.notEqual(catalogue, deletions)
  })
})

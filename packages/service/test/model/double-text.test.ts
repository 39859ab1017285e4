import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { formatDouble } from '../../src/model/double-text.ts'
import { seededRandom } from '../support/random.ts'

// biome-ignore format: a table reads in columns
const samples: readonly (readonly [value: number, text: string])[] = [
  [0,                      '0.0'],
  [-0,                     '-0.0'],
  [3,                      '3.0'],
  [5,                      '5.0'],
  [10,                     '10.0'],
  [-1,                     '-1.0'],
  [3.1,                    '3.1'],
  [200.23,                 '200.23'],
  [4.81516423423,          '4.81516423423'],
  [0.1,                    '0.1'],
  [0.1 + 0.2,              '0.30000000000000004'],
  [1 / 3,                  '0.33333333333333331'],
  [2 / 3,                  '0.66666666666666663'],
  // Exactly half-way between two texts of seventeen digits: the even one was recorded.
  [123456789012345.125,    '123456789012345.12'],
  [1.23456789012346e24,    '1.23456789012346E+24'],
  [5e-324,                 '4.94065645841247E-324'],
  [-5e-324,                '-4.94065645841247E-324'],
  [1.7976931348623157e308, '1.7976931348623157E+308'],
  [2.2250738585072014e-308, '2.2250738585072014E-308'],
  [1e14,                   '100000000000000.0'],
  [1e15,                   '1E+15'],
  [-1e15,                  '-1E+15'],
  [999999999999999,        '999999999999999.0'],
  [1234567890123456,       '1234567890123456.0'],
  [9007199254740991,       '9007199254740991.0'],
  [12345678901234568,      '12345678901234568.0'],
  [2 ** 31,                '2147483648.0'],
  [0.0001,                 '0.0001'],
  [0.00012,                '0.00012'],
  [0.00001,                '1E-05'],
  [0.000012,               '1.2E-05'],
  [1e-10,                  '1E-10'],
  [1e100,                  '1E+100'],
  [1e21,                   '1E+21'],
  [1.5e300,                '1.5E+300'],
]

describe('the text of a double', () => {
  for (const [value, text] of samples) {
    it(`${text} is that of ${Object.is(value, -0) ? '-0' : value}`, () => {
      assert.equal(formatDouble(value), text)
    })
  }

  it('reads back as the same number, and never looks like a whole one', () => {
    const random = seededRandom(21)
    const bytes = new DataView(new ArrayBuffer(8))
    for (let i = 0; i < 60_000; i++) {
      bytes.setUint32(0, random.below(2 ** 32))
      bytes.setUint32(4, random.below(2 ** 32))
      check(bytes.getFloat64(0))
      check(random.below(2 ** 31))
      check(random.below(1_000_000) / 10 ** random.below(20))
      check(random.below(1_000_000) * 10 ** random.below(30))
    }
  })

  it('reads back at every power of two and of ten', () => {
    for (let power = -1074; power < 1024; power++) check(2 ** power)
    for (let power = -323; power < 309; power++) check(Number(`1e${power}`))
  })
})

function check(value: number): void {
  if (!Number.isFinite(value)) return
  const text = formatDouble(value)
  if (!Object.is(Number(text), value)) assert.fail(`${text} is not ${value}`)
  if (!/^-?(?:\d+\.\d+|\d(?:\.\d+)?E[+-]\d{2,3})$/.test(text)) assert.fail(`${text} has an odd shape`)
}

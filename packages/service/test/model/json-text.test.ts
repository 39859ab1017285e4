import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { jsonString } from '../../src/model/json-text.ts'

describe('a JSON string', () => {
  // biome-ignore format: a table reads in columns
  const samples: readonly (readonly [text: string, json: string])[] = [
    ['',                         '""'],
    ['plain /<>&\'',             '"plain /<>&\'"'],
    ['"\\\b\f\n\r\t',            '"\\"\\\\\\b\\f\\n\\r\\t"'],
    ['\u0000\u000b\u001f',       '"\\u0000\\u000b\\u001f"'],
    ['\u00e9\u00E9',             '"\\u00e9\\u00e9"'],
    ['\ud83d\ude00',             '"\\ud83d\\ude00"'],
    ['\ud83d \ude00',            '"\\ud83d \\ude00"'],
    ['\u2028\ufffe\uffff',       '"\\u2028\\ufffe\\uffff"'],
  ]
  for (const [text, json] of samples) it(`is written ${json}`, () => assert.equal(jsonString(text), json))

  it('is ASCII and reads back, whatever unit it holds', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = `a${String.fromCharCode(unit)}b`
      const json = jsonString(text)
      if (JSON.parse(json) !== text || /[^\u0020-\u007f]/.test(json)) assert.fail(`unit ${unit.toString(16)}`)
    }
  })
})

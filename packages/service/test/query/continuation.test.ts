import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { decodeContinuation, decodeToken, encodeToken } from '../../src/query/continuation.ts'
import { runs } from './arbitraries.ts'

// biome-ignore format: a table reads in columns
const recorded: readonly (readonly [key: string, token: string])[] = [
  ['', '1!0!'],
  ['pk', '1!4!cGs-'],
  ['rk801016e8123', '1!20!cms4MDEwMTZlODEyMw--'],
  ['ô', '1!4!w7Q-'],
  ['~~~', '1!4!fn5*'],
  ['???', '1!4!Pz8_'],
  ['\ud83d', '1!4!7aC9'],
  ['😀', '1!8!8J*YgA--'],
]

describe('a continuation token', () => {
  it('tokens are written as the service writes them', () => {
    for (const [key, token] of recorded) {
      assert.equal(encodeToken(key), token)
      assert.equal(decodeToken(token), key)
    }
  })

  it('the common alphabet of base64 is read too', () => {
    assert.equal(decodeToken('1!4!cGs='), 'pk')
    assert.equal(decodeToken('1!4!fn5+'), '~~~')
    assert.equal(decodeToken('1!4!Pz8/'), '???')
  })

  it('every text comes back from its token, which is visible ASCII and never empty', () => {
    const unit = fc.oneof(
      fc.constantFrom('\ud83d', '\ude00', 'a', '\u0000', '\ue000', '\uffff', '\ud7ff'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    )
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const token = encodeToken(text)
        assert.match(token, /^1![0-9]+![A-Za-z0-9*_-]*$/)
        assert.equal(decodeToken(token), text)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('malformed tokens are refused', () => {
    for (const token of [
      '',
      'cGs=',
      '1!',
      '1!4!',
      '1!3!cGs-',
      '1!4!cGs',
      '2!4!cGs-',
      '1!4!cG--',
      '1!4!cGt-',
      '1!4!c s-',
      '1!4!cGs-\n',
      '1!1!c',
      '1!4!_w--',
      '1!4!wIA-',
      '1!8!7aC97biA',
      '1!4!----',
      '1!-1!',
      '1!1e1!aaaaaaaaaa',
      'ô',
    ]) {
      assert.throws(() => decodeToken(token), { code: 'InvalidInput' }, token)
    }
  })

  it('a position is a partition, or a partition and a row', () => {
    assert.equal(decodeContinuation(undefined, undefined), undefined)
    assert.deepEqual(decodeContinuation('1!4!cGs-', undefined), { partition: 'pk', row: '' })
    assert.deepEqual(decodeContinuation('1!4!cGs-', '1!4!cms-'), { partition: 'pk', row: 'rk' })
    assert.throws(() => decodeContinuation('1!4!cGs-', ''), { code: 'InvalidInput' })
    assert.throws(() => decodeContinuation(undefined, '1!4!cms-'), { code: 'InvalidInput' })
    assert.throws(() => decodeContinuation('', undefined), { code: 'InvalidInput' })
  })
})

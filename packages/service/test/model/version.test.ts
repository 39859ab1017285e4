import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import type { Ticks } from '../../src/model/ticks.ts'
import { etagOf, nextVersion, parseEtag, type Version } from '../../src/model/version.ts'
import { ticksAt } from '../support/test-clock.ts'

describe('an ETag', () => {
  // biome-ignore format: a table reads in columns
  const pairs: readonly (readonly [stamp: string, etag: string])[] = [
    ['2020-07-27T22:35:08.4923533Z', `W/"datetime'2020-07-27T22%3A35%3A08.4923533Z'"`],
    ['2020-07-27T22:35:08.492353Z',  `W/"datetime'2020-07-27T22%3A35%3A08.492353Z'"`],
    ['2020-07-27T22:35:08Z',         `W/"datetime'2020-07-27T22%3A35%3A08Z'"`],
  ]
  for (const [stamp, etag] of pairs) {
    it(`of ${stamp} is ${etag}, and is read as such`, () => {
      assert.equal(etagOf(ticksAt(stamp) as Version), etag)
      assert.equal(parseEtag(etag), ticksAt(stamp))
    })
  }

  it('is read in other spellings of the same moment', () => {
    const moment = ticksAt('2020-07-27T22:35:08.5Z')
    for (const text of [
      `W/"datetime'2020-07-27T22%3a35%3a08.5Z'"`,
      `W/"datetime'2020-07-27T22:35:08.5Z'"`,
      `W/"datetime'2020-07-27T22:35:08.5000000Z'"`,
    ]) {
      assert.equal(parseEtag(text), moment)
    }
  })

  for (const text of [
    '',
    '*',
    'W/"wrong"',
    `"datetime'2020-07-27T22%3A35%3A08Z'"`,
    `w/"datetime'2020-07-27T22%3A35%3A08Z'"`,
    `W/"datetime'2020-07-27T22%3A35%3A08Z'`,
    `W/"datetime'2020-07-27T22%3A35%3A08Z'" `,
    `W/"datetime'2020-07-27T22%253A35%253A08Z'"`,
    `W/"datetime'2020-02-30T22%3A35%3A08Z'"`,
    `W/"datetime''"`,
    `W/"datetime'2020-07-27T22%3A35%3A08Z'",W/"datetime'2020-07-27T22%3A35%3A08Z'"`,
    `W/"datetime'2020-12-18T17:08:59.86111450Z'"`,
  ]) {
    it(`${JSON.stringify(text)} is none`, () => assert.equal(parseEtag(text), undefined))
  }
})

describe('the next version', () => {
  it('is now, or else just after the last', () => {
    const last = 1000n as Version
    assert.equal(nextVersion(last, 2000n as Ticks), 2000n)
    assert.equal(nextVersion(last, 1001n as Ticks), 1001n)
    assert.equal(nextVersion(last, 1000n as Ticks), 1001n)
    assert.equal(nextVersion(last, 1n as Ticks), 1001n)
  })
})

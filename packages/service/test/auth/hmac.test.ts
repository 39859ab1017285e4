/** The HMAC of our own against the runtime's, and against the published vectors. */
import { strict as assert } from 'node:assert'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hmacKey } from '../../src/auth/hmac.ts'

test('any text under any key is signed as by node:crypto', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 0, maxLength: 200 }),
      fc.array(fc.string({ unit: 'binary', maxLength: 400 }), { maxLength: 4 }),
      (secret, texts) => {
        const key = hmacKey(secret)
        for (const text of texts) assert.equal(key.digest(text).toString('hex'), byNode(secret, text))
      },
    ),
    { numRuns: 2000 },
  )
})

test('every length around the ends of blocks, and one beyond the room there is at first', () => {
  const secret = Buffer.from('key of thirty-two bytes and more')
  const key = hmacKey(secret)
  for (const length of [...Array(260).keys(), 4096, 100_000]) {
    const text = 'x'.repeat(length)
    assert.equal(key.digest(text).toString('hex'), byNode(secret, text), `${length} characters`)
  }
})

test('test cases 1, 2 and 6 of RFC 4231', () => {
  const cases = [
    [Buffer.alloc(20, 0x0b), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ] as const
  for (const [secret, text, expected] of cases) {
    assert.equal(hmacKey(secret).digest(text).toString('hex'), expected)
  }
})

function byNode(secret: Uint8Array, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex')
}

/** Keys keep the order of their parts, never collide, and give their parts back. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Instant, ticksMax } from '../../src/definition/instant.ts'
import {
  formatAllBuckets,
  formatKey,
  formatLeading,
  parseKey,
  type KeyTemplate,
  type Values,
} from '../../src/definition/key-template.ts'
import { afterPrefix } from '../../src/definition/key-text.ts'
import type { PropertyMap, Value } from '../../src/definition/properties.ts'
import {
  asc,
  dateTime,
  desc,
  digits,
  guid,
  hash,
  int32,
  int64,
  key,
  spread,
  string,
  text,
} from '../../src/index.ts'
import { runs } from '../support/runs.ts'

const properties: PropertyMap = {
  a: string(),
  b: string(),
  n: int32(),
  big: int64(),
  at: dateTime(),
  id: guid(),
}

/** Few and alike, so that they meet; with all that is escaped, and both sides of the surrogates. */
const units = [
  'a',
  'b',
  ' ',
  '!',
  '"',
  '#',
  '$',
  '.',
  '/',
  '0',
  '>',
  '?',
  '@',
  '[',
  '\\',
  ']',
  '_',
  '~',
  'é',
  '\ud7ff',
  '😀',
  '\ue000',
  '\ufffd',
  '\ufffe',
  '\uffff',
  '3',
  '4',
]
const word = fc.string({ unit: fc.constantFrom(...units), maxLength: 4 })
const values = fc.record({
  a: word,
  b: word,
  n: fc.oneof(fc.integer({ min: 0, max: 999 }), fc.constantFrom(0, 9, 10, 99, 100, 999)),
  big: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  at: fc.bigInt({ min: 0n, max: ticksMax }).map((ticks) => Instant.ofTicks(ticks)),
  id: fc.uuid(),
})

const order = (template: KeyTemplate, one: Values, other: Values): number => {
  for (const part of template.parts) {
    if (typeof part === 'string') continue
    const [x, y] = [plain(one[part.names[0] as string]), plain(other[part.names[0] as string])]
    const descending = (part.kind === 'digits' || part.kind === 'time') && part.descending
    if (x !== y) return x < y === descending ? 1 : -1
  }
  return 0
}
const plain = (value: Value | undefined): string | number | bigint =>
  value instanceof Instant ? value.ticks : (value as string | number | bigint)

const templates: Readonly<Record<string, KeyTemplate>> = {
  'a text': key(text('a')),
  'two texts': key(text('a'), text('b')),
  'a text between literals': key('x_', text('a'), '_y'),
  'texts and numbers': key(text('a'), digits('n', 3), text('b')),
  'numbers and a text': key('empid_', digits('n', 3), '_', text('a')),
  'descending numbers': key(digits('n', 3, 'desc'), '_', digits('big', 19, 'desc')),
  'the newest first': key(desc('at'), '_', text('id')),
  'the oldest first': key(asc('at'), text('a')),
  'a guid before a text': key(text('id'), text('a')),
}

describe('a key', () => {
  for (const [name, template] of Object.entries(templates)) {
    it(`of ${name} sorts as its parts do, and gives them back`, () => {
      fc.assert(
        fc.property(values, values, (one, other) => {
          const [x, y] = [formatKey(template, properties, one), formatKey(template, properties, other)]
          assert.equal(Math.sign(x < y ? -1 : x > y ? 1 : 0), order(template, one, other))
          assert(!/[#/\\?\u0000-\u001f\u007f-\u009f]/.test(x), x)
          const parsed = parseKey(template, properties, x)
          for (const each of template.names) assert.deepEqual(parsed?.[each], one[each as keyof typeof one])
        }),
        { numRuns: runs(1500) },
      )
    })
  }

  it('is refused when it was made by another template', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...units), maxLength: 12 }), (foreign) => {
        for (const template of Object.values(templates)) {
          const parsed = parseKey(template, properties, foreign)
          if (parsed === undefined) continue
          assert.equal(formatKey(template, properties, parsed), foreign)
        }
      }),
      { numRuns: runs(1500) },
    )
  })

  it('is written as the guide writes it', () => {
    assert.equal(formatKey(key('empid_', digits('n', 6)), properties, { n: 223 }), 'empid_000223')
    assert.equal(
      formatKey(key('email_', text('a')), properties, { a: 'jonesj@contoso.com' }),
      'email_jonesj@contoso.com',
    )
    const at = Instant.parse('2026-11-15T00:00:00Z')
    assert.equal(formatKey(key(desc('at')), properties, { at }), '2516075999999999999')
    assert.equal(formatKey(key(asc('at')), properties, { at }), '0639302976000000000')
    assert.equal(
      formatKey(key(text('a')), properties, { a: 'a/b#c?d\\e' }),
      'a.\ufffd3b"\ufffd3c>\ufffd3d[\ufffd3e',
    )
    assert.equal(
      formatKey(key(text('a'), text('b')), properties, { a: 'Human Resources', b: 'x y' }),
      'Human!0Resources x y',
    )
  })

  it('refuses what it cannot hold, and names the property', () => {
    const refused: readonly (readonly [KeyTemplate, Values, RegExp])[] = [
      [key(digits('n', 3)), { n: 1000 }, /n: 1000 is not in 0…999/],
      [key(digits('n', 3)), { n: -1 }, /n: -1/],
      [key(text('a')), { a: 'a\nb' }, /a holds a control character/],
      [key(text('a')), { a: 'a\u0085b' }, /a holds a control character/],
      [key(text('a')), { a: '\ud83d' }, /a holds half of a surrogate pair/],
      [key(text('a')), {}, /a is missing/],
    ]
    for (const [template, given, message] of refused) {
      assert.throws(() => formatKey(template, properties, given), { code: 'InvalidValue', message })
    }
  })
})

describe('leading parts', () => {
  it('give the beginning of all keys that have them, and of no other', () => {
    const template = key('p_', text('a'), digits('n', 3), text('b'))
    fc.assert(
      fc.property(values, values, fc.constantFrom(1, 2, 3), (one, other, count) => {
        const names = template.names.slice(0, count)
        const leading = Object.fromEntries(names.map((name) => [name, one[name]]))
        const prefix = formatLeading(template, properties, leading)
        const isSame = names.every((name) => one[name] === other[name])
        const begins = formatKey(template, properties, other).startsWith(prefix)
        // The last part has no end, so as a prefix it is the beginning of longer texts too.
        assert.equal(begins, count < 3 ? isSame : one.a === other.a && one.n === other.n && begins)
        if (isSame) assert(begins)
      }),
      { numRuns: runs(1500) },
    )
  })

  it('may end in the beginning of a text', () => {
    const template = key('p_', text('a'), digits('n', 3))
    assert.equal(formatLeading(template, properties, { a: 'jo' }, { open: true }), 'p_jo')
    assert.equal(formatLeading(template, properties, { a: 'jo' }), 'p_jo ')
    assert.equal(formatLeading(template, properties, {}), 'p_')
    assert.throws(() => formatLeading(template, properties, { n: 1 }), { message: /n is no leading part/ })
    assert.throws(() => formatLeading(template, properties, { a: 'x', n: 1 }, { open: true }), {
      message: /only a text/,
    })
  })

  it('are followed by the least key that does not have them', () => {
    fc.assert(
      fc.property(word, word, (prefix, other) => {
        const after = afterPrefix(prefix)
        assert(after === undefined || after.isWellFormed())
        const within = other >= prefix && (after === undefined || other < after)
        assert.equal(within, other.startsWith(prefix))
      }),
      { numRuns: runs(3000) },
    )
  })
})

describe('hash and spread', () => {
  it('are stable', () => {
    assert.equal(formatKey(key(hash('a')), properties, { a: 'x' }), '553f121d1ecef2a1742c9c2c999380c9')
    assert.equal(formatKey(key('s_', spread(16, 'a', 'n')), properties, { a: 'x', n: 1 }), 's_15')
  })

  it('spread evenly, and list every bucket', () => {
    const template = key('s_', spread(16, 'a'), text('b'))
    const counts = new Map<string, number>()
    for (let i = 0; i < 16_000; i++) {
      const made = formatKey(template, properties, { a: `user${i}`, b: 'z' })
      counts.set(made, (counts.get(made) ?? 0) + 1)
    }
    assert.deepEqual([...counts.keys()].toSorted(), formatAllBuckets(template, properties, { b: 'z' }))
    for (const count of counts.values()) assert(count > 800 && count < 1200, `${count} of 1000`)
    assert.equal(formatAllBuckets(template, properties, { a: 'user1', b: 'z' }).length, 1)
  })

  it('do not give their parts back, and tell foreign keys', () => {
    assert.deepEqual(parseKey(key('s_', spread(16, 'a')), properties, 's_15'), {})
    assert.equal(parseKey(key('s_', spread(16, 'a')), properties, 's_16'), undefined)
    assert.equal(parseKey(key(hash('a')), properties, 'zz'), undefined)
  })
})

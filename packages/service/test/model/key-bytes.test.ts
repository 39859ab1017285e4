import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  boundBytesMax,
  encodeKey,
  encodeTable,
  storedKeyBytesMax,
  tableBytes,
} from '../../src/model/key-bytes.ts'
import { compareKeys, keyBytes, type KeyPosition, slotOf, successor } from '../../src/model/keys.ts'
import { limits } from '../../src/model/limits.ts'
import type { TableId } from '../../src/model/table.ts'
import { type Random, seededRandom } from '../support/random.ts'

const table = 0x01_02_03_04 as TableId
const longest = { partition: `${'\u4e00'.repeat(663)}a`, row: `${'\uffff'.repeat(663)}~` }

/** Units at each edge of the order and of the encoding's lengths; none that a key may not hold. */
const units = [
  ' ',
  '!',
  '0',
  'A',
  'a',
  '~',
  '\u00a0',
  '\u07ff',
  '\u0800',
  '\ud7ff',
  '\ud800',
  '\ud83d\ude00',
  '\udbff',
  '\udbff\udfff',
  '\udc00',
  '\udfff',
  '\ue000',
  '\uffff',
]

describe('key bytes', () => {
  it('are in the order of keys', () => {
    const random = seededRandom(11)
    const [first, second] = [Buffer.alloc(boundBytesMax + 2), Buffer.alloc(boundBytesMax + 2)]
    for (let i = 0; i < 300_000; i++) {
      const a = randomKey(random)
      const b = random.below(3) === 0 ? near(a, random) : randomKey(random)
      const order = Math.sign(compareKeys(a, b))
      const firstEnd = encodeKey(first, 0, table, a)
      const secondEnd = encodeKey(second, 0, table, b)
      if (first.compare(second, 0, secondEnd, 0, firstEnd) !== order) assert.fail(`bytes of ${shown(a, b)}`)
      if (orderOf(slotOf(a), slotOf(b)) !== order) assert.fail(`slots of ${shown(a, b)}`)
    }
  })

  it('put every position between the keys it lies between', () => {
    const random = seededRandom(12)
    const [keyTarget, boundTarget] = [Buffer.alloc(boundBytesMax + 2), Buffer.alloc(boundBytesMax + 2)]
    for (let i = 0; i < 100_000; i++) {
      const key = randomKey(random)
      const bound = randomBound(random.below(2) === 0 ? key : randomKey(random), random)
      const order = Math.sign(compareKeys(key, bound))
      const keyEnd = encodeKey(keyTarget, 0, table, key)
      const boundEnd = encodeKey(boundTarget, 0, table, bound)
      if (keyTarget.compare(boundTarget, 0, boundEnd, 0, keyEnd) !== order)
        assert.fail(`bytes of ${shown(key, bound)}`)
      if (orderOf(slotOf(key), slotOf(bound)) !== order) assert.fail(`slots of ${shown(key, bound)}`)
    }
  })

  it('put texts longer than any key after the keys they begin with', () => {
    const texts = [longest.partition, longest.row, 'k'.repeat(1024), '\u00e9'.repeat(995), '']
    const keys = texts.flatMap((partition) => texts.map((row) => ({ partition, row })))
    const more = [
      '',
      'a',
      '\u00e9',
      '\u4e00',
      '\u4e00\u4e00',
      'x'.repeat(5000),
      '\uffff'.repeat(5000),
      '\u0000',
    ]
    const bounds = keys.flatMap(({ partition, row }) => [
      ...more.map((tail) => ({ partition, row: row + tail })),
      ...more.map((tail) => ({ partition: partition + tail, row })),
    ])
    for (const key of keys) {
      for (const bound of bounds) {
        assert.equal(
          encoded(key).compare(encoded(bound)),
          Math.sign(compareKeys(key, bound)),
          shown(key, bound),
        )
      }
    }
  })

  it('never outgrow their bounds', () => {
    assert.equal(keyBytes(longest.partition), limits.keyBytesMax)
    assert.equal(keyBytes(longest.row), limits.keyBytesMax)
    assert.equal(encoded(longest).length, storedKeyBytesMax)
    for (let units = 1300; units < 1340; units++) {
      for (const unit of ['a', '\u00e9', '\u4e00']) {
        const target = Buffer.alloc(boundBytesMax + 2 + 5, 0xee)
        const end = encodeKey(target, 5, table, { partition: '', row: unit.repeat(units * 3) })
        assert(end - 5 <= boundBytesMax)
      }
    }
    // Longest key LMDB takes with pages of 8 KiB.
    assert(boundBytesMax <= 4026)
  })

  it('sort a table before its rows and after those of the table below', () => {
    const start = Buffer.alloc(tableBytes)
    encodeTable(start, 0, table)
    assert(start.compare(encoded({ partition: '', row: '' })) < 0)
    assert(start.compare(encoded(longest, (table - 1) as TableId)) > 0)
    assert(start.compare(encoded({ partition: '\uffff'.repeat(5000), row: '' }, (table - 1) as TableId)) > 0)
  })
})

describe('decodeKey', () => {
  it('is the inverse of encodeKey', () => {
    const random = seededRandom(13)
    const target = Buffer.alloc(boundBytesMax + 2 + 9)
    for (let i = 0; i < 50_000; i++) {
      const key = randomKey(random)
      const id = random.below(2 ** 32) as TableId
      const from = random.below(9)
      const end = encodeKey(target, from, id, key)
      const [decodedId, decoded] = decodeKey(target, from, end)
      if (decodedId !== id || compareKeys(decoded, key) !== 0) assert.fail(shown(key, decoded))
      if (end - from !== tableBytes + keyBytes(key.partition) + 1 + keyBytes(key.row))
        assert.fail('keyBytes differs')
    }
  })

  it('reads the longest key, the empty one, and every unit a key may hold', () => {
    for (const key of [longest, { partition: '', row: '' }]) assert.deepEqual(decoded(key), [table, key])
    for (let unit = 0x20; unit <= 0xffff; unit++) {
      const key = { partition: String.fromCharCode(unit), row: '' }
      if (compareKeys(decoded(key)[1], key) !== 0) assert.fail(`unit ${unit.toString(16)}`)
    }
  })

  it('reads every table id', () => {
    for (const id of [0, 1, 16, 0x7f_ff_ff_ff, 0x80_00_00_00, 0xff_ff_ff_ff] as TableId[]) {
      const bytes = encoded({ partition: 'p', row: 'r' }, id)
      assert.deepEqual(decodeKey(bytes, 0, bytes.length), [id, { partition: 'p', row: 'r' }])
    }
  })
})

function encoded(position: KeyPosition, id: TableId = table): Buffer {
  const target = Buffer.alloc(boundBytesMax + 2)
  return target.subarray(0, encodeKey(target, 0, id, position))
}

function decoded(key: KeyPosition): [TableId, KeyPosition] {
  const bytes = encoded(key)
  return decodeKey(bytes, 0, bytes.length)
}

function randomKey(random: Random): KeyPosition {
  return { partition: randomText(random), row: randomText(random) }
}

function randomText(random: Random): string {
  let text = ''
  for (let length = random.below(5); length > 0; length--) {
    text += random.below(4) ? random.pick(units) : String.fromCharCode(0xa0 + random.below(0xff60))
  }
  return text
}

/** A key that shares a beginning with another. */
function near({ partition, row }: KeyPosition, random: Random): KeyPosition {
  switch (random.below(4)) {
    case 0:
      return { partition, row: row + randomText(random) }
    case 1:
      return { partition: partition + randomText(random), row }
    case 2:
      return { partition, row: row.slice(0, -1) }
    default:
      return { partition: partition.slice(0, -1), row: random.pick([row, '', partition.slice(-1) + row]) }
  }
}

/** A place near a key: after it, after its partition, or at a text no key can be. */
function randomBound({ partition, row }: KeyPosition, random: Random): KeyPosition {
  switch (random.below(6)) {
    case 0:
      return { partition, row: successor(row) }
    case 1:
      return { partition: successor(partition), row: '' }
    case 2:
      return { partition: `${partition}\u0000${randomText(random)}`, row: randomText(random) }
    case 3:
      return { partition, row: `${row}\u0000${randomText(random)}` }
    case 4:
      return { partition: `${partition}${random.pick(['\u0001', '\u001f', '/', '\u007f'])}`, row }
    default:
      return { partition, row: `${row.slice(0, -1)}${random.pick(['\u0001', '\u001f', '?', '\u009f'])}` }
  }
}

function orderOf(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function shown(a: KeyPosition, b: KeyPosition): string {
  return `${beginning(a)} and ${beginning(b)}`
}

function beginning({ partition, row }: KeyPosition): string {
  return JSON.stringify([partition.slice(0, 40), row.slice(0, 40)])
}

/** The inverse of encodeKey for stored keys, to hold it to what it says. */
function decodeKey(source: Uint8Array, from: number, until: number): [TableId, KeyPosition] {
  const table =
    (((source[from] ?? 0) << 24) |
      ((source[from + 1] ?? 0) << 16) |
      ((source[from + 2] ?? 0) << 8) |
      (source[from + 3] ?? 0)) >>>
    0
  const parts = ['', '']
  let part = 0
  for (let i = from + tableBytes; i < until; ) {
    const byte = source[i] ?? 0
    let unit: number
    if (byte < 0x80) {
      unit = byte
      i += 1
    } else if (byte < 0xe0) {
      unit = ((byte & 0x1f) << 6) | ((source[i + 1] ?? 0) & 0x3f)
      i += 2
    } else {
      unit = ((byte & 0x0f) << 12) | (((source[i + 1] ?? 0) & 0x3f) << 6) | ((source[i + 2] ?? 0) & 0x3f)
      i += 3
    }
    if (unit === 0) part++
    else parts[part] += String.fromCharCode(unit)
  }
  return [table as TableId, { partition: parts[0] ?? '', row: parts[1] ?? '' }]
}

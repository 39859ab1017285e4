import { strict as assert } from 'node:assert'
import { randomBytes, webcrypto } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  type Cells,
  decryptRow,
  encryptRow,
  type EncryptionPolicy,
  refuseMerge,
} from '../../src/encryption/encryption.ts'
import { aesKey, keyRing } from '../../src/encryption/key-ring.ts'

const sequence = (from: number, length: number) => Uint8Array.from({ length }, (_, index) => from + index)
const hex = (cell: { readonly value: unknown } | undefined) =>
  Buffer.from(String(cell?.value), 'base64').toString('hex')

const secret = ['Salary', 'Photo', 'Note']
const kek = aesKey('2026', sequence(200, 32))
const keys = { partitionKey: 'Sales', rowKey: '000223' }
const policy: EncryptionPolicy = {
  account: 'devstoreaccount1',
  table: 'Employees',
  properties: secret,
  keys: keyRing(kek),
}
const plain: Cells = {
  Name: { type: 'String', value: 'Jones' },
  Salary: { type: 'String', value: '5 000 €' },
  Photo: { type: 'Binary', value: Buffer.of(0, 255, 16).toString('base64') },
}

describe('known answers', () => {
  // Source: RFC 3394, 4.6.
  it('of the key wrap', async () => {
    const key = aesKey('rfc', sequence(0, 32))
    const data = Buffer.from('00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f', 'hex')
    const wrapped = Buffer.from(
      '28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21',
      'hex',
    )
    assert.deepEqual(Buffer.from(await key.wrap(data)), wrapped)
    assert.deepEqual(Buffer.from(await key.unwrap(wrapped)), data)
    wrapped[3] = 0
    await assert.rejects(key.unwrap(wrapped))
  })

  // Made by another implementation (Python's cryptography 48), from the grammar in sealed-value.ts.
  it('of a whole row', async () => {
    const random = [sequence(0, 32), sequence(100, 12), sequence(112, 12)]
    const sealed = await encryptRow({ ...policy, random: () => random.shift() as Uint8Array }, keys, plain)
    assert.deepEqual(
      {
        Name: sealed['Name'],
        Salary: hex(sealed['Salary']),
        Photo: hex(sealed['Photo']),
        EncryptionKey: hex(sealed['EncryptionKey']),
        EncryptionKeyId: sealed['EncryptionKeyId'],
      },
      {
        Name: { type: 'String', value: 'Jones' },
        Salary: '016465666768696a6b6c6d6e6f1b2efe5649d9767cbcce20226e728ba6caa54bfb13f81aa4b734',
        Photo: '01707172737475767778797a7b558745370a686823c08b32b6263ae3edc9acc460',
        EncryptionKey: '7038205e172b45a4755599a58884c4d952bc27838065ff2b55407d336774ca4aec876345e37f9483',
        EncryptionKeyId: { type: 'String', value: '2026' },
      },
    )
    assert.deepEqual(await decryptRow(policy, keys, sealed), plain)
  })

  it('open with WebCrypto too', async () => {
    const contentKey = randomBytes(32)
    const random = [contentKey, randomBytes(12), randomBytes(12)]
    const sealed = await encryptRow({ ...policy, random: () => random.shift() as Buffer }, keys, plain)
    const bytes = Buffer.from(String(sealed['Salary']?.value), 'base64')
    const parts = ['partita-patterns-1', 'devstoreaccount1', 'employees', 'Sales', '000223', 'Salary']
    const additionalData = Buffer.concat(
      parts.map((part) => Buffer.from(`\0\0\0${String.fromCharCode(part.length)}${part}`)),
    )
    const key = await webcrypto.subtle.importKey('raw', contentKey, 'AES-GCM', false, ['decrypt'])
    const opened = await webcrypto.subtle.decrypt(
      { name: 'AES-GCM', iv: bytes.subarray(1, 13), additionalData },
      key,
      bytes.subarray(13),
    )
    assert.equal(Buffer.from(opened).toString(), 'S5 000 €')
  })
})

describe('an encrypted row', () => {
  it('comes back as it was, whatever it holds', async () => {
    const text = fc.string({ unit: 'grapheme' }).map((value) => ({ type: 'String', value }))
    const bytes = fc
      .uint8Array()
      .map((value) => ({ type: 'Binary', value: Buffer.from(value).toString('base64') }))
    const cell = fc.oneof(text, bytes)
    const row = fc.dictionary(fc.constantFrom('Name', 'Salary', 'Photo', 'Note', 'Other'), cell, {
      noNullPrototype: true,
    })
    await fc.assert(
      fc.asyncProperty(row, fc.string(), fc.string(), async (cells, partitionKey, rowKey) => {
        const place = { partitionKey, rowKey }
        const sealed = await encryptRow(policy, place, cells)
        for (const [name, { type, value }] of Object.entries(cells)) {
          if (secret.includes(name)) assert.equal(sealed[name]?.type, 'Binary')
          else assert.deepEqual(sealed[name], { type, value })
        }
        assert.deepEqual(await decryptRow(policy, place, sealed), cells)
      }),
    )
  })

  it('has another content key, and other bytes, each time', async () => {
    const [first, second] = [await encryptRow(policy, keys, plain), await encryptRow(policy, keys, plain)]
    assert.notEqual(hex(first['EncryptionKey']), hex(second['EncryptionKey']))
    assert.notEqual(hex(first['Salary']), hex(second['Salary']))
    const mixed = { ...second, Photo: first['Photo'] ?? fail() }
    await assert.rejects(decryptRow(policy, keys, mixed), {
      code: 'UnreadableRow',
      message: /Photo was altered/,
    })
  })

  it('has no envelope when nothing in it is encrypted', async () => {
    const open: Cells = { Name: { type: 'String', value: 'Jones' } }
    assert.deepEqual(await encryptRow(policy, keys, open), open)
    assert.deepEqual(await decryptRow(policy, keys, open), open)
  })

  it('may be chosen by a function of the keys', async () => {
    const byKeys: EncryptionPolicy = {
      ...policy,
      properties: (partition, row, property) =>
        partition === 'Sales' && row > '000200' && property === 'Name',
    }
    assert.equal((await encryptRow(byKeys, keys, plain))['Name']?.type, 'Binary')
    assert.deepEqual(await encryptRow(byKeys, { ...keys, rowKey: '000100' }, plain), plain)
  })

  it('can be read in part', async () => {
    const { Photo: _, Name: __, ...part } = await encryptRow(policy, keys, plain)
    assert.deepEqual(await decryptRow(policy, keys, part), { Salary: plain['Salary'] })
  })

  it('is refused when it was moved', async () => {
    const sealed = await encryptRow(policy, keys, plain)
    const refused = { code: 'UnreadableRow', message: /was altered or moved/ }
    const { Salary, Photo } = sealed
    assert(Salary && Photo)
    await assert.rejects(decryptRow(policy, { ...keys, rowKey: '000224' }, sealed), refused)
    await assert.rejects(decryptRow(policy, { ...keys, partitionKey: 'Legal' }, sealed), refused)
    await assert.rejects(decryptRow({ ...policy, table: 'Managers' }, keys, sealed), refused)
    await assert.rejects(decryptRow({ ...policy, account: 'other' }, keys, sealed), refused)
    await assert.rejects(decryptRow(policy, keys, { ...sealed, Salary: Photo, Photo: Salary }), refused)
    // Parts of a place cannot be shifted into each other.
    const shifted = { partitionKey: 'Sales0', rowKey: '00223' }
    await assert.rejects(decryptRow(policy, shifted, sealed), refused)
    // The service does not tell these apart.
    assert.deepEqual(await decryptRow({ ...policy, table: 'EMPLOYEES' }, keys, sealed), plain)
  })

  it('is refused when any bit was altered', async () => {
    const sealed = await encryptRow(policy, keys, plain)
    for (const property of ['Salary', 'Photo', 'EncryptionKey']) {
      const bytes = Buffer.from(String(sealed[property]?.value), 'base64')
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const altered = Buffer.from(bytes)
        altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const row = { ...sealed, [property]: { type: 'Binary', value: altered.toString('base64') } }
        await assert.rejects(decryptRow(policy, keys, row), { code: 'UnreadableRow' })
      }
      const short = { type: 'Binary', value: bytes.subarray(0, 20).toString('base64') }
      await assert.rejects(decryptRow(policy, keys, { ...sealed, [property]: short }), {
        code: 'UnreadableRow',
      })
    }
  })

  it('is refused when somebody has put a plain value there', async () => {
    const sealed = await encryptRow(policy, keys, plain)
    const forged = { type: 'String', value: '9 000 €' }
    await assert.rejects(decryptRow(policy, keys, { ...sealed, Salary: forged }), { code: 'UnreadableRow' })
    await assert.rejects(decryptRow(policy, keys, { Salary: forged }), {
      code: 'UnreadableRow',
      message: 'entity (Sales, 000223): Salary should be encrypted and is not',
    })
    const migrating: EncryptionPolicy = { ...policy, plain: 'accept' }
    assert.deepEqual(await decryptRow(migrating, keys, { Salary: forged }), { Salary: forged })
    await assert.rejects(decryptRow(migrating, keys, { ...sealed, Salary: forged }), {
      code: 'UnreadableRow',
    })
  })

  it('is refused when its key is not here', async () => {
    const sealed = await encryptRow(policy, keys, plain)
    const other = { ...policy, keys: keyRing(aesKey('2027', sequence(1, 32))) }
    await assert.rejects(decryptRow(other, keys, sealed), { code: 'UnreadableRow', message: /by key 2026/ })
    const impostor = { ...policy, keys: keyRing(aesKey('2026', sequence(1, 32))) }
    await assert.rejects(decryptRow(impostor, keys, sealed), {
      code: 'UnreadableRow',
      message: /cannot be unwrapped by key 2026/,
    })
  })
})

describe('before anything is sent', () => {
  it('a merge of an encrypted property is refused, and others are not', () => {
    assert.throws(() => refuseMerge(policy, keys, plain), {
      code: 'InvalidValue',
      message: /^Salary is encrypted/,
    })
    assert.throws(() => refuseMerge(policy, keys, { EncryptionKeyId: { type: 'String', value: 'x' } }), {
      code: 'InvalidValue',
    })
    refuseMerge(policy, keys, { Name: { type: 'String', value: 'Smith' } })
  })

  // biome-ignore format: a table reads in columns
  const refusals: readonly [what: string, code: string, property: RegExp, cells: Cells][] = [
    ['another type', 'InvalidValue', /^Salary is Int32/, { Salary: { type: 'Int32', value: 5 } }],
    ['half a character', 'InvalidValue', /^Note/, { Note: { type: 'String', value: '\ud800' } }],
    ['a text too long', 'LimitExceeded', /^Note takes 65566 bytes/, { Note: { type: 'String', value: 'x'.repeat(65_536) } }],
    ['an envelope', 'InvalidValue', /^EncryptionKey /, { EncryptionKey: { type: 'Binary', value: '' } }],
  ]
  for (const [what, code, message, cells] of refusals) {
    it(`${what} is refused by name`, async () => {
      await assert.rejects(encryptRow(policy, keys, cells), { code, message })
    })
  }

  it('a ring with two keys of one id, and a key of a wrong length, are refused', () => {
    assert.throws(() => keyRing(kek, aesKey('2026', sequence(1, 32))), { code: 'InvalidDefinition' })
    assert.throws(() => aesKey('short', sequence(1, 16)), { code: 'InvalidDefinition' })
    assert.throws(() => aesKey('', sequence(1, 32)), { code: 'InvalidDefinition' })
  })
})

function fail(): never {
  throw new Error('missing')
}

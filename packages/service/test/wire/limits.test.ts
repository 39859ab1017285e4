import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { sendRaw } from './http-client.ts'
import {
  bytesOf,
  early,
  endpoint,
  entity,
  errorOf,
  exchange,
  get,
  late,
  lateNoContent,
  merge,
  noContent,
  outOfRangeText,
  post,
  put,
  querySyntaxText,
  request,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', 'r')
const insert = (partition: string, row: string) =>
  post(`/${people}`, { PartitionKey: partition, RowKey: row }, noContent)

const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]))
const withNulls = {
  ...properties(252),
  ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`n${i}`, null])),
}

// biome-ignore format: a table reads in columns
wireTable('number of properties', [
  [put(one, properties(252)),                     204],
  [put(one, properties(253), noContent),          400, 'TooManyProperties', lateNoContent],
  [put(one, properties(255)),                     400, 'TooManyProperties', late],
  [put(one, withNulls),                           204],
  [put(one, { ...properties(252), PartitionKey: 'p', RowKey: 'r', Timestamp: 'x' }), 204],
  [merge(one, { p0: 1 }),                         204],
  [merge(one, { another: 1 }),                    400, 'TooManyProperties', late],
  [post(`/${people}`, { PartitionKey: 'p', RowKey: 'many', ...properties(253) }), 400, 'TooManyProperties', late],
])

const name = (text: string, body: unknown = 1) => put(one, { [text]: body }, noContent)

// biome-ignore format: a table reads in columns
wireTable('names of properties', [
  [name('n'.repeat(255)),                         204],
  [name('n'.repeat(256)),                         400, 'PropertyNameTooLong', lateNoContent],
  [name('ñ'.repeat(255)),                         204],
  [name('ñ'.repeat(256)),                         400, 'PropertyNameTooLong', lateNoContent],
  [name('_'),                                     204],
  [name('_1'),                                    204],
  [name('a_b1'),                                  204],
  [name('名前'),                                  204],
  [name('Ⅷ'),                                     204],
  [name('a\u0301'),                               204],
  [name('a\u200d'),                               204],
  [name('a‿b'),                                   204],
  [name('a-b'),                                   400, 'PropertyNameInvalid', lateNoContent],
  [name('a b'),                                   400, 'PropertyNameInvalid', lateNoContent],
  [name('a.b'),                                   400, 'PropertyNameInvalid', lateNoContent],
  [name('1a'),                                    400, 'PropertyNameInvalid', lateNoContent],
  [name(''),                                      400, 'PropertyNameInvalid', lateNoContent],
  [name('a@b'),                                   400, 'PropertyNameInvalid', lateNoContent],
  [name('a/b'),                                   400, 'PropertyNameInvalid', lateNoContent],
  [name('$a'),                                    400, 'PropertyNameInvalid', lateNoContent],
  [name('\u0301a'),                               400, 'PropertyNameInvalid', lateNoContent],
  [name('a\n'),                                   400, 'PropertyNameInvalid', lateNoContent],
  [name('😀'),                                    400, 'PropertyNameInvalid', lateNoContent],
])

const binary = (bytes: number) => ({
  'v@odata.type': 'Edm.Binary',
  v: Buffer.alloc(bytes, 7).toString('base64'),
})

// biome-ignore format: a table reads in columns
wireTable('size of a value', [
  [put(one, { v: 'x'.repeat(32_768) }),           204],
  [put(one, { v: 'x'.repeat(32_769) }, noContent), 400, 'PropertyValueTooLarge', lateNoContent],
  [put(one, { v: 'ñ'.repeat(32_768) }),           204],
  [put(one, { v: '𤭢'.repeat(16_384) }),          204],
  [put(one, { v: `${'𤭢'.repeat(16_384)}x` }),    400, 'PropertyValueTooLarge', late],
  [put(one, binary(65_536)),                      204],
  [put(one, binary(65_537), noContent),           400, 'PropertyValueTooLarge', lateNoContent],
  // The whole entity is judged before its values.
  [put(one, binary(1_048_576)),                   400, 'EntityTooLarge', late],
])

/** A body whose entity has exactly so many bytes by the formula. */
function entityOf(bytes: number, keys: { PartitionKey: string; RowKey: string }): object {
  const members: Record<string, string> = {}
  let left = bytes - 4 - 2 * (keys.PartitionKey.length + keys.RowKey.length)
  for (let i = 0; left > 0; i++) {
    const name = String.fromCharCode(0x61 + i)
    const overhead = 8 + 2 + 4
    const length = Math.min(65_536, left - overhead)
    members[`${name}@odata.type`] = 'Edm.Binary'
    members[name] = Buffer.alloc(length, i).toString('base64')
    left -= overhead + length
  }
  return { ...keys, ...members }
}

const mebibyte = 1_048_576
const big = { PartitionKey: 'p', RowKey: 'big' }
const long = { PartitionKey: 'k'.repeat(1024), RowKey: 'k'.repeat(1024) }

/** Each type with its size; the name `zz` and the property itself take twelve bytes more. */
const sizes: readonly (readonly [type: string, value: unknown, bytes: number])[] = [
  ['Edm.String', 'abcde', 14],
  ['Edm.Binary', 'AAAA', 7],
  ['Edm.Boolean', true, 1],
  ['Edm.Int32', 5, 4],
  ['Edm.Int64', '5', 8],
  ['Edm.Double', 5.5, 8],
  ['Edm.DateTime', '2020-01-01T00:00:00Z', 8],
  ['Edm.Guid', '0f8fad5b-d9cb-469f-a165-70867728950e', 16],
]

const withValue = (entityBytes: number, [type, value, bytes]: (typeof sizes)[number]) =>
  put(entity(people, 'p', 'big'), {
    ...entityOf(entityBytes - bytes - 12, big),
    'zz@odata.type': type,
    zz: value,
  })

// biome-ignore format: a table reads in columns
wireTable('size of an entity', [
  [post(`/${people}`, entityOf(mebibyte, big), noContent),      204],
  [post(`/${people}`, entityOf(mebibyte + 1, { ...big, RowKey: 'bog' }), noContent), 400, 'EntityTooLarge', lateNoContent],
  [put(entity(people, 'p', 'big'), entityOf(mebibyte, big)),    204],
  [put(entity(people, 'p', 'big'), entityOf(mebibyte + 1, big)), 400, 'EntityTooLarge', late],
  [merge(entity(people, 'p', 'big'), { a: 1 }),                 204],
  [put(entity(people, 'p', 'big'), entityOf(mebibyte, big)),    204],
  [merge(entity(people, 'p', 'big'), { z: 1 }),                 400, 'EntityTooLarge', late],
  [post(`/${people}`, entityOf(mebibyte, long), noContent),     204],
  [post(`/${people}`, entityOf(mebibyte + 1, { ...long, RowKey: 'j'.repeat(1024) })), 400, 'EntityTooLarge', late],
])

it('an entity of exactly 1 MiB comes back whole', async () => {
  const answer = await exchange(
    get(entity(people, 'p', 'big'), { Accept: 'application/json;odata=nometadata' }),
  )
  const sent = entityOf(mebibyte, big) as Record<string, string>
  const read = JSON.parse(answer.text) as Record<string, string>
  for (const name of Object.keys(sent).filter((key) => !key.includes('@')))
    assert.equal(read[name], sent[name])
})

wireTable(
  'every type counts by the formula',
  sizes.flatMap((size) => [
    [withValue(mebibyte, size), 204] as const,
    [withValue(mebibyte + 1, size), 400, 'EntityTooLarge', late] as const,
  ]),
)

const threeBytes = (units: number) => '日'.repeat(units)
const twoBytes = (units: number) => 'ñ'.repeat(units)

// biome-ignore format: a table reads in columns
wireTable('length of keys', [
  [insert('a'.repeat(1024), 'a'.repeat(1024)),     204],
  [insert('a'.repeat(1025), ''),                   400, 'PropertyValueTooLarge', lateNoContent],
  [insert('', 'a'.repeat(1025)),                   400, 'PropertyValueTooLarge', lateNoContent],
  [insert(threeBytes(512), threeBytes(512)),       204],
  [insert(threeBytes(663), threeBytes(663)),       204],
  [insert(threeBytes(664), ''),                    400, 'PropertyValueTooLarge', lateNoContent],
  [insert(twoBytes(995), twoBytes(995)),           204],
  [insert('', twoBytes(996)),                      400, 'PropertyValueTooLarge', lateNoContent],
  [put(entity(people, 'b'.repeat(1024), 'b'.repeat(1024)), {}), 204],
  [get(entity(people, 'a'.repeat(1024), 'a'.repeat(1024))), 200],
  [get(entity(people, threeBytes(663), threeBytes(663))), 200],
  [get(entity(people, 'b'.repeat(1025), '')),      400, 'PropertyValueTooLarge', early],
  [put(entity(people, '', 'b'.repeat(1025)), {}),  400, 'PropertyValueTooLarge', early],
  [insert('', ''),                                 204],
])

const forbiddenInBody = [
  '/',
  '\\',
  '#',
  '?',
  '\t',
  '\n',
  '\r',
  '\u0000',
  '\u001f',
  '\u007f',
  '\u0080',
  '\u009f',
]
const outOfRangeInUrl = forbiddenInBody.slice(2)
const legal = ['\u00a0', '%', "'", '"', '&', '+', ' ', '~', '\ufffd', '\ud800', '\uffff']

describe('characters of keys', () => {
  // biome-ignore format: a table reads in columns
  wireTable('in bodies', forbiddenInBody.flatMap((character) => [
    [insert(`a${character}b`, 'r'), 400, 'OutOfRangeInput', outOfRangeText('PartitionKey', `a${character}b`), lateNoContent] as const,
    [insert('p', `a${character}b`), 400, 'OutOfRangeInput', outOfRangeText('RowKey', `a${character}b`), lateNoContent] as const,
  ]))
  // biome-ignore format: a table reads in columns
  wireTable('in addresses, where slashes are syntax', [
    [get(entity(people, 'a/b', 'r')),               400, 'InvalidInput', querySyntaxText, early],
    [get(entity(people, 'p', 'a/b')),               400, 'InvalidInput', querySyntaxText, early],
    [get(`/${people}(PartitionKey='a/b',RowKey='r')`), 400, 'InvalidInput', querySyntaxText, early],
    [put(entity(people, 'a\\b', 'r'), {}),          400, 'InvalidInput', querySyntaxText, early],
    ...outOfRangeInUrl.map((character) => [get(entity(people, `a${character}b`, 'r')), 400, 'OutOfRangeInput', early] as const),
    ...outOfRangeInUrl.map((character) => [merge(entity(people, 'p', character), {}), 400, 'OutOfRangeInput', early] as const),
  ])
  // biome-ignore format: a table reads in columns
  wireTable('that are allowed', legal.map((character) => [insert(`legal${character}`, character), 204] as const))
})

const bodyMax = 4_194_304

/** An entity whose body has exactly so many bytes, most of them blanks. */
function paddedBody(bytes: number, row: string): Buffer {
  const text = `{"PartitionKey":"p","RowKey":"${row}"`
  return Buffer.from(`${text}${' '.repeat(bytes - text.length - 1)}}`)
}

// biome-ignore format: a table reads in columns
wireTable('size of a body', [
  [post(`/${people}`, paddedBody(bodyMax, 'b1'), noContent),     204],
  [post(`/${people}`, paddedBody(bodyMax + 1, 'b2'), noContent), 413, 'RequestBodyTooLarge', {
    'x-ms-error-code': 'RequestBodyTooLarge', 'content-type': 'application/json', ...early,
    reason: 'The request body is too large and exceeds the maximum permissible limit.' }],
  // The size is judged before the table is looked for, and after the credential.
  [post('/nobodyhere', paddedBody(bodyMax + 1, 'b2')),           413, 'RequestBodyTooLarge'],
  [post(`/${people}`, paddedBody(bodyMax + 1, 'b2'), { Authorization: 'SharedKey a:b' }), 400, 'InvalidAuthenticationInfo'],
  [request('GET', '/', { body: paddedBody(bodyMax + 1, 'b2') }), 413, 'RequestBodyTooLarge'],
])

it('a body in chunks is judged by its sum', async () => {
  const sent = post(`/${people}`, '', {
    'Content-Length': undefined,
    'Transfer-Encoding': 'chunked',
    ...noContent,
  })
  const half = Buffer.alloc(bodyMax / 2, ' ')
  const chunk = Buffer.concat([Buffer.from(`${half.length.toString(16)}\r\n`), half, Buffer.from('\r\n')])
  const pieces = [bytesOf(sent), chunk, chunk, '1\r\n \r\n0\r\n\r\n']
  const answer = await sendRaw(endpoint.url, pieces)
  assert.equal(answer.status, 413)
  assert.equal(errorOf(answer).code, 'RequestBodyTooLarge')
})

/** Generated entities come back as they were sent, and no body at all makes the service fail. */
import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { entity, exchange, get, noContent, post, put, table } from './wire.ts'

const people = await table('people')

interface Typed {
  readonly type: string
  /** The JSON text a client sends. */
  readonly sent: string
  /** Whether the text says its type, so that the annotation may be left out. */
  readonly plain: boolean
  /** What it reads back as: a JSON value after parsing. */
  readonly shown: unknown
  /** Whether answers carry the annotation. */
  readonly annotated: boolean
}

interface Property {
  readonly name: string
  readonly value: Typed
  readonly annotation: 'before' | 'after' | 'first' | 'last' | 'none'
}

const text = fc.string({ unit: 'binary', maxLength: 40 })
const keyText = text.filter((key) => !/[/\\#?\u0000-\u001f\u007f-\u009f]/.test(key))

const dateTime = fc
  .record({
    ms: fc.integer({ min: Date.UTC(1601, 0, 1), max: Date.UTC(9999, 11, 31) }),
    fraction: fc.integer({ min: 0, max: 9_999_999 }),
    zone: fc.constantFrom('Z', ''),
  })
  .map(({ ms, fraction, zone }) => {
    const seconds = new Date(ms).toISOString().slice(0, 19)
    const digits = fraction.toString().padStart(7, '0').replace(/0+$/, '')
    const written = digits === '' ? seconds : `${seconds}.${digits}`
    return { sent: `"${written}${zone}"`, shown: `${written}Z` }
  })

const value: fc.Arbitrary<Typed> = fc.oneof(
  text.map((shown) => ({
    type: 'Edm.String',
    sent: JSON.stringify(shown),
    plain: true,
    shown,
    annotated: false,
  })),
  fc
    .boolean()
    .map((shown) => ({ type: 'Edm.Boolean', sent: String(shown), plain: true, shown, annotated: false })),
  fc
    .integer({ min: -0x8000_0000, max: 0x7fff_ffff })
    .map((shown) => ({ type: 'Edm.Int32', sent: String(shown), plain: true, shown, annotated: false })),
  fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .map((n) => ({ type: 'Edm.Int64', sent: `"${n}"`, plain: false, shown: n.toString(), annotated: true })),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((n) => ({ type: 'Edm.Double', sent: decimalText(n), plain: true, shown: n, annotated: false })),
  fc
    .constantFrom('NaN', 'Infinity', '-Infinity')
    .map((shown) => ({ type: 'Edm.Double', sent: `"${shown}"`, plain: false, shown, annotated: true })),
  fc
    .uuid()
    .chain((id) => fc.constantFrom(id, id.toUpperCase()))
    .map((id) => ({
      type: 'Edm.Guid',
      sent: `"${id}"`,
      plain: false,
      shown: id.toLowerCase(),
      annotated: true,
    })),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => {
    const shown = Buffer.from(bytes).toString('base64')
    return { type: 'Edm.Binary', sent: `"${shown}"`, plain: false, shown, annotated: true }
  }),
  dateTime.map(({ sent, shown }) => ({ type: 'Edm.DateTime', sent, plain: false, shown, annotated: true })),
)

const reserved = new Set(['PartitionKey', 'RowKey', 'Timestamp'])
const name = fc
  .stringMatching(/^[A-Za-z_\u00c0-\u00d6\u4e00-\u4fff][A-Za-z0-9_\u00c0-\u00d6\u4e00-\u4fff]{0,12}$/)
  .filter((candidate) => !reserved.has(candidate))

const properties = fc.uniqueArray(
  fc.record({
    name: fc.oneof(name, fc.constantFrom('__proto__', 'constructor', 'timestamp', 'etag', 'value')),
    value,
    annotation: fc.constantFrom<Property['annotation']>('before', 'after', 'first', 'last', 'none'),
  }),
  { maxLength: 12, selector: (property) => property.name },
)

const style = fc.record({
  blanks: fc.constantFrom('', ' ', '\n', ' \t\r\n '),
  escape: fc.boolean(),
  byteOrderMark: fc.boolean(),
  put: fc.boolean(),
})

it('entities of all types come back equal at every level', async () => {
  await fc.assert(
    fc.asyncProperty(keyText, keyText, properties, style, async (partition, row, given, style) => {
      const address = entity(people, partition.toWellFormed(), row.toWellFormed())
      const keys = { PartitionKey: partition.toWellFormed(), RowKey: row.toWellFormed() }
      await exchange({ method: 'DELETE', path: address, headers: { 'If-Match': '*' } })
      const body = written(keys, given, style)
      const answer = await exchange(style.put ? put(address, body) : post(`/${people}`, body, noContent))
      assert.equal(answer.status, 204, `${answer.text}\n${body}`)
      const order = given.map((property) => property.name)
      for (const level of ['nometadata', 'minimalmetadata', 'fullmetadata']) {
        const read = await exchange(get(address, { Accept: `application/json;odata=${level}` }))
        assert.match(read.text, /^[\x20-\x7f]*$/)
        check(read.text, level, keys, given, style.put ? order.toSorted() : order)
      }
    }),
    { numRuns: 100 },
  )
})

/** As a client might write it: members in any order, annotations anywhere, some characters escaped. */
function written(
  keys: object,
  given: readonly Property[],
  style: { blanks: string; escape: boolean; byteOrderMark: boolean },
): string {
  const before: string[] = []
  const members: string[] = []
  const behind: string[] = []
  for (const { name, value, annotation } of given) {
    const type = [JSON.stringify(`${name}@odata.type`), JSON.stringify(value.type)]
    const place = annotation === 'none' && !value.plain ? 'before' : annotation
    if (place === 'first') before.push(type.join(':'))
    if (place === 'before') members.push(type.join(':'))
    members.push(`${JSON.stringify(name)}:${value.sent}`)
    if (place === 'after') members.push(type.join(':'))
    if (place === 'last') behind.push(type.join(':'))
  }
  for (const [name, value] of Object.entries(keys))
    members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
  const text = [...before, ...members, ...behind].join(`${style.blanks},${style.blanks}`)
  const escaped = style.escape ? asAscii(text, '\\u') : text
  return `${style.byteOrderMark ? '\ufeff' : ''}${style.blanks}{${style.blanks}${escaped}${style.blanks}}${style.blanks}`
}

function decimalText(n: number): string {
  if (Object.is(n, -0)) return '-0.0'
  const text = String(n)
  return /[.e]/.test(text) ? text : `${text}.0`
}

function check(
  text: string,
  level: string,
  keys: Readonly<Record<string, string>>,
  given: readonly Property[],
  order: readonly string[],
): void {
  const read = new Map(Object.entries(JSON.parse(text) as Record<string, unknown>))
  assert.equal(read.get('PartitionKey'), keys['PartitionKey'])
  assert.equal(read.get('RowKey'), keys['RowKey'])
  for (const { name, value } of given) {
    assert.ok(Object.is(read.get(name), value.shown), `${name}: ${String(read.get(name))}`)
    const annotated = value.annotated && level !== 'nometadata'
    assert.equal(read.get(`${name}@odata.type`), annotated ? value.type : undefined)
    if (value.type === 'Edm.Double' && !value.annotated) {
      const shown = new RegExp(`"${asAscii(name, '\\\\u')}":(-?[0-9.E+-]+)[,}]`).exec(text)?.[1] ?? ''
      assert.match(shown, /[.E]/)
    }
  }
  const names = [...read.keys()].filter((member) => !member.includes('odata.') && !reserved.has(member))
  // Names like array indexes would come first in any object; there are none.
  assert.deepEqual(names, [...order])
}

function asAscii(text: string, escape: string): string {
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `${escape}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

const seedBody =
  '{"PartitionKey":"p","RowKey":"m","a@odata.type":"Edm.Int64","a":"5","b":1.5e3,"c":true,"d":null,"e":"\\u00e9\\n","f":"\u00e9"}'
const interesting = Buffer.from('{}[]",:\\0123456789.eE+-truefalsn \u0000\u00ff', 'latin1')

const mutation = fc.record({
  at: fc.nat(seedBody.length),
  kind: fc.constantFrom('drop', 'put', 'replace', 'cut', 'repeat'),
  byte: fc.oneof(fc.constantFrom(...interesting), fc.nat(255)),
})

it('no mutated body makes the service fail', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 6 }), async (mutations) => {
      let bytes: Buffer = Buffer.from(seedBody)
      for (const { at, kind, byte } of mutations)
        bytes = mutated(bytes, Math.min(at, bytes.length), kind, byte)
      await refusesOrAccepts(bytes)
    }),
    { numRuns: 250 },
  )
})

it('no generated body makes the service fail', async () => {
  const body = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.object({ maxDepth: 2 }).map((object) => JSON.stringify({ PartitionKey: 'p', RowKey: 'g', ...object })),
  )
  await fc.assert(
    fc.asyncProperty(body, async (text) => refusesOrAccepts(Buffer.from(text))),
    { numRuns: 100 },
  )
})

function mutated(bytes: Buffer, at: number, kind: string, byte: number): Buffer {
  const before = bytes.subarray(0, at)
  const one = Buffer.from([byte])
  if (kind === 'drop') return Buffer.concat([before, bytes.subarray(at + 1)])
  if (kind === 'put') return Buffer.concat([before, one, bytes.subarray(at)])
  if (kind === 'replace') return Buffer.concat([before, one, bytes.subarray(at + 1)])
  if (kind === 'cut') return before
  return Buffer.concat([bytes, before])
}

async function refusesOrAccepts(body: Buffer): Promise<void> {
  const answer = await exchange(put(entity(people, 'p', 'm'), body))
  assert.ok(answer.status === 204 || answer.status === 400, `${answer.status} ${answer.text}`)
  const made = await exchange(post(`/${people}`, body, noContent))
  assert.ok([204, 400, 409].includes(made.status), `${made.status} ${made.text}`)
}

/** The reader of batches: what was written is read back, whatever the style, and in time that grows with size. */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type BatchPart, readBatch } from '../../src/http/multipart-reader.ts'
import { Fault } from '../../src/model/faults.ts'

const runs = process.env['PARTITA_NIGHTLY'] === undefined ? 500 : 20_000

interface Written {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

interface Style {
  readonly outer: string
  readonly inner: string
  readonly lineBreak: string
  readonly quoted: boolean
  readonly blanksBefore: number
  readonly blanksInside: number
  readonly preamble: boolean
  readonly padding: string
  readonly finalBreak: boolean
}

const boundary = fc
  .stringMatching(/^[0-9A-Za-z'()+_,./:=? -]{0,69}$/)
  .map((text) => `${text}x`)
  .filter((text) => text.length <= 70)

const style: fc.Arbitrary<Style> = fc
  .record({
    outer: boundary,
    inner: boundary,
    lineBreak: fc.constantFrom('\r\n', '\n'),
    quoted: fc.boolean(),
    blanksBefore: fc.nat(3),
    blanksInside: fc.nat(2),
    preamble: fc.boolean(),
    padding: fc.constantFrom('', ' ', '\t '),
    finalBreak: fc.boolean(),
  })
  .filter(({ outer, inner }) => outer !== inner)

const written: fc.Arbitrary<Written> = fc.record(
  {
    method: fc.constantFrom('POST', 'PUT', 'MERGE', 'PATCH', 'DELETE', 'GET'),
    target: fc.stringMatching(/^[!-~é日][ -~é日]{0,60}[!-~é日]$/),
    headers: fc.array(
      fc.tuple(
        fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}$/),
        fc.stringMatching(/^([!-~]([ -~]{0,30}[!-~])?)?$/),
      ),
      {
        maxLength: 8,
      },
    ),
    // A body is JSON or nothing, so it has no line that could be a delimiter and no break at its ends.
    body: fc.oneof(
      fc.constant(''),
      fc.json().map((text) => `{"v":${text}}`),
    ),
  },
  { noNullPrototype: true },
)

describe('readBatch', () => {
  it('reads back what was written, in any style', () => {
    fc.assert(
      fc.property(
        fc.array(written, { minLength: 1, maxLength: 5 }),
        style,
        fc.boolean(),
        (operations, how, inSet) => {
          fc.pre(!hasContentIds(operations))
          const sent = inSet ? operations : operations.slice(0, 1)
          const parts = readBatch(
            contentTypeText(how.outer, how.quoted),
            Buffer.from(batchText(sent, how, inSet)),
          )
          assert.deepEqual(shown(parts), [{ kind: inSet ? 'change set' : 'operation', operations: sent }])
        },
      ),
      { numRuns: runs },
    )
  })

  it('takes no line for a delimiter that only begins like one, or does not begin with it', () => {
    const outer = ['--batch', '--batch_bX', ' --batch_b', '--batch_b--X', 'x--batch_b', '--batch_c']
    const inner = ['--change', '--changeset_cX', '--changeset_c -', 'x--changeset_c--', '--changeset_d']
    const lines = [...outer, ...inner, '{}', ...inner, ...outer].join('\n')
    const set = `--changeset_c\nContent-Type: application/http\n\nPOST /t HTTP/1.1\n\n${lines}\n--changeset_c--`
    const text = `${outer.join('\n')}\n--batch_b\nContent-Type: multipart/mixed; boundary=changeset_c\n\n${set}\n--batch_b--`
    const [part, ...others] = readBatch('multipart/mixed; boundary=batch_b', Buffer.from(text))
    assert.equal(others.length, 0)
    assert.deepEqual(
      part?.operations.map(({ body }) => body.toString()),
      [lines],
    )
  })

  it('gives bodies as views of the one buffer', () => {
    const body = Buffer.from(
      `${'p'.repeat(9)}\r\n--b\r\nContent-Type: application/http\r\n\r\nPUT /t HTTP/1.1\r\n\r\n{"a":1}\r\n--b--`,
    )
    const [part] = readBatch('multipart/mixed; boundary=b', body)
    const view = part?.operations[0]?.body
    assert.equal(view?.toString(), '{"a":1}')
    assert.equal(view.buffer, body.buffer)
  })

  it('stops after one operation too many', () => {
    const part = '--c\r\nContent-Type: application/http\r\n\r\nPUT /t HTTP/1.1\r\n\r\n{}\r\n'
    const head = '--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n'
    const body = Buffer.from(
      `${head}${part.repeat(101)}--c\r\nwhat follows is not looked at\r\n--c--\r\n--b--`,
    )
    assert.equal(readBatch('multipart/mixed; boundary=b', body)[0]?.operations.length, 101)
  })

  const size = 4 * 1024 * 1024
  const part = 'Content-Type: application/http\n\nPUT /t HTTP/1.1\n\n{}\n'
  const set = 'Content-Type: multipart/mixed; boundary=c\n\n'
  // biome-ignore format: a table reads in columns
  const hostile: readonly [what: string, body: string][] = [
    ['delimiters without end',          '--b'.repeat(size / 3)],
    ['delimiters with a wrong end',     '\n--b!'.repeat(size / 5)],
    ['delimiters and blanks',           `\n--b${' '.repeat(1000)}!`.repeat(size / 1005)],
    ['blanks after a delimiter',        `--b${' '.repeat(size)}!`],
    ['hyphens',                         '-'.repeat(size)],
    ['line feeds',                      `--b\n${'\n'.repeat(size)}--b--`],
    ['carriage returns',                `--b\n${'\r'.repeat(size)}\n--b--`],
    ['blank lines before an operation', `--b\nContent-Type: application/http\n\n${'\n'.repeat(size)}--b--`],
    ['parts',                           `${`--b\n${part}`.repeat(size / 64)}--b--`],
    ['empty change sets',               `${`--b\n${set}--c--\n`.repeat(size / 64)}--b--`],
    ['unclosed change sets',            `${`--b\n${set}`.repeat(size / 64)}--b--`],
    ['headers',                         `--b\n${'a: b\n'.repeat(size / 5)}\n--b--`],
    ['one header',                      `--b\na: ${'b'.repeat(size)}\n--b--`],
    ['a header of blanks',              `--b\nContent-Type:${' '.repeat(65_000)}x\n\n--b--`],
    ['parameters of a type',            `--b\nContent-Type: multipart/mixed${'; a=b'.repeat(12_000)}\n\n--b--`],
    ['quotes in a type',                `--b\nContent-Type: multipart/mixed; a="${'\\"'.repeat(30_000)}\n\n--b--`],
    ['a request line',                  `--b\nContent-Type: application/http\n\n${'P '.repeat(size / 2)}\n--b--`],
  ]
  for (const [what, body] of hostile) {
    it(`refuses or reads 4 MiB of ${what} at once`, () => {
      const bytes = Buffer.from(body, 'latin1')
      const startedMs = performance.now()
      try {
        readBatch('multipart/mixed; boundary=b', bytes)
      } catch (error) {
        assert(error instanceof Fault && error.code === 'InvalidInput', String(error))
      }
      const ms = performance.now() - startedMs
      assert(ms < 1_000, `${ms} ms`)
    })
  }

  it('refuses hostile content types at once', () => {
    for (const type of [
      `multipart/mixed${';'.repeat(60_000)}x`,
      `multipart/mixed;${' '.repeat(60_000)}=`,
      `multipart/mixed; boundary="${'\\a'.repeat(30_000)}`,
      `multipart/mixed; ${'a'.repeat(60_000)}`,
    ]) {
      const startedMs = performance.now()
      assert.throws(() => readBatch(type, Buffer.from('--b--')), { code: 'InvalidInput' })
      assert(performance.now() - startedMs < 1_000)
    }
  })
})

function hasContentIds(operations: readonly Written[]): boolean {
  return operations.some(({ headers }) => headers.some(([name]) => name.toLowerCase() === 'content-id'))
}

function contentTypeText(text: string, quoted: boolean): string {
  return `multipart/mixed; boundary=${quoted || /[ ;"]/.test(text) ? `"${text}"` : text}`
}

function batchText(operations: readonly Written[], how: Style, inSet: boolean): string {
  const { outer, inner, lineBreak, padding } = how
  const line = (text = ''): string => text + lineBreak
  const blanks = (count: number): string => lineBreak.repeat(count)
  const single = (operation: Written): string =>
    line('Content-Type: application/http') + line() + operationText(operation, how) + lineBreak
  const batch = inSet
    ? line(`--${outer}${padding}`) +
      line(`content-type: ${contentTypeText(inner, how.quoted)}`) +
      line() +
      blanks(how.blanksBefore) +
      operations.map((operation) => line(`--${inner}${padding}`) + single(operation)).join('') +
      line(`--${inner}--${padding}`) +
      blanks(how.blanksInside)
    : operations.map((operation) => line(`--${outer}${padding}`) + single(operation)).join('')
  return (
    (how.preamble ? line('before') : '') + batch + `--${outer}--${padding}` + (how.finalBreak ? line() : '')
  )
}

function operationText(
  { method, target, headers, body }: Written,
  { lineBreak, blanksInside }: Style,
): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ]
  return lines.join(lineBreak) + lineBreak.repeat(blanksInside) + body
}

function shown(parts: readonly BatchPart[]): unknown {
  return parts.map(({ kind, operations }) => ({
    kind,
    operations: operations.map(({ method, target, rawHeaders, body }) => ({
      method,
      target,
      headers: rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]]] : [])),
      body: body.toString(),
    })),
  }))
}

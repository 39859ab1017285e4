/** Entity group transactions: what is tolerated, what is refused, in which order, and how refusals look. */
import { strict as assert } from 'node:assert'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { TableName } from '../../src/model/table.ts'
import { parseEtag } from '../../src/model/version.ts'
import {
  account,
  base,
  type Batch,
  batchRequest,
  batchTarget,
  changeSet,
  contentsOf,
  direct,
  insert,
  keyUrl,
  masked,
  merge,
  type Operation,
  partText,
  quiet,
  read,
  readBatchAnswer,
  remove,
  replace,
  startTables,
  type TestTables,
} from '../support/batch.ts'
import type { RawAnswer } from '../support/raw-http.ts'

let tables: TestTables
before(async () => {
  tables = await startTables()
})
after(() => tables.close())
beforeEach(() => tables.seed(['old']))

const mime = 'Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n'
const one = { PartitionKey: 'p', RowKey: '1' }

/** A batch of this text, between whose lines stand CR LF. */
function written(lines: readonly string[], boundary = 'b'): Batch {
  return { contentType: `multipart/mixed; boundary=${boundary}`, body: lines.join('\r\n') }
}

/** Inserts row 1 by an operation of these lines. */
function insertLines(
  around: (operation: readonly string[]) => readonly string[],
  operation: Partial<{ line: string; headers: readonly string[]; body: readonly string[] }> = {},
): Batch {
  const line = operation.line ?? `POST ${base}/people HTTP/1.1`
  const headers = operation.headers ?? ['Accept: application/json', 'Prefer: return-no-content']
  const body = operation.body ?? [JSON.stringify(one)]
  return written(around([line, ...headers, '', ...body]))
}

const plain = (operation: readonly string[]): string[] => [
  '--b',
  'Content-Type: multipart/mixed; boundary=c',
  '',
  '--c',
  'Content-Type: application/http',
  'Content-Transfer-Encoding: binary',
  '',
  ...operation,
  '--c--',
  '--b--',
  '',
]

function inPlain(operation: Parameters<typeof insertLines>[1]): Batch {
  return insertLines(plain, operation)
}

function withBreaks(batch: Batch, lineBreak: string | (() => string)): Batch {
  const next = typeof lineBreak === 'string' ? () => lineBreak : lineBreak
  return { ...batch, body: batch.body.toString().replaceAll('\r\n', next) }
}

function alternately(): () => string {
  let lines = 0
  return () => (lines++ % 2 === 0 ? '\n' : '\r\n')
}

// biome-ignore format: a table reads in columns
const tolerated: readonly [what: string, batch: Batch][] = [
  ['the canonical form', inPlain({})],
  ['LF for CR LF', withBreaks(inPlain({}), '\n')],
  ['LF and CR LF mixed', withBreaks(inPlain({}), alternately())],
  ['MIME header names in lower case', insertLines((operation) => [
    '--b', 'content-type: multipart/mixed; boundary=c', '',
    '--c', 'content-type: application/http', 'content-transfer-encoding: binary', '', ...operation, '--c--', '--b--'])],
  ['MIME header names in upper case', insertLines((operation) => [
    '--b', 'CONTENT-TYPE: multipart/mixed; boundary=c', '',
    '--c', 'CONTENT-TYPE: application/http', '', ...operation, '--c--', '--b--'])],
  ['media types in another case', insertLines((operation) => [
    '--b', 'Content-Type: Multipart/Mixed; Boundary=c', '',
    '--c', 'Content-Type: Application/HTTP; msgtype=request', '', ...operation, '--c--', '--b--'])],
  ['inner header names in any case', inPlain({ headers: ['aCCept: application/json', 'PREFER: return-no-content'] })],
  ['blank lines before the first boundary of the change set', insertLines((operation) => [
    '--b', 'Content-Type: multipart/mixed; boundary=c', '', '', '', '',
    '--c', 'Content-Type: application/http', '', ...operation, '--c--', '--b--'])],
  ['a blank line more before the body', inPlain({ body: ['', JSON.stringify(one)] })],
  ['blank lines before the request line', insertLines((operation) => [
    '--b', 'Content-Type: multipart/mixed; boundary=c', '',
    '--c', 'Content-Type: application/http', '', '', '', ...operation, '--c--', '--b--'])],
  ['a blank line between the closing boundaries', insertLines((operation) => [
    '--b', 'Content-Type: multipart/mixed; boundary=c', '',
    '--c', 'Content-Type: application/http', '', ...operation, '--c--', '', '--b--'])],
  ['nothing after the final boundary', insertLines((operation) => plain(operation).slice(0, -1))],
  ['text before, between and after', insertLines((operation) => [
    'This is a message of several parts.', '--b', 'Content-Type: multipart/mixed; boundary=c', '', 'preamble', '--cc', '',
    '--c', 'Content-Type: application/http', '', ...operation, '--c--', 'epilogue', '--b--', 'the end', '--b', ''])],
  ['blanks after a boundary', insertLines((operation) => [
    '--b  ', 'Content-Type: multipart/mixed; boundary=c', '',
    '--c\t', 'Content-Type: application/http', '', ...operation, '--c-- ', '--b--\t'])],
  ['the transfer encoding first', insertLines((operation) => [
    '--b', 'Content-Type: multipart/mixed; boundary=c', '',
    '--c', 'Content-Transfer-Encoding: binary', 'Content-Type: application/http', '', ...operation, '--c--', '--b--'])],
  ['no transfer encoding', insertLines((operation) => [
    '--b', 'Content-Type: multipart/mixed; boundary=c', '',
    '--c', 'Content-Type: application/http', '', ...operation, '--c--', '--b--'])],
  ['a Content-ID among the MIME headers', insertLines((operation) => [
    '--b', 'Content-Type: multipart/mixed; boundary=c', '',
    '--c', 'Content-Type: application/http', 'Content-ID: 0', '', ...operation, '--c--', '--b--'])],
  ['an https URL', inPlain({ line: `POST https://127.0.0.1:10002/${account}/people HTTP/1.1` })],
  ['a host-style URL', inPlain({ line: `POST https://${account}.table.core.windows.net/people HTTP/1.1` })],
  ['another authority', inPlain({ line: `POST http://tables.example:8080/${account}/people HTTP/1.1` })],
  ['a URL from the root, with the account', inPlain({ line: `POST /${account}/people HTTP/1.1` })],
  ['a URL from the root, without the account', inPlain({ line: 'POST /people HTTP/1.1' })],
  ['a relative URL', inPlain({ line: 'POST people HTTP/1.1' })],
  ['the collection with parentheses', inPlain({ line: `POST ${base}/people() HTTP/1.1` })],
  ['a table name in another case', inPlain({ line: `POST ${base}/PEOPLE HTTP/1.1` })],
  ['$format in the URL', inPlain({ line: `POST ${base}/people?$format=application%2Fjson%3Bodata%3Dfullmetadata HTTP/1.1` })],
  ['a shared access signature in the URL', inPlain({
    line: `POST ${base}/people?sv=2019-02-02&se=2001-01-01&sp=r&sig=AAAA%2F&tn=other&timeout=90 HTTP/1.1` })],
  ['headers that say nothing here', inPlain({ headers: [
    'Host: elsewhere.example', 'Content-Length: 3', 'Date: yesterday', 'x-ms-date: never', 'x-ms-version: 1999-01-01',
    'x-ms-client-request-id: 7', 'Authorization: SharedKey nobody:nothing', 'Cookie: a=b', 'User-Agent: caf\u00e9',
    'Connection: close', 'Transfer-Encoding: chunked', 'Accept: application/json', 'Prefer: return-no-content'] })],
  ['headers in another order, with odd blanks', inPlain({ headers: [
    'Prefer:return-no-content', 'Accept: \t application/json \t'] })],
]

describe('Entity group transactions: tolerated envelopes (11.2)', () => {
  for (const [what, batch] of tolerated) {
    it(what, async () => {
      const { layout, parts } = await tables.batch(batch)
      assert.equal(layout, 'change set')
      assert.deepEqual(
        parts.map((part) => part.status),
        [204],
        parts[0]?.text,
      )
      assert.match(parts[0]?.header('Location') ?? '', /\/(?:people|PEOPLE)\(PartitionKey='p',RowKey='1'\)$/)
    })
  }

  const boundaries = [
    'b',
    '0',
    'batch_36522ad7-fc75-4b56-8c71-56071383e77b',
    "it's(odd)+_,-./:=?",
    'with a blank',
    '--',
    '-b-',
    'x'.repeat(70),
  ]
  for (const boundary of boundaries) {
    it(`the boundary ${boundary}, in quotes`, async () => {
      const body = changeSet([insert('1')])
        .body.toString()
        .replaceAll('batch_b', boundary)
      const { parts } = await tables.batch({ contentType: `multipart/mixed; boundary="${boundary}"`, body })
      assert.equal(parts[0]?.status, 204)
    })
    if (boundary.includes(' ')) continue
    it(`the boundary ${boundary}, without quotes`, async () => {
      const body = changeSet([insert('1')])
        .body.toString()
        .replaceAll('batch_b', boundary)
      const { parts } = await tables.batch({
        contentType: `Multipart/Mixed ; charset=utf-8;BOUNDARY=${boundary};`,
        body,
      })
      assert.equal(parts[0]?.status, 204)
    })
  }

  it('boundaries that begin like one another', async () => {
    for (const [outer, inner] of [
      ['x', 'xy'],
      ['xy', 'x'],
      ['x-', 'x'],
    ] as const) {
      await tables.seed([])
      const body = changeSet([insert('1'), insert('2')]).body.toString()
      const renamed = body.replaceAll('batch_b', outer).replaceAll('changeset_c', inner)
      const { parts } = await tables.batch({
        contentType: `multipart/mixed; boundary=${outer}`,
        body: renamed,
      })
      assert.deepEqual(
        parts.map((part) => part.status),
        [204, 204],
        `${outer} ${inner}`,
      )
    }
  })

  it('a delimiter that is not a whole line is content', async () => {
    const note = 'a --b-- in the middle, --c too'
    const { parts } = await tables.batch(inPlain({ body: [JSON.stringify({ ...one, note })] }))
    assert.equal(parts[0]?.status, 204)
  })

  for (const blanks of [0, 1, 2, 3]) {
    it(`a delete with ${blanks} blank lines for a body`, async () => {
      const operation = [`DELETE ${keyUrl('old')} HTTP/1.1`, 'If-Match: *', ...Array<string>(blanks).fill('')]
      const { parts } = await tables.batch(written(plain(operation)))
      assert.equal(parts[0]?.status, 204)
    })
  }

  // biome-ignore format: a table reads in columns
  const merges: readonly [what: string, operation: Operation][] = [
    ['MERGE', merge('old', { a: 1 })],
    ['PATCH', { ...merge('old', { a: 1 }), method: 'PATCH' }],
    ['POST with X-HTTP-Method: MERGE', { ...merge('old', { a: 1 }, { 'X-HTTP-Method': 'MERGE' }), method: 'POST' }],
    ['POST with X-HTTP-Method: PATCH', { ...merge('old', { a: 1 }, { 'x-http-method': 'PATCH' }), method: 'POST' }],
    ['encoded parentheses and quotes', { ...merge('old', { a: 1 }), url: `${base}/people%28PartitionKey%3D%27p%27%2CRowKey%3D%27old%27%29` }],
    ['keys in the other order, with blanks', { ...merge('old', { a: 1 }), url: `${base}/people(RowKey='old', PartitionKey='p')` }],
    ['a relative key', { ...merge('old', { a: 1 }), url: "people(PartitionKey='p',RowKey='old')" }],
  ]
  for (const [what, operation] of merges) {
    it(`merges by ${what}`, async () => {
      const { parts } = await tables.batch(changeSet([operation]))
      assert.equal(parts[0]?.status, 204, parts[0]?.text)
      const shown = (await tables.batch(direct(read('old')))).parts[0]?.body ?? ''
      assert.match(shown, /"a":1,"seeded":true/)
    })
  }

  for (const row of ["O'Brien", 'ñandú', '日本', 'a b+c%d=e&f', '']) {
    it(`the key ${row}, encoded and plain`, async () => {
      const plainUrl = `${base}/people(PartitionKey='p',RowKey='${row.replaceAll("'", "''").replaceAll('%', '%25')}')`
      const sent = changeSet([insert(row)])
      assert.equal((await tables.batch(sent)).parts[0]?.status, 204)
      for (const url of [keyUrl(row), plainUrl]) {
        const { parts } = await tables.batch(direct({ ...read(row), url }))
        assert.equal(parts[0]?.status, 200, parts[0]?.text)
      }
    })
  }

  for (const accept of ['', 'application/json', 'multipart/mixed', 'application/atom+xml']) {
    it(`an outer Accept of '${accept}' changes nothing`, async () => {
      const headers = accept === '' ? {} : { Accept: accept }
      const answer = await tables.send(batchRequest(changeSet([insert('1', {}, {})]), headers))
      assert.match(answer.body.toString(), /application\/json;odata=minimalmetadata;streaming=true/)
    })
  }
})

describe('Entity group transactions: answers (11.4, 11.5)', () => {
  it('names itself as the protocol does', async () => {
    const headers = { 'x-ms-client-request-id': 'mine' }
    const { head } = await tables.send(batchRequest(changeSet([insert('1')]), headers))
    const shown = masked(head)
      .replace(/x-ms-request-id: .*/, 'x-ms-request-id: ID')
      .replace(/Date: .*/, 'Date: NOW')
    assert.deepEqual(shown.split('\r\n'), [
      'HTTP/1.1 202 Accepted',
      'Cache-Control: no-cache',
      'Transfer-Encoding: chunked',
      'Content-Type: multipart/mixed; boundary=batchresponse_GUID',
      'Server: test',
      'x-ms-request-id: ID',
      'x-ms-client-request-id: mine',
      'x-ms-version: 2019-02-02',
      'X-Content-Type-Options: nosniff',
      'Date: NOW',
    ])
  })

  it('has boundaries of its own, new each time', async () => {
    const ids = new Set<string>()
    for (const row of ['1', '2']) {
      const { text } = await tables.batch(changeSet([insert(row)]))
      for (const [id] of text.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)) ids.add(id)
    }
    assert.equal(ids.size, 4)
  })

  // biome-ignore format: a table reads in columns
  const headers: readonly [what: string, operation: Operation, status: number, headers: readonly string[]][] = [
    ['insert, no content', insert('1', {}, { ...quiet, 'Content-ID': '7' }), 204, [
      'Content-ID: 7', 'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'Preference-Applied: return-no-content',
      'DataServiceVersion: 3.0;', `Location: ${keyUrl('1')}`, `DataServiceId: ${keyUrl('1')}`, `ETag: W/"datetime'ETAG'"`]],
    ['insert, content', insert('1', {}, { 'Content-ID': 'x' }), 201, [
      'DataServiceVersion: 3.0;', 'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8', 'Content-ID: x',
      'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', `Location: ${keyUrl('1')}`, `ETag: W/"datetime'ETAG'"`]],
    ['insert, content asked for', insert('1', {}, { Prefer: 'return-content', Accept: 'application/json;odata=nometadata' }), 201, [
      'DataServiceVersion: 3.0;', 'Content-Type: application/json;odata=nometadata;streaming=true;charset=utf-8',
      'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'Preference-Applied: return-content', `Location: ${keyUrl('1')}`, `ETag: W/"datetime'ETAG'"`]],
    ['replace', replace('old', {}, { 'Content-ID': '1' }), 204, [
      'Content-ID: 1', 'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'DataServiceVersion: 1.0;', `ETag: W/"datetime'ETAG'"`]],
    ['replace, no content asked for', replace('old', {}, { ...quiet, 'If-Match': '*' }), 204, [
      'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'Preference-Applied: return-no-content', 'DataServiceVersion: 3.0;', `ETag: W/"datetime'ETAG'"`]],
    ['merge', merge('new'), 204, [
      'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'DataServiceVersion: 1.0;', `ETag: W/"datetime'ETAG'"`]],
    ['merge, no content asked for', merge('old', {}, quiet), 204, [
      'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'Preference-Applied: return-no-content', 'DataServiceVersion: 3.0;', `ETag: W/"datetime'ETAG'"`]],
    ['delete', remove('old', { 'If-Match': '*', ...quiet, 'Content-ID': '9' }), 204, [
      'Content-ID: 9', 'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'DataServiceVersion: 1.0;']],
    ['error in the store, JSON', insert('old', {}, { ...quiet, 'Content-ID': '1' }), 409, [
      'Content-ID: 1', 'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'Preference-Applied: return-no-content', 'DataServiceVersion: 3.0;',
      'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8']],
    ['error in the address, JSON', { ...insert('1'), url: `${base}/nobody` }, 404, [
      'X-Content-Type-Options: nosniff', 'DataServiceVersion: 3.0;', 'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8']],
    ['error, full metadata', insert('old', {}, { Accept: 'application/json;odata=fullmetadata' }), 409, [
      'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'DataServiceVersion: 3.0;', 'Content-Type: application/json;odata=fullmetadata;streaming=true;charset=utf-8']],
    ['error, XML', insert('old', {}, { Accept: '*/*', 'Content-ID': '1', ...quiet }), 409, [
      'Content-ID: 1', 'X-Content-Type-Options: nosniff', 'Cache-Control: no-cache', 'Preference-Applied: return-no-content', 'DataServiceVersion: 1.0;', 'Content-Type: application/xml;charset=utf-8']],
  ]
  for (const [what, operation, status, expected] of headers) {
    it(what, async () => {
      const { parts } = await tables.batch(changeSet([operation]))
      assert.equal(parts[0]?.status, status)
      assert.deepEqual(parts[0]?.headers.map(masked), expected)
    })
  }

  it('the JSON error in full, down to the last line break', async () => {
    const operation = { ...insert('1'), url: `${base}/nobody` }
    const { text, answer } = await tables.batch(changeSet([operation]))
    const id = answer.header('x-ms-request-id') as string
    assert(text.includes(`RequestId:${id}\\n`))
    assert.equal(
      masked(text),
      [
        '--batchresponse_GUID',
        'Content-Type: multipart/mixed; boundary=changesetresponse_GUID',
        '',
        '--changesetresponse_GUID',
        'Content-Type: application/http',
        'Content-Transfer-Encoding: binary',
        '',
        'HTTP/1.1 404 Not Found',
        'X-Content-Type-Options: nosniff',
        'DataServiceVersion: 3.0;',
        'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
        '',
        '{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"0:The table specified does not exist.\\nRequestId:ID\\nTime:TIME"}}}',
        '--changesetresponse_GUID--',
        '--batchresponse_GUID--',
        '',
      ].join('\r\n'),
    )
  })

  it('a read, with its ETag last', async () => {
    const { text, layout } = await tables.batch(direct(read('old')))
    assert.equal(layout, 'operation')
    assert.equal(
      masked(text),
      [
        '--batchresponse_GUID',
        'Content-Type: application/http',
        'Content-Transfer-Encoding: binary',
        '',
        'HTTP/1.1 200 OK',
        'DataServiceVersion: 3.0;',
        'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
        'X-Content-Type-Options: nosniff',
        'Cache-Control: no-cache',
        `ETag: W/"datetime'ETAG'"`,
        '',
        `{"odata.metadata":"${base}/$metadata#people/@Element","odata.etag":"W/\\"datetime'ETAG'\\"","PartitionKey":"p","RowKey":"old","Timestamp":"TIME","seeded":true}`,
        '--batchresponse_GUID--',
        '',
      ].join('\r\n'),
    )
  })

  it('ETags are those a read shows, and grow', async () => {
    const { parts } = await tables.batch(changeSet([insert('1'), replace('2'), merge('old', { a: 1 })]))
    const etags = parts.map((part) => part.header('ETag') as string)
    const [first = 0n, second = 0n, third = 0n] = etags.map(parseEtag)
    // As moments: their texts lack the zeros at their ends, and do not sort.
    assert.ok(first < second && second < third, etags.join(' '))
    for (const [i, row] of ['1', '2', 'old'].entries()) {
      assert.equal((await tables.batch(direct(read(row)))).parts[0]?.header('ETag'), etags[i])
    }
  })

  it('scheme and authority of links are those of each operation', async () => {
    const host = `https://${account}.table.example.org`
    const operations = [
      { ...insert('1'), url: `${host}/people?$format=application/json` },
      { ...insert('2'), url: 'people' },
      { ...insert('3'), url: `HTTP://other:1/${account}/people` },
    ]
    const { parts } = await tables.batch(changeSet(operations))
    assert.deepEqual(
      parts.map((part) => part.header('Location')),
      [
        `${host}/people(PartitionKey='p',RowKey='1')`,
        keyUrl('2'),
        `http://other:1/${account}/people(PartitionKey='p',RowKey='3')`,
      ],
    )
  })
})

/** A refusal inside: status, code and the first line of the message. */
type Refused = readonly [status: number, code: string, message: string]

const input = 'One of the request inputs is not valid.'
const exists = 'The specified entity already exists.'
const missing = 'The specified resource does not exist.'
const changed = 'The update condition specified in the request was not satisfied.'
const twice =
  'The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.'
const apart = 'All commands in a batch must operate on same entity group.'
const wrongEtag = { 'If-Match': `W/"datetime'2001-01-01T00%3A00%3A00Z'"` }
const elsewhere = (row: string): Operation => ({
  ...insert(row),
  body: JSON.stringify({ PartitionKey: 'q', RowKey: row }),
})
const at = (url: string, operation: Operation = insert('1')): Operation => ({
  ...operation,
  url: `${base}/${url}`,
})
const many = (count: number): Operation[] => Array.from({ length: count }, (_, i) => insert(`n${i}`))
const big = 'x'.repeat(32_769)

// biome-ignore format: a table reads in columns
const refusals: readonly [what: string, operations: readonly Operation[], refused: Refused, dressed: 'early' | 'late'][] = [
  // Alone, what the store and the rules of entities refuse has no index; all else has.
  ['alone: exists',            [insert('old')],                        [409, 'EntityAlreadyExists', exists], 'late'],
  ['alone: missing',           [remove('1')],                          [404, 'ResourceNotFound', missing], 'late'],
  ['alone: changed',           [replace('old', {}, wrongEtag)],        [412, 'UpdateConditionNotSatisfied', changed], 'late'],
  ['alone: value too large',   [insert('1', { big })],                 [400, 'PropertyValueTooLarge', 'The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.'], 'late'],
  ['alone: no row key',        [{ ...insert('1'), body: '{"PartitionKey":"p"}' }], [400, 'PropertiesNeedValue', 'The values are not specified for all properties in the entity.'], 'late'],
  ['alone: no table',          [at('nobody')],                         [404, 'TableNotFound', '0:The table specified does not exist.'], 'early'],
  ['alone: name too short',    [at('a')],                              [400, 'OutOfRangeInput', '0:The specified resource name length is not within the permissible limits.'], 'early'],
  ['alone: name invalid',      [at('a_b_c')],                          [400, 'InvalidResourceName', '0:The specifed resource name contains invalid characters.'], 'early'],
  ['alone: the service root',  [at('')],                               [405, 'MethodNotAllowed', '0:The requested method is not allowed on the specified resource.'], 'early'],
  ['alone: the root, no slash', [{ ...insert('1'), url: base }],       [405, 'MethodNotAllowed', '0:The requested method is not allowed on the specified resource.'], 'early'],
  ['alone: key syntax',        [at("people(PartitionKey='p',RowKey=1)", replace('1'))], [400, 'InvalidInput', '0:Bad Request - Error in query syntax.'], 'early'],
  ['alone: key count',         [at("people('p')", replace('1'))],      [400, 'InvalidInput', `0:The number of keys specified in the URI does not match number of key properties for the resource '${account}.people'.`], 'early'],
  ['alone: key characters',    [insert('a/b')],                        [400, 'OutOfRangeInput', "0:The 'RowKey' parameter of value 'a/b' is out of range."], 'late'],
  ['alone: ETag syntax',       [remove('old', { 'If-Match': 'GolangRocksOnAzure' })], [400, 'InvalidInput', "0:The etag value 'GolangRocksOnAzure' specified in one of the request headers is not valid. Please make sure only one etag value is specified and is valid."], 'early'],
  ['alone: ETag content',      [replace('old', {}, { 'If-Match': 'W/"wrong"' })], [412, 'ConditionNotMet', '0:The condition specified using HTTP conditional header(s) is not met.'], 'early'],
  ['alone: not JSON',          [{ ...insert('1'), body: '{' }],        [400, 'InvalidInput', '0:An error occurred while processing this request.'], 'early'],
  ['alone: unknown verb',      [{ ...insert('1'), method: 'OPTIONS' }], [405, 'UnsupportedHttpVerb', "0:The resource doesn't support specified Http Verb."], 'early'],
  ['alone: header twice',      [{ ...insert('1'), headers: { Accept: 'application/json', accept: 'application/json' } }], [400, 'InvalidHeaderValue', '0:The value for one of the HTTP headers is not in the correct format.'], 'early'],
  ['alone: not a method',      [{ ...replace('1', {}, { 'X-HTTP-Method': 'GET' }), method: 'POST' }], [400, 'XMethodIncorrectValue', '0:The specified X-HTTP-Method is invalid.'], 'early'],
  ['alone: tunnelled by PUT',  [replace('1', {}, { 'X-HTTP-Method': 'MERGE' })], [400, 'XMethodNotUsingPost', '0:The request uses X-HTTP-Method with an HTTP verb other than POST.'], 'early'],
  ['alone: media type',        [insert('1', {}, { 'Content-Type': 'text/plain' })], [415, 'MediaTypeNotSupported', '0:None of the provided media types are supported'], 'early'],
  // With others, everything has the index of the operation refused.
  ['of two: exists',           [insert('1'), insert('old')],           [409, 'EntityAlreadyExists', `1:${exists}`], 'late'],
  ['of two: the first',        [insert('old'), insert('1')],           [409, 'EntityAlreadyExists', `0:${exists}`], 'late'],
  ['of three: missing',        [insert('1'), insert('2'), remove('3')], [404, 'ResourceNotFound', `2:${missing}`], 'late'],
  ['of three: changed',        [insert('1'), merge('old', {}, wrongEtag), insert('2')], [412, 'UpdateConditionNotSatisfied', `1:${changed}`], 'late'],
  ['of two: no table',         [insert('1'), at('nobody')],            [404, 'TableNotFound', '1:The table specified does not exist.'], 'early'],
  ['of two: not JSON',         [insert('1'), { ...insert('2'), body: '[]' }], [400, 'InvalidInput', '1:An error occurred while processing this request.'], 'early'],
  // Groups.
  ['101 operations',           many(101),                              [400, 'InvalidInput', '99:The batch request operation exceeds the maximum 100 changes per change set.'], 'late'],
  ['150 operations',           many(150),                              [400, 'InvalidInput', '99:The batch request operation exceeds the maximum 100 changes per change set.'], 'late'],
  ['101, the last malformed',  [...many(100), at('nobody')],           [400, 'InvalidInput', '99:The batch request operation exceeds the maximum 100 changes per change set.'], 'late'],
  ['two partitions',           [insert('1'), elsewhere('2')],          [400, 'CommandsInBatchActOnDifferentPartitions', `1:${apart}`], 'late'],
  ['two partitions, later',    [insert('1'), insert('2'), elsewhere('3'), elsewhere('4')], [400, 'CommandsInBatchActOnDifferentPartitions', `2:${apart}`], 'late'],
  ['two tables',               [insert('1'), at('others', insert('2'))], [400, 'CommandsInBatchActOnDifferentPartitions', `1:${apart}`], 'late'],
  ['one entity twice',         [insert('1'), insert('1')],             [400, 'InvalidDuplicateRow', `1:${twice}`], 'late'],
  ['one entity twice, later',  [insert('1'), insert('2'), insert('3'), remove('2')], [400, 'InvalidDuplicateRow', `3:${twice}`], 'late'],
  ['one entity twice, rows in no order', [insert('3'), insert('1'), insert('2'), insert('1')], [400, 'InvalidDuplicateRow', `3:${twice}`], 'late'],
  ['one entity twice, first in order', [insert('1'), insert('3'), insert('2'), insert('3')], [400, 'InvalidDuplicateRow', `3:${twice}`], 'late'],
  ['a read in a change set',   [insert('1'), read('old')],             [400, 'InvalidInput', `1:${input}`], 'early'],
  ['a read alone in one',      [read('old')],                          [400, 'InvalidInput', `0:${input}`], 'early'],
  ['Create Table',             [insert('1'), at('Tables', { ...insert('2'), body: '{"TableName":"abc"}' })], [400, 'InvalidInput', `1:${input}`], 'early'],
  ['Delete Table',             [at("Tables('people')", remove('1'))],  [400, 'InvalidInput', `0:${input}`], 'early'],
  ['a batch in a batch',       [at('$batch')],                         [400, 'InvalidInput', `0:${input}`], 'early'],
  ['an access list',           [at('people?comp=acl', replace('1'))],  [400, 'InvalidInput', `0:${input}`], 'early'],
  ['another use of comp',      [at('people?comp=stats', replace('1'))], [400, 'InvalidQueryParameterValue', '0:Value for one of the query parameters specified in the request URI is invalid.'], 'early'],
  ['another account',          [{ ...insert('1'), url: 'http://127.0.0.1:10002/otheraccount/people' }], [400, 'InvalidInput', `0:${input}`], 'early'],
  ['another account by host',  [{ ...insert('1'), url: 'https://otheraccount.table.core.windows.net/people' }], [400, 'InvalidInput', `0:${input}`], 'early'],
  ['a user in the authority',  [{ ...insert('1'), url: `http://me:secret@127.0.0.1/${account}/people` }], [400, 'InvalidUri', '0:The requested URI does not represent any resource on the server.'], 'early'],
  ['a fragment',               [at('people#top')],                     [400, 'InvalidUri', '0:The requested URI does not represent any resource on the server.'], 'early'],
  ['broken percent-encoding',  [at("people(PartitionKey='p',RowKey='%zz')", replace('1'))], [400, 'InvalidUri', '0:The requested URI does not represent any resource on the server.'], 'early'],
  // Which one wins: operations in order, each to its end; then the store, in order.
  ['order: decoding before the store', [insert('old'), { ...insert('2'), body: '{' }], [400, 'InvalidInput', '1:An error occurred while processing this request.'], 'early'],
  ['order: duplicates before a later decoding', [insert('1'), insert('1'), at('nobody')], [400, 'InvalidDuplicateRow', `1:${twice}`], 'late'],
  ['order: partitions before duplicates', [insert('1'), elsewhere('1'), insert('1')], [400, 'CommandsInBatchActOnDifferentPartitions', `1:${apart}`], 'late'],
  ['order: the table before the group', [insert('1'), at('nobody', elsewhere('2'))], [404, 'TableNotFound', '1:The table specified does not exist.'], 'early'],
  ['order: duplicates before the store', [insert('old'), insert('1'), insert('1')], [400, 'InvalidDuplicateRow', `2:${twice}`], 'late'],
  ['order: lowest index in the store', [insert('1'), remove('2'), insert('old'), replace('old2', {}, wrongEtag)], [404, 'ResourceNotFound', `1:${missing}`], 'late'],
  ['order: rules of entities before a later address', [insert('1', { big }), at('nobody')], [400, 'PropertyValueTooLarge', '0:The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.'], 'late'],
]

describe('Entity group transactions: refusals inside (11.6, 11.7)', () => {
  before(() => tables.store.create(account, 'others' as TableName))

  for (const [what, operations, [status, code, message], dressed] of refusals) {
    it(what, async () => {
      const before = await contentsOf(tables.store, tables.id)
      const { layout, parts } = await tables.batch(changeSet(operations))
      assert.equal(layout, 'change set')
      assert.equal(parts.length, 1)
      assert.deepEqual([parts[0]?.status, parts[0]?.code, parts[0]?.message], [status, code, message])
      assert.equal(parts[0]?.header('Cache-Control'), dressed === 'late' ? 'no-cache' : undefined)
      assert.deepEqual(await contentsOf(tables.store, tables.id), before)
    })
  }

  it('100 operations are not too many', async () => {
    const { parts } = await tables.batch(changeSet(many(100)))
    assert.equal(parts.length, 100)
    assert(parts.every((part) => part.status === 204))
  })

  it('the last operation dresses what the store refuses', async () => {
    const { parts } = await tables.batch(
      changeSet([
        replace('old', {}, { ...wrongEtag, 'Content-ID': '1' }),
        replace('2', {}, { 'Content-ID': '2' }),
      ]),
    )
    assert.equal(parts[0]?.message, `0:${changed}`)
    assert.equal(parts[0]?.header('Content-ID'), '2')
  })

  it('the last operation says which preference was applied, and in which format', async () => {
    const last = remove('old', { 'If-Match': '*', ...quiet, Accept: 'application/json;odata=nometadata' })
    const duplicate = await tables.batch(changeSet([replace('old', {}, quiet), last]))
    assert.equal(duplicate.parts[0]?.message, `1:${twice}`)
    assert.equal(duplicate.parts[0]?.header('Preference-Applied'), undefined)
    const store = await tables.batch(changeSet([insert('old'), remove('2', { ...last.headers })]))
    assert.equal(store.parts[0]?.message, `0:${exists}`)
    assert.equal(store.parts[0]?.header('Preference-Applied'), undefined)
    assert.match(store.parts[0]?.header('Content-Type') ?? '', /odata=nometadata/)
    const reverse = await tables.batch(changeSet([remove('2', { ...last.headers }), insert('1')]))
    assert.equal(reverse.parts[0]?.header('Preference-Applied'), 'return-no-content')
  })

  it('an operation that cannot be read dresses its own refusal', async () => {
    const { parts } = await tables.batch(
      changeSet([
        insert('1', {}, { 'Content-ID': 'a' }),
        { ...at('nobody'), headers: { 'Content-ID': 'b' } },
        insert('2'),
      ]),
    )
    assert.equal(parts[0]?.header('Content-ID'), 'b')
    assert.equal(parts[0]?.header('Preference-Applied'), undefined)
    assert.equal(parts[0]?.header('Content-Type'), 'application/xml;charset=utf-8')
  })

  it('too many operations are dressed by the hundredth', async () => {
    const operations = many(101).map((operation, i) => ({
      ...operation,
      headers: { ...operation.headers, 'Content-ID': `id${i}` },
    }))
    const { parts } = await tables.batch(changeSet(operations))
    assert.equal(parts[0]?.header('Content-ID'), 'id99')
    assert.equal(parts[0]?.header('Preference-Applied'), 'return-no-content')
  })

  it('a write to the secondary', async () => {
    const request = { ...batchRequest(changeSet([insert('1')])), target: `/${account}-secondary/$batch` }
    const { parts } = readBatchAnswer(await tables.send(request))
    assert.deepEqual([parts[0]?.status, parts[0]?.message], [403, '0:Write operations are not allowed.'])
  })
})

describe('Entity group transactions: reads', () => {
  // biome-ignore format: a table reads in columns
  const reads: readonly [what: string, operations: readonly Operation[], status: number, code?: string, message?: string][] = [
    ['an entity',          [read('old')],                                       200],
    ['nothing there',      [read('new')],                                       404, 'ResourceNotFound', `0:${missing}`],
    ['no table',           [at("nobody(PartitionKey='p',RowKey='1')", read('1'))], 404, 'TableNotFound', '0:The table specified does not exist.'],
    ['another ETag',       [read('old', wrongEtag)],                            412, 'ConditionNotMet', '0:The condition specified using HTTP conditional header(s) is not met.'],
    ['a table',            [at("Tables('people')", read('old'))],               400, 'InvalidInput', `0:${input}`],
    ['tables',             [at('Tables', read('old'))],                         400, 'InvalidInput', `0:${input}`],
    ['the service',        [at('', read('old'))],                               400, 'InvalidInput', `0:${input}`],
    ['two of them',        [read('old'), read('old')],                          400, 'InvalidInput', `0:${input}`],
    ['one and a write',    [read('old'), insert('1')],                          400, 'InvalidInput', `0:${input}`],
    ['one after a write',  [insert('1'), read('old')],                          400, 'InvalidInput', `0:${input}`],
  ]
  for (const [what, operations, status, code, message] of reads) {
    it(what, async () => {
      const before = await contentsOf(tables.store, tables.id)
      const { layout, parts } = await tables.batch(direct(...operations))
      assert.equal(layout, 'operation')
      assert.deepEqual(
        [parts.length, parts[0]?.status, parts[0]?.code, parts[0]?.message],
        [1, status, code, message],
      )
      assert.deepEqual(await contentsOf(tables.store, tables.id), before)
    })
  }

  it('one beside a change set', async () => {
    const changes = changeSet([insert('1')])
      .body.toString()
      .replace('--batch_b--\r\n', '')
    const body = `${changes}--batch_b\r\n${partText(read('old'))}--batch_b--\r\n`
    const { layout, parts } = await tables.batch({ contentType: 'multipart/mixed; boundary=batch_b', body })
    assert.equal(layout, 'change set')
    assert.deepEqual([parts.length, parts[0]?.code, parts[0]?.message], [1, 'InvalidInput', `0:${input}`])
    assert.equal((await tables.batch(direct(read('1')))).parts[0]?.status, 404)
  })

  it('a query, with where its next page begins', async () => {
    await tables.seed(['1', '2', '3'])
    const query = at("people()?$filter=RowKey%20gt%20'1'&$top=1", read('1'))
    const { layout, parts } = await tables.batch(direct(query))
    assert.equal(layout, 'operation')
    assert.deepEqual(
      parts[0]?.headers.map((header) => header.replace(/(continuation-\w+: ).*/, '$1TOKEN')),
      [
        'DataServiceVersion: 3.0;',
        'Content-Type: application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
        'X-Content-Type-Options: nosniff',
        'Cache-Control: no-cache',
        'x-ms-continuation-NextPartitionKey: TOKEN',
        'x-ms-continuation-NextRowKey: TOKEN',
      ],
    )
    const { value } = JSON.parse(parts[0]?.body ?? '') as { value: { RowKey: string }[] }
    assert.deepEqual(
      value.map((row) => row.RowKey),
      ['2'],
    )
  })

  it('a query that cannot be read, and one in a change set', async () => {
    const query = at('people?$filter=aaa%20bbb%20ccc', read('1'))
    const { parts } = await tables.batch(direct(query))
    assert.deepEqual([parts[0]?.status, parts[0]?.code], [400, 'InvalidInput'])
    assert.match(parts[0]?.message ?? '', /^0:/)
    const inSet = await tables.batch(changeSet([insert('1'), query]))
    assert.deepEqual([inSet.parts[0]?.status, inSet.parts[0]?.message], [400, `1:${input}`])
  })

  it('in its own format', async () => {
    const { parts } = await tables.batch(direct(read('old', { Accept: 'application/json;odata=nometadata' })))
    assert.doesNotMatch(parts[0]?.body ?? '', /odata/)
  })

  it('of what has not changed', async () => {
    const etag = (await tables.batch(direct(read('old')))).parts[0]?.header('ETag') as string
    const { parts } = await tables.batch(direct(read('old', { 'If-None-Match': etag })))
    assert.deepEqual([parts[0]?.status, parts[0]?.body, parts[0]?.header('ETag')], [304, '', etag])
  })

  it('also at the secondary', async () => {
    const request = { ...batchRequest(direct(read('old'))), target: `/${account}-secondary/$batch` }
    assert.equal(readBatchAnswer(await tables.send(request)).parts[0]?.status, 200)
  })

  it('a write outside of a change set is a group of one, answered as it came', async () => {
    const { layout, parts } = await tables.batch(direct(insert('1')))
    assert.deepEqual([layout, parts.length, parts[0]?.status], ['operation', 1, 204])
    const refused = await tables.batch(direct(insert('1')))
    assert.deepEqual([refused.layout, refused.parts[0]?.message], ['operation', exists])
  })
})

describe('Entity group transactions: envelopes refused as a whole (11.7)', () => {
  const contentTypeText =
    "The content type specified in not valid for batch requests. Content type must be 'multipart/mixed' and there must be a valid single boundary delimiter specified."
  const nested = 'Nested change sets in a batch payload are not supported.'
  const good = changeSet([insert('1')])
  const typed = (contentType: string): Batch => ({ ...good, contentType })
  const cut = (marker: string): Batch => ({ ...good, body: good.body.toString().replace(marker, '') })
  const swapped = (from: string, to: string): Batch => ({
    ...good,
    body: good.body.toString().replace(from, to),
  })
  const twoSets =
    good.body.toString().replace('--batch_b--\r\n', '') + changeSet([insert('2')]).body.toString()

  // biome-ignore format: a table reads in columns
  const faults: readonly [what: string, batch: Batch, text: string][] = [
    ['JSON',                       typed('application/json'), contentTypeText],
    ['another multipart',          typed('multipart/form-data; boundary=batch_b'), contentTypeText],
    ['no boundary',                typed('multipart/mixed'), contentTypeText],
    ['an empty boundary',          typed('multipart/mixed; boundary='), contentTypeText],
    ['an empty quoted boundary',   typed('multipart/mixed; boundary=""'), contentTypeText],
    ['two boundaries',             typed('multipart/mixed; boundary=batch_b; boundary=batch_b'), contentTypeText],
    ['a long boundary',            typed(`multipart/mixed; boundary=${'x'.repeat(71)}`), contentTypeText],
    ['an illegal boundary',        typed('multipart/mixed; boundary="a;b"'), contentTypeText],
    ['an open quote',              typed('multipart/mixed; boundary="batch_b'), contentTypeText],
    ['another boundary',           typed('multipart/mixed; boundary=batch_c'), input],
    ['nothing',                    { ...good, body: '' }, input],
    ['no parts',                   { ...good, body: '--batch_b--\r\n' }, input],
    ['an empty part',              { ...good, body: '--batch_b\r\n--batch_b--\r\n' }, input],
    ['an empty change set',        changeSet([]), input],
    ['no closing batch boundary',  cut('--batch_b--\r\n'), input],
    ['no closing set boundary',    cut('--changeset_c--\r\n'), input],
    ['half a closing boundary',    swapped('--batch_b--\r\n', '--batch_b-'), input],
    ['no type for a part',         swapped('Content-Type: multipart/mixed; boundary=changeset_c', 'X: y'), input],
    ['no type for an operation',   swapped('Content-Type: application/http\r\n', ''), input],
    ['two types for an operation', swapped('Content-Type: application/http', 'Content-Type: application/http\r\nContent-Type: application/http'), input],
    ['another type',               swapped('Content-Type: application/http', 'Content-Type: text/plain'), input],
    ['no boundary of the set',     swapped('; boundary=changeset_c', ''), contentTypeText],
    ['an encoding',                swapped('Encoding: binary', 'Encoding: base64'), input],
    ['a line without a colon',     swapped('Prefer: return-no-content', 'Prefer return-no-content'), input],
    ['a blank in a header name',   swapped('Prefer: return-no-content', 'Prefer : return-no-content'), input],
    ['a folded header',            swapped('Prefer: return-no-content', 'Prefer:\r\n return-no-content'), input],
    ['a control character',        swapped('Prefer: return-no-content', 'Prefer: \u0000'), input],
    ['a lone carriage return',     swapped('Prefer: return-no-content', 'Prefer: a\rb'), input],
    ['too many headers',           swapped('Prefer: ', `${'X: y\r\n'.repeat(100)}Prefer: `), input],
    ['too long a header',          swapped('Prefer: ', `X: ${'y'.repeat(65_536)}\r\nPrefer: `), input],
    ['too much of headers',        swapped('Prefer: ', `${`X: ${'y'.repeat(40_000)}\r\n`.repeat(3)}Prefer: `), input],
    ['a nested change set',        { ...good, body: [
      '--batch_b', 'Content-Type: multipart/mixed; boundary=c', '', '--c', 'Content-Type: multipart/mixed; boundary=d', '',
      `--d\r\n${partText(insert('1'))}--d--`, '--c--', '--batch_b--'].join('\r\n') }, nested],
    ['two change sets',            { ...good, body: twoSets }, 'The batch request exceeds the maximum 1 operations per request.'],
    ['two writes outside of one',  direct(insert('1'), insert('2')), 'The batch request exceeds the maximum 1 operations per request.'],
    ['one Content-ID twice',       changeSet([insert('1', {}, { 'Content-ID': '7' }), insert('2', {}, { 'content-id': '7' })]),
      "'7' is not a unique 'Content-ID'. Each operation needs one of its own."],
    ['no version',                 swapped(`POST ${base}/people HTTP/1.1`, `POST ${base}/people`), requestLine(`POST ${base}/people`)],
    ['no URL',                     swapped(`POST ${base}/people HTTP/1.1`, 'POST HTTP/1.1'), requestLine('POST HTTP/1.1')],
    ['no method',                  swapped(`POST ${base}/people HTTP/1.1`, ` ${base}/people HTTP/1.1`), requestLine(` ${base}/people HTTP/1.1`)],
    ['a version of something else', swapped('people HTTP/1.1', 'people HTTQ/1.1'), requestLine(`POST ${base}/people HTTQ/1.1`)],
    ['no operation in a part',     { ...good, body: `--batch_b\r\n${mime}\r\n--batch_b--` }, requestLine('')],
    ['a request line not UTF-8',   { ...good, body: Buffer.from(good.body.toString().replace('people', '\u00ff\u00fe'), 'latin1') }, input],
  ]
  for (const [what, batch, text] of faults) {
    it(what, async () => {
      const before = await contentsOf(tables.store, tables.id)
      const answer = await tables.send(batchRequest(batch, { Accept: 'application/json' }))
      assertRefused(answer, 400, 'InvalidInput', text)
      assert.equal(answer.header('cache-control'), undefined)
      assert.deepEqual(await contentsOf(tables.store, tables.id), before)
    })
  }

  it('without a content type', async () => {
    const answer = await tables.send({
      method: 'POST',
      target: batchTarget,
      headers: { Accept: 'application/json' },
      body: good.body,
    })
    assertRefused(answer, 400, 'InvalidInput', contentTypeText)
  })

  for (const method of ['GET', 'PUT', 'DELETE', 'MERGE']) {
    it(`by ${method}`, async () => {
      const answer = await tables.send({ ...batchRequest(good, { Accept: 'application/json' }), method })
      assertRefused(
        answer,
        405,
        'MethodNotAllowed',
        'The requested method is not allowed on the specified resource.',
      )
    })
  }

  it('with a signature that proves nothing: in front, not as parts', async () => {
    const headers = {
      Accept: 'application/json',
      Authorization: `SharedKeyLite ${account}:${'A'.repeat(43)}=`,
    }
    const answer = await tables.send(batchRequest(good, headers))
    assert.equal(answer.header('x-ms-error-code'), 'AuthenticationFailed')
    assert.equal(answer.status, 403)
    assert.equal(answer.header('content-type'), 'application/json')
  })

  it('over 4 MiB: in front, not as parts', async () => {
    const operation = { ...insert('1'), body: ' '.repeat(4 * 1024 * 1024) }
    const answer = await tables.send(batchRequest(changeSet([operation]), { Accept: 'application/json' }))
    assert.deepEqual([answer.status, answer.header('x-ms-error-code')], [413, 'RequestBodyTooLarge'])
  })

  it('up to 4 MiB is served', async () => {
    const empty = changeSet([insert('1')]).body.length
    const padded = { ...insert('1'), body: `${insert('1').body}${' '.repeat(4 * 1024 * 1024 - empty)}` }
    const batch = changeSet([padded])
    assert.equal(batch.body.length, 4 * 1024 * 1024)
    assert.equal((await tables.batch(batch)).parts[0]?.status, 204)
  })

  it('below a table', async () => {
    const answer = await tables.send({
      ...batchRequest(good, { Accept: 'application/json' }),
      target: `/${account}/people/$batch`,
    })
    assertRefused(answer, 415, 'MediaTypeNotSupported', 'None of the provided media types are supported')
  })
})

function requestLine(line: string): string {
  return `The request line '${line}' is invalid. The request line at the start of each operation must be of the format 'HttpMethod RequestUrl HttpVersion'.`
}

function assertRefused(answer: RawAnswer, status: number, code: string, text: string): void {
  const body = JSON.parse(answer.body.toString()) as {
    'odata.error': { code: string; message: { value: string } }
  }
  const { code: found, message } = body['odata.error']
  assert.deepEqual([answer.status, found, message.value.split('\nRequestId:')[0]], [status, code, text])
}

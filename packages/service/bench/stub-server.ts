/**
 * The ceiling: what `node:http` can answer when there is nothing to do but check a signature, and then send one row
 * that is always the same, or read a body and forget it. Prints its address once it listens.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { account, signatureOf } from './requests.ts'
import { loadedRowJson } from './rows.ts'

const row = Buffer.from(
  `{"odata.metadata":"http://127.0.0.1/${account}/$metadata#bench/@Element",${loadedRowJson(0).slice(1)}`,
)
const refused = Buffer.from('{"odata.error":{"code":"AuthenticationFailed"}}')
const scheme = `SharedKeyLite ${account}:`
const commonHeaders = {
  ETag: 'W/"datetime\'2024-05-17T09%3A00%3A07.1230000Z\'"',
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'x-ms-request-id': '3f2c8a90-0002-0067-0a4f-000000000000',
  'x-ms-version': '2019-02-02',
}

const server = createServer((request, response) => {
  const date = String(request.headers['x-ms-date'])
  const [path = ''] = (request.url ?? '').split('?', 1)
  const expected = Buffer.from(scheme + signatureOf(date, path))
  const given = Buffer.from(request.headers.authorization ?? '')
  const known = given.length === expected.length && timingSafeEqual(given, expected)
  if (known && request.method !== 'GET') {
    request.on('data', () => undefined)
    request.on('end', () => response.writeHead(204, { ...commonHeaders, 'Content-Length': 0 }).end())
    return
  }
  const body = known ? row : refused
  response.writeHead(known ? 200 : 403, {
    'Content-Type': 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
    'Content-Length': body.length,
    ...commonHeaders,
  })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})

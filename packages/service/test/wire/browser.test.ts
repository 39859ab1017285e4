/** A page of another origin, held by the rules browsers hold it to (the Fetch standard's CORS protocol). */
import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import {
  type Answer,
  entity,
  exchange,
  get,
  headOf,
  post,
  put,
  type Request,
  request,
  table,
} from './wire.ts'

const people = await table('people')
const ann = entity(people, 'p', 'ann')
const page = 'https://app.example.org'
/** What the JavaScript client for browsers needs. */
const rule = `<CorsRule><AllowedMethods>GET,POST,PUT,MERGE,DELETE</AllowedMethods><AllowedOrigins>${page}</AllowedOrigins><AllowedHeaders>authorization,accept,content-type,dataserviceversion,prefer,if-match,x-ms-*</AllowedHeaders><ExposedHeaders>etag,content-type,preference-applied,x-ms-*</ExposedHeaders><MaxAgeInSeconds>600</MaxAgeInSeconds></CorsRule>`
const rules = (content: string) =>
  put(
    '/?restype=service&comp=properties',
    `<StorageServiceProperties><Cors>${content}</Cors></StorageServiceProperties>`,
  )

describe('a page of another origin', () => {
  it('is kept out while there is no rule', async () => {
    await assert.rejects(browse(page, get(ann)), /blocked: preflight/)
  })

  it('writes and reads once there is one', async () => {
    await exchange(rules(rule))
    const created = await browse(page, post(`/${people}`, { PartitionKey: 'p', RowKey: 'ann' }))
    assert.equal(created.status, 201)
    const read = await browse(page, get(ann))
    assert.equal(read.visible.get('etag'), created.visible.get('etag'))
    assert.match(read.visible.get('x-ms-request-id') ?? '', /002/)
    assert.equal(read.visible.get('server'), undefined)
  })

  it('reads refusals, too', async () => {
    const answer = await browse(page, { ...get(ann), sign: 'nothing' })
    assert.equal(answer.status, 403)
    assert.equal(answer.visible.get('x-ms-error-code'), 'AuthenticationFailed')
  })

  it('is kept out if the rule is for another origin, method or header', async () => {
    await assert.rejects(browse('https://evil.example', get(ann)), /blocked: preflight/)
    await assert.rejects(browse(page, request('PATCH', ann)), /blocked: preflight/)
    await assert.rejects(browse(page, get(ann, { 'If-None-Match': '*' })), /blocked: preflight/)
  })

  it('is kept out again when the rule is gone', async () => {
    await exchange(rules(''))
    await assert.rejects(browse(page, get(ann)), /blocked: preflight/)
  })
})

/** What a page gets to see of an answer, or an error if its browser does not let it. */
async function browse(
  origin: string,
  sent: Request,
): Promise<{ status: number; visible: ReadonlyMap<string, string> }> {
  const given = headOf(sent).headers.filter(
    ([name]) => !['host', 'content-length'].includes(name.toLowerCase()),
  )
  const names = given.map(([name]) => name.toLowerCase()).toSorted()
  const asked = await exchange(
    request('OPTIONS', sent.path, {
      sign: 'nothing',
      headers: {
        Accept: '*/*',
        'x-ms-date': undefined,
        'x-ms-version': undefined,
        DataServiceVersion: undefined,
        Origin: origin,
        'Access-Control-Request-Method': sent.method,
        'Access-Control-Request-Headers': names.join(','),
      },
    }),
  )
  const allowed = listed(asked, 'access-control-allow-headers')
  const passes =
    asked.status === 200 &&
    isShared(asked, origin) &&
    listed(asked, 'access-control-allow-methods').includes(sent.method.toLowerCase()) &&
    names.every((name) => allowed.includes(name))
  if (!passes) throw new Error('blocked: preflight')
  const answer = await exchange({ ...sent, headers: { ...sent.headers, Origin: origin } })
  if (!isShared(answer, origin)) throw new Error('blocked: answer')
  const shown = new Set(['content-type', 'cache-control', ...listed(answer, 'access-control-expose-headers')])
  const visible = answer.headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => shown.has(name))
  return { status: answer.status, visible: new Map(visible) }
}

function isShared(answer: Answer, origin: string): boolean {
  return ['*', origin].includes(answer.header('access-control-allow-origin') ?? '')
}

function listed(answer: Answer, header: string): string[] {
  return (answer.header(header) ?? '').split(',').map((name) => name.trim().toLowerCase())
}

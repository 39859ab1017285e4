import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import { exchange, put, request, type RequestHeaders, wireTable } from './wire.ts'

const rule = (origins: string, methods: string, headers: string, age = 0) =>
  `<CorsRule><AllowedMethods>${methods}</AllowedMethods><AllowedOrigins>${origins}</AllowedOrigins><AllowedHeaders>${headers}</AllowedHeaders><ExposedHeaders>x-ms-*</ExposedHeaders><MaxAgeInSeconds>${age}</MaxAgeInSeconds></CorsRule>`
const rules = (...each: readonly string[]) =>
  put(
    '/?restype=service&comp=properties',
    `<StorageServiceProperties><Cors>${each.join('')}</Cors></StorageServiceProperties>`,
  )

/** As browsers send it: without a signature, a version or a date. */
function preflight(
  origin: string | undefined,
  method: string | undefined,
  headers?: string,
  path = '/people',
) {
  const sent: RequestHeaders = {
    Origin: origin,
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': headers,
    Accept: '*/*',
    'x-ms-version': undefined,
    'x-ms-date': undefined,
    DataServiceVersion: undefined,
  }
  return request('OPTIONS', path, { headers: sent, sign: 'nothing' })
}

const failed = [
  403,
  'CorsPreflightFailure',
  {
    'content-type': 'application/xml',
    'x-ms-error-code': 'CorsPreflightFailure',
    'access-control-allow-origin': undefined,
  },
] as const
const missing = [400, 'InvalidHeaderValue', 'A required CORS header is not present.'] as const
const contoso = 'http://www.contoso.com'

wireTable('Preflight Table Request: without rules', [
  [preflight(contoso, 'GET'), ...failed],
  [preflight(undefined, 'GET'), ...missing],
  [preflight(contoso, undefined), ...missing],
  [preflight('', 'GET'), ...missing],
])

// biome-ignore format: a table reads in columns
wireTable('Preflight Table Request: the worked example', [
  [rules(rule(contoso, 'PUT,HEAD', 'x-ms-*', 60), rule('*', 'PUT,GET', 'x-ms-*', 70), rule(contoso, 'GET', 'x-ms-client-request-id', 80)), 202],
  [preflight(contoso, 'PUT', 'x-ms-version'), 200, {
    'content-length': '0', 'content-type': undefined, vary: undefined, 'access-control-expose-headers': undefined,
    'access-control-allow-origin': contoso, 'access-control-allow-methods': 'PUT', 'access-control-allow-headers': 'x-ms-version',
    'access-control-max-age': '60', 'access-control-allow-credentials': 'true', body: '' }],
  [preflight(contoso, 'GET', 'x-ms-version'), 200, {
    'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET', 'access-control-allow-headers': 'x-ms-version',
    'access-control-max-age': '70', 'access-control-allow-credentials': undefined }],
  [preflight(contoso, 'GET', 'content-type'),          ...failed],
  [preflight('http://fabrikam.com', 'HEAD'),           ...failed],
  [preflight('http://www.CONTOSO.com', 'HEAD'),        ...failed],
])

// biome-ignore format: a table reads in columns
wireTable('Preflight Table Request: what is compared', [
  [preflight(contoso, 'HEAD'),                         200, { 'access-control-allow-headers': undefined, 'access-control-allow-methods': 'HEAD' }],
  [preflight(contoso, 'head'),                         200, { 'access-control-allow-methods': 'head' }],
  [preflight(contoso, 'HEAD', ''),                     200, { 'access-control-allow-headers': undefined }],
  [preflight(contoso, 'PUT', 'X-MS-Date, x-ms-VERSION'), 200, { 'access-control-allow-headers': 'X-MS-Date, x-ms-VERSION' }],
  [preflight(contoso, 'PUT', 'x-ms-date,etag'),        ...failed],
  [preflight(contoso, 'DELETE'),                       ...failed],
  [preflight(`${contoso}:80`, 'HEAD'),                 ...failed],
  [preflight('https://www.contoso.com', 'HEAD'),       ...failed],
  [preflight('null', 'HEAD'),                          ...failed],
  [preflight('null', 'GET'),                           200, { 'access-control-allow-origin': '*' }],
  [rules(rule('https://*.example.org', 'MERGE', '*')), 202],
  [preflight('https://a.example.org', 'MERGE', 'authorization,x-ms-date'), 200, { 'access-control-allow-origin': 'https://a.example.org', 'access-control-allow-headers': 'authorization,x-ms-date', 'access-control-max-age': '0' }],
  [preflight('https://a.b.example.org', 'MERGE'),      200, { 'access-control-allow-origin': 'https://a.b.example.org' }],
  [preflight('https://example.org', 'MERGE'),          ...failed],
  [preflight('https://.example.org', 'MERGE'),         ...failed],
  [preflight('http://a.example.org', 'MERGE'),         ...failed],
  [preflight('https://a.example.org.evil.test', 'MERGE'), ...failed],
  [preflight('https://evil.test/.example.org', 'MERGE'), ...failed],
  [preflight('https://A.example.org', 'MERGE'),        200],
  [preflight('https://a.EXAMPLE.org', 'MERGE'),        ...failed],
])

// biome-ignore format: a table reads in columns
wireTable('Preflight Table Request: any path and query of a known account, whoever asks', [
  [rules(rule('*', 'GET', '*')), 202],
  [preflight(contoso, 'GET', undefined, '/'),          200],
  [preflight(contoso, 'GET', undefined, ''),           200],
  [preflight(contoso, 'GET', undefined, '/no/such(place)?restype=service&comp=properties&sig=wrong'), 200],
  [{ ...preflight(contoso, 'GET'), headers: { ...preflight(contoso, 'GET').headers, Authorization: 'nonsense', 'x-ms-version': 'nonsense' } }, 200, { 'x-ms-version': '2019-02-02' }],
  [{ ...preflight(contoso, 'GET', undefined, '/devstoreaccount1-secondary/people'), wholeTarget: true }, 200],
  [{ ...preflight(contoso, 'GET', undefined, '/people'), host: 'devstoreaccount1.table.example.org' }, 200],
  [{ ...preflight(contoso, 'GET', undefined, '/somebodyelse/people'), wholeTarget: true }, ...failed],
  [{ ...preflight(contoso, 'GET', undefined, '*'), wholeTarget: true }, 400, 'InvalidUri'],
  [request('OPTIONS', '/people', { sign: 'nothing', headers: { Origin: [contoso, contoso], 'Access-Control-Request-Method': 'GET' } }), 400, 'InvalidHeaderValue'],
])

it('answers a preflight with these headers, in this order', async () => {
  await exchange(rules(rule(contoso, 'PUT', 'x-ms-*', 5)))
  const answer = await exchange(preflight(contoso, 'PUT', 'x-ms-date'))
  assert.deepEqual(
    answer.headers.map(([name]) => name),
    [
      'Content-Length',
      'Server',
      'x-ms-request-id',
      'x-ms-version',
      'X-Content-Type-Options',
      'Access-Control-Allow-Origin',
      'Access-Control-Allow-Methods',
      'Access-Control-Allow-Headers',
      'Access-Control-Max-Age',
      'Access-Control-Allow-Credentials',
      'Date',
    ],
  )
})

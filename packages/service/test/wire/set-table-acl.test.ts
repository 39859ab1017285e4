import { get, put, request, type RequestHeaders, table, wireTable } from './wire.ts'

const people = await table('people')
const acl = `/${people}?comp=acl`
const xml: RequestHeaders = { 'Content-Type': 'application/xml' }
const set = (body: string | Buffer, headers = xml) => put(acl, body, headers)
const list = (...identifiers: readonly string[]) =>
  `<SignedIdentifiers>${identifiers.join('')}</SignedIdentifiers>`
const identifier = (id: string, policy = '') => `<SignedIdentifier><Id>${id}</Id>${policy}</SignedIdentifier>`
const policy = (fields: string) => `<AccessPolicy>${fields}</AccessPolicy>`
const shown = (body: string) => ({ body: `\ufeff<?xml version="1.0" encoding="utf-8"?>${body}` })
const cleared = shown('<SignedIdentifiers />')

// biome-ignore format: a table reads in columns
wireTable('Set Table ACL: what is accepted', [
  [set(list(identifier('a', policy('<Permission>r</Permission>')))), 204, { 'content-length': '0', 'content-type': undefined, 'cache-control': undefined, body: '' }],
  [get(acl), 200, shown(list(identifier('a', policy('<Permission>r</Permission>'))))],
  [request('PUT', acl, { headers: { 'Content-Length': '0' } }), 204],
  [get(acl), 200, cleared],
  [set(`<?xml version='1.0' encoding='utf-8'?>\n${list(identifier('b'))}`), 204],
  [get(acl), 200, shown(list(identifier('b')))],
  [set('<SignedIdentifiers/>'), 204],
  [get(acl), 200, cleared],
  [set(Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${list(identifier('c'))}`)), 204],
  [get(acl), 200, shown(list(identifier('c')))],
  [set('<SignedIdentifiers></SignedIdentifiers>'), 204],
  [get(acl), 200, cleared],
])

// biome-ignore format: a table reads in columns
wireTable('Set Table ACL: an empty field is one that is not given', [
  [set(list(identifier('d', '<AccessPolicy/>'), identifier('e', policy('<Start/><Expiry></Expiry><Permission />')))), 204],
  [get(acl), 200, shown(list(identifier('d'), identifier('e')))],
  [set(list(identifier('f', policy('<Permission>d</Permission><Start>2021-01-01</Start>')))), 204],
  [get(acl), 200, shown(list(identifier('f', policy('<Start>2021-01-01T00:00:00.0000000Z</Start><Permission>d</Permission>'))))],
])

const dates = [
  ['2021-06-08', '2021-06-08T00:00:00.0000000Z'],
  ['2021-06-08T02:10Z', '2021-06-08T02:10:00.0000000Z'],
  ['2021-06-08T02:10+02:00', '2021-06-08T00:10:00.0000000Z'],
  ['2021-06-08T02:10:09Z', '2021-06-08T02:10:09.0000000Z'],
  ['2021-06-08T02:10:09-05:30', '2021-06-08T07:40:09.0000000Z'],
  ['2021-06-08T02:10:09.5Z', '2021-06-08T02:10:09.5000000Z'],
  ['2021-06-08T02:10:09.1234567Z', '2021-06-08T02:10:09.1234567Z'],
] as const
const expiring = (date: string) => list(identifier('g', policy(`<Expiry>${date}</Expiry>`)))

wireTable(
  'Set Table ACL: dates come back in UTC with seven digits',
  dates.flatMap(([given, kept]) => [
    [set(expiring(given)), 204] as const,
    [get(acl), 200, shown(expiring(kept))] as const,
  ]),
)

// biome-ignore format: a table reads in columns
wireTable('Set Table ACL: ids are text', [
  [set(list(identifier('x'.repeat(64)), identifier('a&amp;b&lt;'), identifier('A'), identifier('a'), identifier('日本'))), 204],
  [get(acl), 200, shown(list(identifier('x'.repeat(64)), identifier('a&amp;b&lt;'), identifier('A'), identifier('a'), identifier('日本')))],
  [set(list(identifier('&#x41;&apos;&quot;<![CDATA[<&]]><!-- not part of it -->'))), 204],
  [get(acl), 200, shown(list(identifier(`A'"&lt;&amp;`)))],
  [set(list(identifier('duar', policy('<Permission>duar</Permission>')))), 204],
  [get(acl), 200, shown(list(identifier('duar', policy('<Permission>duar</Permission>'))))],
])

const five = ['1', '2', '3', '4', '5'].map((id) => identifier(id))

// biome-ignore format: a table reads in columns
wireTable('Set Table ACL: violations change nothing', [
  [set(list(...five)),                                       204],
  [set(list(...five, identifier('6'))),                      400, 'InvalidXmlDocument', { 'content-type': 'application/xml', 'x-ms-error-code': 'InvalidXmlDocument', reason: 'XML specified is not syntactically valid.' }],
  [set(list('<SignedIdentifier></SignedIdentifier>')),       400, 'InvalidXmlDocument'],
  [set(list('<SignedIdentifier><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier>')), 400, 'InvalidXmlDocument'],
  [set('<SignedIdentifiers>'),                               400, 'InvalidXmlDocument'],
  [set('not XML'),                                           400, 'InvalidXmlDocument'],
  [set(' '),                                                 400, 'InvalidXmlDocument'],
  [set('{"SignedIdentifiers":[]}'),                          400, 'InvalidXmlDocument'],
  [set('<Identifiers />'),                                   400, 'InvalidXmlDocument'],
  [set('<SignedIdentifiers /><SignedIdentifiers />'),        400, 'InvalidXmlDocument'],
  [set('<signedidentifiers />'),                             400, 'InvalidXmlDocument'],
  [set(list('<Other />')),                                   400, 'InvalidXmlDocument'],
  [set(list('text')),                                        400, 'InvalidXmlDocument'],
  [set(list(identifier('a', '<Other />'))),                  400, 'InvalidXmlDocument'],
  [set(list(identifier('a', policy('<Other />')))),          400, 'InvalidXmlDocument'],
  [set(list(identifier('a', policy('<Start /><Start />')))), 400, 'InvalidXmlDocument'],
  [set(list(identifier('<b>a</b>'))),                        400, 'InvalidXmlDocument'],
  [set(list(identifier('a'), identifier('a'))),              400, 'InvalidXmlDocument'],
  [set(list(identifier(''))),                                400, 'InvalidXmlNodeValue', { 'x-ms-error-code': 'InvalidXmlNodeValue' }],
  [set(list('<SignedIdentifier><Id/></SignedIdentifier>')),  400, 'InvalidXmlNodeValue'],
  [set(list(identifier('x'.repeat(65)))),                    400, 'InvalidXmlNodeValue'],
  [set(list(identifier('a', policy('<Permission>rx</Permission>')))), 400, 'InvalidXmlNodeValue'],
  [set(list(identifier('a', policy('<Permission>R</Permission>')))),  400, 'InvalidXmlNodeValue'],
  ...['yesterday', '2021-02-30', '2021-06-08T02:10:09', '2021-06-08T25:00:00Z', '2021-06-08T02:10:09.12345678Z', '2021-06-08T02:10:09+15:00', '08/06/2021'].map((date) =>
    [set(list(identifier('a', policy(`<Start>${date}</Start>`)))), 400, 'InvalidXmlNodeValue'] as const),
  [put('/nobody?comp=acl', list(), xml),                     404, 'TableNotFound'],
  [request('PUT', acl),                                      411, 'MissingContentLengthHeader', { 'content-type': 'application/xml' }],
  [set(list(' '.repeat(65_536))),                            413, 'RequestBodyTooLarge', { 'x-ms-error-code': 'RequestBodyTooLarge' }],
  [get(acl),                                                 200, shown(list(...five))],
])

const bomb =
  '<!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)

// biome-ignore format: a table reads in columns
wireTable('Set Table ACL: XML that attacks', [
  [set(bomb + list(identifier('&c;'))),                      400, 'InvalidXmlDocument'],
  [set(`<!DOCTYPE x SYSTEM "file:///etc/passwd">${list()}`), 400, 'InvalidXmlDocument'],
  [set(`<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${list(identifier('&e;'))}`), 400, 'InvalidXmlDocument'],
  [set(list(identifier('&undefined;'))),                     400, 'InvalidXmlDocument'],
  [set(list(identifier('&#0;'))),                            400, 'InvalidXmlDocument'],
  [set(list(identifier('&#xD800;'))),                        400, 'InvalidXmlDocument'],
  [set(list(identifier('\u0001'))),                          400, 'InvalidXmlDocument'],
  [set(`<?target data?>${list()}`),                          400, 'InvalidXmlDocument'],
  [set(list('<?target data?>')),                             400, 'InvalidXmlDocument'],
  [set(list(nested(8))),                                     400, 'InvalidXmlDocument'],
  [set(nested(9_000)),                                       400, 'InvalidXmlDocument'],
  [set(list('<SignedIdentifier/>'.repeat(1_100))),           400, 'InvalidXmlDocument'],
  [set(`<SignedIdentifiers ${'a=""'.repeat(2)} />`),         400, 'InvalidXmlDocument'],
  [set(Buffer.concat([Buffer.from(`<SignedIdentifiers><SignedIdentifier><Id>`), Buffer.from([0xff, 0xfe]), Buffer.from('</Id></SignedIdentifier></SignedIdentifiers>')])), 400, 'InvalidXmlDocument'],
  [set(`<?xml version="1.0" encoding="utf-16"?>${list()}`),  400, 'InvalidXmlDocument'],
  [set(Buffer.from(`\ufeff${list()}`, 'utf16le')),           400, 'InvalidXmlDocument'],
  [set(list('<![CDATA[x]]>')),                               400, 'InvalidXmlDocument'],
  [get(acl),                                                 200, shown(list(...five))],
])

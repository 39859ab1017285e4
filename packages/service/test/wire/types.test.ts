import {
  conversionText,
  early,
  entity,
  late,
  get,
  merge,
  noContent,
  outOfRangeText,
  post,
  put,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', 'r')
const head = `{"odata.metadata":"BASE/$metadata#${people}/@Element","odata.etag":"W/\\"datetime'STAMP'\\"","PartitionKey":"p","RowKey":"`
let rows = 0

/** Sends `v` in an insert and expects it back so, at minimal metadata. */
const reads = (sent: string, shown: string) => {
  const row = `r${rows++}`
  return [
    post(`/${people}`, `{"PartitionKey":"p","RowKey":"${row}",${sent}}`),
    201,
    { body: `${head}${row}","Timestamp":"STAMP"${shown === '' ? '' : ','}${shown}}` },
  ] as const
}
const typed = (type: string, value: string) => `"v@odata.type":"Edm.${type}","v":${value}`
const same = (type: string, value: string) => reads(typed(type, value), typed(type, value))
const refused = (sent: string) =>
  [put(one, `{${sent}}`, noContent), 400, 'InvalidInput', conversionText, early] as const

// biome-ignore format: a table reads in columns
wireTable('values without an annotation', [
  reads('"v":"text"',                 '"v":"text"'),
  reads('"v":""',                     '"v":""'),
  reads('"v":"2020-01-01T00:00:00Z"', '"v":"2020-01-01T00:00:00Z"'),
  reads('"v":true',                   '"v":true'),
  reads('"v":false',                  '"v":false'),
  reads('"v":39',                     '"v":39'),
  reads('"v":-0',                     '"v":0'),
  reads('"v":2147483647',             '"v":2147483647'),
  reads('"v":-2147483648',            '"v":-2147483648'),
  reads('"v":2147483648',             '"v":2147483648.0'),
  reads('"v":-2147483649',            '"v":-2147483649.0'),
  reads('"v":5432873627392',          '"v":5432873627392.0'),
  reads('"v":9223372036854775807',    '"v":9.2233720368547758E+18'),
  reads('"v":3.0',                    '"v":3.0'),
  reads('"v":3.1',                    '"v":3.1'),
  reads('"v":1e2',                    '"v":100.0'),
  reads('"v":1E2',                    '"v":100.0'),
  reads('"v":null',                   ''),
])

// biome-ignore format: a table reads in columns
wireTable('values with an annotation', [
  reads(typed('String', '"5"'),          '"v":"5"'),
  reads(typed('Boolean', 'true'),        '"v":true'),
  reads(typed('Boolean', '"true"'),      '"v":true'),
  reads(typed('Boolean', '"false"'),     '"v":false'),
  reads(typed('Boolean', '"True"'),      '"v":true'),
  reads(typed('Boolean', '"FALSE"'),     '"v":false'),
  reads(typed('Int32', '7'),             '"v":7'),
  reads(typed('Int32', '"7"'),           '"v":7'),
  reads(typed('Int32', '"-2147483648"'), '"v":-2147483648'),
  reads(typed('Double', '3'),            '"v":3.0'),
  reads(typed('Double', '3.5'),          '"v":3.5'),
  reads(typed('Double', '"0"'),          '"v":0.0'),
  reads(typed('Double', '"200.23"'),     '"v":200.23'),
  reads(typed('Double', '"-1.5e3"'),     '"v":-1500.0'),
  reads(typed('Double', '5432873627392'), '"v":5432873627392.0'),
  same('Double', '"NaN"'),
  same('Double', '"Infinity"'),
  same('Double', '"-Infinity"'),
  same('Int64', '"0"'),
  same('Int64', '"9223372036854775807"'),
  same('Int64', '"-9223372036854775808"'),
  reads(typed('Int64', '"007"'),         typed('Int64', '"7"')),
  same('Guid', '"0f8fad5b-d9cb-469f-a165-70867728950e"'),
  reads(typed('Guid', '"0F8FAD5B-D9CB-469F-A165-70867728950E"'), typed('Guid', '"0f8fad5b-d9cb-469f-a165-70867728950e"')),
  same('Binary', '""'),
  same('Binary', '"AA=="'),
  same('Binary', '"AAE="'),
  same('Binary', '"+/+/"'),
  reads(typed('Int64', 'null'),          ''),
  reads(typed('Nonsense', 'null'),       ''),
])

// biome-ignore format: a table reads in columns
wireTable('conversions that fail', [
  refused(typed('Boolean', '"not a bool"')), refused(typed('Boolean', '1')), refused(typed('Boolean', '""')), refused(typed('Boolean', '"1"')),
  refused(typed('String', '5')), refused(typed('String', 'true')),
  refused(typed('Int32', '1.5')), refused(typed('Int32', '1e2')), refused(typed('Int32', '2147483648')), refused(typed('Int32', '"2147483648"')), refused(typed('Int32', '"x"')), refused(typed('Int32', '""')), refused(typed('Int32', 'true')),
  refused(typed('Int64', '5')), refused(typed('Int64', '"9223372036854775808"')), refused(typed('Int64', '"-9223372036854775809"')), refused(typed('Int64', '"1e5"')), refused(typed('Int64', '"1.0"')), refused(typed('Int64', '""')), refused(typed('Int64', '" 1"')), refused(typed('Int64', '"0x10"')), refused(typed('Int64', 'true')),
  refused(typed('Double', '"x"')), refused(typed('Double', '""')), refused(typed('Double', 'true')), refused(typed('Double', '"1e400"')), refused(typed('Double', '"nan"')), refused(typed('Double', '"+Infinity"')), refused('"v":1e400'),
  refused(typed('Guid', '"x"')), refused(typed('Guid', '"{0f8fad5b-d9cb-469f-a165-70867728950e}"')), refused(typed('Guid', '"0f8fad5bd9cb469fa16570867728950e"')), refused(typed('Guid', '5')),
  refused(typed('Binary', '"A"')), refused(typed('Binary', '"AA"')), refused(typed('Binary', '"AA==="')), refused(typed('Binary', '"A_=="')), refused(typed('Binary', '"AA==\\n"')), refused(typed('Binary', '5')),
  refused(typed('Decimal', '"1"')), refused(typed('Byte', '1')), refused(typed('Single', '1.5')), refused('"v@odata.type":"Foo","v":1'), refused('"v@odata.type":"","v":1'), refused('"v@odata.type":"edm.string","v":"x"'), refused('"v@odata.type":"Int64","v":"1"'),
])

const date = (value: string, shown: string) =>
  reads(typed('DateTime', `"${value}"`), typed('DateTime', `"${shown}"`))
const noDate = (value: string) => refused(typed('DateTime', value))
const outOfRange = (value: string, shown: string) =>
  [
    put(one, `{${typed('DateTime', `"${value}"`)}}`),
    400,
    'OutOfRangeInput',
    outOfRangeText('v', shown),
    late,
  ] as const

// biome-ignore format: a table reads in columns
wireTable('DateTime', [
  date('2019-07-10T18:59:59.999Z',          '2019-07-10T18:59:59.999Z'),
  date('2008-07-10T00:00:00',               '2008-07-10T00:00:00Z'),
  date('2008-07-10T00:00:00Z',              '2008-07-10T00:00:00Z'),
  date('2008-07-10T00:00:00.1Z',            '2008-07-10T00:00:00.1Z'),
  date('2008-07-10T00:00:00.1234567Z',      '2008-07-10T00:00:00.1234567Z'),
  date('2008-07-10T00:00:00.1000000Z',      '2008-07-10T00:00:00.1Z'),
  date('2008-07-10T00:00:00.0000000Z',      '2008-07-10T00:00:00Z'),
  date('2008-07-10T00:00:00.0000001Z',      '2008-07-10T00:00:00.0000001Z'),
  date('2008-07-10T02:00:00+02:00',         '2008-07-10T00:00:00Z'),
  date('2008-07-09T18:30:00.5-05:30',       '2008-07-10T00:00:00.5Z'),
  date('2000-02-29T00:00:00Z',              '2000-02-29T00:00:00Z'),
  date('1601-01-01T00:00:00Z',              '1601-01-01T00:00:00Z'),
  date('9999-12-31T23:59:59.9999999Z',      '9999-12-31T23:59:59.9999999Z'),
  // Recorded: nine digits, as a client with nanoseconds sends them.
  date('2023-04-11T21:16:40.331047814Z',    '2023-04-11T21:16:40.3310478Z'),
  date('2008-07-10T00:00:00.123456650Z',    '2008-07-10T00:00:00.1234566Z'),
  date('2008-07-10T00:00:00.123456651Z',    '2008-07-10T00:00:00.1234567Z'),
  date('2008-07-10T00:00:00.999999999Z',    '2008-07-10T00:00:01Z'),
  noDate('"9999-12-31T23:59:59.99999999Z"'),
  outOfRange('0001-01-01T00:00:00Z',        '01/01/0001 00:00:00'),
  outOfRange('1600-12-31T23:59:59.9999999Z', '12/31/1600 23:59:59'),
  noDate('"junk"'), noDate('""'), noDate('"2008-07-10"'), noDate('"2008-07-10T00:00Z"'), noDate('"2008-07-10 00:00:00Z"'),
  noDate('"2008-07-10T00:00:00.Z"'), noDate('"2008-13-10T00:00:00Z"'), noDate('"2008-02-30T00:00:00Z"'), noDate('"2001-02-29T00:00:00Z"'), noDate('"2008-07-10T24:00:00Z"'), noDate('"2008-07-10T00:60:00Z"'),
  noDate('"2008-07-10T00:00:60Z"'), noDate('"2008-07-10T00:00:00z"'), noDate('"2008-07-10T00:00:00+1"'), noDate('"2008-07-10T00:00:00+99:00"'), noDate('"10000-01-01T00:00:00Z"'), noDate('5'), noDate('true'),
])

const double = (value: string, shown: string) => reads(typed('Double', value), `"v":${shown}`)

// biome-ignore format: a table reads in columns
wireTable('the text of doubles', [
  double('3',                        '3.0'),
  double('5',                        '5.0'),
  double('0',                        '0.0'),
  double('10',                       '10.0'),
  double('-7',                       '-7.0'),
  double('3.1',                      '3.1'),
  double('200.23',                   '200.23'),
  double('4.81516423423',            '4.81516423423'),
  double('0.1',                      '0.1'),
  double('0.30000000000000004',      '0.30000000000000004'),
  double('123456789012345.12',       '123456789012345.12'),
  double('-123456789012345.12',      '-123456789012345.12'),
  double('123456789012345.375',      '123456789012345.38'),
  double('123456789012345.626',      '123456789012345.62'),
  double('123456789012345.14',       '123456789012345.14'),
  double('1.23456789012346e24',      '1.23456789012346E+24'),
  double('5e-324',                   '4.94065645841247E-324'),
  double('1.7976931348623157e308',   '1.7976931348623157E+308'),
  double('-1.7976931348623157e308',  '-1.7976931348623157E+308'),
  double('1e14',                     '100000000000000.0'),
  double('1e15',                     '1E+15'),
  double('1.5e15',                   '1.5E+15'),
  double('1234567890123456',         '1234567890123456.0'),
  double('9007199254740993.0',       '9007199254740992.0'),
  double('0.0001',                   '0.0001'),
  double('0.00001',                  '1E-05'),
  double('0.000012345',              '1.2345E-05'),
  double('1e100',                    '1E+100'),
  double('-0.0',                     '-0.0'),
  double('"-0"',                     '-0.0'),
  reads('"v":-0.0',                  '"v":-0.0'),
])

// biome-ignore format: a table reads in columns
wireTable('a property may change its type', [
  [put(one, { v: 'text' }),                        204],
  [merge(one, '{"v@odata.type":"Edm.Int64","v":"1"}'), 204],
  [get(one),                                       200, { body: /"v@odata\.type":"Edm\.Int64","v":"1"}$/ }],
  [merge(one, { v: true }),                        204],
  [get(one),                                       200, { body: /"Timestamp":"[^"]*","v":true}$/ }],
])

import {
  account,
  conversionText,
  del,
  early,
  get,
  isRemote,
  late,
  lateNoContent,
  lateUnpreferred,
  nameLengthText,
  noContent,
  post,
  request,
  wireTable,
} from './wire.ts'

const suffix = isRemote ? Date.now().toString(36) : ''
const people = `People${suffix}`
const places = `places${suffix}`
const things = `things${suffix}`
const atLevel = (level: string) => ({ Accept: `application/json;odata=${level}` })
const create = (TableName: unknown, headers = {}) => post('/Tables', { TableName }, headers)

// biome-ignore format: a table reads in columns
wireTable('Create Table: what comes back', [
  [create(people), 201, {
    'cache-control': 'no-cache', location: `BASE/Tables('${people}')`, etag: undefined,
    'preference-applied': undefined, dataserviceid: undefined,
    'content-type': 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8',
    body: `{"odata.metadata":"BASE/$metadata#Tables/@Element","TableName":"${people}"}` }],
  [create(places, { Prefer: 'return-content', ...atLevel('fullmetadata') }), 201, {
    location: `BASE/Tables('${places}')`, 'preference-applied': 'return-content', dataserviceid: undefined,
    body: `{"odata.metadata":"BASE/$metadata#Tables/@Element","odata.type":"${account}.Tables","odata.id":"BASE/Tables('${places}')","odata.editLink":"Tables('${places}')","TableName":"${places}"}` }],
  [create(things, noContent), 204, {
    'cache-control': 'no-cache', location: `BASE/Tables('${things}')`, dataserviceid: `BASE/Tables('${things}')`,
    'preference-applied': 'return-no-content', etag: undefined, body: '' }],
  [del(`/Tables('${things}')`), 204],
  [post('/Tables()', { TableName: `${things}2` }, atLevel('nometadata')), 201, { body: `{"TableName":"${things}2"}` }],
  [del(`/Tables('${things}2')`), 204],
])

// biome-ignore format: a table reads in columns
wireTable('Create Table: names are equal without regard to case', [
  [create(people),                                 409, 'TableAlreadyExists', lateUnpreferred],
  [create(people.toUpperCase()),                   409, 'TableAlreadyExists', late],
  [create(people.toLowerCase(), noContent),        409, 'TableAlreadyExists', lateNoContent],
  [create(people, { Prefer: 'return-content' }),   409, 'TableAlreadyExists', { ...late, 'preference-applied': 'return-content' }],
  [create(people, { Prefer: 'Return-No-Content' }), 409, 'TableAlreadyExists', lateNoContent],
  [create(people, { Prefer: 'return=minimal' }),   409, 'TableAlreadyExists', lateUnpreferred],
])

// biome-ignore format: a table reads in columns
wireTable('Create Table: names that are refused', [
  [create('a'),                     400, 'OutOfRangeInput', nameLengthText, lateUnpreferred],
  [create('ab', noContent),         400, 'OutOfRangeInput', nameLengthText, lateNoContent],
  [create(''),                      400, 'OutOfRangeInput', nameLengthText, late],
  [create('a'.repeat(64)),          400, 'OutOfRangeInput', nameLengthText, late],
  [create('-'.repeat(64)),          400, 'OutOfRangeInput', nameLengthText, late],
  [create('a_b'),                   400, 'InvalidResourceName', late],
  [create('a-b', noContent),        400, 'InvalidResourceName', lateNoContent],
  [create('my!table'),              400, 'InvalidResourceName', late],
  [create('1ab'),                   400, 'InvalidResourceName', late],
  [create('ñab'),                   400, 'InvalidResourceName', late],
  [create('a\u0000bc'),             400, 'InvalidResourceName', late],
  [create('$abc'),                  400, 'InvalidResourceName', late],
  [create('$MetricsTransactionsTable'), 400, 'InvalidResourceName', late],
  [create('tables'),                400, 'InvalidInput', late],
  [create('TABLES'),                400, 'InvalidInput', late],
  [create(null),                    400, 'PropertiesNeedValue', late],
  [post('/Tables', {}),             400, 'PropertiesNeedValue', late],
  [post('/Tables', { tablename: 'abc' }), 400, 'PropertiesNeedValue', late],
])

// biome-ignore format: a table reads in columns
wireTable('Create Table: bodies', [
  [create(5),                                                400, 'InvalidInput', conversionText, early],
  [create({}),                                               400, 'InvalidInput', conversionText, early],
  [post('/Tables', ''),                                      400, 'InvalidInput', conversionText, early],
  [post('/Tables', '[]'),                                    400, 'InvalidInput', conversionText, early],
  [post('/Tables', '{"TableName":"abc"'),                    400, 'InvalidInput', conversionText, early],
  [post('/Tables', '{"TableName":"abc","TableName":"abd"}'), 400, 'DuplicatePropertiesSpecified', early],
  [post('/Tables', `{"odata.type":"x","Other":1,"TableName":"${things}3"}`), 201],
  [del(`/Tables('${things}3')`),                             204],
  [request('POST', '/Tables'),                               411, 'MissingContentLengthHeader'],
  [create('abc', { 'Content-Type': 'text/plain' }),          415, 'MediaTypeNotSupported', early],
  [create('abc', { 'Content-Type': 'application/atom+xml' }), 415, 'AtomFormatNotSupported', early],
  [create('abc', { 'If-Match': '*' }),                       400, 'InvalidInput', 'If-Match or If-None-Match HTTP headers cannot be specified for POST operations.', early],
])

// biome-ignore format: a table reads in columns
wireTable('Create Table: refused formats create nothing', [
  [create(`${things}4`, { Accept: 'application/atom+xml' }), 415, 'AtomFormatNotSupported', early],
  [get(`/Tables('${things}4')`),                             404, 'ResourceNotFound'],
  [create(`${things}4`, { Accept: 'application/atom+xml', ...noContent }), 204],
  [del(`/Tables('${things}4')`),                             204],
  [del(`/Tables('${people}')`),                              204],
  [del(`/Tables('${places}')`),                              204],
])

const longest = `x${suffix}`.padEnd(63, 'a')

// biome-ignore format: a table reads in columns
wireTable('Create Table: the shortest and the longest name', [
  [create(longest),                 201, { location: `BASE/Tables('${longest}')` }],
  [del(`/Tables('${longest}')`),    204],
  ...(isRemote ? [] : [
    [create('ab1'),                 201] as const,
    [del("/Tables('ab1')"),         204] as const,
  ]),
])

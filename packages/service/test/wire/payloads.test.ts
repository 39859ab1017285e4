import {
  account,
  conversionText,
  early,
  entity,
  get,
  merge,
  noContent,
  patch,
  post,
  put,
  table,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', 'r')
const atLevel = (level: string) => ({ Accept: `application/json;odata=${level}` })
const none = atLevel('nometadata')
const full = atLevel('fullmetadata')
const link = `${people}(PartitionKey='p',RowKey='r')`
const minimalHead = `"odata.metadata":"BASE/$metadata#${people}/@Element","odata.etag":"W/\\"datetime'STAMP'\\"",`
const fullHead = `"odata.metadata":"BASE/$metadata#${people}/@Element","odata.type":"${account}.${people}","odata.id":"BASE/${link}","odata.etag":"W/\\"datetime'STAMP'\\"","odata.editLink":"${link}",`
const keys = '"PartitionKey":"p","RowKey":"r",'

const sent =
  '{"PartitionKey":"p","RowKey":"r","text":"a","yes":true,"age":39,"height":1.5,"whole@odata.type":"Edm.Double","whole":3,"nan@odata.type":"Edm.Double","nan":"NaN","big@odata.type":"Edm.Int64","big":"5432873627392","born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00Z","id@odata.type":"Edm.Guid","id":"0F8FAD5B-D9CB-469F-A165-70867728950E","raw@odata.type":"Edm.Binary","raw":"AAEC/w=="}'
const typed =
  '"text":"a","yes":true,"age":39,"height":1.5,"whole":3.0,"nan@odata.type":"Edm.Double","nan":"NaN","big@odata.type":"Edm.Int64","big":"5432873627392","born@odata.type":"Edm.DateTime","born":"1973-10-04T00:00:00Z","id@odata.type":"Edm.Guid","id":"0f8fad5b-d9cb-469f-a165-70867728950e","raw@odata.type":"Edm.Binary","raw":"AAEC/w=="'
const untyped = typed.replaceAll(/"\w+@odata\.type":"[\w.]+",/g, '')

// biome-ignore format: a table reads in columns
wireTable('one entity of all types at three levels', [
  [post(`/${people}`, sent),           201, { body: `{${minimalHead}${keys}"Timestamp":"STAMP",${typed}}` }],
  [get(one, none),                     200, { body: `{${keys}"Timestamp":"STAMP",${untyped}}` }],
  [get(one, atLevel('minimalmetadata')), 200, { body: `{${minimalHead}${keys}"Timestamp":"STAMP",${typed}}` }],
  [get(one, full),                     200, { body: `{${fullHead}${keys}"Timestamp@odata.type":"Edm.DateTime","Timestamp":"STAMP",${typed}}` }],
])

const shows = (members: string) => ({ body: `{${keys}"Timestamp":"STAMP"${members}}` })

// biome-ignore format: a table reads in columns
wireTable('the order of properties', [
  [post(`/${people}`, { b: 1, RowKey: 'order', a: 2, PartitionKey: 'p', B: 3, _: 4 }, none), 201, { body: '{"PartitionKey":"p","RowKey":"order","Timestamp":"STAMP","b":1,"a":2,"B":3,"_":4}' }],
  [get(entity(people, 'p', 'order'), none), 200, { body: '{"PartitionKey":"p","RowKey":"order","Timestamp":"STAMP","b":1,"a":2,"B":3,"_":4}' }],
  [put(one, { b: 1, a: 2, B: 3, _: 4, ä: 5, a1: 6 }), 204],
  [get(one, none),                     200, shows(',"B":3,"_":4,"a":2,"a1":6,"b":1,"\\u00e4":5')],
  [merge(entity(people, 'p', 'order'), { c: 7 }), 204],
  [get(entity(people, 'p', 'order'), none), 200, { body: '{"PartitionKey":"p","RowKey":"order","Timestamp":"STAMP","B":3,"_":4,"a":2,"b":1,"c":7}' }],
  [patch(entity(people, 'p', 'born sorted'), { z: 1, y: 2 }), 204],
  [get(entity(people, 'p', 'born sorted'), none), 200, { body: /"y":2,"z":1}$/ }],
])

// biome-ignore format: a table reads in columns
wireTable('text is written in ASCII', [
  [put(one, { v: 'a"b\\c/d\b\f\n\r\t\u0001\u001f<>&\'' }), 204],
  [get(one, none),                     200, shows(',"v":"a\\"b\\\\c/d\\b\\f\\n\\r\\t\\u0001\\u001f<>&\'"')],
  [put(one, { v: 'ñ日本\u2028\ufeffÿ' }), 204],
  [get(one, none),                     200, shows(',"v":"\\u00f1\\u65e5\\u672c\\u2028\\ufeff\\u00ff"')],
  [put(one, { v: '𤭢' }),              204],
  [get(one, none),                     200, shows(',"v":"\\ud852\\udf62"')],
  [put(one, '{"v":"\\uD852x\\uDF62"}'), 204],
  [get(one, none),                     200, shows(',"v":"\\ud852x\\udf62"')],
  [put(one, { ñame: 'x', 名: 1 }),     204],
  [get(one),                           200, { body: `{${minimalHead}${keys}"Timestamp":"STAMP","\\u00f1ame":"x","\\u540d":1}` }],
  [put(one, '{"é@odata.type":"Edm.Int64","é":"1"}'), 204],
  [get(one),                           200, { body: `{${minimalHead}${keys}"Timestamp":"STAMP","\\u00e9@odata.type":"Edm.Int64","\\u00e9":"1"}` }],
  [get(one, none),                     200, shows(',"\\u00e9":"1"')],
])

// biome-ignore format: a table reads in columns
wireTable('keys are escaped in links and in text', [
  [put(entity(people, 'A\'aaa_bbbb2"', '"A\'aaa_bbbb2 ñ'), {}), 204],
  [get(entity(people, 'A\'aaa_bbbb2"', '"A\'aaa_bbbb2 ñ'), full), 200, { body: `{"odata.metadata":"BASE/$metadata#${people}/@Element","odata.type":"${account}.${people}","odata.id":"BASE/${people}(PartitionKey='A''aaa_bbbb2%22',RowKey='%22A''aaa_bbbb2%20%C3%B1')","odata.etag":"W/\\"datetime'STAMP'\\"","odata.editLink":"${people}(PartitionKey='A''aaa_bbbb2%22',RowKey='%22A''aaa_bbbb2%20%C3%B1')","PartitionKey":"A'aaa_bbbb2\\"","RowKey":"\\"A'aaa_bbbb2 \\u00f1","Timestamp@odata.type":"Edm.DateTime","Timestamp":"STAMP"}` }],
])

const writes = (body: string, members: string) =>
  [
    [put(one, body), 204],
    [get(one, none), 200, shows(members)],
  ] as const

// biome-ignore format: a table reads in columns
wireTable('what the reader leaves out', [
  ...writes('{"odata.etag":"W/\\"x\\"","odata.metadata":"m","odata.type":"a.b","odata.anything":5,"a":1}', ',"a":1'),
  ...writes('{"a":"5","a@odata.type":"Edm.Int64"}', ',"a":"5"'),
  ...writes('{"a@odata.type":"Edm.Int64","b":1,"a":"5"}', ',"a":"5","b":1'),
  ...writes('{"a@odata.type":"Edm.Int64","a@odata.type@odata.type":"Edm.String","a":"5"}', ',"a":"5"'),
  ...writes('{"gone@odata.type":"Edm.Int64","a":1}', ',"a":1'),
  ...writes('{"gone@odata.type":"Edm.Decimal","a":1}', ',"a":1'),
  ...writes('{"a@odata.navigationLinkUrl":"x","a":1}', ',"a":1'),
  ...writes('{"PartitionKey@odata.type":"Edm.String","PartitionKey":"p","RowKey@odata.type":"Edm.String","RowKey":"r"}', ''),
  ...writes('{"Timestamp":"2001-01-01T00:00:00Z","a":1}', ',"a":1'),
  ...writes('{"Timestamp@odata.type":"Edm.DateTime","Timestamp":"not a time","a":1}', ',"a":1'),
  ...writes('{"Timestamp":null,"a":1}', ',"a":1'),
  ...writes('{"Timestamp":5,"a":1}', ',"a":1'),
  ...writes('{"a":null,"b@odata.type":"Edm.Int64","b":null,"c":1}', ',"c":1'),
  ...writes('{"timestamp":"x","ETag":"y","etag":"z","Etag":1,"partitionKey":2}', ',"ETag":"y","Etag":1,"etag":"z","partitionKey":2,"timestamp":"x"'),
  ...writes(' \t\r\n{ "a" : 1 , "b" : "x" } \n', ',"a":1,"b":"x"'),
  ...writes('{"\\u0061":1,"b":"\\u0041\\/\\""}', ',"a":1,"b":"A/\\""'),
  ...writes('{"Birthday":1,"birthday":2}', ',"Birthday":1,"birthday":2'),
  ...writes('{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4}', ',"__proto__":1,"constructor":2,"hasOwnProperty":4,"toString":3'),
])

const refuses = (body: string | Buffer) =>
  [put(one, body, noContent), 400, 'InvalidInput', conversionText, early] as const

// biome-ignore format: a table reads in columns
wireTable('what the reader refuses', [
  refuses(''), refuses(' '), refuses('null'), refuses('[]'), refuses('[{}]'), refuses('"a"'), refuses('5'), refuses('{'), refuses('{}}'),
  refuses('{}{}'), refuses('{}x'), refuses('{"a"}'), refuses('{"a":}'), refuses('{"a":1,}'), refuses('{,"a":1}'), refuses('{"a":1 "b":2}'),
  refuses("{'a':1}"), refuses('{a:1}'), refuses('{"a":01}'), refuses('{"a":+1}'), refuses('{"a":.5}'), refuses('{"a":1.}'), refuses('{"a":1e}'),
  refuses('{"a":0x10}'), refuses('{"a":NaN}'), refuses('{"a":Infinity}'), refuses('{"a":undefined}'), refuses('{"a":True}'), refuses('{"a":tru}'),
  refuses('{"a":"\n"}'), refuses('{"a":"\\x"}'), refuses('{"a":"\\u12"}'), refuses('{"a":"unended}'), refuses('{"a":"\\"}'),
  refuses('{"a":{}}'), refuses('{"a":[]}'), refuses('{"a":[1]}'), refuses('{"a":{"b":1}}'), refuses('{"Timestamp":{}}'), refuses('{"odata.x":[]}'),
  refuses('{"a@odata.type":5,"a":1}'), refuses('{"a":1/**/}'), refuses(Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d])),
  refuses(Buffer.from('{"a":1}', 'utf16le')),
  [put(one, '{"a":1,"a":1}', noContent),                       400, 'DuplicatePropertiesSpecified', early],
  [put(one, '{"a":1,"\\u0061":1}'),                            400, 'DuplicatePropertiesSpecified', early],
  [put(one, '{"a":null,"a":1}'),                               400, 'DuplicatePropertiesSpecified', early],
  [post(`/${people}`, '{"PartitionKey":"p","PartitionKey":"q","RowKey":"r"}'), 400, 'DuplicatePropertiesSpecified', early],
])

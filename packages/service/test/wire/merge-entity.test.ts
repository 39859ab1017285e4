import {
  early,
  entity,
  get,
  late,
  merge,
  noContent,
  none,
  patch,
  put,
  type Request,
  type RequestHeaders,
  table,
  tunnel,
  updated,
  updatedNoContent,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', '1')
const any = { 'If-Match': '*' }
const shows = (members: string) => ({
  body: `{"PartitionKey":"p","RowKey":"1","Timestamp":"STAMP"${members}}`,
})

const mergeForms: readonly (readonly [
  name: string,
  send: (path: string, body: object, headers?: RequestHeaders) => Request,
])[] = [
  ['MERGE', merge],
  ['PATCH', patch],
  ['POST with X-HTTP-Method: MERGE', (path, body, headers) => tunnel('MERGE', path, body, headers)],
  ['POST with X-HTTP-Method: PATCH', (path, body, headers) => tunnel('PATCH', path, body, headers)],
]

for (const [name, send] of mergeForms) {
  // biome-ignore format: a table reads in columns
  wireTable(`Merge Entity: ${name}`, [
    [put(one, { a: 1, b: 'x' }),                          204],
    [send(one, { b: true, c: 3 }, any),                   204, updated],
    [get(one, none),                                      200, shows(',"a":1,"b":true,"c":3')],
    [send(one, { a: null, B: 1.5 }, { ...any, ...noContent }), 204, updatedNoContent],
    [get(one, none),                                      200, shows(',"B":1.5,"a":1,"b":true,"c":3')],
    [send(one, {}, any),                                  204, updated],
    [get(one, none),                                      200, shows(',"B":1.5,"a":1,"b":true,"c":3')],
    [(seen) => send(one, {}, { 'If-Match': seen[5]?.header('etag') }), 204, updated],
    [(seen) => send(one, {}, { 'If-Match': seen[5]?.header('etag') }), 412, 'UpdateConditionNotSatisfied', late],
    [send(entity(people, 'p', 'none'), {}, any),          404, 'ResourceNotFound', late],
    [send(entity('nobodyhere', 'p', '1'), {}, any),       404, 'TableNotFound', early],
    [send(one, {}, { 'If-None-Match': '*' }),             400, 'InvalidInput', 'If-None-Match HTTP header cannot be specified for PUT operations.', early],
  ])
}

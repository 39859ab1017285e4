import {
  early,
  entity,
  get,
  merge,
  noContent,
  none,
  patch,
  table,
  tunnel,
  updated,
  updatedNoContent,
  wireTable,
} from './wire.ts'

const people = await table('people')
const one = entity(people, 'p', '1')
const shows = (members: string) => ({
  body: `{"PartitionKey":"p","RowKey":"1","Timestamp":"STAMP"${members}}`,
})

// biome-ignore format: a table reads in columns
wireTable('Insert Or Merge Entity', [
  [merge(one, { b: 1, a: 2 }),                            204, updated],
  [get(one, none),                                        200, shows(',"a":2,"b":1')],
  [patch(one, { c: 3 }, noContent),                       204, updatedNoContent],
  [get(one, none),                                        200, shows(',"a":2,"b":1,"c":3')],
  [tunnel('MERGE', entity(people, 'p', '2'), { a: 1 }),   204, updated],
  [get(entity(people, 'p', '2'), none),                   200, { body: /"a":1}$/ }],
  [merge(entity('nobodyhere', 'p', '2'), {}),             404, 'TableNotFound', early],
])

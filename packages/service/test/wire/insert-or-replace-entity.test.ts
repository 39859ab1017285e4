import {
  early,
  entity,
  etagNeededText,
  get,
  noContent,
  none,
  put,
  table,
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
wireTable('Insert Or Replace Entity', [
  [put(one, { b: 1, a: 2 }),                              204, updated],
  [get(one, none),                                        200, shows(',"a":2,"b":1')],
  [put(one, { c: 3 }, noContent),                         204, updatedNoContent],
  [get(one, none),                                        200, shows(',"c":3')],
  // The address names the entity, whatever the body says.
  [put(one, { PartitionKey: 'x', RowKey: 'y', d: 4 }),    204],
  [get(one, none),                                        200, shows(',"d":4')],
  [get(entity(people, 'x', 'y')),                         404, 'ResourceNotFound'],
  [put(one, { PartitionKey: null, RowKey: null }),        204],
  [put(entity('nobodyhere', 'p', '1'), {}),               404, 'TableNotFound', early],
  [put(one, {}, { 'x-ms-version': '2009-09-19' }),        400, 'InvalidInput', etagNeededText(people), early],
  [put(one, {}, { 'x-ms-version': '2011-08-18' }),        204],
])

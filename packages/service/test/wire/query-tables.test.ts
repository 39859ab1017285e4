import { strict as assert } from 'node:assert'
import { it } from 'node:test'
import { account, early, exchange, get, isRemote, request, table, wireTable } from './wire.ts'

// Made out of order, and listed without regard to case.
const gamma = await table('gamma')
const Beta = await table('Beta')
const alpha = await table('alpha')
const Delta = await table('Delta')
const inOrder = [alpha, Beta, Delta, gamma]
const atLevel = (level: string) => ({ Accept: `application/json;odata=${level}` })
const listed = new RegExp(inOrder.map((name) => `"TableName":"${name}"`).join('.*'))

// biome-ignore format: a table reads in columns
wireTable('Query Tables', [
  [get('/Tables'), 200, {
    'cache-control': 'no-cache', etag: undefined, 'x-ms-continuation-nexttablename': undefined,
    'content-type': 'application/json;odata=minimalmetadata;streaming=true;charset=utf-8', body: listed }],
  [get('/Tables()'),                        200, { body: listed }],
  [get('/tables'),                          200, { body: listed }],
  [get('/Tables', atLevel('nometadata')),   200, { body: listed }],
  [get('/Tables', atLevel('fullmetadata')), 200, { body: listed }],
  [get('/Tables?$top=1'),                   200, { 'x-ms-continuation-nexttablename': /^1!\d+![A-Za-z0-9*_-]+$/ }],
  [get('/Tables?timeout=5000'),             200, { body: listed }],
  [get('/Tables?unknown=5&$format=application/json;odata=nometadata'), 200, { 'content-type': /nometadata/ }],
  [get('/Tables?NextTableName='),           400, 'InvalidInput', early],
  [get('/Tables?NextTableName=nonsense'),   400, 'InvalidInput', early],
  [get('/Tables?NextTableName=1!5!AAA-'),   400, 'InvalidInput', early],
  [get('/Tables?$top=0'),                   400, 'InvalidInput', early],
  [get('/Tables?$top=1001'),                400, 'InvalidInput', early],
  [request('PUT', '/Tables', { body: '{}' }), 405, 'MethodNotAllowed', early],
])

const full = (name: string) =>
  `{"odata.type":"${account}.Tables","odata.id":"BASE/Tables('${name}')","odata.editLink":"Tables('${name}')","TableName":"${name}"}`

if (!isRemote) {
  // biome-ignore format: a table reads in columns
  wireTable('Query Tables: the whole list', [
    [get('/Tables'), 200, { body: '{"odata.metadata":"BASE/$metadata#Tables","value":[{"TableName":"alpha"},{"TableName":"Beta"},{"TableName":"Delta"},{"TableName":"gamma"}]}' }],
    [get('/Tables', atLevel('nometadata')), 200, { body: '{"value":[{"TableName":"alpha"},{"TableName":"Beta"},{"TableName":"Delta"},{"TableName":"gamma"}]}' }],
    [get('/Tables', atLevel('fullmetadata')), 200, { body: `{"odata.metadata":"BASE/$metadata#Tables","value":[${inOrder.map(full).join(',')}]}` }],
  ])
}

it('pages of any size add up to the list', async () => {
  const whole = await namesByPages(1000)
  assert.deepEqual(await namesByPages(1), whole)
  assert.deepEqual(await namesByPages(3), whole)
  assert.deepEqual(
    whole.filter((name) => inOrder.includes(name)),
    inOrder,
  )
})

async function namesByPages(top: number): Promise<string[]> {
  const names: string[] = []
  let next: string | undefined = ''
  while (next !== undefined) {
    const token: string = next === '' ? '' : `&NextTableName=${encodeURIComponent(next)}`
    const answer = await exchange(get(`/Tables?$top=${top}${token}`, atLevel('nometadata')))
    assert.equal(answer.status, 200, answer.text)
    const page = JSON.parse(answer.text) as { value: { TableName: string }[] }
    assert.ok(page.value.length <= top)
    names.push(...page.value.map((row) => row.TableName))
    next = answer.header('x-ms-continuation-NextTableName')
  }
  return names
}

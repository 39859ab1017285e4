/** What `partita sas` prints opens the service; what it cannot make it refuses in a line. */
import { strict as assert } from 'node:assert'
import { describe, it, type TestContext } from 'node:test'
import { sas } from '../../src/command/sas.ts'
import { openInProcess, vectorsMadeAt, key1 } from '../auth/without-socket.ts'

const nowMs = Date.parse(vectorsMadeAt)
const table = ['--table', 'people', '--permissions', 'r', '--expiry', '1h']
const otherKey = Buffer.alloc(64, 9).toString('base64')

describe('partita sas', () => {
  // biome-ignore format: a table reads in columns
  const good: readonly [argv: readonly string[], environment: Record<string, string>, status: number][] = [
    [table, {}, 200],
    [['--table', 'PEOPLE', '--permissions', 'dr', '--expiry', '2035-01-01'], {}, 200],
    [[...table, '--start', '2025-01-01', '--ip', '127.0.0.1-127.0.0.9'], {}, 200],
    [[...table, '--ip', '10.0.0.1'], {}, 403],
    [[...table, '--https-only'], {}, 403],
    [[...table, '--start', '30m'], {}, 403],
    [['--table', 'people', '--permissions', 'aud', '--expiry', '1h'], {}, 403],
    [[...table, '--from-partition', 'a b', '--from-row', 'c&d', '--to-partition', 'é', '--to-row', '+'], {}, 200],
    [['--table', 'people', '--policy', 'mine'], {}, 200],
    [['--table', 'people', '--policy', 'yours'], {}, 403],
    [['--resource-types', 'o', '--permissions', 'r', '--expiry', '30d'], {}, 200],
    [['--resource-types', 'osc', '--services', 'tb', '--permissions', 'ucaldwr', '--expiry', '30d'], {}, 200],
    [['--resource-types', 's', '--permissions', 'r', '--expiry', '30d'], {}, 403],
    [[...table, '--account', 'devstoreaccount1', '--key', key1], {}, 200],
    [[...table, '--key', otherKey], {}, 403],
    [table, { PARTITA_KEY: otherKey }, 403],
    [table, { PARTITA_ACCOUNTS: `other:${otherKey}` }, 403],
    [[...table, '--account', 'devstoreaccount1'], { PARTITA_ACCOUNTS: `other:${otherKey};devstoreaccount1:${key1}` }, 200],
  ]
  for (const [argv, environment, status] of good) {
    it(`${argv.join(' ')}: ${status}`, async (context) => {
      const { code, printed } = run(context, argv, environment)
      assert.equal(code, 0)
      const service = openInProcess()
      await service.own({ method: 'POST', path: '/Tables', body: '{"TableName":"people"}' })
      await service.setPolicies('people', [{ id: 'mine', permission: 'r', expiry: '2035-01-01' }])
      const answered = await service.send({ path: `/people()?${printed}` })
      assert.equal(answered.status, status, answered.text)
    })
  }

  // biome-ignore format: a table reads in columns
  const wrong: readonly [argv: readonly string[], told: RegExp][] = [
    [[], /either --table or --resource-types/],
    [['--table', 'people', '--resource-types', 'o'], /either --table or --resource-types/],
    [['--table', 'p'], /--expiry is needed/],
    [['--table', 'p', '--expiry', '1h'], /--table 'p'/],
    [['--table', 'people', '--expiry', '1h'], /--permissions is needed: some of raud/],
    [['--table', 'people', '--expiry', '1h', '--permissions', 'rw'], /letters of raud, not 'w'/],
    [['--table', 'people', '--expiry', 'soon', '--permissions', 'r'], /'soon' is no time/],
    [['--table', 'people', '--expiry', '2020-01-01', '--permissions', 'r'], /after now/],
    [[...table, '--start', '2h'], /--expiry must be after --start/],
    [[...table, '--from-row', 'a'], /--from-row needs --from-partition/],
    [[...table, '--to-row', 'a'], /--to-row needs --to-partition/],
    [[...table, '--from-partition', ''], /--from-partition cannot be empty/],
    [[...table, '--to-partition', 'a\n'], /control character/],
    [[...table, '--ip', '::1'], /--ip '::1'/],
    [[...table, '--ip', '1.2.3.4-1.2.3.3'], /--ip/],
    [[...table, '--account', 'nobody'], /no key of account 'nobody' is known/],
    [[...table, '--key', 'short'], /a key is not base64/],
    [[...table, '--policy', 'x'.repeat(65)], /64 characters/],
    [[...table, '--colour', 'red'], /--colour/],
    [['--resource-types', 'o', '--permissions', 'r'], /--expiry is needed/],
    [['--resource-types', 'x', '--permissions', 'r', '--expiry', '1h'], /letters of sco, not 'x'/],
    [['--resource-types', 'o', '--permissions', 'r', '--expiry', '1h', '--policy', 'p'], /--policy needs --table/],
    [['--services', 't', '--permissions', 'r', '--expiry', '1h'], /--resource-types is needed/],
  ]
  for (const [argv, told] of wrong) {
    it(`${argv.join(' ')}: refused`, (context) => {
      const { code, printed, complained } = run(context, argv, {})
      assert.equal(code, 2)
      assert.equal(printed, '')
      assert.match(complained, /^partita: [^\n]+$/)
      assert.match(complained, told)
    })
  }

  it('helps', (context) => {
    const { code, printed } = run(context, ['--help'], {})
    assert.equal(code, 0)
    assert.match(printed, /--https-only/)
  })
})

function run(context: TestContext, argv: readonly string[], environment: Record<string, string>) {
  const log = context.mock.method(console, 'log', () => undefined)
  const error = context.mock.method(console, 'error', () => undefined)
  const code = sas(argv, environment, nowMs)
  const text = (method: typeof log) =>
    method.mock.calls.map((call) => String((call.arguments as unknown[])[0])).join('\n')
  return { code, printed: text(log), complained: text(error) }
}

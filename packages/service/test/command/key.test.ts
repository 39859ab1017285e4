/** `partita key` makes keys, and moves them without ending what the second one opened. */
import { strict as assert } from 'node:assert'
import { describe, it, type TestContext } from 'node:test'
import { parseAccounts } from '../../src/auth/accounts.ts'
import { key } from '../../src/command/key.ts'

const [a, b, c] = [1, 2, 3].map((byte) => Buffer.alloc(64, byte).toString('base64')) as [
  string,
  string,
  string,
]
const newKey = '[A-Za-z0-9+/]{86}=='

describe('partita key', () => {
  it('makes a new key each time, that an account takes', (context) => {
    const [first, second] = [run(context, []).printed, run(context, []).printed]
    assert.match(first, new RegExp(`^${newKey}$`))
    assert.notEqual(first, second)
    assert.equal(parseAccounts(`acct:${first}`).size, 1)
  })

  it('moves the second key to the first place, and makes a new second', (context) => {
    const { code, printed } = run(context, ['rotate'], { PARTITA_ACCOUNTS: `one:${a}:${b}; two:${c};` })
    assert.equal(code, 0)
    const [one = '', two = ''] = printed.split(';')
    assert.match(one, new RegExp(`^one:${literal(b)}:${newKey}$`))
    assert.match(two, new RegExp(`^two:${literal(c)}:${newKey}$`))
    assert.equal(parseAccounts(printed).size, 2)
  })

  it('leaves other accounts alone when one is named', (context) => {
    const accounts = `one:${a}:${b};two:${c}`
    const { printed } = run(context, ['rotate', '--account', 'one', '--accounts', accounts])
    assert.match(printed, new RegExp(`^one:${literal(b)}:${newKey};two:${literal(c)}$`))
  })

  it('refuses what it cannot do', (context) => {
    const rows: readonly [argv: readonly string[], environment: Record<string, string>, told: RegExp][] = [
      [['rotate'], {}, /PARTITA_ACCOUNTS is not set/],
      [['rotate'], { PARTITA_ACCOUNTS: 'one' }, /one or two keys/],
      [['rotate', '--account', 'two'], { AZURITE_ACCOUNTS: `one:${a}` }, /no account 'two'/],
      [['turn'], {}, /knows no 'turn'/],
      [['--loud'], {}, /--loud/],
    ]
    for (const [argv, environment, told] of rows) {
      const { code, printed, complained } = run(context, argv, environment)
      assert.deepEqual([code, printed], [2, ''])
      assert.match(complained, told)
    }
  })
})

function run(context: TestContext, argv: readonly string[], environment: Record<string, string> = {}) {
  context.mock.restoreAll()
  const log = context.mock.method(console, 'log', () => undefined)
  const error = context.mock.method(console, 'error', () => undefined)
  const code = key(argv, environment)
  const text = (method: typeof log) =>
    method.mock.calls.map((call) => String((call.arguments as unknown[])[0])).join('\n')
  return { code, printed: text(log), complained: text(error) }
}

function literal(text: string): string {
  return text.replaceAll(/[+/=]/g, '\\$&')
}

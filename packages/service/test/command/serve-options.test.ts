import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { UsageError } from '../../src/command/options.ts'
import {
  parseServeOptions,
  type ServeOptions,
  serveOptions,
  variableOf,
} from '../../src/command/serve-options.ts'

type Row = readonly [option: string, given: string, other: string, field: keyof ServeOptions, value: unknown]

// biome-ignore format: a table reads in columns
const table: readonly Row[] = [
  ['data',                 'here',          'there',         'data',               'here'],
  ['host',                 'localhost',     '0.0.0.0',       'host',               'localhost'],
  ['table-port',           '0',             '12345',         'tablePort',          0],
  ['durability',           'interval',      'memory',        'durability',         'interval'],
  ['workers',              '2',             '3',             'workers',            2],
  ['accounts',             'one:a2V5',      'two:a2V5',      'accounts',           'one:a2V5'],
  ['ready-file',           'ready',         'other',         'readyFile',          'ready'],
  ['deleted-name-seconds', '30',            '31',            'deletedNameSeconds', 30],
  ['server-token',         'Tables/1',      'Tables/2',      'serverToken',        'Tables/1'],
]

const flags: readonly (readonly [option: string, field: keyof ServeOptions])[] = [
  ['log', 'logRequests'],
  ['realism', 'realism'],
  ['stats-on-primary', 'statsOnPrimary'],
]

/** These make one setting together. */
const ofBearer = 'issuer audiences readers contributors tenant accept-any'
  .split(' ')
  .map((name) => `bearer-${name}`)
const ofTls = ['cert', 'key', 'tls', 'tls-names']

// biome-ignore format: a table reads in columns
const refused: readonly (readonly [argv: string[], environment: Record<string, string>, says: RegExp])[] = [
  [['--nonsense'],                    {},                                      /--nonsense/],
  [['extra'],                         {},                                      /extra/],
  [['--data'],                        {},                                      /--data/],
  [['--data', '--log'],               {},                                      /--data/],
  [['--log=yes'],                     {},                                      /--log/],
  [['--table-port', '65536'],         {},                                      /--table-port .* 65535/],
  [['--table-port', '-1'],            {},                                      /--table-port/],
  [['--table-port', '1e3'],           {},                                      /--table-port .* '1e3'/],
  [['--durability', 'hopeful'],       {},                                      /--durability .* sync, interval, memory/],
  [['--workers', '0'],                {},                                      /--workers .* 1 to 64/],
  [['--workers', '2', '--data', ':memory:'], {},                               /:memory:/],
  [['--deleted-name-seconds', 'x'],   {},                                      /--deleted-name-seconds/],
  [['--bearer-readers', 'a'],         {},                                      /--bearer-readers needs --bearer-issuer/],
  [['--bearer-accept-any'],           { PARTITA_BEARER_ISSUER: 'https://a' },  /exclude each other/],
  [['--bearer-issuer', 'https://a', '--bearer-readers', 'a@B'], {},            /'a@B'/],
  [['--cert', 'c.pem'],               {},                                      /--cert and --key go together/],
  [['--key', 'k.pem'],                {},                                      /--cert and --key go together/],
  [['--tls', 'yes'],                  {},                                      /--tls takes auto, not 'yes'/],
  [['--tls-names', 'a'],              {},                                      /--tls-names goes with --tls auto/],
  [['--tls', 'auto'],                 { PARTITA_CERT: 'c', PARTITA_KEY: 'k' }, /choose one/],
  [[],                                { PARTITA_TABLE_PORT: 'http' },          /table-port/],
  [[],                                { PARTITA_DURABILITY: 'SYNC' },          /durability/],
]

describe('options of partita serve', () => {
  it('are all in these tables', () => {
    const tested = [...[...table, ...flags].map(([option]) => option), ...ofBearer, ...ofTls]
    assert.deepEqual(Object.keys(serveOptions).toSorted(), tested.toSorted())
  })

  for (const [option, given, other, field, value] of table) {
    it(`--${option} wins over ${variableOf(option)}`, () => {
      assert.equal(parseServeOptions([`--${option}`, given], {})[field], value)
      assert.equal(parseServeOptions([`--${option}=${given}`], { [variableOf(option)]: other })[field], value)
      assert.equal(parseServeOptions([], { [variableOf(option)]: given })[field], value)
    })
  }

  for (const [flag, field] of flags) {
    it(`--${flag} is also ${variableOf(flag)}`, () => {
      assert.equal(parseServeOptions([], {})[field], false)
      assert.equal(parseServeOptions([`--${flag}`], { [variableOf(flag)]: '0' })[field], true)
      for (const value of ['1', 'true']) {
        assert.equal(parseServeOptions([], { [variableOf(flag)]: value })[field], true)
      }
      for (const value of ['', '0', 'false']) {
        assert.equal(parseServeOptions([], { [variableOf(flag)]: value })[field], false)
      }
    })
  }

  it('are the documented ones when nothing is given, or nothing but empty variables', () => {
    const nothing = parseServeOptions([], {})
    assert.deepEqual(nothing, {
      data: 'partita-data',
      workers: 1,
      host: '127.0.0.1',
      tablePort: 10002,
      durability: 'sync',
      deletedNameSeconds: 0,
      realism: false,
      statsOnPrimary: false,
      readyFile: undefined,
      logRequests: false,
      help: false,
    })
    const names = table.map(([option]) => variableOf(option)).filter((name) => name !== 'PARTITA_ACCOUNTS')
    const empty = Object.fromEntries(names.map((name) => [name, '']))
    assert.deepEqual(parseServeOptions([], empty), nothing)
  })

  it('name a certificate, or ask for one', () => {
    const files = { kind: 'files', cert: 'c.pem', key: 'k.pem' }
    assert.deepEqual(parseServeOptions(['--cert', 'c.pem', '--key=k.pem'], {}).tls, files)
    assert.deepEqual(parseServeOptions([], { PARTITA_CERT: 'c.pem', PARTITA_KEY: 'k.pem' }).tls, files)
    assert.deepEqual(parseServeOptions(['--key', 'k.pem'], { PARTITA_CERT: 'c.pem' }).tls, files)
    assert.deepEqual(parseServeOptions(['--tls', 'auto'], {}).tls, { kind: 'auto', names: [] })
    const named = { PARTITA_TLS: 'auto', PARTITA_TLS_NAMES: 'a.test, 10.0.0.7' }
    assert.deepEqual(parseServeOptions([], named).tls, { kind: 'auto', names: ['a.test', '10.0.0.7'] })
    const empty = { PARTITA_TLS: '', PARTITA_TLS_NAMES: '', PARTITA_CERT: '', PARTITA_KEY: '' }
    assert.equal(parseServeOptions([], empty).tls, undefined)
  })

  it('take accounts from AZURITE_ACCOUNTS when nothing of ours names any', () => {
    const environment = { AZURITE_ACCOUNTS: 'theirs:a2V5' }
    assert.equal(parseServeOptions([], environment).accounts, 'theirs:a2V5')
    assert.equal(
      parseServeOptions([], { ...environment, PARTITA_ACCOUNTS: 'ours:a2V5' }).accounts,
      'ours:a2V5',
    )
    assert.equal(parseServeOptions(['--accounts', 'given:a2V5'], environment).accounts, 'given:a2V5')
  })

  it('of bearer tokens make one setting', () => {
    const bearerOf = (argv: string[], environment = {}) => parseServeOptions(argv, environment).bearer
    assert.deepEqual(bearerOf(['--bearer-accept-any']), { kind: 'accept-any' })
    const issuer = 'https://login.example.org/realm'
    assert.deepEqual(bearerOf(['--bearer-issuer', issuer]), {
      kind: 'issuer',
      issuer,
      assignments: [
        { role: 'reader', claim: 'role', value: 'Storage Table Data Reader', account: undefined },
        { role: 'contributor', claim: 'role', value: 'Storage Table Data Contributor', account: undefined },
      ],
    })
    const environment = {
      PARTITA_BEARER_ISSUER: issuer,
      PARTITA_BEARER_AUDIENCES: 'a,b',
      PARTITA_BEARER_READERS: 'group:g@acct1',
      PARTITA_BEARER_CONTRIBUTORS: 'subject:s',
      PARTITA_BEARER_TENANT: '3f2c9a54-11aa-4b1e-9c55-0123456789ab',
    }
    assert.deepEqual(bearerOf([], environment), {
      kind: 'issuer',
      issuer,
      audiences: ['a', 'b'],
      tenant: '3f2c9a54-11aa-4b1e-9c55-0123456789ab',
      assignments: [
        { role: 'reader', claim: 'group', value: 'g', account: 'acct1' },
        { role: 'contributor', claim: 'subject', value: 's', account: undefined },
      ],
    })
  })

  it('never pass over accounts that are given but empty', () => {
    assert.equal(parseServeOptions([], { PARTITA_ACCOUNTS: '' }).accounts, '')
    assert.equal(parseServeOptions([], { AZURITE_ACCOUNTS: '' }).accounts, '')
    assert.equal(parseServeOptions(['--accounts', ''], {}).accounts, '')
  })

  for (const [argv, environment, says] of refused) {
    it(`are refused in a line: ${JSON.stringify([...argv, environment])}`, () => {
      assert.throws(
        () => parseServeOptions(argv, environment),
        (error) => error instanceof UsageError && says.test(error.message) && !error.message.includes('\n'),
      )
    })
  }
})

/** The command as its users meet it: in a process of its own, told things by arguments, variables and signals. */
import { strict as assert } from 'node:assert'
import { existsSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { standardPatience } from '../../src/http/server.ts'
import { type RunningService, type ServiceOptions, startService } from '../../src/service.ts'
import {
  type Account,
  developmentAccount,
  entityPath,
  type KeepAliveClient,
  keepAliveClient,
} from '../support/keep-alive-client.ts'
import { type RawConnection, rawConnection, requestText } from '../support/raw-connection.ts'
import {
  type CommandOptions,
  type Exit,
  readIfThere,
  readyUrl,
  runCommand,
  type ServerProcess,
  startServer,
} from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const secret = Buffer.alloc(64, 'a key nobody knows').toString('base64')
const second = Buffer.alloc(64, 'another such key').toString('base64')
const custom: Account = { name: 'custom', key: secret }

describe('partita', () => {
  it('tells how it is used', async () => {
    for (const args of [[], ['help'], ['--help'], ['serve', '--help'], ['serve', '-h']]) {
      const { code, stdout, stderr } = await runCommand(args).exited
      assert.equal(code, 0)
      assert.match(stdout, /partita serve \[options\]/)
      assert.match(stdout, /--table-port PORT .*\(10002\)/)
      assert.match(stdout, /PARTITA_TABLE_PORT/)
      assert.equal(stderr, '')
    }
  })

  it('refuses what it does not know with exit 2 and one line', async () => {
    for (const args of [
      ['frobnicate'],
      ['serve', '--nonsense'],
      ['serve', '--data', '--log'],
      ['serve', 'extra'],
    ]) {
      refusedInALine(await runCommand(args).exited, 2)
    }
    const environment = { PARTITA_DURABILITY: 'hopeful' }
    refusedInALine(await runCommand(['serve'], { environment }).exited, 2, /durability/)
  })
})

describe('the start of partita serve', () => {
  it('shows the endpoint, the connection string, the data folder and the durability', async () => {
    const data = await temporaryFolder()
    const server = await startServer(data)
    const { stdout, stderr } = await server.stop()
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    const { name, key } = developmentAccount
    for (const wanted of [
      `tables at ${server.url}\n`,
      `AccountName=${name};AccountKey=${key};TableEndpoint=${server.url}/${name};\n`,
      `${resolve(data)}\n`,
      'sync: ',
    ]) {
      assert(stdout.includes(wanted), `${wanted} is not in ${stdout}`)
    }
    assert.doesNotMatch(stdout, /WARNING/)
    assert.equal(stderr, '')
  })

  it('takes every option from the environment too, and an option before a variable', async () => {
    const folder = await temporaryFolder()
    const environment = {
      PARTITA_DATA: join(folder, 'data'),
      PARTITA_HOST: 'localhost',
      PARTITA_TABLE_PORT: '1',
      PARTITA_DURABILITY: 'interval',
      PARTITA_READY_FILE: join(folder, 'ready.json'),
      PARTITA_SERVER_TOKEN: 'Tables/7',
      PARTITA_LOG: '1',
    }
    const server = runCommand(['serve', '--table-port', '0'], { environment })
    const url = await readyUrl(server, environment.PARTITA_READY_FILE)
    assert.match(url, /^http:\/\/localhost:\d+$/)
    const answer = await once(url, (client) => client.send('GET', '/Tables'))
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['server'], 'Tables/7')
    const { code, stdout } = await server.stop()
    assert.equal(code, 0)
    assert.match(stdout, /interval: /)
    assert.match(stdout, /^\{.*"path":"\/devstoreaccount1\/Tables"/m)
    assert(existsSync(join(folder, 'data', 'partita.json')))
  })

  it('takes partita-data in the current folder when no folder is named', async () => {
    const folder = await temporaryFolder()
    const readyFile = join(folder, 'ready.json')
    const server = runCommand(['serve', '--table-port', '0', '--ready-file', readyFile], { folder })
    await readyUrl(server, readyFile)
    assert.equal((await server.stop()).code, 0)
    assert(existsSync(join(folder, 'partita-data', 'partita.json')))
  })

  it('writes the ready file whole, once requests are answered, and removes it when it ends', async () => {
    const folder = await temporaryFolder()
    const readyFile = join(folder, 'ready.json')
    writeFileSync(readyFile, 'left by a server that crashed')
    const seen: string[] = []
    const watcher = watch(folder, () => {
      const text = readIfThere(readyFile)
      if (text !== undefined) seen.push(text)
    })
    const args = ['serve', '--data', ':memory:', '--table-port', '0', '--ready-file', readyFile]
    const server = runCommand(args)
    const url = await writtenUrl(readyFile)
    assert.equal((await once(url, (client) => client.send('GET', '/Tables'))).status, 200)
    assert.equal((await fetch(`${url}/-/ready`)).status, 200)
    assert.deepEqual(readdirSync(folder), ['ready.json'])
    assert.equal((await server.stop()).code, 0)
    watcher.close()
    assert.deepEqual(readdirSync(folder), [])
    for (const text of seen) assert.deepEqual(JSON.parse(text), { table: url })
  })

  it('ends when the ready file cannot be written', async () => {
    const readyFile = join(await temporaryFolder(), 'missing', 'ready.json')
    const args = ['serve', '--data', ':memory:', '--table-port', '0', '--ready-file', readyFile]
    const { code, stderr } = await runCommand(args).exited
    assert.equal(code, 1)
    assert.match(stderr, /^partita: .*ready\.json.*\n$/)
  })

  it('ends with a line when the port is taken, and leaves what holds it alone', async () => {
    const holder = await startServer(':memory:')
    const port = new URL(holder.url).port
    const data = await temporaryFolder()
    const exit = await runCommand(['serve', '--data', data, '--table-port', port]).exited
    refusedInALine(exit, 1, new RegExp(`port ${port} is in use.*--table-port`))
    assert.equal((await fetch(`${holder.url}/-/live`)).status, 200)
    await holder.stop()
  })

  it('refuses a data folder of a newer format and does not touch it', async () => {
    const data = await temporaryFolder()
    const newer = '{"format":2,"engine":"lmdb","more":true}'
    writeFileSync(join(data, 'partita.json'), newer)
    const exit = await runCommand(['serve', '--data', data, '--table-port', '0']).exited
    refusedInALine(exit, 1, /newer Partita.*format 2/)
    assert.deepEqual(readdirSync(data), ['partita.json'])
    assert.equal(readFileSync(join(data, 'partita.json'), 'utf8'), newer)
  })

  it('refuses folders that are not its own', async () => {
    const folder = await temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    mkdirSync(join(folder, 'strange', 'tables'), { recursive: true })
    mkdirSync(join(folder, 'broken'))
    writeFileSync(join(folder, 'broken', 'partita.json'), '{"form')
    for (const name of ['file', 'strange', 'broken']) {
      const data = join(folder, name)
      refusedInALine(await runCommand(['serve', '--data', data, '--table-port', '0']).exited, 1)
    }
  })

  for (const durability of ['sync', 'interval', 'memory']) {
    it(`keeps data over a restart with durability ${durability}`, async () => {
      const data = await temporaryFolder()
      const args = ['--durability', durability]
      let etag: string | undefined
      const { stdout } = await serving(data, args, async (client) => {
        assert.equal((await client.send('POST', '/Tables', { body: { TableName: 'kept' } })).status, 201)
        const body = { PartitionKey: 'p', RowKey: 'r', Text: 'kept' }
        etag = (await client.send('POST', '/kept', { body })).headers.etag
      })
      assert.match(stdout, new RegExp(`durability +${durability}: `))
      await serving(data, args, async (client) => {
        const answer = await client.send('GET', entityPath('kept', 'p', 'r'))
        assert.equal(answer.headers.etag, etag)
        assert.match(answer.body, /"Text":"kept"/)
      })
    })
  }

  it('says so when data is in memory only', async () => {
    const server = await startServer(':memory:')
    assert.match((await server.stop()).stdout, /data +in memory only\n.*durability +none/)
  })
})

describe('accounts of partita serve', () => {
  for (const variable of ['PARTITA_ACCOUNTS', 'AZURITE_ACCOUNTS']) {
    it(`come from ${variable}, with one or two keys each, and only those`, async () => {
      const environment = { [variable]: `first:${secret};custom:${second}:${secret}` }
      await serving(
        ':memory:',
        [],
        async (client, { url }) => {
          assert.equal((await client.send('GET', '/Tables')).status, 403)
          for (const account of [
            { name: 'first', key: secret },
            { name: 'custom', key: second },
            { name: 'custom', key: secret },
          ]) {
            assert.equal((await once(url, (known) => known.send('GET', '/Tables'), account)).status, 200)
          }
          const swapped = { name: 'first', key: second }
          assert.equal((await once(url, (unknown) => unknown.send('GET', '/Tables'), swapped)).status, 403)
        },
        { environment },
      )
    })

    it(`that ${variable} gets wrong stop the start, and no key is shown`, async () => {
      for (const accounts of ['', secret, `custom:${secret},other:${second}`]) {
        const environment = { [variable]: accounts }
        const args = ['serve', '--data', ':memory:', '--table-port', '0']
        const exit = await runCommand(args, { environment }).exited
        refusedInALine(exit, 1, /account/)
        for (const key of [secret, second]) assert(!exit.stderr.includes(key), exit.stderr)
      }
    })
  }

  it('are refused for every mistake, without telling a key', async () => {
    for (const accounts of [
      '',
      ';',
      secret,
      `:${secret}`,
      'custom',
      'custom:',
      'custom:not*base64',
      'custom:c2hvcnQ=',
      `Custom:${secret}`,
      `ab:${secret}`,
      `custom:${secret}:${second}:${secret}`,
      `custom:${secret};custom:${second}`,
      `custom:${secret};${second}`,
      `custom:${secret},other:${second}`,
    ]) {
      await assert.rejects(startService({ data: ':memory:', accounts }), ({ message }: Error) => {
        assert.match(message, /account/)
        for (const key of [secret, second]) assert(!message.includes(key), message)
        return true
      })
    }
  })

  it('are not shown with their keys, neither at the start nor in the log', async () => {
    const environment = { PARTITA_ACCOUNTS: `custom:${secret}:${second}` }
    const server = await startServer(':memory:', ['--log', '--host', '0.0.0.0'], { environment })
    await once(server.url, (client) => client.send('GET', '/Tables'), custom)
    await once(server.url, (client) => client.send('GET', '/Tables'), { name: 'custom', key: second })
    await once(server.url, (client) => client.send('GET', '/Tables'))
    const { stdout, stderr } = await server.stop()
    assert.match(stdout, /AccountName=custom;AccountKey=…;/)
    assert.doesNotMatch(stdout, /WARNING/)
    for (const key of [secret, second]) assert(!(stdout + stderr).includes(key))
  })

  it('known to everyone are warned of on an address that is not only this machine', async () => {
    const { name, key } = developmentAccount
    for (const environment of [{}, { AZURITE_ACCOUNTS: `custom:${secret};${name}:${key}` }]) {
      const server = await startServer(':memory:', ['--host', '0.0.0.0'], { environment })
      assert.match(server.url, /^http:\/\/127\.0\.0\.1:/)
      assert.match((await server.stop()).stdout, /WARNING.*0\.0\.0\.0.*PARTITA_ACCOUNTS/)
    }
  })
})

describe('the end of partita serve', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`comes with ${signal}, after requests under way were answered`, async () => {
      const data = await temporaryFolder()
      const server = await startServer(data)
      await once(server.url, (client) => client.send('POST', '/Tables', { body: { TableName: 'kept' } }))
      const uploads = await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const connection = await rawConnection(server.url)
          const body = JSON.stringify({ PartitionKey: 'p', RowKey: `r${i}` })
          const text = requestText('POST', '/kept', { body })
          // Half of them stop in the body, half in the header.
          const half = i % 2 === 0 ? text.length - 5 : 40
          connection.write(text.slice(0, half))
          return { connection, rest: text.slice(half) }
        }),
      )
      const probe = await rawConnection(server.url)
      probe.write('GET /-/ready HTTP/1.1\r\nHost: ')
      const silent = await rawConnection(server.url)
      const idle = await servedInTurn(server.url)

      server.signal(signal)
      await refusesConnections(server.url)
      await idle.closed
      await silent.closed
      probe.write('a\r\n\r\n')
      assert.match(await probe.closed, /^HTTP\/1\.1 503 .*Connection: close.*"not ready"/s)
      for (const { connection, rest } of uploads) {
        connection.write(rest)
        assert.match(await connection.closed, /^HTTP\/1\.1 201 .*Connection: close.*\r\n0\r\n\r\n$/s)
      }
      const { code, stderr } = await server.exited
      assert.equal(code, 0)
      assert.equal(stderr, '')

      await serving(data, [], async (client) => {
        for (let i = 0; i < uploads.length; i++) {
          assert.equal((await client.send('GET', entityPath('kept', 'p', `r${i}`))).status, 200)
        }
      })
    })
  }

  it('does not cut answers that are being sent', async () => {
    const server = await startServer(':memory:', ['--log'])
    const large = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`P${i}`, 'ä'.repeat(32_000)]))
    await once(server.url, async (client) => {
      await client.send('POST', '/Tables', { body: { TableName: 'large' } })
      const body = { PartitionKey: 'p', RowKey: 'r', ...large }
      assert.equal((await client.send('POST', '/large', { body })).status, 201)
    })
    const slow = await rawConnection(server.url)
    slow.pause()
    const reads = 6
    for (let i = 0; i < reads; i++) slow.write(requestText('GET', entityPath('large', 'p', 'r')))
    while (!server.printed().stdout.includes('"operation":"get entity"')) await pause(5)
    server.signal('SIGTERM')
    await refusesConnections(server.url)
    slow.resume()
    const text = await slow.closed
    assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, reads)
    assert.equal(text.match(/"P14":"(?:\\u00e4){32000}"\}\r\n0\r\n\r\n/g)?.length, reads)
    assert.equal((await server.exited).code, 0)
  })

  it('comes at once with a second signal', async () => {
    const folder = await temporaryFolder()
    const readyFile = join(folder, 'ready.json')
    const args = ['serve', '--data', join(folder, 'data'), '--table-port', '0', '--ready-file', readyFile]
    const server = runCommand(args)
    const url = await readyUrl(server, readyFile)
    const stuck = await rawConnection(url)
    stuck.write(requestText('POST', '/Tables', { body: '{"TableName":"never"}' }).slice(0, -1))
    const idle = await servedInTurn(url)
    server.signal('SIGTERM')
    await refusesConnections(url)
    await idle.closed
    const before = performance.now()
    server.signal('SIGINT')
    assert.equal((await server.exited).code, 1)
    assert(performance.now() - before < 2000)
    assert.equal(existsSync(readyFile), false)
    stuck.destroy()
  })
})

describe('the log of partita serve', () => {
  it('is a JSON line for each request, without queries, credentials and bodies', async () => {
    const server = await startServer(':memory:', ['--log'])
    await once(server.url, async (client) => {
      await client.send('POST', '/Tables', { body: { TableName: 'logged' } })
      const body = { PartitionKey: 'p', RowKey: 'r', Text: 'the body' }
      await client.send('POST', '/logged', { body, headers: { 'x-ms-client-request-id': 'mine' } })
      await client.send(
        'GET',
        `${entityPath('logged', 'p', 'r')}?$select=Text&sv=2019-02-02&sig=c2lnbmF0dXJl`,
      )
      await client.send('GET', '/logged?sig=c2lnbmF0dXJl', {
        headers: { Authorization: 'SharedKey a:c2lnbmF0dXJl' },
      })
      await client.send('POST', '/logged', { body: '{"the body"' })
    })
    const { stdout } = await server.stop()
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.deepEqual(
      entries.map(({ method, path, status, operation, code }) => [method, path, status, operation, code]),
      [
        ['POST', '/devstoreaccount1/Tables', 201, 'create table', undefined],
        ['POST', '/devstoreaccount1/logged', 201, 'insert entity', undefined],
        ['GET', `/devstoreaccount1${entityPath('logged', 'p', 'r')}`, 200, 'get entity', undefined],
        ['GET', '/devstoreaccount1/logged', 400, undefined, 'InvalidAuthenticationInfo'],
        ['POST', '/devstoreaccount1/logged', 400, 'insert entity', 'InvalidInput'],
      ],
    )
    assert.equal(entries[1]?.['clientRequestId'], 'mine')
    for (const entry of entries) {
      assert.match(String(entry['requestId']), /^[0-9a-f-]{36}$/)
      assert.match(String(entry['time']), /^\d{4}-.*Z$/)
      assert.equal(typeof entry['ms'], 'number')
    }
    for (const kept of ['c2lnbmF0dXJl', 'the body', '$select', '?', 'SharedKey']) {
      assert(!lines.join('\n').includes(kept), `${kept} is in the log`)
    }
  })

  it('is empty unless asked for', async () => {
    const server = await startServer(':memory:')
    await once(server.url, (client) => client.send('GET', '/Tables'))
    const { stdout, stderr } = await server.stop()
    assert.doesNotMatch(stdout, /^\{/m)
    assert.equal(stderr, '')
  })
})

describe('paths of our own', () => {
  it('tell that the server lives and is ready', () =>
    withService(async ({ url }) => {
      for (const [path, status, says] of [
        ['live', 200, 'live'],
        ['ready', 200, 'ready'],
        ['nothing', 404, 'unknown'],
      ] as const) {
        const answer = await fetch(`${url}/-/${path}`)
        assert.equal(answer.status, status)
        assert.deepEqual(await answer.json(), { status: says })
      }
    }))
})

// In this process, where the server can be reached: waiting for its real limits would take minutes.
describe('connections', { concurrency: true }, () => {
  it('may idle for two minutes, and serve after five seconds of it', () =>
    withService(async ({ url }) => {
      assert(standardPatience.idleMs >= 120_000)
      const idle = await rawConnection(url)
      idle.write(requestText('GET', '/Tables'))
      await idle.received(/\r\n0\r\n\r\n$/)
      await pause(5500)
      idle.write(requestText('GET', '/Tables'))
      await idle.received(/(?:HTTP\/1\.1 200 .*){2}\r\n0\r\n\r\n$/s)
    }))

  it('that send their request too slowly are told so and cut', () =>
    withService(
      async ({ url }) => {
        const { headMs, requestMs } = standardPatience
        assert(headMs <= 30_000 && requestMs >= headMs && requestMs <= 300_000)
        const request = requestText('POST', '/Tables', { body: '{"TableName":"slow"}' })
        const ends = [0, 20, request.length - 3].map(async (sent) => {
          const slow = await rawConnection(url)
          slow.write(request.slice(0, sent))
          assert.match(await slow.closed, /^HTTP\/1\.1 408 /)
        })
        await Promise.all(ends)
      },
      { patience: { idleMs: 10_000, headMs: 300, requestMs: 600 } },
    ))

  it('that have been served and say nothing more are cut', () =>
    withService(
      async ({ url }) => {
        const idle = await rawConnection(url)
        idle.write(requestText('GET', '/Tables'))
        const answer = await idle.received(/\r\n0\r\n\r\n$/)
        assert.equal(await idle.closed, answer)
      },
      { patience: { idleMs: 300, headMs: 400, requestMs: 600 } },
    ))

  it('with a request that never ends do not keep the service from closing', () =>
    withService(async ({ url, close }) => {
      const request = requestText('POST', '/Tables', { body: '{"TableName":"never"}' })
      const stuck = [20, request.length - 3].map(async (sent) => {
        const connection = await rawConnection(url)
        connection.write(request.slice(0, sent))
        return connection
      })
      const connections = await Promise.all(stuck)
      const idle = await servedInTurn(url)
      const before = performance.now()
      await close()
      await idle.closed
      assert(performance.now() - before < 10_000)
      for (const connection of connections) connection.destroy()
    }))
})

async function withService(
  work: (service: RunningService) => Promise<void>,
  options: Partial<ServiceOptions> = {},
): Promise<void> {
  const service = await startService({ data: ':memory:', ...options })
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

/** Runs a server, works on one connection to it, and stops it. */
async function serving(
  data: string,
  args: readonly string[],
  work: (client: KeepAliveClient, server: ServerProcess) => Promise<void>,
  options: CommandOptions = {},
): Promise<Exit> {
  const server = await startServer(data, args, options)
  await once(server.url, (client) => work(client, server))
  const exit = await server.stop()
  assert.equal(exit.code, 0)
  return exit
}

async function once<Result>(
  url: string,
  work: (client: KeepAliveClient) => Promise<Result>,
  account = developmentAccount,
): Promise<Result> {
  const client = keepAliveClient(url, { account })
  try {
    return await work(client)
  } finally {
    client.close()
  }
}

function refusedInALine({ code, stdout, stderr }: Exit, wanted: number, says = /./): void {
  assert.equal(code, wanted, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, /^partita: .*\n$/)
  assert.match(stderr, says)
}

/** Waits for the address in a file that may hold something else before. */
async function writtenUrl(readyFile: string): Promise<string> {
  for (;;) {
    const text = readIfThere(readyFile)
    if (text?.startsWith('{')) return (JSON.parse(text) as { table: string }).table
    await pause(5)
  }
}

/**
 * A connection made after all others, once it was served. Connections are accepted, and their bytes read, in
 * the order they came: the server then knows all that was sent to it before.
 */
async function servedInTurn(url: string): Promise<RawConnection> {
  const connection = await rawConnection(url)
  connection.write('GET /-/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await connection.received(/"live"/)
  return connection
}

/** Resolves once nobody listens there any more. */
async function refusesConnections(url: string): Promise<void> {
  for (;;) {
    try {
      ;(await rawConnection(url)).destroy()
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === 'ECONNREFUSED') return
      // It was waiting to be accepted when the listening ended.
      assert.equal(code, 'ECONNRESET')
    }
    await pause(5)
  }
}

/** Several processes behind one port. */
import { strict as assert } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { keepAliveClient } from '../support/keep-alive-client.ts'
import { type CommandProcess, runCommand, startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const connections = 8

describe('partita serve --workers 2', () => {
  it('shows each connection what every other has written', async () => {
    const server = await startServer(await temporaryFolder(), ['--workers', '2'])
    // Connections are dealt out in turn, so these reach both processes.
    const clients = Array.from({ length: connections }, () => keepAliveClient(server.url))
    const [first] = clients
    assert.equal((await first?.send('POST', '/Tables', { body: { TableName: 'shared' } }))?.status, 201)
    for (const [writer, client] of clients.entries()) {
      const body = { PartitionKey: 'p', RowKey: String(writer), Writer: writer }
      assert.equal((await client.send('POST', '/shared', { body })).status, 201)
      const seen = await Promise.all(
        clients.map((reader) => reader.send('GET', `/shared(PartitionKey='p',RowKey='${writer}')`)),
      )
      assert.deepEqual(
        seen.map(({ status }) => status),
        clients.map(() => 200),
      )
    }
    for (const client of clients) client.close()
    const { code, stderr } = await server.stop()
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('puts another in the place of one that died, and leaves none behind', async () => {
    const server = await startServer(await temporaryFolder(), ['--workers', '2'])
    const [victim = 0] = workersOf(server)
    process.kill(victim, 'SIGKILL')
    while (!server.printed().stderr.includes('another takes its place')) await pause(10)
    const client = keepAliveClient(server.url)
    assert.equal((await client.send('GET', '/Tables')).status, 200)
    client.close()
    while (workersOf(server).length < 2) await pause(20)
    const workers = workersOf(server)
    assert.equal((await server.stop()).code, 0)
    for (const pid of workers) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  })

  it('ends with a line when the port is taken', async () => {
    const holder = await startServer(':memory:')
    const { port } = new URL(holder.url)
    const data = join(await temporaryFolder(), 'data')
    const { code, stderr } = await runCommand([
      'serve',
      '--data',
      data,
      '--table-port',
      port,
      '--workers',
      '2',
    ]).exited
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`port ${port} is in use`))
    await holder.stop()
  })
})

/** Its children, and nobody else's: other servers may run on this machine. */
function workersOf({ pid }: CommandProcess): number[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  const rows = listing.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return rows.filter(([, parent]) => parent === pid).map(([child]) => child as number)
}

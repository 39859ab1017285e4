/** The bytes of real sockets, plain and under TLS, in the order they were sent and no faster than they are wanted. */
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { setTimeout as passed } from 'node:timers/promises'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { makeAuthority } from '../../src/http/certificate.ts'
import { wireOf } from '../../src/http/wire.ts'
import { seededRandom } from '../support/random.ts'

/** More than the system keeps for a client that does not read. */
const manyBytes = 32 * 2 ** 20

const servers: Server[] = []
after(() => {
  for (const server of servers) server.close()
})

for (const [name, meet] of [
  ['plain', meetPlain],
  ['TLS', meetTls],
] as const) {
  describe(`wire, ${name}`, () => {
    it('hands over all bytes in order, and then the end', async () => {
      const { inner, outer } = await meet()
      const sent = someBytes(3_000_000)
      const taken: Buffer[] = []
      wireOf(inner).open((bytes) => {
        taken.push(bytes)
        return true
      })
      outer.end(sent)
      await once(inner, 'end')
      assert.ok(Buffer.concat(taken).equals(sent))
      close(inner, outer)
    })

    it('hands over what came before it was opened, first', async () => {
      const { inner, outer } = await meet()
      outer.write('early, ')
      while (inner.readableLength === 0) await passed(1)
      let taken = ''
      wireOf(inner).open((bytes) => {
        taken += bytes.toString()
        return true
      })
      assert.equal(taken, 'early, ')
      outer.end('late')
      await once(inner, 'end')
      assert.equal(taken, 'early, late')
      close(inner, outer)
    })

    it('takes no more from a client than is wanted', async () => {
      const { inner, outer } = await meet()
      const sent = someBytes(manyBytes)
      const taken: Buffer[] = []
      let wanting = false
      const wire = wireOf(inner)
      wire.open((bytes) => {
        taken.push(bytes)
        return wanting
      })
      outer.end(sent)
      // TLS hands over what it has deciphered already, so it may be more than one piece.
      for (const turn of [1, 2]) {
        const before = taken.length
        while (taken.length === before) await passed(1)
        await passed(50)
        const bytes = taken.reduce((sum, piece) => sum + piece.length, 0)
        assert.ok(bytes < turn * 2 ** 20, `${bytes} bytes`)
        wire.receive()
      }
      wanting = true
      await once(inner, 'end')
      assert.ok(Buffer.concat(taken).equals(sent))
      close(inner, outer)
    })

    it('sends text and bytes in order, and says so once they are taken', async () => {
      const { inner, outer } = await meet()
      const random = seededRandom(3)
      const wire = wireOf(inner)
      const sent: Buffer[] = []
      const taken = collect(outer)
      for (let turn = 0; turn < 50; turn++) {
        const pieces = Array.from({ length: 1 + random.below(3) }, () => {
          const bytes = someBytes(random.below(4) * random.below(40_000))
          return random.below(2) === 0 ? bytes : bytes.toString('latin1')
        })
        sent.push(...pieces.map((piece) => Buffer.from(piece as string, 'latin1')))
        await new Promise<void>((resolve) => wire.send(pieces, resolve))
      }
      inner.end()
      assert.ok((await taken).equals(Buffer.concat(sent)))
      close(inner, outer)
    })

    it('does not call sent what a client does not read', async () => {
      const { inner, outer } = await meet()
      const bytes = someBytes(manyBytes)
      const sent = new Promise<void>((resolve) => wireOf(inner).send(['head', bytes, 'tail'], resolve))
      assert.equal(await Promise.race([sent, passed(100, 'not yet')]), 'not yet')
      const taken = collect(outer)
      await sent
      inner.end()
      assert.ok((await taken).equals(Buffer.concat([Buffer.from('head'), bytes, Buffer.from('tail')])))
      close(inner, outer)
    })

    it('never calls sent what a client did not stay for', async () => {
      const { inner, outer } = await meet()
      const closed = new Promise((resolve) => inner.once('close', resolve))
      inner.on('error', () => undefined)
      const wire = wireOf(inner)
      wire.open(() => true)
      wire.send([someBytes(manyBytes)], () => assert.fail('sent to nobody'))
      await passed(20)
      outer.destroy()
      await closed
      wire.send(['more'], () => assert.fail('sent to nobody'))
      wire.receive()
    })
  })
}

interface Met {
  readonly inner: Socket
  readonly outer: Socket
}

async function meetPlain(): Promise<Met> {
  const server = createServer({ allowHalfOpen: true })
  const met = once(server, 'connection')
  const outer = connect(await listen(server), '127.0.0.1')
  const [inner] = (await met) as [Socket]
  return { inner, outer }
}

async function meetTls(): Promise<Met> {
  const { cert, key } = pair
  const server = createTlsServer({ cert, key, allowHalfOpen: true })
  const met = once(server, 'secureConnection')
  const outer = connectTls({ host: '127.0.0.1', port: await listen(server), rejectUnauthorized: false })
  const [inner] = (await met) as [Socket]
  return { inner, outer }
}

const pair = makeAuthority('wire tests', Date.now())

async function listen(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function collect(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function close(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

/** No part is like another, so that none can be taken for it. */
function someBytes(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(count)
  for (let at = 0; at + 4 <= count; at += 4) bytes.writeUInt32LE(Math.imul(at + count, 0x9e3779b1) >>> 0, at)
  return bytes.fill(1, count - (count % 4))
}

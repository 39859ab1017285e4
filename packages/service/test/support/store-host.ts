/**
 * A process that opens stores for another one. Calls come as messages and are answered as messages. Rows of
 * a scan go out on a pipe of their own and the answer is awaited with the thread stopped, because a visit
 * must answer at once.
 *
 *   row     = scan:u32 · bytes:u32 · record           to the parent
 *   answer  = bytes:u32 · JSON                        "next", "stop", "throw" or a position
 */
import { readSync, writeSync } from 'node:fs'
import type { KeyPosition } from '../../src/model/keys.ts'
import type { EntityRecord } from '../../src/model/record.ts'
import type { Ticks } from '../../src/model/ticks.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import type { Store } from '../../src/store/store.ts'
import { eachRecord } from './entities.ts'
import { type HostAnswer, type HostRequest, visitPipe } from './store-host-message.ts'

const stores = new Map<number, Store>()
const clocks = new Map<number, Ticks>()

process.on('message', (request: HostRequest) => {
  void serve(request)
})
process.on('disconnect', () => process.exit())

async function serve(request: HostRequest): Promise<void> {
  try {
    answer({ id: request.id, result: await call(request) })
  } catch (error) {
    answer({ id: request.id, error: error instanceof Error ? error.message : String(error) })
  }
}

function answer(message: HostAnswer): void {
  process.send?.(message)
}

async function call(request: HostRequest): Promise<unknown> {
  clocks.set(request.store, request.now)
  if (request.kind === 'open') {
    const { path, durability } = request
    const clock = () => clocks.get(request.store) as Ticks
    stores.set(request.store, await openLmdbStore({ path, clock, durability }))
    return undefined
  }
  const store = stores.get(request.store)
  if (store === undefined) throw new Error('no such store is open here')
  switch (request.kind) {
    case 'get':
      return store.get(request.table, request.key)
    case 'scan':
      return store.scan(
        request.table,
        request.ranges,
        eachRecord((record) => visit(request.id, record)),
      )
    case 'commit':
      return store.commit(request.table, request.partition, request.mutations.map(asBuffers))
    case 'create':
      return store.create(request.account, request.name)
    case 'drop':
      return store.drop(request.account, request.name)
    case 'close':
      stores.delete(request.store)
      return store.close()
  }
}

/** What a message carries as bytes may have lost that it was a Buffer. */
function asBuffers(mutation: (HostRequest & { kind: 'commit' })['mutations'][number]) {
  return mutation.kind === 'remove' ? mutation : { ...mutation, content: Buffer.from(mutation.content) }
}

function visit(scan: number, record: EntityRecord): 'next' | 'stop' | KeyPosition {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(scan, 0)
  head.writeUInt32BE(record.length, 4)
  writeAll(Buffer.concat([head, record]))
  const reply = JSON.parse(readAll(readAll(4).readUInt32BE(0)).toString()) as 'next' | 'stop' | 'throw'
  if (reply === 'throw') throw new Error('the visitor failed')
  return reply
}

function writeAll(bytes: Buffer): void {
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(visitPipe, bytes, sent)
}

function readAll(count: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let got = 0; got < count; ) {
    const more = readSync(visitPipe, bytes, got, count - got, null)
    if (more === 0) process.exit()
    got += more
  }
  return bytes
}

/** Stores that live in a process of their own, called as if they were here. */
import { fork } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { KeyPosition } from '../../src/model/keys.ts'
import type { EntityRecord } from '../../src/model/record.ts'
import { recordAlone } from '../../src/model/records.ts'
import type { TableId } from '../../src/model/table.ts'
import type { Clock } from '../../src/model/ticks.ts'
import type { Durability } from '../../src/store/lmdb/lmdb-store.ts'
import type { CommitOutcome, Store, Visit } from '../../src/store/store.ts'
import { type HostAnswer, type HostCall, type HostRequest, visitPipe } from './store-host-message.ts'

export interface OtherProcess {
  open(path: string, clock: Clock, durability?: Durability): Promise<Store>
  /** Ends it as a crash would: nothing is told to it. */
  kill(): Promise<void>
  stop(): Promise<void>
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
}

export function startOtherProcess(): OtherProcess {
  const child = fork(new URL('./store-host.js', import.meta.url), {
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
  })
  const pipe = child.stdio[visitPipe] as Duplex
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const waiting = new Map<number, Waiting>()
  const visits = new Map<number, Visit>()
  const failures = new Map<number, unknown>()
  let lastCall = 0
  let lastStore = 0
  let unread = Buffer.alloc(0)

  child.on('message', (answer: HostAnswer) => settle(answer))
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) {
      reject(new Error(`the other process ended (${signal ?? code})`))
    }
    waiting.clear()
  })
  pipe.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes])
    visitRows()
  })
  // Killing the process resets the pipe, which is no news.
  pipe.on('error', () => {})
  return { open, kill, stop }

  async function open(path: string, clock: Clock, durability: Durability = 'sync'): Promise<Store> {
    const store = ++lastStore
    await ask({ kind: 'open', path, durability })
    return {
      get: async (table, key) => {
        const record = (await ask({ kind: 'get', table, key })) as Uint8Array | undefined
        return record === undefined ? undefined : Buffer.from(record)
      },
      scan: (table, ranges, visit) => scan(table, ranges, visit),
      commit: async (table, partition, mutations) =>
        (await ask({ kind: 'commit', table, partition, mutations })) as CommitOutcome,
      create: async (account, name) => (await ask({ kind: 'create', account, name })) as TableId | undefined,
      drop: async (account, name) => (await ask({ kind: 'drop', account, name })) as boolean,
      close: async () => {
        await ask({ kind: 'close' })
      },
    }

    async function scan(table: TableId, ranges: HostScan['ranges'], visit: Visit): Promise<void> {
      const id = ++lastCall
      visits.set(id, visit)
      try {
        await send({ kind: 'scan', table, ranges, id, store, now: clock() })
      } catch (error) {
        throw failures.has(id) ? failures.get(id) : error
      } finally {
        visits.delete(id)
        failures.delete(id)
      }
    }

    function ask(call: HostCall): Promise<unknown> {
      return send({ ...call, id: ++lastCall, store, now: clock() })
    }
  }

  function send(request: HostRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      waiting.set(request.id, { resolve, reject })
      child.send(request)
    })
  }

  function settle(answer: HostAnswer): void {
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('error' in answer) asked?.reject(new Error(answer.error))
    else asked?.resolve(answer.result)
  }

  function visitRows(): void {
    while (unread.length >= 8) {
      const until = 8 + unread.readUInt32BE(4)
      if (unread.length < until) return
      const scan = unread.readUInt32BE(0)
      const record = unread.subarray(8, until)
      unread = unread.subarray(until)
      reply(decide(scan, record))
    }
  }

  function decide(scan: number, record: EntityRecord): 'next' | 'stop' | 'throw' | KeyPosition {
    try {
      return (visits.get(scan) as Visit)(recordAlone(record))
    } catch (error) {
      failures.set(scan, error)
      return 'throw'
    }
  }

  function reply(answer: unknown): void {
    const json = Buffer.from(JSON.stringify(answer))
    const head = Buffer.alloc(4)
    head.writeUInt32BE(json.length)
    pipe.write(Buffer.concat([head, json]))
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await exited
  }

  async function stop(): Promise<void> {
    if (child.connected) child.disconnect()
    await exited
  }
}

type HostScan = HostCall & { kind: 'scan' }

/** One store of several over the same data: each call goes to the next of them. */
export function alternating(stores: readonly Store[]): Store {
  let turn = 0
  return {
    get: (table, key) => next().get(table, key),
    scan: (table, ranges, visit) => next().scan(table, ranges, visit),
    commit: (table, partition, mutations) => next().commit(table, partition, mutations),
    create: (account, name) => next().create(account, name),
    drop: (account, name) => next().drop(account, name),
    close: async () => {
      for (const store of stores) await store.close()
    },
  }

  function next(): Store {
    return stores[turn++ % stores.length] as Store
  }
}

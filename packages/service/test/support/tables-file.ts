/** Looks into a store's LMDB file without the store's own code, also while a server has it open. */
import { join } from 'node:path'
import { open } from 'lmdb'

export interface TablesFile {
  /** The catalogue: ids by name as created. */
  tables(): Map<string, number>
  /** Whether the table is marked as living. */
  isLiving(table: number): boolean
  livingCount(): number
  /** Rows that lie under a table's id, living or not. */
  rows(table: number): number
  /** Tables noted as dropped and not yet reclaimed. */
  waiting(): number
  close(): Promise<void>
}

/** The first four bytes of a key: the catalogue, the first of the clients' tables, the store's own facts. */
const catalogue = 0
const firstTable = 16
const facts = 0xff_ff_ff_ff
const idBytes = 4

export function openTablesFile(data: string): TablesFile {
  const database = open<Buffer, Buffer>({
    path: join(data, 'tables'),
    pageSize: 8192,
    maxDbs: 1,
    keyEncoding: 'binary',
    encoding: 'binary',
  })
  return {
    tables() {
      const entries = range(catalogue, catalogue + 1).map(({ value }) => entryOf(value.toString('latin1')))
      return new Map(entries)
    },
    isLiving: (table) => fresh().get(u32(table)) !== undefined,
    livingCount: () => range(firstTable, facts).filter(({ key }) => key.length === idBytes).length,
    rows: (table) => range(table, table + 1).filter(({ key }) => key.length > idBytes).length,
    waiting() {
      const start = Buffer.concat([u32(facts), Buffer.from('dropped')])
      return fresh().getKeysCount({ start, end: Buffer.concat([start, Buffer.alloc(idBytes + 1, 0xff)]) })
    },
    close: () => database.close(),
  }

  function range(from: number, until: number): { key: Buffer; value: Buffer }[] {
    return [...fresh().getRange({ start: u32(from), end: u32(until) })]
  }

  /** A read transaction may be left from an earlier look; a new one sees what was written since. */
  function fresh(): typeof database {
    database.resetReadTxn()
    return database
  }
}

function entryOf(record: string): [name: string, id: number] {
  const name = /"TableName":"(\w+)"/.exec(record)?.[1]
  const id = /"TableId":"(\d+)"/.exec(record)?.[1]
  if (name === undefined || id === undefined) throw new Error(`not a catalogue row: ${record}`)
  return [name, Number(id)]
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(idBytes)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Tables: their names as clients give them, and the ids under which stores keep their rows. */
import type { Brand } from './brand.ts'
import { Fault } from './faults.ts'
import type { PartitionKey, RowKey } from './keys.ts'
import { limits } from './limits.ts'

/** A u32, never handed out twice. Clients' tables start at `firstTableId`; the ids below are ours. */
export type TableId = Brand<number, 'TableId'>

/** A name in the case its client wrote it. Names are equal when their slots are. */
export type TableName = Brand<string, 'TableName'>

export type AccountName = Brand<string, 'AccountName'>

/**
 * The catalogue is itself a table: partition = account, row = lower-case name, with the name as it was
 * created and the id as properties.
 */
export const catalogue = 0 as TableId

/** Names that may not be used again yet: partition = account, row = lower-case name. */
export const deletions = 1 as TableId

/** Settings of each account's service: partition = account, one row. */
export const serviceSettings = 2 as TableId

export const firstTableId = 16 as TableId

const characters = /^[A-Za-z][A-Za-z0-9]*$/
const analytics = /^\$Metrics[A-Za-z0-9]+$/i

/** Length is judged before characters, as the protocol does. */
export function parseTableName(text: string): TableName {
  if (text.length < limits.tableNameCharactersMin || text.length > limits.tableNameCharactersMax) {
    throw new Fault('OutOfRangeInput', {
      text: 'The specified resource name length is not within the permissible limits.',
    })
  }
  if (!characters.test(text)) throw new Fault('InvalidResourceName')
  if (text.toLowerCase() === 'tables') throw new Fault('InvalidInput')
  return text as TableName
}

/** The name of a table to read: also those of the analytics tables, which nobody can create here. */
export function parseReadableTableName(text: string): TableName {
  return analytics.test(text) && text.length <= limits.tableNameCharactersMax
    ? (text as TableName)
    : parseTableName(text)
}

export function partitionOfAccount(account: AccountName): PartitionKey {
  return account as string as PartitionKey
}

export function rowOfTable(name: TableName): RowKey {
  return name.toLowerCase() as RowKey
}

/**
 * The rows every target is given: eight properties, about 530 bytes as JSON, the same for the same number.
 *
 *   loaded rows   a000000042   1,000 to a partition, there before the first measurement
 *   group rows    g0-0000042-07   written by groups: client, group, place
 *   new rows      n0-0000042   written by single inserts: client, number
 *
 * Loaded rows sort first, so the first page of a partition is always the thousand rows it was loaded with.
 */

export const rowsPerPartition = 1000
export const rowsPerGroup = 100

/** What a row takes in an answer, with whatever metadata a server adds. */
export const rowBytesMin = 480
export const rowBytesMax = 1000

export interface RowAddress {
  readonly partition: string
  readonly row: string
}

export function loadedRow(number: number): RowAddress {
  return { partition: partitionName(Math.floor(number / rowsPerPartition)), row: `a${digits(number, 9)}` }
}

/** New rows fall into random partitions: the worst case for an ordered store. */
export function newRow(client: number, number: number, partitions: number): RowAddress {
  return {
    partition: partitionName(scatter(number * 64 + client) % partitions),
    row: `n${client}-${digits(number, 7)}`,
  }
}

export function groupRow(client: number, group: number, place: number, partitions: number): RowAddress {
  return {
    partition: partitionName(scatter(group * 64 + client) % partitions),
    row: `g${client}-${digits(group, 7)}-${digits(place, placeDigits)}`,
  }
}

export function partitionName(partition: number): string {
  return `p${digits(partition, 6)}`
}

/** A loaded row as the JSON a client sends; its serial number is its row number. */
export function loadedRowJson(number: number): string {
  return jsonOf(loadedRow(number), propertiesOf(number))
}

/** A new row as JSON. They share their properties, so that writing them costs a client little. */
export function newRowJson(address: RowAddress): string {
  return jsonOf(address, newProperties)
}

/** The rows of a group as JSON. They differ in their places only, and share the properties of new rows. */
export function groupJsons(client: number, group: number, partitions: number): string[] {
  const { partition, row } = groupRow(client, group, 0, partitions)
  const first = jsonOf({ partition, row }, newProperties)
  const lead = first.slice(0, first.indexOf(row) + row.length - placeDigits)
  return groupTails.map((tail) => lead + tail)
}

// Plain ASCII, so that characters count as bytes.
function jsonOf({ partition, row }: RowAddress, properties: string): string {
  return `{"PartitionKey":"${partition}","RowKey":"${row}",${properties}}`
}

function propertiesOf(serial: number): string {
  const mixed = scatter(serial)
  return (
    `"Name":"${nameOf(serial)}","Description":"${description}",` +
    `"Serial":${serial},"Price":${(mixed % 100_000) + 0.25},"Active":${mixed % 2 === 0},` +
    `"Created@odata.type":"Edm.DateTime","Created":"${createdOf(serial)}",` +
    `"Owner@odata.type":"Edm.Guid","Owner":"3f2c8a90-5b1d-4e67-9a4f-${digits(mixed, 12)}",` +
    `"Balance@odata.type":"Edm.Int64","Balance":"${9_000_000_000_000 + mixed}"`
  )
}

/** Another for each serial number. */
export function nameOf(serial: number): string {
  return `Item ${scatter(serial).toString(36)} of the northern warehouse`
}

/** A second later for each serial number. */
export function createdOf(serial: number): string {
  return new Date(firstCreatedMs + serial * 1000).toISOString()
}

/** What a merge changes: two of the eight properties. */
export function changeJson(number: number): string {
  const mixed = scatter(number)
  return `{"Price":${(mixed % 100_000) + 0.75},"Balance@odata.type":"Edm.Int64","Balance":"${8_000_000_000_000 + mixed}"}`
}

const description =
  'A box of assorted fittings, counted twice, kept dry, and moved to the front shelf whenever a customer asks for it.'

const firstCreatedMs = Date.UTC(2020, 0)
const serialOfNewRows = 2_000_000_000
const newProperties = propertiesOf(serialOfNewRows)
const placeDigits = 2
/** What follows where the place of a group's row begins. */
const groupTails = Array.from(
  { length: rowsPerGroup },
  (_, place) => `${digits(place, placeDigits)}",${newProperties}}`,
)

/** A fixed scrambling of the numbers below 2^32: neighbours land far apart, and every run agrees. */
export function scatter(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

function digits(number: number, width: number): string {
  return String(number).padStart(width, '0')
}

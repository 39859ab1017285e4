/**
 * Entities and tables as JSON at the three levels of metadata. A record's text is the minimal level already:
 * less is spliced out of it, more is put before it.
 */
import { unreachable } from '../model/brand.ts'
import { jsonString } from '../model/json-text.ts'
import type { EntityKey } from '../model/keys.ts'
import { type EntityRecord, keyOf, layoutOf, type Member, membersOf } from '../model/record.ts'
import { byteSink } from './byte-sink.ts'
import type { MetadataLevel } from './format.ts'
import type { Select } from './options.ts'

/** Where an entity or table lives, for the links that answers carry. */
export interface Place {
  readonly base: string
  readonly account: string
  /** The table's name as the request wrote it. */
  readonly table: string
}

/** One entity as the whole answer. */
export function entityDocument(
  record: EntityRecord,
  level: MetadataLevel,
  place: Place,
  select: Select | undefined,
): string {
  const members = entityMembers(record, level, place, select)
  if (level === 'nometadata') return `{${members}}`
  return `{"odata.metadata":${entityContext(place, '/@Element', select)},${members}}`
}

/** Writes a list of entities as they come. */
export function entityList(
  level: MetadataLevel,
  place: Place,
  select: Select | undefined,
): { add(record: EntityRecord): number; end(): Buffer } {
  const context = level === 'nometadata' ? '' : `"odata.metadata":${entityContext(place, '', select)},`
  const sink = byteSink(listBytes)
  sink.write(`{${context}"value":[`)
  const isWhole = level === 'minimalmetadata' && select === undefined
  let separator = '{'
  return {
    /** Returns the bytes it took. */
    add(record) {
      sink.write(separator)
      const bytes = isWhole ? addWhole(record) : addText(record)
      separator = '},{'
      return bytes + separator.length
    },
    end() {
      sink.write(separator === '{' ? ']}' : '}]}')
      const bytes = sink.take()
      listBytes = Math.max(listBytesMin, bytes.length + (bytes.length >>> 3))
      return bytes
    },
  }

  /** The record's text as it stands. One copy of bytes costs less than to read them as a string and write it. */
  function addWhole(record: EntityRecord): number {
    const { etagFrom, until } = layoutOf(record)
    sink.copy(record, etagFrom, until)
    return until - etagFrom
  }

  function addText(record: EntityRecord): number {
    const text = entityMembers(record, level, place, select)
    sink.write(text)
    return text.length
  }
}

const listBytesMin = 4096
/** What the last list came to, and an eighth: the next is likely about as long, and growing costs copies. */
let listBytes = listBytesMin

function entityContext(place: Place, suffix: string, select: Select | undefined): string {
  const address = `${place.base}/$metadata#${place.table}${suffix}`
  // Neither an authority nor an account nor a table can hold what JSON escapes.
  return select === undefined ? `"${address}"` : jsonString(`${address}&$select=${select.text}`)
}

/**
 * An entity's members without braces, as they stand in a document and in a list. Text, not bytes: where it is
 * put together of parts, Node cuts and writes ASCII strings faster than it copies between buffers.
 */
function entityMembers(
  record: EntityRecord,
  level: MetadataLevel,
  place: Place,
  select: Select | undefined,
): string {
  if (select !== undefined) return selectedMembers(record, level, place, select)
  const { etagFrom, keysFrom, timestampFrom, until } = layoutOf(record)
  switch (level) {
    case 'minimalmetadata':
      return record.toString('latin1', etagFrom, until)
    case 'fullmetadata': {
      const keys = record.toString('latin1', keysFrom, timestampFrom)
      return fullHead(record, place) + keys + timestampType + record.toString('latin1', timestampFrom, until)
    }
    case 'nometadata': {
      let text = ''
      let copied = keysFrom
      for (const member of membersOf(record)) {
        if (member.nameFrom === member.from) continue
        text += record.toString('latin1', copied, member.from)
        copied = member.nameFrom
      }
      return text + record.toString('latin1', copied, until)
    }
    default:
      return unreachable(level)
  }
}

const timestampType = '"Timestamp@odata.type":"Edm.DateTime",'

/** The table's own entry. */
export function tableDocument(name: string, level: MetadataLevel, place: Place): string {
  if (level === 'nometadata') return `{${tableMembers(name, level, place)}}`
  const context = jsonString(`${place.base}/$metadata#Tables/@Element`)
  return `{"odata.metadata":${context},${tableMembers(name, level, place)}}`
}

export function tableList(names: readonly string[], level: MetadataLevel, place: Place): string {
  const rows = names.map((name) => `{${tableMembers(name, level, place)}}`).join(',')
  if (level === 'nometadata') return `{"value":[${rows}]}`
  return `{"odata.metadata":${jsonString(`${place.base}/$metadata#Tables`)},"value":[${rows}]}`
}

/** `Tables('people')` */
export function tableLink(name: string): string {
  return `Tables('${name}')`
}

/** Where the entity is found: below `base`, `people(PartitionKey='p',RowKey='r')` with its keys as literals. */
export function entityAddress(base: string, table: string, { partition, row }: EntityKey): string {
  if (partition !== addressed.partition || table !== addressed.table || base !== addressed.base) {
    // Joined, it is one piece of memory; concatenated, it would be put together anew in each answer.
    const lead = [base, '/', table, "(PartitionKey='", keyLiteral(partition), "',RowKey='"].join('')
    addressed = { partition, table, base, lead }
  }
  return `${addressed.lead}${keyLiteral(row)}')`
}

/** Entities of a group differ in nothing but their rows. */
let addressed = { partition: '', table: '', base: '', lead: '' }

function tableMembers(name: string, level: MetadataLevel, place: Place): string {
  const own = `"TableName":"${name}"`
  if (level !== 'fullmetadata') return own
  const link = tableLink(name)
  return `"odata.type":"${place.account}.Tables","odata.id":${jsonString(`${place.base}/${link}`)},"odata.editLink":"${link}",${own}`
}

/** Quotes doubled and the rest percent-encoded. */
function keyLiteral(text: string): string {
  if (unreserved.test(text)) return text
  // An unpaired surrogate has no UTF-8 form; links show the replacement character in its place.
  return encodeURIComponent(text.toWellFormed().replaceAll("'", "''"))
}

const unreserved = /^[A-Za-z0-9_.!~*()-]*$/

/** Everything full metadata has before the keys. */
function fullHead(record: EntityRecord, place: Place): string {
  const { etagFrom, keysFrom } = layoutOf(record)
  const address = entityAddress(place.base, place.table, keyOf(record))
  const link = address.slice(place.base.length + 1)
  const etag = record.toString('latin1', etagFrom, keysFrom)
  return `"odata.type":"${place.account}.${place.table}","odata.id":${jsonString(address)},${etag}"odata.editLink":${jsonString(link)},`
}

/** Keys and Timestamp first, then in stored order, then nulls for what the entity lacks. */
function selectedMembers(record: EntityRecord, level: MetadataLevel, place: Place, select: Select): string {
  const wanted = new Set(select.names)
  const { etagFrom, keysFrom, timestampFrom, membersFrom } = layoutOf(record)
  const parts: string[] = []
  if (level === 'minimalmetadata') parts.push(record.toString('latin1', etagFrom, keysFrom - 1))
  if (level === 'fullmetadata') parts.push(fullHead(record, place).slice(0, -1))
  const key = keyOf(record)
  if (wanted.delete('PartitionKey')) parts.push(`"PartitionKey":${jsonString(key.partition)}`)
  if (wanted.delete('RowKey')) parts.push(`"RowKey":${jsonString(key.row)}`)
  if (wanted.delete('Timestamp')) {
    const type = level === 'fullmetadata' ? timestampType : ''
    parts.push(type + record.toString('latin1', timestampFrom, membersFrom))
  }
  for (const member of membersOf(record)) {
    if (wanted.delete(member.name)) parts.push(memberText(record, member, level))
  }
  for (const name of wanted) parts.push(`${jsonString(name)}:null`)
  return parts.join(',')
}

function memberText(record: EntityRecord, member: Member, level: MetadataLevel): string {
  return record.toString('latin1', level === 'nometadata' ? member.nameFrom : member.from, member.until)
}

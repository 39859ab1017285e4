/** Entities as the client's serialiser writes them and its deserialiser reads them. */
import { dateText, doubleText } from '../javascript/contract.js'

/** A property with the type that the service would otherwise not guess. */
export function typed(type, text) {
  return { type, text }
}

/** JSON of an entity: strings, truths and whole numbers stay plain, all else follows `typed`. */
export function entityJson(properties) {
  const members = Object.entries(properties).flatMap(([name, value]) =>
    typeof value === 'object' ? typedMembers(name, value) : [member(name, value)],
  )
  return `{${members.join(',')}}`
}

function typedMembers(name, { type, text }) {
  const annotation = member(`${name}@odata.type`, type)
  switch (type) {
    case 'Edm.Boolean':
      return [member(name, text === 'true')]
    case 'Edm.Int32':
      return [member(name, Number(text))]
    case 'Edm.String':
      return [member(name, text)]
    case 'Edm.Binary':
      return [member(name, Buffer.from(text, 'hex').toString('base64')), annotation]
    case 'Edm.Double':
      return [`${quoted(name)}:${doubleJson(text)}`, annotation]
    default:
      return [member(name, text), annotation]
  }
}

function member(name, value) {
  return `${quoted(name)}:${typeof value === 'string' ? quoted(value) : String(value)}`
}

/** The shortest digits that mean the same double, with a capital E; whole ones have no point. */
function doubleJson(text) {
  if (text === 'NaN' || text.endsWith('INF')) return quoted(text.replace('INF', 'Infinity'))
  return Object.is(Number(text), -0) ? '-0' : String(Number(text)).replace('e', 'E')
}

/** Escaped as by a writer that trusts neither HTML nor anything beyond ASCII. */
export function quoted(text) {
  const short = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' }
  const units = text.replace(
    /[^ !#-%(-*,-;=?-[\]-_a-~]/g,
    (unit) => short[unit] ?? `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  )
  return `"${units}"`
}

/** The properties of an entity by name, each with type and canonical text. Throws on what the client would. */
export function readEntity(json) {
  const numbers = numberTexts(json)
  const members = JSON.parse(numbers.json)
  const properties = {}
  for (const [name, value] of Object.entries(members)) {
    if (name.endsWith('@odata.type') || name.startsWith('odata.')) continue
    properties[name] = readProperty(name, value, members[`${name}@odata.type`], numbers)
  }
  return { ...properties, etag: members['odata.etag'] }
}

/** Numbers become texts with a mark, since their type is in their digits. */
function numberTexts(json) {
  const mark = '\u0000number '
  const marked = json.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(mark + token),
  )
  return { json: marked, of: (value) => (value.startsWith(mark) ? value.slice(mark.length) : undefined) }
}

function readProperty(name, value, type, numbers) {
  if (typeof value === 'boolean') return typed('Edm.Boolean', String(value))
  const digits = numbers.of(value)
  switch (type) {
    case undefined:
      if (digits === undefined) return typed(name === 'Timestamp' ? 'Edm.DateTime' : 'Edm.String', value)
      return readNumber(digits)
    case 'Edm.Double':
      if (digits !== undefined) return readNumber(digits)
      assertMatches(name, value, /^(?:NaN|-?Infinity)$/)
      return typed(type, value.replace('Infinity', 'INF'))
    case 'Edm.Int64':
      assertMatches(name, value, /^-?\d+$/)
      return typed(type, value)
    case 'Edm.Guid':
      assertMatches(name, value, /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
      return typed(type, value)
    case 'Edm.DateTime':
      assertMatches(name, value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,7})?Z$/)
      return typed(type, dateText(value))
    case 'Edm.Binary':
      assertMatches(name, value, /^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/)
      return typed(type, Buffer.from(value, 'base64').toString('hex'))
    default:
      throw new Error(`${name} has a type that the client does not know: ${type}`)
  }
}

function readNumber(digits) {
  return /^-?\d+$/.test(digits) ? typed('Edm.Int32', digits) : typed('Edm.Double', doubleText(Number(digits)))
}

function assertMatches(name, value, pattern) {
  if (!pattern.test(value)) throw new Error(`${name} cannot be read: ${JSON.stringify(value)}`)
}

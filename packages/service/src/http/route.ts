/**
 * Which operation a request asks for, and on what. The grammar of resources, after percent-decoding:
 *
 *   resource   = '' | '$metadata' | '$batch' | collection [ '/' anything ]
 *   collection = name [ '()' | '(' keys ')' ]
 *   keys       = [ name '=' ] quoted *( ',' [ name '=' ] quoted )
 *   quoted     = "'" text with each quote doubled "'"
 */
import { Fault, inputTexts } from '../model/faults.ts'
import { type EntityKey, forbiddenInKeys, parsePartitionKey, parseRowKey } from '../model/keys.ts'
import { parseReadableTableName, parseTableName, type TableName } from '../model/table.ts'
import type { Target } from './target.ts'

export type Route = ServiceRoute | TableRoute | CollectionRoute | EntityRoute

export interface ServiceRoute {
  readonly kind:
    | 'service document'
    | 'metadata'
    | 'get service properties'
    | 'set service properties'
    | 'get service stats'
    | 'entity group'
    | 'query tables'
    | 'create table'
}

export interface TableRoute {
  readonly kind: 'get table' | 'delete table'
  readonly name: TableName
}

export interface CollectionRoute {
  readonly kind: 'insert entity' | 'query entities' | 'get table acl' | 'set table acl'
  readonly table: TableName
}

export interface EntityRoute {
  readonly kind: 'get entity' | 'replace entity' | 'merge entity' | 'delete entity'
  readonly table: TableName
  readonly key: EntityKey
}

export type OperationKind = Route['kind']

const tunnelled = new Set(['PUT', 'MERGE', 'PATCH', 'DELETE'])
const knownMethods = new Set(['GET', 'POST', 'PUT', 'MERGE', 'PATCH', 'DELETE'])

/** The method that counts: that of the request line, or the one a POST carries in X-HTTP-Method. */
export function effectiveMethod(method: string, headers: ReadonlyMap<string, string>): string {
  const header = headers.get('x-http-method')
  if (header === undefined) return method
  if (method !== 'POST') throw new Fault('XMethodNotUsingPost')
  if (!tunnelled.has(header)) throw new Fault('XMethodIncorrectValue')
  return header
}

/** Whether an operation on the service or on a table's policies is meant, rightly or wrongly. */
export function isManagement({ query }: Target): boolean {
  return query.size > 0 && (query.has('comp') || query.has('restype'))
}

export function route(method: string, target: Target): Route {
  if (isManagement(target)) return routeManagement(method, target)
  if (!knownMethods.has(method)) throw new Fault('UnsupportedHttpVerb')
  const { name, keys, rest } = parseResource(target.resource)
  if (name === '' && rest === '') return { kind: only(method, 'GET', 'service document') }
  if (name === '$metadata') return { kind: only(method, 'GET', 'metadata') }
  if (name === '$batch') return { kind: only(method, 'POST', 'entity group') }
  if (name.toLowerCase() === 'tables') return routeTables(method, keys)
  const table = tableName(method, name)
  if (rest !== '' && method !== 'POST') {
    throw rest.includes('(') ? wrongKeyCount(target, table) : new Fault('InvalidInput', syntax)
  }
  if (keys === undefined || rest !== '') {
    if (method === 'GET') return { kind: 'query entities', table }
    return { kind: only(method, 'POST', 'insert entity'), table }
  }
  return { kind: entityOperation(method), table, key: entityKey(keys, target, table) }
}

/** Never falls through to another operation: a signed `comp` means what it says or nothing. */
function routeManagement(method: string, { resource, query }: Target): Route {
  const restype = query.get('restype')?.toLowerCase()
  const asked = `${method} ${query.get('comp')?.toLowerCase()}`
  const root = resource === '' && restype === 'service'
  if (root && asked === 'GET properties') return { kind: 'get service properties' }
  if (root && asked === 'PUT properties') return { kind: 'set service properties' }
  if (root && asked === 'GET stats') return { kind: 'get service stats' }
  const name = /^([^$/()][^/()]*)(?:\(\))?$/.exec(resource)?.[1]
  const onTable = restype === undefined && name !== undefined && name.toLowerCase() !== 'tables'
  if (onTable && (asked === 'GET acl' || asked === 'HEAD acl')) {
    return { kind: 'get table acl', table: parseTableName(name) }
  }
  if (onTable && asked === 'PUT acl') return { kind: 'set table acl', table: parseTableName(name) }
  throw new Fault('InvalidQueryParameterValue')
}

function routeTables(method: string, keys: readonly NamedKey[] | undefined): Route {
  if (keys === undefined) {
    if (method === 'GET') return { kind: 'query tables' }
    return { kind: only(method, 'POST', 'create table') }
  }
  const [first] = keys
  if (first === undefined || keys.length !== 1) throw new Fault('InvalidInput', syntax)
  if (first.name !== undefined && first.name !== 'TableName') throw new Fault('InvalidInput', syntax)
  const name = tableName(method, first.value)
  if (method === 'GET') return { kind: 'get table', name }
  return { kind: only(method, 'DELETE', 'delete table'), name }
}

function tableName(method: string, text: string): TableName {
  return method === 'GET' ? parseReadableTableName(text) : parseTableName(text)
}

function entityOperation(method: string): EntityRoute['kind'] {
  switch (method) {
    case 'GET':
      return 'get entity'
    case 'PUT':
      return 'replace entity'
    case 'MERGE':
    case 'PATCH':
      return 'merge entity'
    case 'DELETE':
      return 'delete entity'
    default:
      throw new Fault('MethodNotAllowed')
  }
}

function only<Kind extends OperationKind>(method: string, wanted: string, kind: Kind): Kind {
  if (method !== wanted) throw new Fault('MethodNotAllowed')
  return kind
}

function entityKey(keys: readonly NamedKey[], target: Target, table: TableName): EntityKey {
  if (keys.length !== 2) throw wrongKeyCount(target, table)
  const partition = keys.find((key) => key.name === 'PartitionKey')?.value
  const row = keys.find((key) => key.name === 'RowKey')?.value
  if (partition === undefined || row === undefined) throw new Fault('InvalidInput', syntax)
  checkAddressedKey(partition)
  checkAddressedKey(row)
  return { partition: parsePartitionKey(partition), row: parseRowKey(row) }
}

/** In an address, slashes are a matter of syntax and other forbidden characters one of range. */
function checkAddressedKey(text: string): void {
  if (!forbiddenInKeys.test(text)) return
  if (/[/\\]/.test(text)) throw new Fault('InvalidInput', syntax)
  throw new Fault('OutOfRangeInput')
}

function wrongKeyCount(target: Target, table: TableName): Fault {
  return new Fault('InvalidInput', {
    text: `The number of keys specified in the URI does not match number of key properties for the resource '${target.account}.${table}'.`,
  })
}

interface NamedKey {
  readonly name: string | undefined
  readonly value: string
}

const syntax = { text: inputTexts.querySyntax }
const keyPattern = /\s*(?:([A-Za-z]+)\s*=\s*)?'((?:[^']|'')*)'\s*(,|$)/y

/** `keys` is undefined without parentheses and with empty ones: both mean the collection. */
function parseResource(resource: string): {
  name: string
  keys: readonly NamedKey[] | undefined
  rest: string
} {
  const end = /[(/]/.exec(resource)?.index ?? resource.length
  const name = resource.slice(0, end)
  if (resource[end] !== '(') return { name, keys: undefined, rest: resource.slice(end + 1) }
  const close = closingParenthesis(resource, end)
  const after = resource.slice(close + 1)
  if (after !== '' && !after.startsWith('/')) throw new Fault('InvalidInput', syntax)
  const inside = resource.slice(end + 1, close)
  const keys = inside.trim() === '' ? undefined : parseKeys(inside)
  return { name, keys, rest: after.slice(1) }
}

/** The one that closes the predicate: parentheses inside quotes are text. */
function closingParenthesis(resource: string, open: number): number {
  let quoted = false
  for (let i = open + 1; i < resource.length; i++) {
    const unit = resource.charCodeAt(i)
    if (unit === quote) quoted = !quoted
    else if (unit === closing && !quoted) return i
  }
  throw new Fault('InvalidInput', syntax)
}

const quote = 0x27
const closing = 0x29

function parseKeys(list: string): NamedKey[] {
  const keys: NamedKey[] = []
  keyPattern.lastIndex = 0
  for (;;) {
    const match = keyPattern.exec(list)
    if (match === null) throw new Fault('InvalidInput', syntax)
    const text = match[2] ?? ''
    keys.push({ name: match[1], value: text.includes("''") ? text.replaceAll("''", "'") : text })
    if (match[3] === '') return keys
  }
}

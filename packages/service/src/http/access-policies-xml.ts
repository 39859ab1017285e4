/**
 * Access policies as XML, in both directions:
 *
 *   SignedIdentifiers = *( SignedIdentifier: Id [ AccessPolicy: [ Start ] [ Expiry ] [ Permission ] ] )
 *
 * An empty element means the same as a missing one.
 */
import type { AccessPolicy } from '../model/access-policy.ts'
import { limits } from '../model/limits.ts'
import { formatTicksFully, parseTicks } from '../model/ticks.ts'
import {
  element,
  fieldsOf,
  invalidXml,
  invalidXmlValue,
  listOf,
  readXml,
  textElement,
  textOf,
  type XmlNode,
} from './xml.ts'

/** An empty body clears the list, as an empty document does. */
export function readAccessPolicies(body: Buffer): AccessPolicy[] {
  if (body.length === 0) return []
  const identifiers = listOf(readXml(body, 'SignedIdentifiers'), 'SignedIdentifier')
  if (identifiers.length > limits.accessPoliciesMax) throw invalidXml()
  const policies = identifiers.map(readPolicy)
  if (new Set(policies.map((policy) => policy.id)).size < policies.length) throw invalidXml()
  return policies
}

export function accessPoliciesXml(policies: readonly AccessPolicy[]): string {
  return element('SignedIdentifiers', policies.map(policyXml).join(''))
}

function readPolicy(identifier: XmlNode): AccessPolicy {
  const fields = fieldsOf(identifier, ['Id', 'AccessPolicy'])
  const policy = fields.get('AccessPolicy')
  const given = policy === undefined ? undefined : fieldsOf(policy, ['Start', 'Expiry', 'Permission'])
  return {
    id: readId(fields.get('Id')),
    start: readDate(given?.get('Start')),
    expiry: readDate(given?.get('Expiry')),
    permission: readPermission(given?.get('Permission')),
  }
}

function policyXml({ id, start, expiry, permission }: AccessPolicy): string {
  const fields = given('Start', start) + given('Expiry', expiry) + given('Permission', permission)
  const policy = fields === '' ? '' : element('AccessPolicy', fields)
  return element('SignedIdentifier', textElement('Id', id) + policy)
}

function given(name: string, text: string | undefined): string {
  return text === undefined ? '' : textElement(name, text)
}

function readId(node: XmlNode | undefined): string {
  if (node === undefined) throw invalidXml()
  const id = textOf(node)
  if (id === '' || id.length > limits.accessPolicyIdCharactersMax) throw invalidXmlValue()
  return id
}

function readPermission(node: XmlNode | undefined): string | undefined {
  const letters = textOf(node).trim()
  if (!/^[raud]*$/.test(letters)) throw invalidXmlValue()
  return letters === '' ? undefined : letters
}

/** A day, or a day and a time with its zone; seconds and their fraction may be left out. */
const datePattern = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d(?:\.\d{1,7})?)?(Z|[+-]\d\d:\d\d))?$/

function readDate(node: XmlNode | undefined): string | undefined {
  const text = textOf(node).trim()
  if (text === '') return undefined
  const match = datePattern.exec(text)
  if (match === null) throw invalidXmlValue()
  const [, day, minutes = '00:00', seconds = ':00', zone = 'Z'] = match
  const ticks = parseTicks(`${day}T${minutes}${seconds}${zone}`)
  if (ticks === undefined) throw invalidXmlValue()
  return formatTicksFully(ticks)
}

/**
 * XML, read and written. Only this file knows the parser. Documents come from anyone who holds a key, so
 * they are held to the least that clients need: elements and text, in UTF-8, few and not deep.
 */
import { parseXml, type XmlDeclaration, type XmlElement, type XmlText } from '@rgrove/parse-xml'
import { Fault } from '../model/faults.ts'
import { limits } from '../model/limits.ts'
import type { Reply } from './reply.ts'

export interface XmlNode {
  readonly name: string
  /** All text directly inside; attributes and comments mean nothing here. */
  readonly text: string
  readonly children: readonly XmlNode[]
}

/** Reads a document whose root is `root`: 400 413. */
export function readXml(body: Buffer, root: string): XmlNode {
  if (body.length > limits.xmlBodyBytesMax) throw new Fault('RequestBodyTooLarge')
  const node = parse(decode(body))
  if (node.name !== root) throw invalidXml()
  return node
}

/** An element's children by name. Refuses text, names that are not `known` and names met twice. */
export function fieldsOf<Name extends string>(
  node: XmlNode,
  known: readonly Name[],
): ReadonlyMap<Name, XmlNode> {
  refuseText(node)
  const fields = new Map<Name, XmlNode>()
  for (const child of node.children) {
    const name = known.find((one) => one === child.name)
    if (name === undefined || fields.has(name)) throw invalidXml()
    fields.set(name, child)
  }
  return fields
}

/** An element's children, all of which must be called `name`. */
export function listOf(node: XmlNode, name: string): readonly XmlNode[] {
  refuseText(node)
  if (node.children.some((child) => child.name !== name)) throw invalidXml()
  return node.children
}

/** The text of an element that has nothing else; empty if the element is missing. */
export function textOf(node: XmlNode | undefined): string {
  if (node === undefined) return ''
  if (node.children.length > 0) throw invalidXml()
  return node.text
}

export function invalidXml(cause?: unknown): Fault {
  return new Fault('InvalidXmlDocument', { cause })
}

export function invalidXmlValue(): Fault {
  return new Fault('InvalidXmlNodeValue')
}

/** An empty one has a space before its slash, as the recorded service writes it. */
export function element(name: string, content: string): string {
  return content === '' ? `<${name} />` : `<${name}>${content}</${name}>`
}

export function textElement(name: string, text: string | number | boolean): string {
  return element(name, xmlText(text.toString()))
}

/** A successful answer. Errors have no byte order mark; these do. */
export function xmlReply(root: string): Reply {
  return {
    status: 200,
    contentType: 'application/xml',
    body: Buffer.from(`\ufeff<?xml version="1.0" encoding="utf-8"?>${root}`, 'utf8'),
    measured: true,
  }
}

/** Messages repeat what clients sent, also what XML cannot carry. */
export function xmlText(text: string): string {
  return text
    .replaceAll(/[&<>\r]/g, (character) => xmlEscapes[character as keyof typeof xmlEscapes])
    .replaceAll(notXml, '\ufffd')
}

const notXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** A bare carriage return would be read back as a line feed. */
const xmlEscapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' } as const

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Without the byte order mark. */
function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (error) {
    throw invalidXml(error)
  }
}

/** `<!` opens comments and CDATA; whatever else it opens declares things. */
const declares = /<!(?!--|\[CDATA\[)/

function parse(text: string): XmlNode {
  if (declares.test(text)) throw invalidXml()
  // The parser descends as deep as the document does: so many tags bound both before it starts.
  if (text.split('<').length > 2 * limits.xmlElementsMax + 2) throw invalidXml()
  const { children } = parsed(text)
  let root: XmlNode | undefined
  for (const child of children) {
    if (child.type === 'element') root = nodeOf(child as XmlElement, 1, { elements: 0 })
    else if (child.type !== 'xmldecl' || !isUtf8(child as XmlDeclaration)) throw invalidXml()
  }
  if (root === undefined) throw invalidXml()
  return root
}

function parsed(text: string): ReturnType<typeof parseXml> {
  try {
    return parseXml(text, { preserveXmlDeclaration: true, preserveDocumentType: true })
  } catch (error) {
    throw invalidXml(error)
  }
}

function isUtf8({ encoding }: XmlDeclaration): boolean {
  return encoding === undefined || encoding === null || encoding.toLowerCase() === 'utf-8'
}

function nodeOf(source: XmlElement, depth: number, seen: { elements: number }): XmlNode {
  if (depth > limits.xmlDepthMax || ++seen.elements > limits.xmlElementsMax) throw invalidXml()
  let text = ''
  const children: XmlNode[] = []
  for (const child of source.children) {
    if (child.type === 'element') children.push(nodeOf(child as XmlElement, depth + 1, seen))
    else if (child.type === 'text') text += (child as XmlText).text
    else throw invalidXml()
  }
  return { name: source.name, text, children }
}

function refuseText({ text }: XmlNode): void {
  if (text.trim() !== '') throw invalidXml()
}

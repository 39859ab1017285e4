/** Which representation a client asked for, by `Accept` or, before that, by `$format`. */
import { Fault, type FaultCode } from '../model/faults.ts'

export type MetadataLevel = 'nometadata' | 'minimalmetadata' | 'fullmetadata'

/** Either a level of JSON, or the refusal that an answer with a body would have to give. */
export type Format =
  | { readonly kind: 'json'; readonly level: MetadataLevel; readonly asked: boolean }
  | { readonly kind: 'refused'; readonly code: FaultCode }

const minimal: Format = { kind: 'json', level: 'minimalmetadata', asked: true }
const none: Format = { kind: 'json', level: 'nometadata', asked: true }
const full: Format = { kind: 'json', level: 'fullmetadata', asked: true }
/** The recorded service answers Atom here. Clients that do not ask are better served by JSON. */
const unasked: Format = { kind: 'json', level: 'minimalmetadata', asked: false }

/** The forms the official clients send. */
const common: ReadonlyMap<string, Format> = new Map([
  ['application/json', minimal],
  ['application/json;odata=nometadata', none],
  ['application/json;odata=minimalmetadata', minimal],
  ['application/json;odata=fullmetadata', full],
])

export function readFormat(accept: string | undefined, format: string | undefined): Format {
  const text = format !== undefined && format !== '' ? format : accept
  if (text === undefined || text === '') return unasked
  return common.get(text) ?? negotiate(text)
}

/** The level of an answer with a body; refuses what cannot be written. */
export function levelOf(format: Format): MetadataLevel {
  if (format.kind === 'refused') throw new Fault(format.code)
  return format.level
}

export function contentTypeOf(level: MetadataLevel): string {
  return `application/json;odata=${level};streaming=true;charset=utf-8`
}

function negotiate(text: string): Format {
  let refusal: FaultCode = 'MediaTypeNotSupported'
  for (const part of text.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    if (type === 'application/json') {
      const odata = parameters.find((parameter) => parameter.startsWith('odata='))?.slice('odata='.length)
      const found = odata === undefined ? minimal : common.get(`application/json;odata=${odata}`)
      if (found !== undefined) return found
      if (odata === 'verbose') refusal = 'JsonVerboseFormatNotSupported'
    } else if (type === '*/*' || type === 'application/*') {
      return unasked
    } else if (type === 'application/atom+xml') {
      refusal = 'AtomFormatNotSupported'
    }
  }
  return { kind: 'refused', code: refusal }
}

/** Which bodies are understood. */
import { Fault } from '../model/faults.ts'

/** A body without a type is taken for JSON. */
export function requireJson(headers: ReadonlyMap<string, string>): void {
  const encoding = headers.get('content-encoding')?.toLowerCase()
  if (encoding !== undefined && encoding !== 'identity') throw new Fault('MediaTypeNotSupported')
  const type = headers.get('content-type')
  if (type === undefined || type === 'application/json') return
  const [media = '', ...parameters] = type.split(';').map((piece) => piece.trim().toLowerCase())
  if (media === 'application/atom+xml') throw new Fault('AtomFormatNotSupported')
  if (media !== 'application/json') throw new Fault('MediaTypeNotSupported')
  if (parameters.includes('odata=verbose')) throw new Fault('JsonVerboseFormatNotSupported')
}

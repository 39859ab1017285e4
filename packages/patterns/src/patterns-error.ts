/** Refusals a caller may branch on, by code. */
export type PatternsErrorCode =
  /** A definition contradicts itself; thrown where it is made. */
  | 'InvalidDefinition'
  /** A value does not fit its property or its key; nothing was sent. */
  | 'InvalidValue'
  /** A row, a key or a transaction is larger than the service takes; nothing was sent. */
  | 'LimitExceeded'
  | 'AlreadyExists'
  | 'NotFound'
  /** Others belong to it still. */
  | 'InUse'
  /** The ETag given, or read by the library again and again, is no longer current. */
  | 'Changed'
  /** The answer was lost, and the rows do not show whether the write took place. */
  | 'OutcomeUnknown'
  /** The cursor belongs to another query, or is none. */
  | 'InvalidCursor'
  /** A stored row does not fit the definition that should read it. */
  | 'UnreadableRow'

export class PatternsError extends Error {
  readonly code: PatternsErrorCode

  constructor(code: PatternsErrorCode, text: string, options?: ErrorOptions) {
    super(text, options)
    this.name = 'PatternsError'
    this.code = code
  }
}

export function isPatternsError(error: unknown, code?: PatternsErrorCode): error is PatternsError {
  return error instanceof PatternsError && (code === undefined || error.code === code)
}

export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

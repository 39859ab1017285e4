/** What the official clients throw, read by status and code: classes and texts differ between packages. */

/** The HTTP status of a refusal; undefined when no answer came. */
export function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | undefined)?.statusCode
  return typeof status === 'number' ? status : undefined
}

/** The service's own code, such as `TableNotFound`. */
export function codeOf(error: unknown): string | undefined {
  const { code, details } = (error ?? {}) as {
    code?: unknown
    details?: { odataError?: { code?: unknown }; errorCode?: unknown }
  }
  const found = details?.odataError?.code ?? details?.errorCode ?? code
  return typeof found === 'string' ? found : undefined
}

/** The service looked at the request and said no, so it has done nothing. Any other failure leaves that open. */
export function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 && status !== 408
}

/** One line for a log or a message: the code when there is one, then the text. */
export function describeError(error: unknown, charactersMax = 1000): string {
  const { name, message } = error instanceof Error ? error : { name: 'Error', message: String(error) }
  const code = codeOf(error)
  const text = `${code ?? name}: ${message}`
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text
}

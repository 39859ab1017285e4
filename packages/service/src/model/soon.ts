/**
 * A value, or the promise of one where it takes time. Awaiting what is there already costs more than most
 * requests spend on finding it, so those on the way of every request look first.
 */
export type Soon<Value> = Value | Promise<Value>

/** Goes on with a value: at once if it is there. */
export function soon<Value, Result>(value: Soon<Value>, goOn: (value: Value) => Soon<Result>): Soon<Result> {
  return value instanceof Promise ? value.then(goOn) : goOn(value)
}

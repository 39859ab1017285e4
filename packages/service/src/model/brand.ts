declare const brand: unique symbol

/** A plain value that only its parser can make, so that nobody has to check it again. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Readonly<Record<Name, true>> }

/** Closes a `switch` over a union: a new variant becomes a compile error here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

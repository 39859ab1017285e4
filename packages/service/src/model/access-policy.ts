/** A stored access policy: what a signature that names it is allowed, kept with the table it speaks of. */
export interface AccessPolicy {
  /** Compared exactly, case included. */
  readonly id: string
  // Texts as they were stored; undefined is left to the signature to say.
  readonly start: string | undefined
  readonly expiry: string | undefined
  readonly permission: string | undefined
}

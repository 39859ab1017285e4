/** A stored access policy: what a signature that names it is allowed, kept with the table it speaks of. */
export interface AccessPolicy {
  /** Compared exactly, case included. */
  readonly id: string
  // Undefined is left to the signature to say. Dates are kept as answers show them: UTC with seven digits.
  readonly start: string | undefined
  readonly expiry: string | undefined
  /** Letters of `raud`, in the order they were given. */
  readonly permission: string | undefined
}

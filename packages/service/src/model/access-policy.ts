/** Access policies of a table: what shared access signatures that name one by its id are held to. */

export interface AccessPolicy {
  readonly id: string
  /** Dates are kept as answers show them: UTC with seven digits. */
  readonly start: string | undefined
  readonly expiry: string | undefined
  /** Letters of `raud`, in the order they were given. */
  readonly permission: string | undefined
}

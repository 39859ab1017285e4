/**
 * One pattern's part in what a write changes outside its partition. The write leaves an entry in the outbox that names
 * the places; the relay sets each of them right by what the entity is when it gets there, not by what it was when the
 * entry was written. So an old entry can bring nothing old back, and doing it twice does nothing more.
 *
 * Parts are pure: they say which rows they must see and which steps follow from them.
 */
import type { Values } from '../definition/key-template.ts'
import type { Row, StoredRow } from '../row/row.ts'
import type { Need } from '../write/facet.ts'
import type { Step } from '../write/step.ts'

/** A table or a container by its name in `openTable`; neither is the entity's own table. */
export interface Destination {
  readonly table?: string | undefined
  readonly container?: string | undefined
}

export interface Place {
  /** The part that looks after it. */
  readonly label: string
  readonly partitionKey: string
  readonly rowKey: string
}

/** A place, and what an entity in some state has to show there. */
export interface Shown extends Place {
  readonly row: Row
}

export interface EntityPlace {
  readonly partitionKey: string
  readonly rowKey: string
}

/** One entity's say in a place: what it shows there now, if anything. */
export interface Claim {
  readonly entity: EntityPlace
  readonly shown: Shown | undefined
}

export type Elsewhere = Part & (Settles | Follows)

interface Part {
  readonly label: string
  readonly destination: Destination
  /** The properties that what is shown is made of. */
  readonly feeds: readonly string[]
  shown(values: Values): readonly Shown[]
}

/** The place itself holds what is shown. */
interface Settles {
  readonly kind: 'settles'
  /** What must be seen of the place. */
  needs(place: Place): Need
  /**
   * Sets the place right, under the ETags of what was found there. Never without a step: see settle.ts.
   * REQUIRES: `found` was read before the claims were.
   */
  steps(place: Place, found: readonly StoredRow[], claims: readonly Claim[]): readonly Step[]
}

/** The place is an entity that others show; they are found by links, and each is set right. */
interface Follows {
  readonly kind: 'follows'
  /** Rows in the partition of the place that name those who follow; undefined if the place is the only one. */
  links(place: Place): Need | undefined
  followerOf(link: StoredRow): EntityPlace
  /** The entity that a follower shows. */
  sourceOf(follower: StoredRow): EntityPlace | undefined
  steps(follower: StoredRow, source: StoredRow | undefined): readonly Step[]
}

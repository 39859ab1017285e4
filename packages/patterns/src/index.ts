/** The library's surface; each thing is in the file it comes from. */
export {
  type GivenPoint,
  type Point,
  series,
  type Series,
  type SeriesTable,
  type TimeRange,
  type Unit,
} from './data-series.ts'
export {
  type Definition,
  entity,
  type Entity,
  type KeyOf,
  type PartitionOf,
  type Patch,
  type Stored,
  type Write,
} from './definition/entity.ts'
export { type Clock, Instant } from './definition/instant.ts'
export { asc, desc, digits, hash, key, type KeyTemplate, spread, text } from './definition/key-template.ts'
export {
  binary,
  boolean,
  dateTime,
  double,
  guid,
  int32,
  int64,
  type Property,
  string,
} from './definition/properties.ts'
export { copies, type Copies } from './denormalisation.ts'
export {
  decryptRow,
  encryptRow,
  type EncryptionPolicy,
  envelopeProperties,
  refuseMerge,
} from './encryption/encryption.ts'
export { encryptedProperties, type EncryptedPropertiesOptions } from './encryption/encrypted-properties.ts'
export { aesKey, type KeyEncryptionKey, type KeyRing, keyRing } from './encryption/key-ring.ts'
export { rewrap, type Rewrapped, type RewrapOptions } from './encryption/rewrap.ts'
export { and, type Filter, formatFilter, not, or } from './filter/filter.ts'
export { type AnyOf, type AnyOfReader, type DynamicTable, type UnknownEntity } from './heterogeneous.ts'
export {
  type Finding,
  type FindingKind,
  inspect,
  inspectKeys,
  type InspectOptions,
  type KeySample,
  type Report,
  sampleWrites,
  type WriteSampler,
} from './inspect.ts'
export { isPatternsError, PatternsError, type PatternsErrorCode } from './patterns-error.ts'
export type { EntityPlace } from './outbox/elsewhere.ts'
export {
  type Lag,
  type Relay,
  type RelayEvent,
  type RelayMeasurement,
  type RelayOptions,
  type RelayRun,
} from './outbox/relay.ts'
export { parallel, type ParallelOptions } from './read/parallel.ts'
export { type Page, type Reading } from './read/reading.ts'
export {
  byKey,
  counts,
  type Counts,
  join,
  lookup,
  type Lookup,
  type Relation,
  subtypes,
  type Subtypes,
} from './relationships.ts'
export { type Cell, type Row, type StoredRow } from './row/row.ts'
export {
  type Period,
  type Slice,
  sliced,
  type Sliced,
  type SlicedOptions,
  type SliceRange,
} from './sliced-table.ts'
export {
  type Changed,
  type EntityTable,
  type IndexReader,
  type ListReader,
  type Query,
  type RemoteIndexReader,
} from './table/entity-table.ts'
export { type LoadOptions, type LoadProgress, type LoadResult } from './table/load.ts'
export { openTable, type Table, type TableOptions } from './table/table.ts'
export { wide, type Wide, type WideQuery, type WideTable } from './wide-entities.ts'
export { type Written } from './write/execute.ts'
export { change, insert, type Intent, patch, remove, replace, upsert, upsertMerge } from './write/intent.ts'
export { type Seal, type SealedRow } from './write/seal.ts'
export { type Step } from './write/step.ts'

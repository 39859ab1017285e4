/** The library: one module per pattern. */

export {
  decryptRow,
  encryptRow,
  type EncryptionPolicy,
  envelopeProperties,
  refuseMerge,
} from './encryption/encryption.ts'
export { aesKey, type KeyEncryptionKey, type KeyRing, keyRing } from './encryption/key-ring.ts'
export { rewrap, type Rewrapped, type RewrapOptions } from './encryption/rewrap.ts'
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
export {
  type Period,
  type Slice,
  sliced,
  type Sliced,
  type SlicedOptions,
  type SliceRange,
} from './sliced-table.ts'

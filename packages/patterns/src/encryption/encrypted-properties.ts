/** What `.encrypted()` on a property of a definition asks for: each row sealed on its way out, opened on its way back. */
import type { Row } from '../row/row.ts'
import { flaggedNames, type Seal, type SealedRow } from '../write/seal.ts'
import { decryptRow, encryptRow, type EncryptionPolicy, envelopeProperties } from './encryption.ts'

export type EncryptedPropertiesOptions = Pick<EncryptionPolicy, 'account' | 'keys' | 'plain' | 'random'>

/** Give it to `openTable` as one of the `seals`. */
export function encryptedProperties(options: EncryptedPropertiesOptions): Seal {
  return {
    flag: 'encrypted',
    cellsFor: (definition, names) =>
      flaggedNames(definition, 'encrypted').some((name) => names.includes(name)) ? envelopeProperties : [],
    seal: async (row) => (await encryptRow(policyFor(row), row, row.row)) as Row,
    open: async (row) => (await decryptRow(policyFor(row), row, row.row)) as Row,
  }

  function policyFor({ table, definition }: SealedRow): EncryptionPolicy {
    return { ...options, table, properties: flaggedNames(definition, 'encrypted') }
  }
}

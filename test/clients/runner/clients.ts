/** The clients of the matrix, in the order of its columns. */
import { fileURLToPath } from 'node:url'

export interface Client {
  /** What the command line and the columns call it. */
  readonly name: string
  /** Holds `install` and the program. */
  readonly folder: string
  /** The file in that folder that keeps the contract of `README.md`. */
  readonly program: string
}

export const clients: readonly Client[] = [
  { name: 'javascript', folder: 'javascript', program: 'run' },
  { name: 'javascript-legacy', folder: 'javascript-legacy', program: 'run' },
  { name: 'python', folder: 'python', program: 'run' },
  { name: 'python-async', folder: 'python', program: 'run-async' },
  { name: 'go', folder: 'go', program: 'run' },
  { name: 'java', folder: 'java', program: 'run' },
  { name: 'dotnet-requests', folder: 'dotnet', program: 'run' },
]

/** Languages that are left out, and why. */
export const leftOut: readonly { readonly name: string; readonly reason: string }[] = [
  {
    name: 'rust',
    reason:
      'no official crate offers tables; azure_data_tables 0.21.0 of 2024 says of itself that it is unofficial and ' +
      'ended (crates.io), and its successor is but asked for (github.com/Azure/azure-sdk-for-rust/issues/4304)',
  },
]

/** `test/clients`, seen from what is built below it. */
export const clientsFolder = fileURLToPath(new URL('../../', import.meta.url))
/** The repository. */
export const rootFolder = fileURLToPath(new URL('../../../../', import.meta.url))

/** The folder a store lives in, and the format its files have. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const format = 1
const formatFile = 'partita.json'

/** Makes or checks the folder and returns where LMDB keeps its file. Touches nothing it does not know. */
export function openDataFolder(path: string): string {
  const file = join(path, formatFile)
  const tables = join(path, 'tables')
  // Another process may be making the folder now: it writes the file first, so this looks at it last.
  if (existsSync(tables) && !existsSync(file)) {
    throw new Error(`${path} holds a folder 'tables' but no ${formatFile}: it is not a Partita data folder.`)
  }
  if (!existsSync(file)) writeFormat(path, file)
  checkFormat(path, readFileSync(file, 'utf8'))
  return tables
}

/** Written whole, synced and then named, so that neither a crash nor a loss of power leaves half a file. */
function writeFormat(path: string, file: string): void {
  mkdirSync(path, { recursive: true })
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ format, engine: 'lmdb' })}\n`, { flush: true })
  renameSync(draft, file)
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function checkFormat(path: string, text: string): void {
  let found: unknown
  try {
    found = (JSON.parse(text) as { format?: unknown }).format
  } catch {
    found = undefined
  }
  if (found === format) return
  if (typeof found === 'number' && found > format) {
    throw new Error(
      `${path} was written by a newer Partita (format ${found}; this one reads ${format}). ` +
        'Nothing was changed. Start it with that version or newer.',
    )
  }
  throw new Error(`${join(path, formatFile)} is not readable as a format description. Nothing was changed.`)
}

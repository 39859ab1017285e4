/** The folder a store lives in, and the format its files have. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const format = 1
const formatFile = 'partita.json'

/** Makes or checks the folder and returns where LMDB keeps its file. Touches nothing it does not know. */
export function openDataFolder(path: string): string {
  const file = join(path, formatFile)
  const tables = join(path, 'tables')
  if (existsSync(file)) {
    checkFormat(path, readFileSync(file, 'utf8'))
    return tables
  }
  if (existsSync(tables)) {
    throw new Error(`${path} holds a folder 'tables' but no ${formatFile}: it is not a Partita data folder.`)
  }
  mkdirSync(path, { recursive: true })
  // Written whole and then named, so that a crash leaves no half-written file behind.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify({ format, engine: 'lmdb' })}\n`)
  renameSync(draft, file)
  return tables
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

/** Whether a stored row holds what was, or would be, written to it. */
import type { Cell, Row } from './row.ts'

export function holdsExactly(stored: Row, written: Row): boolean {
  return Object.keys(stored).length === Object.keys(written).length && holds(stored, written)
}

export function holds(stored: Row, written: Row): boolean {
  return Object.entries(written).every(([name, cell]) => isSameCell(stored[name], cell))
}

/** The client cannot tell whole doubles from Int32, and the service shortens the fraction of a time. */
function isSameCell(stored: Cell | undefined, written: Cell): boolean {
  if (stored === undefined) return false
  if (written.type === 'DateTime')
    return stored.type === 'DateTime' && timeText(stored.value) === timeText(written.value)
  if (written.type === 'Guid') return String(stored.value).toLowerCase() === written.value.toLowerCase()
  return stored.value === written.value || Object.is(Number(stored.value), written.value)
}

function timeText(text: string): string {
  return text.replace(/\.?0*Z$/, 'Z')
}

/** What a benchmark is doing: one line that overwrites itself on a terminal, elsewhere a line for each. */
export function progress(text: string): void {
  if (!process.stderr.isTTY) {
    if (text !== '') process.stderr.write(`${text}\n`)
    return
  }
  process.stderr.write(`\r${text.padEnd(lastWidth)}${text === '' ? '\r' : ''}`)
  lastWidth = text.length
}

let lastWidth = 0

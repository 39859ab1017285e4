/**
 * In which order the rows of a group go into LMDB's tree, so that its leaves come out full.
 *
 * LMDB divides a full leaf in the middle, unless the new row is the last in it. Rows of a group mostly follow each other
 * and have others behind them, those of the next partition at least. In the order of their keys they would all go into
 * the right half of what was divided, and its left half would stay half empty for good. So at first go only as many
 * rows, spread evenly, as those left halves should have; the others then find room between them. Before all goes the
 * last row, so that there is one behind the rest in any case. See docs/decisions/filling-leaves.md.
 */
import { recordBytesMax } from '../../model/record.ts'
import { pageBytes } from './environment.ts'
import { nodeHeaderBytes, offsetBytes, pageHeaderBytes } from './tree.ts'
import type { PackedMutation } from './writer-message.ts'

/** The places of all mutations, each once. REQUIRES: there is one. */
export function fillingOrder(mutations: readonly PackedMutation[]): Iterable<number> {
  const count = mutations.length
  if (count === 1) return mutations.keys()
  const bytes = mutations.reduce((sum, mutation) => sum + rowBytes(mutation), 0)
  const leafRows = Math.floor(((pageBytes - pageHeaderBytes) * count) / bytes)
  // The most that stay in a leaf when it is divided: half of them and one or two, and one more where rows of some bytes
  // stand behind, as the store's own do, because LMDB counts those like others. Source: mdb_page_split of LMDB 0.9.90.
  const leftRows = Math.floor(leafRows / 2) + 3
  if (leftRows >= leafRows) return mutations.keys()
  const before = [count - 1]
  const after: number[] = []
  for (let place = 0; place < count - 1; place++) {
    const goesBefore = (place * leftRows) % leafRows < leftRows
    if (goesBefore) before.push(place)
    else after.push(place)
  }
  return before.concat(after)
}

/** What a row takes of its leaf. */
function rowBytes({ key, change }: PackedMutation): number {
  if (change.kind === 'remove') return 0
  return offsetBytes + nodeHeaderBytes + key.length + recordBytesMax(change.keys, change.content)
}

/** Request ids in the recorded shape: `…-x002-…-…000000`, where 002 stands for the table service. */
import { randomFillSync } from 'node:crypto'

const idBytes = 12
const pool = Buffer.alloc(idBytes * 256)
let used = pool.length

export function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const hex = pool.toString('hex', used, used + idBytes)
  used += idBytes
  return `${hex.slice(0, 8)}-${hex.slice(8, 9)}002-${hex.slice(9, 13)}-${hex.slice(13, 17)}-${hex.slice(17, 23)}000000`
}

/** Request ids in the recorded shape: `…-x002-…-…000000`, where 002 stands for the table service. */
import { randomFillSync } from 'node:crypto'

const idDigits = 23
const idsAhead = 256
const pool = Buffer.alloc((idDigits * idsAhead) / 2)
/** Random digits, made for many at once. */
let digits = ''
let used = 0

export function newRequestId(): string {
  if (used === digits.length) {
    digits = randomFillSync(pool).toString('hex')
    used = 0
  }
  const hex = digits.slice(used, used + idDigits)
  used += idDigits
  return `${hex.slice(0, 8)}-${hex.slice(8, 9)}002-${hex.slice(9, 13)}-${hex.slice(13, 17)}-${hex.slice(17)}000000`
}

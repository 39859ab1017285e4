import { strict as assert } from 'node:assert'
import { Fault, type FaultCode, faults } from '../../src/model/faults.ts'

/** The call is refused with this code, its status, and its text or the one given. */
export function assertFault(call: () => unknown, code: FaultCode, text: string = faults[code][1]): void {
  assert.throws(call, (error: unknown) => {
    assert(error instanceof Fault, `not a Fault: ${String(error)}`)
    assert.deepEqual([error.code, error.status, error.message], [code, faults[code][0], text])
    return true
  })
}

/**
 * Keeps a process from ending while its writer is inside a transaction. `process.exit` stops threads wherever they
 * are; one stopped there never lets go of the engine's lock, so that neither the process could end nor any other
 * process write.
 */

/** Shared by the two threads; one 32-bit state. */
export type ExitGate = Int32Array

const open = 0
const inside = 1
const shut = 2

/** How long the end of a process waits for a transaction: a disk that takes longer is not coming back. */
const exitMsMax = 10_000

const gates = new Set<ExitGate>()

/** A gate that shuts when this process ends. */
export function openExitGate(): ExitGate {
  const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  if (gates.size === 0) process.on('exit', shutAll)
  gates.add(gate)
  return gate
}

/** To be called once the writer has ended. */
export function removeExitGate(gate: ExitGate): void {
  gates.delete(gate)
  if (gates.size === 0) process.off('exit', shutAll)
}

/** In the writer: runs a transaction, or fails because the process is ending. */
export function passGate<T>(gate: ExitGate, transaction: () => T): T {
  if (Atomics.compareExchange(gate, 0, open, inside) === shut) throw new Error('the process is ending')
  try {
    return transaction()
  } finally {
    Atomics.store(gate, 0, open)
    Atomics.notify(gate, 0)
  }
}

function shutAll(): void {
  const deadlineMs = performance.now() + exitMsMax
  for (const gate of gates) {
    while (Atomics.compareExchange(gate, 0, open, shut) === inside && performance.now() < deadlineMs) {
      Atomics.wait(gate, 0, inside, deadlineMs - performance.now())
    }
  }
}

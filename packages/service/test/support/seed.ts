/** The seed of this run: `PARTITA_SEED`, or one taken from the time. */
export function newSeed(): number {
  const given = process.env['PARTITA_SEED']
  return given === undefined ? Date.now() % 2 ** 31 : Number(given)
}

/** Runs `work`; if it fails, the error tells how to run it again. */
export async function withSeed(seed: number, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new Error(`failed; PARTITA_SEED=${seed} runs the same again`, { cause: error })
  }
}

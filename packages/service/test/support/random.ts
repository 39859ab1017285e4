/** A small generator with a seed (mulberry32), so that a fast loop can be run again exactly. */
export interface Random {
  /** A whole number from 0 until `until`. */
  below(until: number): number
  pick<Item>(items: readonly Item[]): Item
  shuffled<Item>(items: readonly Item[]): Item[]
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return { below, pick, shuffled }

  function below(until: number): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * until)
  }

  function pick<Item>(items: readonly Item[]): Item {
    return items[below(items.length)] as Item
  }

  function shuffled<Item>(items: readonly Item[]): Item[] {
    const result = [...items]
    for (let i = result.length - 1; i > 0; i--) {
      const j = below(i + 1)
      const kept = result[i] as Item
      result[i] = result[j] as Item
      result[j] = kept
    }
    return result
  }
}

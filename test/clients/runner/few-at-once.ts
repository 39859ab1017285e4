/** Some programs are compiled and most of them wait for answers, so more at once would only be slower. */
const atOnce = 2

/** Works on a few items at a time, and returns what became of each in their order. */
export async function fewAtOnce<Item, Done>(
  items: readonly Item[],
  work: (item: Item) => Promise<Done>,
): Promise<Done[]> {
  const done: Done[] = []
  const waiting = items.entries()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [index, item] of waiting) done[index] = await work(item)
    }),
  )
  return done
}

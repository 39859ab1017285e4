/** Applies `run` to what a source gives, several at a time; results come as they are done. Takes no more than it runs. */
export async function* mapConcurrently<T, R>(
  source: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  run: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running = new Map<number, Promise<{ readonly id: number; readonly result: R }>>()
  let next = 0
  try {
    for await (const item of source) {
      const id = next++
      running.set(
        id,
        run(item).then((result) => ({ id, result })),
      )
      while (running.size >= concurrency) yield await oneOf(running)
    }
    while (running.size > 0) yield await oneOf(running)
  } finally {
    await Promise.allSettled(running.values())
  }
}

async function oneOf<R>(
  running: Map<number, Promise<{ readonly id: number; readonly result: R }>>,
): Promise<R> {
  const { id, result } = await Promise.race(running.values())
  running.delete(id)
  return result
}

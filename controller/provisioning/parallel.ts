/**
 * Does something for each item, at most `width` at a time, and waits for all of them.
 *
 * @returns how each ended, in the order of the items
 */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  act: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  const left = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [index, item] = next;
      // oxlint-disable-next-line no-await-in-loop -- each worker does one after the other
      const [result] = await Promise.allSettled([act(item)]);
      results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}

/** Throws the first failure there was, so that whoever called comes back to it. */
export function rejectFirst(results: readonly PromiseSettledResult<unknown>[]): void {
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

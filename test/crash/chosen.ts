/** What an argument names of a list; all of it when it names nothing. @throws Error that tells what there is */
export function chosen<T extends string>(
  argument: string,
  all: readonly T[],
  name: string | undefined,
): readonly T[] {
  const found = all.filter((one) => name === undefined || one === name);
  if (found.length > 0) return found;
  throw new Error(`--${argument} ${name}: there is none of this name; take ${all.join(', ')}`);
}

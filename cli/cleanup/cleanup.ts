import { type Failure, type Leftover, type Place } from './place.ts';
import { tables } from './table.ts';

export interface Cleaning {
  readonly clusterUid: string;
  /**
   * In the order in which they are emptied: names first, since the address of an ended instance may be given to
   * somebody else; volumes last, since most go with their instance.
   */
  readonly places: readonly Place[];
  /** Whether all that was shown is to be removed. Asked once, and only if there is something. */
  readonly confirm: () => Promise<boolean>;
  readonly say: (text: string) => void;
}

interface Listed {
  readonly place: Place;
  readonly left: readonly Leftover[];
}

/**
 * Shows what a cluster left, and removes it if that is confirmed. A place that cannot be read in whole stops everything
 * before anything is removed; a place that cannot be emptied stops what comes after it.
 *
 * @returns whether all went as asked for: nothing that failed, nothing left that was to be removed
 */
export async function cleanup(cleaning: Cleaning, signal: AbortSignal): Promise<boolean> {
  const { clusterUid, confirm, say } = cleaning;
  const listed = await listAll(cleaning, signal);
  if (!listed) {
    say('Nothing was removed. (KPU601)');
    return false;
  }
  if (countOf(listed) === 0) {
    say(`Nothing of cluster ${clusterUid} is left there.`);
    return true;
  }
  say(`Left of cluster ${clusterUid}:\n\n${described(listed)}\n`);
  if (!(await confirm())) {
    say('Nothing was removed.');
    return true;
  }
  return (await removeAll(cleaning, listed, signal)) && (await proveGone(cleaning, signal));
}

/** @returns undefined when any place could not be read */
async function listAll(
  { places, say }: Cleaning,
  signal: AbortSignal,
): Promise<readonly Listed[] | undefined> {
  const outcomes = await Promise.allSettled(places.map(async (place) => place.list(signal)));
  const listed: Listed[] = [];
  for (const [index, place] of places.entries()) {
    const outcome = outcomes[index];
    if (outcome?.status === 'fulfilled') listed.push({ place, left: outcome.value });
    else say(`The ${place.name} could not be read: ${wordsOf(outcome?.reason)}`);
  }
  return listed.length === places.length ? listed : undefined;
}

async function removeAll(
  { say }: Cleaning,
  listed: readonly Listed[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const { place, left } of listed.filter((one) => one.left.length > 0)) {
    say(`Removing ${left.length} of the ${place.name} ...`);
    // oxlint-disable-next-line no-await-in-loop -- one place after the other, see Cleaning.places
    const failures = await removeFrom(place, left, signal);
    if (failures.length > 0) {
      for (const { id, why } of failures) say(`${id} is still there: ${why}`);
      say(
        `${failures.length} of the ${place.name} could not be removed, and nothing after them was tried. ` +
          'The same command goes on from here. (KPU602)',
      );
      return false;
    }
  }
  return true;
}

/** A failure of the place itself is one of all that was to be removed there. */
async function removeFrom(
  place: Place,
  left: readonly Leftover[],
  signal: AbortSignal,
): Promise<readonly Failure[]> {
  try {
    return await place.remove(left, signal);
  } catch (error) {
    signal.throwIfAborted();
    return left.map(({ id }) => ({ id, why: wordsOf(error) }));
  }
}

/** What came while we removed, most likely because the operator still runs. */
async function proveGone(cleaning: Cleaning, signal: AbortSignal): Promise<boolean> {
  const { clusterUid, say } = cleaning;
  const listed = await listAll(cleaning, signal);
  if (!listed) {
    say('All that was shown is removed; whether more has come is not known. (KPU601)');
    return false;
  }
  if (countOf(listed) === 0) {
    say(`All of it is removed: nothing of cluster ${clusterUid} is left there.`);
    return true;
  }
  say(
    `All that was shown is removed, and this has come meanwhile:\n\n${described(listed)}\n\n` +
      'Something still makes it: end the operator of that cluster, and repeat the command. (KPU603)',
  );
  return false;
}

const countOf = (listed: readonly Listed[]): number =>
  listed.reduce((sum, { left }) => sum + left.length, 0);

function described(listed: readonly Listed[]): string {
  return tables(listed.flatMap(({ left }) => left));
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  const isOurs = typeof code === 'string' && /^KPU\d{3}$/.test(code);
  return isOurs ? `${error.message} (${code})` : error.message;
}

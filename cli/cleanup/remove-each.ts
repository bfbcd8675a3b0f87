import { type Clock, type Duration, minutes } from '#schemas/time/clock.ts';

import type { Failure } from './place.ts';
import { settled } from './settled.ts';

/** Things of one kind, and how one of them is asked to go. */
export interface Removal<T> {
  /** Those that are still there. */
  look(): Promise<readonly T[]>;
  readonly idOf: (one: T) => string;
  readonly stateOf: (one: T) => string;
  /** Leaves already, or seems to: it is asked only once that has come to nothing. */
  isLeaving?(one: T): boolean;
  /** @returns why it cannot be asked, in a sentence */
  end(one: T): Promise<string | undefined>;
  readonly clock: Clock;
  /** How long one of them may take to go. */
  readonly within: Duration;
}

/**
 * Asks each to go, in a call of its own, so that one which is refused holds up no other, and waits for those that were
 * not.
 *
 * @returns what is still there, and why
 */
export async function removeEach<T>(removal: Removal<T>, signal: AbortSignal): Promise<Failure[]> {
  const { idOf, stateOf, within } = removal;
  const asked = new Set<string>();
  const refused = new Map<string, string>();
  const ask = async (one: T): Promise<void> => {
    if (asked.has(idOf(one)) || removal.isLeaving?.(one)) return;
    asked.add(idOf(one));
    const why = await removal.end(one);
    if (why !== undefined) refused.set(idOf(one), why);
  };
  const going = async (): Promise<T[]> => {
    const there = await removal.look();
    // oxlint-disable-next-line no-await-in-loop -- clouds count calls
    for (const one of there) await ask(one);
    return there.filter((one) => !refused.has(idOf(one)));
  };
  const slow = await settled(going, removal, signal);
  const after = `after ${within / minutes(1)} minutes`;
  return [
    ...[...refused].map(([id, why]) => ({ id, why })),
    ...slow.map((one) => ({ id: idOf(one), why: `it is ${stateOf(one)} ${after}.` })),
  ];
}

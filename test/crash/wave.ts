import { seconds } from '#schemas/time/clock.ts';

import type { CrashWorld } from './crash-world.ts';
import { isAt } from './gate/gate.ts';
import type { Machines } from './machines.ts';
import { tiers, told, type Case, type Phase } from './steps.ts';

/** One machine in one phase of its life; without a case it goes on undisturbed until the others' crash. */
export interface Act {
  readonly subject: string;
  readonly phase: Phase;
  readonly case?: Case | undefined;
}

/** What came of an act. */
export interface Played {
  readonly act: Act;
  /** It came to where it was to be stopped, each time. */
  readonly met: boolean;
  /** It was stopped once, and whoever followed did nothing at all that it could have been stopped at again. */
  readonly once: boolean;
  /** Why it did not come to the end of its phase; absent: it did. */
  readonly stuck?: string;
}

/**
 * Ends the controller and what it had begun, and has somebody follow.
 *
 * @param between  done when nobody lives that could do anything for a machine
 */
export type Crash = (between: () => void) => Promise<void>;

/** Events about a machine that is done come later, one after the other with those of all others. */
const afterwards = seconds(10);
/** Until all of a wave are where they are to be stopped. */
const longest = seconds(60);
/** A launch that was never answered is waited for, two minutes from the deletion; and a cache may be young. */
const patience = seconds(200);

/** Brings many machines to their stops, crashes once for all of them, and sees each to the end of its phase. */
export async function playWave(
  world: CrashWorld,
  machines: Machines,
  acts: readonly Act[],
  crash: Crash,
): Promise<Played[]> {
  const met = new Set<Act>();
  for (const tier of tiers) {
    const own = acts.filter((act) => (act.case?.tier ?? 0) === tier);
    for (const act of own) await begin(world, machines, act);
    for (const act of await stopped(world, machines, own)) met.add(act);
  }
  const follow = { twice: [] as Act[], from: 0 };
  await crash(() => {
    follow.twice = [...met].filter((act) => arm(world, act, 1));
    follow.from = world.gate.met.length;
  });
  const again = await stopped(world, machines, follow.twice);
  if (again.size > 0) await crash(() => {});
  const others = follow.twice.filter((act) => !again.has(act));
  for (const act of others) met.delete(act);
  const stuck = await stuckAfterAll(world, machines, acts);
  const once = new Set(
    others.filter((act) => !stuck.has(act) && !mightHaveStopped(world, act, follow.from)),
  );
  return acts.map((act) => ({
    act,
    met: met.has(act),
    once: once.has(act),
    ...(stuck.has(act) && { stuck: stuck.get(act) ?? '' }),
  }));
}

/** Whether a call was met since then that the machine's second stop was for. */
function mightHaveStopped(
  { gate }: CrashWorld,
  { subject, case: one }: Act,
  from: number,
): boolean {
  const stop = one?.stops[1];
  const since = gate.met.slice(from).filter((met) => met.subject === subject);
  return stop !== undefined && since.some(({ step }) => isAt(stop, step));
}

/** In words, with what it was about. */
export function tellPlayed({ act, stuck = '' }: Played): string {
  const where = act.case ? told(act.case) : 'undisturbed';
  return `${act.subject}, ${act.phase}, ${where}${stuck && `: ${stuck}`}`;
}

async function begin(world: CrashWorld, machines: Machines, act: Act): Promise<void> {
  world.gate.begin(act.subject);
  arm(world, act, 0);
  await (act.phase === 'launch' ? machines.begin(act.subject) : machines.remove(act.subject));
}

function arm({ gate }: CrashWorld, { subject, case: one }: Act, index: number): boolean {
  const stop = one?.stops[index];
  if (stop) gate.arm(subject, stop);
  return stop !== undefined;
}

/** @returns those that came to their stop, once each of the others is done, or time is over */
async function stopped(
  world: CrashWorld,
  machines: Machines,
  acts: readonly Act[],
): Promise<Set<Act>> {
  const { gate, clock } = world;
  const aimed = acts.filter((act) => act.case !== undefined);
  const doneAt = new Map<Act, number>();
  const end = clock.now() + longest;
  const isOver = (act: Act): boolean => {
    const since = doneAt.get(act);
    return gate.isStopped(act.subject) || (since !== undefined && clock.now() - since > afterwards);
  };
  while (!aimed.every(isOver) && clock.now() < end) {
    await clock.sleep(200);
    await machines.look();
    for (const act of aimed)
      if (isDone(machines, act) && !doneAt.has(act)) doneAt.set(act, clock.now());
  }
  return new Set(aimed.filter(({ subject }) => gate.isStopped(subject)));
}

function isDone(machines: Machines, { subject, phase }: Act): boolean {
  return phase === 'launch' ? machines.isUp(subject) : machines.isGone(subject);
}

async function stuckAfterAll(
  { clock }: CrashWorld,
  machines: Machines,
  acts: readonly Act[],
): Promise<Map<Act, string>> {
  const end = clock.now() + patience;
  let left = acts;
  while (left.length > 0 && clock.now() < end) {
    await clock.sleep(200);
    await machines.look();
    left = left.filter((act) => !isDone(machines, act));
  }
  return new Map(left.map((act) => [act, machines.picture(act.subject)]));
}

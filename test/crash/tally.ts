/** What is counted when all cases of a variant are over. */
import { isClean, leaksOf, type Leaks } from '#sandbox/world/leaks.ts';
import { seconds } from '#schemas/time/clock.ts';

import type { CrashWorld } from './crash-world.ts';
import type { Gate } from './gate/gate.ts';
import type { Cloud } from './objects.ts';

/** What comes after the controller's end: see docs/concepts/machine-life.md. */
export const variants = ['restart', 'takeover', 'api-away', 'changed'] as const;
export type Variant = (typeof variants)[number];

/** What came of all cases of a variant on a cloud. */
export interface Outcome {
  readonly cloud: Cloud;
  readonly variant: Variant;
  readonly cases: number;
  /** Controllers that were killed, or outages. */
  readonly crashes: number;
  readonly machines: number;
  /** Instances that were ever launched. */
  readonly launched: number;
  /** Machines for which more than one NodeClaim was made. */
  readonly doubled: readonly string[];
  /** Cases that did not come to the end of their phase, with what was seen. */
  readonly stuck: readonly string[];
  /** Cases that were stopped, each time that they were to be. */
  readonly stopped: number;
  /** Cases that are to be stopped twice. */
  readonly double: number;
  /** Those of them that were stopped once, since whoever followed asked for nothing about this machine alone. */
  readonly once: readonly string[];
  /** Cases whose step did not come although it always had, in three tries. */
  readonly unmet: readonly string[];
  /** The same, in two tries, for steps that depend on what else goes on. */
  readonly notSeen: readonly string[];
  readonly leaks: Leaks;
  /** What was left behind and found later, by the look for such things. */
  readonly collected: number;
  readonly seconds: number;
}

/** Instances that were ever launched on a cloud. */
export function launchedIn({ world }: CrashWorld, cloud: Cloud): number {
  const { ec2, gce } = world.cloud;
  return cloud === 'aws' ? ec2.everywhere.length : gce.instances.made;
}

/** Machines for which more than one NodeClaim was made. */
export function doubledIn({ met }: Gate): string[] {
  const made = met.filter(
    ({ step, status }) =>
      step.startsWith('kubernetes: create nodeclaims') && status < 300 && status > 0,
  );
  const counts = Map.groupBy(made, ({ subject }) => subject);
  return [...counts].filter(([, calls]) => calls.length > 1).map(([subject]) => subject);
}

/** How often the controller found something that had been left behind. */
export function collectedIn({ met, unattributed }: Gate): number {
  const isOne = (what: string): boolean => what.includes('LeftoverRemoved');
  const others = [...unattributed].filter(([what]) => isOne(what)).map(([, count]) => count);
  return others.reduce((sum, count) => sum + count, met.filter(({ step }) => isOne(step)).length);
}

/** What is left once nothing more goes. */
export async function leaksIn(crash: CrashWorld): Promise<Leaks> {
  const isDone = async (): Promise<boolean> => isClean(await leaksOf(crash.world));
  await crash.until('clean', seconds(90), isDone).catch(() => {}); // it is told as it is
  return leaksOf(crash.world);
}

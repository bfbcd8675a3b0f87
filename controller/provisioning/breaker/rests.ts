import type { PlannedClaim } from '#scheduling/solver.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Instant } from '#schemas/time/clock.ts';

import { longestPause } from '../pauses.ts';
import { concerns } from './cause.ts';
import type { Launches, PoolRests, RestByCause, Resting } from './launches.ts';
import { groupOf, groupsOf } from './pod-group.ts';

/** A machine that was made though its Pods had to rest, to see whether it helps now. */
interface Try {
  readonly at: Instant;
  readonly groups: readonly string[];
}

interface Met {
  readonly key: string;
  readonly rest: Resting;
}

/**
 * Which planned machines have to wait. Pods that have rested get one machine, however many of them there are and however
 * many passes come by before it has opened.
 */
export class Rests {
  readonly #launches: Launches;
  /** The last one of each rest; of a group or a cause in a pool. */
  readonly #tries = new Map<string, Try>();
  #rests: ReadonlyMap<string, PoolRests> = new Map();
  #now: Instant = 0;
  /** Of this pass, whose launches nobody has seen. */
  #triedNow = new Set<string>();

  constructor(launches: Launches) {
    this.#launches = launches;
  }

  /** A pass begins. @param rests  by pool */
  begin(rests: ReadonlyMap<string, PoolRests>, now: Instant): void {
    this.#rests = rests;
    this.#now = now;
    this.#triedNow = new Set();
    for (const [key, { at }] of this.#tries) if (at < now - longestPause) this.#tries.delete(key);
  }

  /** @returns for each of its Pods the rest that it has to wait for; undefined when the machine may be made */
  ask(planned: PlannedClaim, pods: readonly Pod[]): readonly Resting[] | undefined {
    const rests = this.#rests.get(planned.nodePool);
    if (!rests || pods.length === 0) return undefined;
    const met = pods.map((pod) => metBy(pod, planned, rests));
    const holding = met.flatMap((of) => of.find((one) => !this.#isDue(one, planned)) ?? []);
    if (holding.length === pods.length) return holding.map(({ rest }) => rest);
    for (const { key } of met.flat()) this.#tried(`${planned.nodePool} ${key}`, pods);
    return undefined;
  }

  /** Whether the rest is over, and nobody is trying yet. */
  #isDue({ key, rest }: Met, { nodePool }: PlannedClaim): boolean {
    const full = `${nodePool} ${key}`;
    if (rest.until > this.#now || this.#triedNow.has(full)) return false;
    const last = this.#tries.get(full);
    const isOfThisRest = last !== undefined && last.at >= rest.until;
    return !isOfThisRest || !this.#launches.isTrying(nodePool, last.groups, last.at);
  }

  #tried(key: string, pods: readonly Pod[]): void {
    this.#triedNow.add(key);
    this.#tries.set(key, { at: this.#now, groups: groupsOf(pods) });
  }
}

function metBy(pod: Pod, { instanceTypes }: PlannedClaim, rests: PoolRests): Met[] {
  const group = groupOf(pod);
  const own = rests.byGroup.get(group);
  const size = instanceTypes[0]?.name;
  const isMet = ({ causes }: RestByCause): boolean =>
    causes.some((cause) => concerns(cause, pod, size));
  const met = [...rests.byCause].filter(([, rest]) => isMet(rest));
  return [
    ...(own ? [{ key: `group ${group}`, rest: own }] : []),
    ...met.map(([key, rest]) => ({ key: `cause ${key}`, rest })),
  ];
}

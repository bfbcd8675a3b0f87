import type { KubeClient } from '#kube/client/client.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { minutes } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { isRevisionLost, lostRevision } from '../steps/lost-revision.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import { isStillWanted } from '../steps/still-wanted.ts';
import { podTrouble } from './pod-trouble.ts';
import type { KraftletRelease } from './release.ts';
import { kraftletRuns } from './running.ts';

/** A Kraftlet that does not run is looked after this often, besides whenever something changes. */
const often = minutes(1);

export interface KraftletUpkeepParts {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, 'statefulSets' | 'pods'>;
  readonly recorder: EventRecorder;
  readonly release: KraftletRelease;
  readonly machines: Machines;
}

/**
 * A Kraftlet that was ready once is kept so: what somebody deleted of its release is made again. While Kraftlet runs
 * this costs a look into a cache and nothing else.
 *
 * A StatefulSet says by its ready Pods that the rest is there too, as far as it matters; once it has none, or is gone,
 * the API server is asked for each object. Only those that are missing are applied, so nobody's Kraftlet is restarted.
 */
export class KraftletUpkeep implements Step {
  readonly #parts: KraftletUpkeepParts;

  constructor(parts: KraftletUpkeepParts) {
    this.#parts = parts;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const { caches } = this.#parts;
    if (kraftletRuns(caches, hand.identity.claimUid)) return done();
    const [set] = caches.statefulSets.by(by.claimUid, hand.identity.claimUid);
    if (isRevisionLost(hand)) return wait({ after: often, ...lostRevision(hand), failed: true });
    if (set?.metadata.deletionTimestamp !== undefined) return this.#notReady(hand); // until it is gone
    return (await this.#restore(hand, signal)) ?? this.#notReady(hand);
  }

  /** @returns why it cannot be restored, if it cannot */
  async #restore(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome | undefined> {
    const { client, release, machines, recorder } = this.#parts;
    hand.instance ??= await machines.instance(hand, signal);
    if (hand.instance?.state !== 'running') return undefined; // its end is found out elsewhere
    const missing = await release.missing(hand, await release.render(hand, signal), signal);
    if (missing.length === 0 || !(await isStillWanted(client, hand, signal))) return undefined;
    const refused = await release.apply(missing, signal);
    if (refused) return refused;
    const message = `${kindsOf(missing)} of Kraftlet release ${hand.identity.name} had gone and is made again`;
    recorder.record({
      object: hand.claim,
      type: 'Warning',
      reason: 'KraftletReinstalled',
      message,
    });
    return undefined;
  }

  #notReady({ identity }: ClaimInHand): Outcome {
    const trouble = this.#parts.caches.pods
      .by(by.claimUid, identity.claimUid)
      .map((pod: Pod) => podTrouble(pod))
      .find((one) => one !== undefined);
    if (trouble) return wait({ after: often, ...trouble, failed: true });
    const message = `Waiting until the Pod of Kraftlet release ${identity.name} is ready again`;
    return wait({ after: often, reason: 'KraftletNotReady', message });
  }
}

/** `ServiceAccount, StatefulSet`. */
export function kindsOf(objects: readonly KubeObject[]): string {
  return [...new Set(objects.map(({ kind }) => kind))].join(', ');
}

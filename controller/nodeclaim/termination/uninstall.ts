import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { KubeObject, Live } from '#schemas/kubernetes/meta.ts';
import { pods, statefulSets, type Resource } from '#schemas/kubernetes/resource.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { by, type Caches } from '../../caches.ts';
import type { Context } from '../../context.ts';
import { releaseResources, scopeOf } from '../kraftlet/release.ts';
import { isOwnSecret } from '../machine/own-secrets.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import { isStuck } from './drainable.ts';

const installed = 'KraftletInstalled';
const uninstalled = 'Uninstalled';

/**
 * Takes the Kraftlet release down: first what runs, until its Pod is gone, for a Kraftlet still running would create
 * the Node again after it was removed; then all the rest.
 *
 * The StatefulSet is deleted in the foreground, so that it stays, and makes no Pod, until its last Pod is gone.
 */
export class Uninstall implements Step {
  readonly #client: KubeClient;
  readonly #caches: Caches;
  readonly #clock: Clock;
  readonly #namespace: string;

  constructor({ client, caches, clock, namespace }: Context) {
    this.#client = client;
    this.#caches = caches;
    this.#clock = clock;
    this.#namespace = namespace;
  }

  async run(hand: ClaimInHand): Promise<Outcome> {
    if (!hand.revision || !hand.mayHaveMachine) return done(); // never got as far as a release
    if (hand.reasonOf(installed) === uninstalled) return done();
    if (await this.#isRunning(hand)) {
      const message = `Waiting until Kraftlet ${hand.identity.name} and its Pod are gone`;
      return wait({ after: 500, reason: 'KraftletTerminating', message });
    }
    const rest = releaseResources.filter(({ plural }) => plural !== statefulSets.plural);
    await Promise.all(rest.map(async (resource) => this.#remove(hand, resource)));
    hand.set({ type: installed, status: 'False', reason: uninstalled });
    return done();
  }

  async #isRunning(hand: ClaimInHand): Promise<boolean> {
    const sets = await this.#remove(hand, statefulSets);
    if (sets.some(({ metadata }) => metadata.deletionTimestamp === undefined)) return true;
    const known = this.#caches.pods.by(by.claimUid, hand.identity.claimUid);
    if (known.some((pod) => this.#holds(pod))) return true;
    const { items } = await this.#client.list(pods, scopeOf(hand, pods)); // a cache may be late
    return items.some((pod) => this.#holds(pod));
  }

  /** A Pod long past its end is on a host that is lost, and its Kraftlet with it. */
  #holds(pod: Pod): boolean {
    return !isStuck(pod, this.#clock);
  }

  /** @returns those of this kind that were still there, as they were */
  async #remove<T extends KubeObject>(
    hand: ClaimInHand,
    resource: Resource<T>,
  ): Promise<Live<T>[]> {
    const { items } = await this.#client.list(resource, scopeOf(hand, resource));
    const parts = items.filter((object) => !this.#isOwn({ ...object, kind: resource.kind }));
    await Promise.all(parts.map(async (object) => this.#delete(resource, object)));
    return parts;
  }

  /** Kraftlet may be in the operator's namespace; what the machine is reached with goes after it. */
  #isOwn(object: KubeObject): boolean {
    return isOwnSecret(object, this.#namespace);
  }

  async #delete(resource: Resource, { metadata }: Live<KubeObject>): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const { namespace, name, uid } = metadata;
    const key = namespace === undefined ? { name } : { namespace, name };
    const isSet = resource.plural === statefulSets.plural;
    const propagationPolicy = isSet ? 'Foreground' : 'Background';
    await this.#client.delete(resource, key, { uid, propagationPolicy }).catch((error: unknown) => {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    });
  }
}

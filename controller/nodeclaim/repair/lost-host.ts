import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import type { EventRecorder } from '#kube/runtime/events.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { nodes, pods } from '#schemas/kubernetes/resource.ts';
import { annotations } from '#schemas/names.ts';
import type { Clock } from '#schemas/time/clock.ts';

import { coded } from '../../reason.ts';
import { nodeNameOf } from '../machine/machine-nodes.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { isStuck } from '../termination/drainable.ts';
import { isUnheard, type Silence } from './silence.ts';

/** An administrator's word that a node is switched off. Source: Kubernetes, "Non-graceful node shutdown handling". */
const outOfService = 'node.kubernetes.io/out-of-service';

/**
 * Lets a Kraftlet Pod go that is stuck in termination on a host that is lost: its StatefulSet makes no other one before
 * the object is gone, and only its kubelet, which is lost too, would say that it is.
 *
 * At most one Kraftlet may stand before a platform. So this is done only for a machine that answers healthy, when the
 * host is gone, switched off, or silent, and when the old Kraftlet is silent as well: neither its Node nor its Lease is
 * written any more. Should it wake up all the same, its token is worth nothing: the API server takes one that is bound to
 * a Pod only as long as the Pod is there. docs/adr/0027 has the reasons, and what is left of the risk.
 */
export class LostHost {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #recorder: EventRecorder;
  readonly #silence: Silence;

  constructor(client: KubeClient, clock: Clock, recorder: EventRecorder, silence: Silence) {
    this.#client = client;
    this.#clock = clock;
    this.#recorder = recorder;
    this.#silence = silence;
  }

  /** The proof is taken from the API server itself, and anything that changes the Pod after it was read undoes it. */
  async release(hand: ClaimInHand, pod: Live<Pod>, signal: AbortSignal): Promise<void> {
    if (!isStuck(pod, this.#clock) || !(await this.#isQuiet(hand, signal))) return;
    const lost = await this.#lost(pod.spec?.nodeName ?? '', signal);
    if (lost === undefined || !(await this.#force(pod))) return;
    const { name } = pod.metadata;
    const message = `Kraftlet Pod ${name} was stuck on host ${pod.spec?.nodeName}, which ${lost}; it is let go, and another one starts`;
    this.#recorder.record({
      object: hand.claim,
      type: 'Warning',
      reason: 'KraftletReleased',
      message: coded(message, 'KPU370'),
    });
  }

  async #isQuiet(hand: ClaimInHand, signal: AbortSignal): Promise<boolean> {
    const node = await this.#node(nodeNameOf(hand), signal);
    if (!node || node.metadata.annotations?.[annotations.doNotRepair] === 'true') return false;
    return this.#silence.lasts(node, signal);
  }

  /** @returns false when its host has come back, and so changed it or let it go */
  async #force({ metadata }: Live<Pod>): Promise<boolean> {
    const { namespace = '', name, uid, resourceVersion } = metadata;
    const options = { uid, resourceVersion, gracePeriodSeconds: 0 };
    try {
      await this.#client.delete(pods, { namespace, name }, options);
      return true;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return false;
      throw error;
    }
  }

  /** @returns what has become of the host; undefined while its kubelet is there, which ends the Pod by itself */
  async #lost(name: string, signal: AbortSignal): Promise<string | undefined> {
    const host = await this.#node(name, signal);
    if (!host) return 'is gone';
    if (host.spec?.taints?.some(({ key }) => key === outOfService)) return 'is out of service';
    return isUnheard(host) ? 'has not been heard of' : undefined;
  }

  async #node(name: string, signal: AbortSignal): Promise<Live<Node> | undefined> {
    return this.#client.get(nodes, { name }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    });
  }
}

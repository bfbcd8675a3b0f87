import { MachineError } from '#machine/errors.ts';
import type { Instance } from '#machine/machine.ts';
import type { Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { keyText, nodes } from '#schemas/kubernetes/resource.ts';
import { labels, taints } from '#schemas/names.ts';
import { seconds } from '#schemas/time/clock.ts';

import { by } from '../../caches.ts';
import type { Context } from '../../context.ts';
import type { Freshest } from '../../freshest.ts';
import { invisible } from '../machine/invisible.ts';
import { isOpen, nodeNameOf, nodesOf } from '../machine/machine-nodes.ts';
import type { Machines } from '../machine/machines.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import { done, wait, type Outcome, type Step } from '../steps/step.ts';
import { isInTheWay } from './drainable.ts';
import type { Eviction } from './eviction.ts';

/**
 * Empties the Node while Kraftlet still runs: only Kraftlet can end guests in order and let their Pods go. Where the
 * instance has ended by itself there is nothing left to end in order, and its Pods are released without asking.
 *
 * Source: Karpenter v1.15, pkg/controllers/node/termination.
 */
export class Drain implements Step {
  readonly condition = 'Drained';
  readonly #context: Context;
  readonly #nodes: Freshest<Node>;
  readonly #machines: Machines;
  readonly #eviction: Eviction;

  constructor(
    context: Context,
    parts: { nodes: Freshest<Node>; machines: Machines; eviction: Eviction },
  ) {
    this.#context = context;
    this.#nodes = parts.nodes;
    this.#machines = parts.machines;
    this.#eviction = parts.eviction;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    const { caches, clock } = this.#context;
    const node = nodesOf(caches, hand).find(isOpen);
    if (node) await this.#close(this.#nodes.get(node.metadata.name) ?? node);
    else if (!hand.is('Registered')) return done(); // a Node that never opened holds nobody
    const left = caches.pods.by(by.node, nodeNameOf(hand)).filter((pod) => isInTheWay(pod, clock));
    if (left.length === 0 || (await this.#hasEnded(hand, signal))) return done();
    const pushed = left.map(async (pod) => ({ pod, why: await this.#eviction.push(hand, pod) }));
    const message = waitingText(await Promise.all(pushed));
    return wait({ after: seconds(1), reason: 'Draining', message });
  }

  /** No new Pods, no traffic from outside. */
  async #close(node: Live<Node>): Promise<void> {
    const current = node.spec?.taints ?? [];
    if (current.some(({ key }) => key === taints.disrupted.key)) return;
    const { name, resourceVersion } = node.metadata;
    const body = {
      metadata: { resourceVersion, labels: { [labels.excludeFromLoadBalancers]: 'karpenter' } },
      spec: { taints: [...current, taints.disrupted] },
    };
    const patch = { type: 'merge', body } as const;
    this.#nodes.wrote(await this.#context.client.patch(nodes, { name }, patch));
  }

  /** A cloud that cannot be asked proves nothing, so Pods are then evicted as from a machine that lives. */
  async #hasEnded(hand: ClaimInHand, signal: AbortSignal): Promise<boolean> {
    if (!hand.revision || hand.status.providerID === undefined) return false;
    try {
      const instance = await this.#machines.instance(hand, signal);
      if (instance) return !isOn(instance);
      const { clock } = this.#context;
      if (clock.now() - (hand.since('Launched') ?? clock.now()) <= invisible) return false;
      const untagged = await this.#machines.untagged(hand, signal);
      return untagged === undefined || !isOn(untagged);
    } catch (error) {
      if (!(error instanceof MachineError)) throw error;
      return false;
    }
  }
}

function isOn({ state }: Instance): boolean {
  return state === 'running' || state === 'pending';
}

interface Left {
  readonly pod: Live<Pod>;
  /** What holds it. */
  readonly why: string | undefined;
}

/** `Waiting for Pods to leave: a, b, c, … (5 in all). b cannot leave yet: …`; the first one that is held tells why. */
function waitingText(left: readonly Left[]): string {
  const names = left.slice(0, 3).map(({ pod }) => keyText(pod.metadata));
  const more = left.length > 3 ? `, … (${left.length} in all)` : '';
  const held = left.find(({ why }) => why !== undefined);
  const why = held ? `. ${keyText(held.pod.metadata)} cannot leave yet: ${held.why}` : '';
  return `Waiting for Pods to leave: ${names.join(', ')}${more}${why}`;
}

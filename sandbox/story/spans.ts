import type { Informer } from '#kube/cache/informer.ts';
import { getCondition } from '#kube/conditions.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { MachineSpan } from '../world/writes.ts';

/** Remembers of each claim that became a Node when that was, also when the claim is gone. */
export class Spans {
  readonly #spans = new Map<string, MachineSpan>();

  constructor(claims: Informer<NodeClaim>) {
    const look = (claim: Live<NodeClaim>): void => this.#look(claim);
    claims.subscribe({ add: look, update: look });
  }

  get all(): readonly MachineSpan[] {
    return [...this.#spans.values()];
  }

  #look({ metadata, status }: Live<NodeClaim>): void {
    const initialized = getCondition(status?.conditions, 'Initialized');
    const { nodeName, conditions: _ } = status ?? {};
    const at = initialized?.lastTransitionTime;
    if (initialized?.status !== 'True' || at === undefined || nodeName === undefined) return;
    if (this.#spans.has(metadata.uid)) return;
    this.#spans.set(metadata.uid, { claim: metadata.name, node: nodeName, initializedAt: at });
  }
}

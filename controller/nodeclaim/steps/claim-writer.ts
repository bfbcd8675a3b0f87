import type { KubeClient } from '#kube/client/client.ts';
import { isConflict, isNotFound } from '#kube/client/errors.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

import type { Freshest } from '../../freshest.ts';
import { patchStatus } from '../../status-patch.ts';
import type { ClaimInHand } from './claim-in-hand.ts';

interface MetadataChange {
  readonly labels?: Readonly<Record<string, string>>;
  /** null takes an annotation away. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly finalizers?: readonly string[];
}

/**
 * All writes of the chains to a NodeClaim. Each one carries the resourceVersion that was read, so that what another
 * controller wrote meanwhile (conditions are one list) is never overwritten: the loser looks again.
 */
export class ClaimWriter {
  readonly #client: KubeClient;
  readonly #claims: Freshest<NodeClaim>;

  constructor(client: KubeClient, claims: Freshest<NodeClaim>) {
    this.#client = client;
    this.#claims = claims;
  }

  /** Changes metadata now, before the chain goes on: what must be known before the next act. */
  async stamp(hand: ClaimInHand, change: MetadataChange): Promise<void> {
    const { name, resourceVersion } = hand.claim.metadata;
    const body = { metadata: { resourceVersion, ...change } };
    this.#took(hand, await this.#client.patch(nodeClaims, { name }, { type: 'merge', body }));
  }

  /** Writes the draft of the status, if it says anything new. */
  async status(hand: ClaimInHand): Promise<void> {
    hand.conclude();
    this.#took(hand, await patchStatus(this.#client, nodeClaims, hand.claim, hand.status));
  }

  /** Asks for the claim's end; its termination chain does the rest. A claim that is gone already is fine. */
  async delete(hand: ClaimInHand): Promise<void> {
    const { name, uid } = hand.claim.metadata;
    await this.#client.delete(nodeClaims, { name }, { uid }).catch(ignoreGone);
  }

  #took(hand: ClaimInHand, claim: Live<NodeClaim>): void {
    hand.claim = claim;
    this.#claims.wrote(claim);
  }
}

/** The object, or the one of that UID, is not there any more: what was asked for is so. */
function ignoreGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}

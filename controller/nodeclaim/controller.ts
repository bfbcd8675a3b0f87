import { isConflict } from '#kube/client/errors.ts';
import type { Reconciler, Result } from '#kube/runtime/reconciler.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import { milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';

import type { Context } from '../context.ts';
import type { Freshest } from '../freshest.ts';
import type { Revisions } from '../nodeclass/revisions.ts';
import { isOurs } from '../ours.ts';
import { Launching } from './launching.ts';
import type { LostNode } from './lost-node.ts';
import type { NodeClaimMetrics } from './metrics.ts';
import { ClaimInHand, type StampedRevision } from './steps/claim-in-hand.ts';
import type { ClaimWriter } from './steps/claim-writer.ts';
import type { Step } from './steps/step.ts';
import { Telling } from './telling.ts';
import { Terminating } from './terminating.ts';

/** Who wrote last is read again; these bound how fast and how slowly that can turn. */
const soon = milliseconds(100);
const longest = seconds(5);

export interface Chains {
  readonly launch: readonly Step[];
  readonly upkeep: readonly Step[];
  readonly termination: readonly Step[];
}

/**
 * Leads each NodeClaim of ours through its life: the launch chain until its Node is initialised, then its upkeep, and
 * the termination chain once it is deleted. All that is known between two passes stands in the API and in the clouds.
 */
export class NodeClaimController implements Reconciler {
  readonly #context: Context;
  readonly #claims: Freshest<NodeClaim>;
  readonly #revisions: Revisions;
  readonly #launching: Launching;
  readonly #terminating: Terminating;

  constructor(
    context: Context,
    parts: {
      claims: Freshest<NodeClaim>;
      revisions: Revisions;
      writer: ClaimWriter;
      metrics: NodeClaimMetrics;
      lostNode: LostNode;
      chains: Chains;
    },
  ) {
    this.#context = context;
    this.#claims = parts.claims;
    this.#revisions = parts.revisions;
    const { writer, metrics, lostNode, chains } = parts;
    const telling = new Telling(context.recorder, writer);
    this.#launching = new Launching(context, { writer, telling, metrics, lostNode, chains });
    const chain = chains.termination;
    this.#terminating = new Terminating(context, { writer, telling, metrics, chain });
  }

  /** @param key name of a NodeClaim */
  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const claim = this.#claims.get(key);
    if (!claim || !isOurs(claim)) return {};
    const { clusterUid, clock } = this.#context;
    const hand = new ClaimInHand(claim, this.#stampedRevision(claim), clusterUid, clock);
    const isWanted = claim.metadata.deletionTimestamp === undefined;
    try {
      return await (isWanted ? this.#launching : this.#terminating).pass(hand, signal);
    } catch (error) {
      if (isConflict(error)) return { requeueAfter: pauseOf(hand) }; // somebody else wrote: look again
      throw error;
    }
  }

  #stampedRevision(claim: Live<NodeClaim>): StampedRevision | undefined {
    const name = claim.metadata.annotations?.[annotations.revision];
    if (name === undefined) return undefined;
    const nodeClass = this.#revisions.get(name);
    return nodeClass && { name, nodeClass };
  }
}

/** Conflicts end once the cache has seen the other's write; while its watch is down they would not for long. */
function pauseOf({ unmovedFor }: ClaimInHand): Duration {
  return Math.min(longest, Math.max(soon, unmovedFor / 20));
}

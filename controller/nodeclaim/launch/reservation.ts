import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { annotations, labels, onDemand } from '#schemas/names.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import { quantityProblem } from '#schemas/quantity/quantity.ts';
import type { MachineCap } from '#schemas/quotapolicy/ceilings.ts';
import type { Clock } from '#schemas/time/clock.ts';

import type { Caches } from '../../caches.ts';
import type { Catalog, Offer } from '../../catalog.ts';
import type { Denied } from '../../reservations/ledger.ts';
import type { Reservations } from '../../reservations/reservations.ts';
import type { ClaimInHand } from '../steps/claim-in-hand.ts';
import type { ClaimWriter } from '../steps/claim-writer.ts';
import { intentText } from '../steps/intent.ts';
import { done, end, type End, type Outcome, type Step } from '../steps/step.ts';
import { candidatesFor, type PricedCandidate } from './candidates.ts';

/**
 * Chooses what to try (size, zone, subnet), takes its capacity out of the pool's limits, and writes both down, so
 * that a claim without a reservation never reaches the cloud and a restart goes on with the same try.
 */
export class Reservation implements Step {
  readonly waitsIn = 'Launched';
  readonly #caches: Caches;
  readonly #catalog: Catalog;
  readonly #reservations: Reservations;
  readonly #writer: ClaimWriter;
  readonly #clock: Clock;

  constructor(
    caches: Caches,
    catalog: Catalog,
    reservations: Reservations,
    writer: ClaimWriter,
    clock: Clock,
  ) {
    this.#caches = caches;
    this.#catalog = catalog;
    this.#reservations = reservations;
    this.#writer = writer;
    this.#clock = clock;
  }

  async run(hand: ClaimInHand, signal: AbortSignal): Promise<Outcome> {
    if (hand.is('Launched') || (hand.intent && hand.revision)) return done();
    if (hand.mayHaveMachine) return end(unreadable);
    const problem = requestsProblem(hand.claim);
    if (problem !== undefined) return end(malformed(problem));
    const offer = await this.#catalog.offer(hand.identity.nodeClass, signal);
    if (!offer) return end(notReady(hand));
    const { ceilings } = this.#reservations;
    const of = ceilings.membershipOf(hand.claim);
    const cap = ceilings.capOf(of);
    const [candidate] = candidatesFor(hand.claim, ceilings.under(offer, of));
    if (!candidate) return end(noCapacity(hand));
    const refusal = await this.#reserve(hand, candidate);
    if (refusal) return refusal;
    await this.#write(hand, offer, candidate, cap);
    return done();
  }

  /** A claim without a pool has only policies to keep to; one whose pool is gone has limits that nobody knows. */
  async #reserve(hand: ClaimInHand, { type }: PricedCandidate): Promise<Outcome | undefined> {
    const { nodePool } = hand.identity;
    const pool = nodePool === undefined ? undefined : this.#caches.nodePools.get(nodePool);
    if (nodePool !== undefined && (!pool || pool.metadata.deletionTimestamp !== undefined)) {
      return end(poolGone(nodePool));
    }
    const answer = await this.#reservations.reserve(pool, hand.claim, type.capacity);
    return answer.granted ? undefined : end(limitReached(answer, nodePool));
  }

  async #write(
    hand: ClaimInHand,
    offer: Offer,
    chosen: PricedCandidate,
    cap: MachineCap,
  ): Promise<void> {
    const intent = { ...chosen.candidate, attempt: 1, since: this.#clock.stamp(), cap };
    await this.#writer.stamp(hand, {
      annotations: {
        [annotations.revision]: offer.revision,
        [annotations.intent]: intentText(intent),
      },
      labels: {
        ...chosen.type.labels,
        [labels.zone]: chosen.candidate.zone,
        [labels.region]: placeOf(offer.nodeClass.spec)?.region ?? '',
        [labels.capacityType]: onDemand,
        [labels.nodeClass]: hand.identity.nodeClass,
      },
    });
    hand.revision = { name: offer.revision, nodeClass: offer.nodeClass };
    hand.intentIsNew = true;
  }
}

/** Somebody wrote over it: another one beside it could mean two machines. */
const unreadable: End = {
  metric: 'launch_timeout',
  reason: 'LaunchIntentUnreadable',
  message:
    'The launch intent on the claim cannot be read, so nobody knows what was launched; the claim ends with all ' +
    'that carries its tag, and another one is made (KPU314)',
};

/** Karpenter's schema lets pass what is no number to reckon with, such as `1e1.5`. */
function requestsProblem({ spec }: NodeClaim): string | undefined {
  const [first] = Object.entries(spec.resources?.requests ?? {}).flatMap(([resource, text]) => {
    const problem = quantityProblem(text);
    return problem === undefined ? [] : [`spec.resources.requests.${resource}: ${problem}`];
  });
  return first;
}

function malformed(problem: string): End {
  const message = `${problem} The claim is deleted unlaunched (KPU319)`;
  return { metric: 'invalid', reason: 'InvalidNodeClaim', message };
}

function limitReached(denied: Denied, nodePool: string | undefined): End {
  const { resource, limit, use, policy } = denied;
  const [owner, code] =
    policy === undefined
      ? [`NodePool ${nodePool}`, 'KPU340']
      : [`UnikraftQuotaPolicy ${policy}`, 'KPU341'];
  return {
    metric: 'limit_reached',
    reason: 'LimitReached',
    message:
      `${owner} is at its limit of ${limit} ${resource} (${use} in use); ` +
      `the claim is deleted unlaunched (${code})`,
  };
}

function poolGone(name: string): End {
  const message = `NodePool ${name} is gone, and its limits with it; the claim is deleted unlaunched (KPU340)`;
  return { metric: 'limit_reached', reason: 'NodePoolNotFound', message };
}

function notReady({ identity }: ClaimInHand): End {
  const message = `UnikraftNodeClass ${identity.nodeClass} has no revision that can launch; its conditions say why (KPU318)`;
  return { metric: 'nodeclass_not_ready', reason: 'NodeClassNotReady', message };
}

/** The cloud's last words tell a stockout from a quota of the account, which only a person can raise. */
function noCapacity({ claim, refusal }: ClaimInHand): End {
  const types =
    claim.spec.requirements.find(({ key }) => key === labels.instanceType)?.values ?? [];
  const message =
    `No capacity now for any size this claim may have (${types.slice(0, 5).join(', ')}${types.length > 5 ? ', …' : ''}); ` +
    `${refusal === undefined ? '' : `the last answer was "${refusal.message}"; `}` +
    `the claim is deleted and the scheduler decides anew (${refusal?.code ?? 'KPU310'})`;
  return { metric: 'insufficient_capacity', reason: 'InsufficientCapacityError', message };
}

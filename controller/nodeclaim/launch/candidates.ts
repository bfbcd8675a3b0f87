import type { Candidate } from '#machine/machine.ts';
import {
  conflictOf,
  fromLabels,
  fromSelector,
  type Requirements,
} from '#scheduling/requirements.ts';
import type { InstanceType, Offering } from '#schemas/instances/instance-type.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import { labels, onDemand } from '#schemas/names.ts';
import { placeOf } from '#schemas/nodeclass/place.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { fits } from '#schemas/quantity/resources.ts';

import type { Offer } from '../../catalog.ts';
import { WorkedOut } from '../../worked-out.ts';

export interface PricedCandidate {
  readonly type: InstanceType;
  readonly candidate: Pick<Candidate, 'instanceType' | 'zone' | 'subnet' | 'metal'>;
  /** USD per hour; Infinity when it is not known, so that known prices come first. */
  readonly price: number;
}

/**
 * What a claim may try now, cheapest first: sizes its requirements allow and its Pods fit on, in zones where they
 * are sold, are thought to have capacity, and the node class has a subnet. Equal prices go by name, so that a
 * restart chooses alike.
 */
export function candidatesFor(claim: NodeClaim, offer: Offer): readonly PricedCandidate[] {
  const { spec, subnets } = offer.nodeClass;
  const { requirements, resources } = claim.spec;
  const question = JSON.stringify([
    requirements,
    resources?.requests,
    placeOf(spec)?.region,
    subnets,
  ]);
  return candidates.of(offer.instanceTypes, question, () => workOut(claim, offer));
}

/** Claims of one plan ask alike, and none of a thousand sizes changes between them: a millisecond for each otherwise. */
const candidates = new WorkedOut<readonly PricedCandidate[]>();

function workOut(claim: NodeClaim, { instanceTypes, nodeClass }: Offer): PricedCandidate[] {
  const asked = fromSelector(claim.spec.requirements);
  const requests = claim.spec.resources?.requests ?? {};
  const named = asked.get(labels.instanceType); // most claims name some sixty of a thousand
  return instanceTypes
    .filter((type) => (named?.has(type.name) ?? true) && fits(requests, type.capacity))
    .flatMap((type) =>
      type.offerings
        .filter((offering) => offering.available && allows(asked, type, offering, nodeClass))
        .flatMap((offering) => priced(type, offering, nodeClass)),
    )
    .toSorted((a, b) => a.price - b.price || compare(nameOf(a), nameOf(b)));
}

function allows(
  asked: Requirements,
  type: InstanceType,
  { zone }: Offering,
  { spec }: ResolvedNodeClass,
): boolean {
  const offered = fromLabels({
    ...type.labels,
    [labels.zone]: zone,
    [labels.region]: placeOf(spec)?.region ?? '',
    [labels.capacityType]: onDemand,
  });
  return conflictOf(offered, onlyOffered(asked, offered)) === undefined;
}

/** Custom labels and the pool's name are the claim's own to fulfil, not the machine's. */
function onlyOffered(asked: Requirements, offered: Requirements): Requirements {
  return new Map([...asked].filter(([key]) => offered.has(key)));
}

function priced(
  type: InstanceType,
  { zone, price = Number.POSITIVE_INFINITY }: Offering,
  { subnets }: ResolvedNodeClass,
): PricedCandidate[] {
  const subnet = subnets.find((one) => one.zone === zone);
  if (!subnet) return [];
  const { metal } = type.machine;
  return [{ type, price, candidate: { instanceType: type.name, zone, subnet: subnet.id, metal } }];
}

function nameOf({ candidate }: PricedCandidate): string {
  return `${candidate.instanceType}/${candidate.zone}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

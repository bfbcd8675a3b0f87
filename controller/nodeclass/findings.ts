import type { ConditionChange } from '#kube/conditions.ts';
import type { ResolvedPlacement } from '#machine/cloud/provider.ts';

import type { Caution } from './cautions.ts';
import type { Placed } from './placement.ts';
import { reachIn } from './reach.ts';
import type { Aspect, Trouble } from './trouble.ts';

/** What the newest spec of a node class was found to stand on. */
export interface Findings {
  /** What was looked at and found good; conditions of which nothing is known are in neither list. */
  readonly good: readonly Aspect[];
  readonly troubles: readonly Trouble[];
  /** Of what was found good. */
  readonly cautions: readonly Caution[];
  /** Whether the cloud answers, where that is known. */
  readonly reach?: ConditionChange | undefined;
  readonly placement?: ResolvedPlacement;
  readonly dnsZoneID?: string;
  /** Fingerprint of what the user gave to make machines' certificates from. */
  readonly certificate?: string;
}

/** What came of a check. */
export interface Answered<T> {
  readonly aspect: Aspect;
  readonly value?: T;
  readonly trouble?: Trouble;
}

/** What is worth keeping of the answers. */
interface Resolved {
  readonly placement: Answered<Placed>;
  readonly zone: Answered<string>;
  readonly certificate: Answered<string | undefined>;
}

/** @param rest  checks whose answer is only that all is well */
export function findingsOf(
  resolved: Resolved,
  rest: readonly Answered<void>[],
): Omit<Findings, 'cautions'> {
  const { placement, zone, certificate } = resolved;
  const troubles = [placement, zone, certificate, ...rest].flatMap(({ trouble }) => trouble ?? []);
  const looked: Aspect[] = ['ValidationSucceeded', ...placementAspects(placement)];
  const asked = [zone, certificate, ...rest].map(({ aspect }) => aspect);
  const bad = new Set(troubles.map(({ condition }) => condition));
  return {
    good: [...new Set([...looked, ...asked])].filter(
      (aspect) => !bad.has(aspect) && (aspect !== 'CredentialsReady' || looked.includes(aspect)),
    ),
    troubles,
    reach: reachIn(placement),
    ...(placement.value && { placement: placement.value.placement }),
    ...(zone.value !== undefined && { dnsZoneID: zone.value }),
    ...(certificate.value !== undefined && { certificate: certificate.value }),
  };
}

/** What the cloud's answer proves: it takes our credentials even when it knows no such image. */
function placementAspects({ value, trouble }: Answered<Placed>): Aspect[] {
  if (value) return ['CredentialsReady', 'ImageReady', 'PlacementReady'];
  const answered = trouble?.condition === 'ImageReady' || trouble?.condition === 'PlacementReady';
  return answered ? ['CredentialsReady'] : [];
}

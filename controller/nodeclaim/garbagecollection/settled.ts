import { getCondition } from '#kube/conditions.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations } from '#schemas/names.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { parseProviderID } from '#schemas/provider-id.ts';

import type { Context } from '../../context.ts';
import type { Revisions } from '../../nodeclass/revisions.ts';
import { isOurs } from '../../ours.ts';
import { invisible } from '../machine/invisible.ts';

/** Claims whose machines are of one revision of a node class, and so in one region of one account. */
export interface Fleet {
  readonly nodeClass: ResolvedNodeClass;
  /** By the id of their instance. */
  readonly claims: ReadonlyMap<string, Live<NodeClaim>>;
}

/** Claims that stay and whose instance every list must show by now. Those whose revision is lost cannot be judged. */
export function settledFleets(context: Context, revisions: Pick<Revisions, 'get'>): Fleet[] {
  const settled = context.caches.nodeClaims.list().filter((claim) => isSettled(claim, context));
  const byRevision = Map.groupBy(settled, revisionOf);
  return [...byRevision].flatMap(([name, claims]) => {
    const nodeClass = name === undefined ? undefined : revisions.get(name);
    if (!nodeClass) return [];
    const ids = claims.map((claim) => [instanceOf(claim), claim] as const);
    return [{ nodeClass, claims: new Map(ids.filter(([id]) => id !== '')) }];
  });
}

function isSettled(claim: Live<NodeClaim>, { clock }: Context): boolean {
  if (!isOurs(claim) || claim.metadata.deletionTimestamp !== undefined) return false;
  const launched = getCondition(claim.status?.conditions, 'Launched');
  if (launched?.status !== 'True' || launched.lastTransitionTime === undefined) return false;
  return clock.now() - clock.from(launched.lastTransitionTime) > invisible;
}

function revisionOf({ metadata }: Live<NodeClaim>): string | undefined {
  return metadata.annotations?.[annotations.revision];
}

function instanceOf({ status }: Live<NodeClaim>): string {
  return parseProviderID(status?.providerID ?? '')?.id ?? '';
}

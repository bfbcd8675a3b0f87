import { getCondition } from '#kube/conditions.ts';
import { seconds, type Duration } from '#schemas/time/clock.ts';

import { by } from '../caches.ts';
import type { Context } from '../context.ts';

/** The scheduler's own longest back-off is 10 s; twice that, and a Pod that is not bound will not be. */
export const bindingGrace: Duration = seconds(20);

/**
 * Whether `status.nominatedNodeName` still means that the Pod will go to that Node, so that no machine is needed.
 *
 * Since 1.34 kube-scheduler keeps a nomination that came to nothing, so its word alone would hide a Pod for ever. It
 * is believed while the Node is there and stays, and, on a machine of ours, until the scheduler had its time
 * or, where the Pod preempts others, until those are gone.
 */
export function isLiveNomination(context: Context, nodeName: string | undefined): boolean {
  const node = context.caches.nodes.get(nodeName ?? '');
  if (!node || node.metadata.deletionTimestamp !== undefined) return false;
  return (
    !isOpenForLong(context, node.spec?.providerID) || hasLeavingPods(context, node.metadata.name)
  );
}

function isOpenForLong({ caches, clock }: Context, providerID: string | undefined): boolean {
  const [claim] = caches.nodeClaims.by(by.providerID, providerID ?? '');
  const opened = getCondition(claim?.status?.conditions, 'Initialized');
  if (opened?.status !== 'True') return false;
  return clock.now() - clock.from(opened.lastTransitionTime ?? clock.stamp()) > bindingGrace;
}

function hasLeavingPods({ caches }: Context, nodeName: string): boolean {
  return caches.pods
    .by(by.node, nodeName)
    .some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

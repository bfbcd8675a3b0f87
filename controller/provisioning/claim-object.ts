import { wellKnown } from '#scheduling/requirements.ts';
import type { PlannedClaim } from '#scheduling/solver.ts';
import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Pod } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { annotations, finalizers, labels } from '#schemas/names.ts';

import { hashVersion, nodePoolHash } from '../nodepool/hash.ts';
import { madeFor } from './breaker/made-for.ts';

/**
 * The NodeClaim of a planned machine, as upstream writes it: owned by its pool, stamped with the template's hash, and
 * held by the finalizer from birth, so that no machine is ever left without its claim.
 *
 * @param pods  those that it is for
 */
export function claimFor(
  plan: PlannedClaim,
  pool: Live<NodePool>,
  pods: readonly Pod[],
): NodeClaim {
  const { metadata, spec } = pool.spec.template;
  const { apiVersion = 'karpenter.sh/v1', kind = 'NodePool' } = pool;
  const { name, uid } = pool.metadata;
  return {
    metadata: {
      generateName: `${name}-`,
      labels: {
        ...metadata?.labels,
        ...customLabels(plan),
        [labels.nodePool]: name,
        [labels.nodeClass]: spec.nodeClassRef.name,
      },
      annotations: {
        ...metadata?.annotations,
        [annotations.nodePoolHash]: nodePoolHash(pool),
        [annotations.nodePoolHashVersion]: hashVersion,
        ...madeFor(pool, pods),
        ...(plan.isMinValuesRelaxed && { [annotations.minValuesRelaxed]: 'true' }),
      },
      finalizers: [finalizers.termination],
      ownerReferences: [{ apiVersion, kind, name, uid, blockOwnerDeletion: true }],
    },
    spec: {
      ...spec,
      requirements: [...plan.requirements],
      resources: { requests: plan.requests },
    },
  };
}

/** The solver has left every custom requirement that a Pod counts on with one value: the Node's label. */
function customLabels({ requirements }: PlannedClaim): Record<string, string> {
  const single = requirements.flatMap(({ key, operator, values = [] }) =>
    !wellKnown.has(key) && operator === 'In' && values.length === 1 ? [[key, values[0]]] : [],
  );
  return Object.fromEntries(single) as Record<string, string>;
}

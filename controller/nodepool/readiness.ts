/**
 * Whether a pool's node class can give it machines, as the condition NodeClassReady.
 *
 * Source: Karpenter v1.15, pkg/controllers/nodepool/readiness.
 */
import { getCondition, rootType, type ConditionChange } from '#kube/conditions.ts';
import type { Condition } from '#schemas/kubernetes/meta.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';

export function nodeClassReady(
  name: string,
  nodeClass: UnikraftNodeClass | undefined,
): ConditionChange {
  if (!nodeClass) {
    return not('NodeClassNotFound', `UnikraftNodeClass "${name}" does not exist (KPU201)`);
  }
  if (nodeClass.metadata?.deletionTimestamp !== undefined) {
    return not('NodeClassTerminating', `UnikraftNodeClass "${name}" is being deleted (KPU202)`);
  }
  const ready = getCondition(nodeClass.status?.conditions, rootType);
  if (!ready || ready.status === 'Unknown') {
    const detail = ready?.message || 'it has not been looked at yet';
    return not('NodeClassReadinessUnknown', `UnikraftNodeClass "${name}": ${detail}`);
  }
  return copied(name, ready);
}

/** The reason of a plain True is the condition's own type; any other one is worth showing here too. */
function copied(name: string, { status, reason, message }: Condition): ConditionChange {
  return {
    type,
    status,
    ...(reason !== undefined && reason !== rootType && { reason }),
    ...(message && { message: `UnikraftNodeClass "${name}": ${message}` }),
  };
}

const type = 'NodeClassReady';

function not(reason: string, message: string): ConditionChange {
  return { type, status: 'False', reason, message };
}

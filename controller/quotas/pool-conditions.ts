import type { ConditionChange } from '#kube/conditions.ts';
import type { NodePool } from '#schemas/karpenter/types.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { isEnforced, limitsIn } from '#schemas/quotapolicy/ceilings.ts';
import { selects } from '#schemas/quotapolicy/selector.ts';

import type { ExtraConditions } from '../nodepool/controller.ts';
import type { Ceilings } from '../reservations/ceilings.ts';
import { excessOf, excessText } from './comparison.ts';

/**
 * Capped, on a pool that asks for more than a policy allows: what it asks for, what holds, and who says so. It is no
 * part of Ready. A pool that no policy ever held to anything does not carry it.
 */
export function cappedCondition(ceilings: Ceilings): ExtraConditions {
  return (pool) => {
    const texts = textsOf(pool, ceilings);
    if (texts.length > 0) {
      const message = `${texts.join('; ')} (KPU344)`;
      return [{ type: 'Capped', status: 'True', reason: 'AboveCeiling', message }];
    }
    return pool.status?.conditions?.some(({ type }) => type === 'Capped') ? [within] : [];
  };
}

const within: ConditionChange = {
  type: 'Capped',
  status: 'False',
  reason: 'WithinCeilings',
  message: '',
};

function textsOf(pool: Live<NodePool>, ceilings: Ceilings): string[] {
  const { name } = pool.metadata;
  const of = ceilings.membership(name, pool.spec.template.spec.nodeClassRef.name, pool);
  return ceilings.policies
    .filter((policy) => isEnforced(policy) && selects(policy, of))
    .toSorted((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1))
    .flatMap((policy) => {
      const excess = excessOf(pool.spec.limits, limitsIn(policy.spec.ceilings.perNodePool, policy));
      return excess.map(
        (one) => `${excessText(one)} by UnikraftQuotaPolicy ${policy.metadata?.name}`,
      );
    });
}

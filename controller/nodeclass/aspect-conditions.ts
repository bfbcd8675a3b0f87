import type { ConditionChange } from '#kube/conditions.ts';

import type { Caution } from './cautions.ts';
import type { Findings } from './findings.ts';
import type { Aspect } from './trouble.ts';

/** One condition for each thing that is known; several troubles of one condition are told together. */
export function changesFrom({ good, troubles, cautions, reach }: Findings): ConditionChange[] {
  const bad = Map.groupBy(troubles, ({ condition }) => condition);
  return [
    ...(reach ? [reach] : []),
    ...good.map((type) => well(type, cautions)),
    ...[...bad].map(([type, all]): ConditionChange => {
      const worst = all.find(({ definite }) => definite) ?? all[0];
      return {
        type,
        status: worst?.definite ? 'False' : 'Unknown',
        reason: worst?.reason ?? '',
        message: [...new Set(all.map(({ message }) => message))].join('; ').slice(0, 1024),
      };
    }),
  ];
}

function well(type: Aspect, cautions: readonly Caution[]): ConditionChange {
  const own = cautions.filter(({ condition }) => condition === type);
  const [first] = own;
  if (!first) return { type, status: 'True' };
  const message = own.map((one) => one.message).join('; ');
  return { type, status: 'True', reason: first.reason, message };
}

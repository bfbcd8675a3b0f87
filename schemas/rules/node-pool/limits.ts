import { nodePools } from '../../karpenter/types.ts';
import type { Rule } from '../rule.ts';
import { poolWith } from '../samples.ts';

const shared = {
  target: nodePools,
  operations: ['CREATE', 'UPDATE'],
  severity: 'warn',
} as const satisfies Partial<Rule>;

/** How far a pool may grow. */
export const limitRules: readonly Rule[] = [
  {
    ...shared,
    name: 'pool-has-limits',
    code: 'KPU133',
    path: 'spec',
    cel: 'has(self.replicas) || (has(self.limits) && size(self.limits) > 0)',
    message:
      'Without limits a mistake in one Deployment buys machines until the account is at its quota.',
    fix: 'Set spec.limits, for example cpu or nodes.',
    docs: 'Limits are kept exactly: a machine that would exceed one is not launched.',
    accepts: [poolWith({ limits: { nodes: '10' } }), poolWith({ limits: undefined, replicas: 3 })],
    rejects: [poolWith({ limits: undefined }), poolWith({ limits: {} })],
  },
  {
    ...shared,
    name: 'pool-limits-leave-room',
    code: 'KPU134',
    path: 'spec.limits',
    cel: "self.all(k, !isQuantity(string(self[k])) || quantity(string(self[k])).isGreaterThan(quantity('0')))",
    message: 'A limit of nothing keeps this pool from launching any machine.',
    fix: 'Raise the limit, unless the pool is to stand still.',
    docs: 'It is a usual way to switch a pool off, so it is let through.',
    accepts: [
      poolWith({ limits: { cpu: '1k', memory: '1Ti' } }),
      poolWith({ limits: { cpu: 64 as unknown as string } }),
    ],
    rejects: [
      poolWith({ limits: { cpu: '100', memory: '0Gi' } }),
      poolWith({ limits: { nodes: 0 as unknown as string } }),
      poolWith({ limits: { cpu: '-1' } }),
    ],
  },
];

import { nodeClaims, nodePools } from '../karpenter/types.ts';
import type { Rule } from './rule.ts';
import { capacityType, claim, pool } from './samples.ts';

const shared = {
  code: 'KPU101',
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
  fix: 'Add "on-demand" to the values, or remove the requirement.',
  docs: 'Machines launch on demand only. Requirements on one key all have to hold, so one that rules on-demand out is enough to rule every machine out, whatever the others say. Upstream knows no such pool as invalid: it would wait for ever.',
} as const satisfies Partial<Rule>;

/** Gt, Lt and DoesNotExist leave no capacity type at all, so only these three can leave on-demand. */
const requirement = `
  self.key != 'karpenter.sh/capacity-type' || (
    self.operator == 'In' ? has(self.values) && 'on-demand' in self.values :
    self.operator == 'NotIn' ? !has(self.values) || !('on-demand' in self.values) :
    self.operator == 'Exists')`
  .replaceAll(/\s+/g, ' ')
  .trim();

const instanceType = {
  key: 'node.kubernetes.io/instance-type',
  operator: 'In',
  values: ['spot'],
} as const;

/** The spot rule: what can never get a machine is refused when it is written, not found out at night. */
export const onDemandRules: readonly Rule[] = [
  {
    ...shared,
    name: 'pool-requirement-leaves-on-demand',
    target: nodePools,
    path: 'spec.template.spec.requirements[]',
    cel: requirement,
    message:
      'Unikraft machines launch on demand only; this NodePool allows only spot or nothing, so it would never get one.',
    accepts: [
      pool([]),
      pool([capacityType('In', 'on-demand')]),
      pool([capacityType('In', 'spot', 'on-demand')]),
      pool([capacityType('NotIn', 'spot')]),
      pool([capacityType('Exists')]),
      pool([{ ...instanceType, values: ['spot'] }]),
    ],
    rejects: [
      pool([capacityType('In', 'spot')]),
      pool([capacityType('In', 'spot', 'reserved')]),
      pool([capacityType('NotIn', 'on-demand')]),
      pool([capacityType('NotIn', 'reserved', 'on-demand')]),
      pool([capacityType('DoesNotExist')]),
      pool([capacityType('Gt', '1')]),
      pool([capacityType('Exists'), capacityType('In', 'spot')]),
      pool([capacityType('In', 'spot', 'on-demand'), capacityType('NotIn', 'on-demand')]),
    ],
  },
  {
    ...shared,
    name: 'pool-label-is-on-demand',
    target: nodePools,
    path: 'spec.template.metadata.labels',
    cel: "!('karpenter.sh/capacity-type' in self) || self['karpenter.sh/capacity-type'] == 'on-demand'",
    message:
      'Unikraft machines launch on demand only; the label karpenter.sh/capacity-type asks for another kind, so this NodePool would never get one.',
    docs: 'Labels of the template are requirements as well.',
    fix: 'Set the label karpenter.sh/capacity-type to "on-demand", or remove it.',
    accepts: [
      pool([], { team: 'spot' }),
      pool([], { 'karpenter.sh/capacity-type': 'on-demand' }),
      pool([], { constructor: 'spot', toString: 'spot' }),
    ],
    rejects: [
      pool([], { 'karpenter.sh/capacity-type': 'spot' }),
      pool([], { constructor: 'x', 'karpenter.sh/capacity-type': 'reserved' }),
    ],
  },
  {
    ...shared,
    name: 'claim-requirement-leaves-on-demand',
    target: nodeClaims,
    path: 'spec.requirements[]',
    cel: requirement,
    message:
      'Unikraft machines launch on demand only; this NodeClaim allows only spot or nothing, so it would never get one.',
    accepts: [claim([]), claim([capacityType('In', 'on-demand')])],
    rejects: [claim([capacityType('In', 'spot')]), claim([capacityType('NotIn', 'on-demand')])],
  },
];

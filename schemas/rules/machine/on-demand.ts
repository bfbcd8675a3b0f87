import { nodeClaims, nodePools } from '../../karpenter/types.ts';
import { labels, onDemand } from '../../names.ts';
import type { Rule } from '../rule.ts';
import { capacityType, claim, pool } from '../samples.ts';
import { leavesOneOf } from '../text.ts';

const shared = {
  code: 'KPU101',
  operations: ['CREATE', 'UPDATE'],
  severity: 'deny',
  fix: 'Write it as operator In with the value "on-demand", or remove the requirement.',
  docs: 'Machines launch on demand only. Requirements on one key all have to hold, so one that rules on-demand out is enough to rule every machine out, whatever the others say. Upstream knows no such pool as invalid: it would wait for ever.',
} as const satisfies Partial<Rule>;

const requirement = `self.key != '${labels.capacityType}' || ${leavesOneOf([onDemand])}`;

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
      pool([capacityType('Exists', 'on-demand')]),
      pool([{ ...instanceType, values: ['spot'] }]),
    ],
    rejects: [
      pool([capacityType('In', 'spot')]),
      pool([capacityType('In', 'spot', 'reserved')]),
      pool([capacityType('NotIn', 'on-demand')]),
      pool([capacityType('NotIn', 'reserved', 'on-demand')]),
      pool([capacityType('DoesNotExist')]),
      pool([capacityType('Gt', '1')]),
      pool([capacityType('Exists', 'spot')]),
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
    rejects: [
      claim([capacityType('In', 'spot')]),
      claim([capacityType('NotIn', 'on-demand')]),
      claim([capacityType('Exists', 'spot', 'reserved')]),
    ],
  },
  {
    ...shared,
    name: 'claim-label-is-on-demand',
    target: nodeClaims,
    path: 'metadata.labels',
    cel: "!('karpenter.sh/capacity-type' in self) || self['karpenter.sh/capacity-type'] == 'on-demand'",
    message:
      'Unikraft machines launch on demand only; the label karpenter.sh/capacity-type says another kind, so this NodeClaim would never become what it says.',
    docs: 'Labels of a claim become labels of its Node.',
    fix: 'Set the label karpenter.sh/capacity-type to "on-demand", or remove it.',
    operations: ['CREATE'],
    accepts: [claim([]), labelled('on-demand')],
    rejects: [labelled('spot'), labelled('')],
  },
  ...[
    {
      name: 'pool-asks-for-on-demand-alone',
      target: nodePools,
      path: 'spec.template.spec.requirements[]',
      accepts: [pool([capacityType('In', 'on-demand')]), pool([capacityType('Exists')])],
      rejects: [
        pool([capacityType('In', 'spot', 'on-demand')]),
        pool([capacityType('In', 'on-demand', 'reserved')]),
      ],
    },
    {
      name: 'claim-asks-for-on-demand-alone',
      target: nodeClaims,
      path: 'spec.requirements[]',
      accepts: [claim([capacityType('In', 'on-demand')])],
      rejects: [claim([capacityType('In', 'on-demand', 'spot')])],
    },
  ].map((rule): Rule => ({
    ...rule,
    code: 'KPU102',
    operations: ['CREATE', 'UPDATE'],
    severity: 'warn',
    cel: `self.key != '${labels.capacityType}' || self.operator != 'In' || !has(self.values) || !('${onDemand}' in self.values) || self.values.all(v, v == '${onDemand}')`,
    message: 'Unikraft machines launch on demand only; the other capacity types are never used.',
    fix: 'Leave only "on-demand", so that nobody counts on the price of spot.',
    docs: 'A list that was written for another provider still works, but not as cheaply as it reads.',
  })),
];

function labelled(value: string): ReturnType<typeof claim> {
  const sample = claim([]);
  return { ...sample, metadata: { ...sample.metadata, labels: { [labels.capacityType]: value } } };
}

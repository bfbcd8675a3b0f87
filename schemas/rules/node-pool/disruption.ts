import { nodePools } from '../../karpenter/types.ts';
import type { Rule } from '../rule.ts';
import { poolWith, poolWithBudgets } from '../samples.ts';
import { oneLine } from '../text.ts';

const onPools = {
  target: nodePools,
  operations: ['CREATE', 'UPDATE'],
} as const satisfies Partial<Rule>;

const none = "self.nodes.matches('^0+%?$')";
const field = '[0-9A-Za-z*?/,-]+';
/** Space of any kind, as upstream splits fields. */
const space = '[^!-~]';
const fields = [field, field, field, field, field].join(`${space}+`);
const cron = `^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|${space}*${fields}${space}*)$`;

const allDay = { schedule: '0 0 * * *', duration: '8h' } as const;

/** When machines may be taken away. A budget that cannot be read allows nothing, and none of this shows until it hurts. */
export const disruptionRules: readonly Rule[] = [
  {
    ...onPools,
    name: 'budget-lets-machines-go-at-times',
    code: 'KPU130',
    severity: 'warn',
    path: 'spec.disruption.budgets[]',
    cel: `!${none} || has(self.schedule) || (has(self.reasons) && size(self.reasons) > 0)`,
    message:
      'This budget allows no disruption at any time, so machines stay when they are empty and never get a change.',
    fix: 'Give it a schedule and duration, or reasons, or allow at least one node.',
    docs: 'Of all budgets that hold, the smallest counts. Only expiry and deletion go past it.',
    accepts: [
      poolWithBudgets({ nodes: '10%' }),
      poolWithBudgets({ nodes: '0', ...allDay }),
      poolWithBudgets({ nodes: '0', reasons: ['Underutilized'] }),
      poolWithBudgets({ nodes: '100%' }),
    ],
    rejects: [poolWithBudgets({ nodes: '0' }), poolWithBudgets({ nodes: '10%' }, { nodes: '0%' })],
  },
  {
    ...onPools,
    name: 'budget-lets-changes-through-at-times',
    code: 'KPU131',
    severity: 'warn',
    path: 'spec.disruption.budgets[]',
    cel: `!${none} || has(self.schedule) || !has(self.reasons) || !('Drifted' in self.reasons)`,
    message:
      'This budget never lets a drifted machine go, so a change of the node class or template reaches only new machines.',
    fix: 'Give it a schedule and duration, or take Drifted out of its reasons.',
    docs: 'A new image or Kraftlet release comes by replacing machines.',
    accepts: [
      poolWithBudgets({ nodes: '0', reasons: ['Empty'] }),
      poolWithBudgets({ nodes: '0', reasons: ['Drifted'], ...allDay }),
    ],
    rejects: [poolWithBudgets({ nodes: '0', reasons: ['Underutilized', 'Drifted'] })],
  },
  {
    ...onPools,
    name: 'budget-schedule-can-be-read',
    code: 'KPU132',
    severity: 'deny',
    path: 'spec.disruption.budgets[]',
    cel: `!has(self.schedule) || self.schedule.matches('${cron}')`,
    message:
      'The schedule cannot be read, and a budget that cannot be read allows no disruption at all.',
    fix: 'Write five fields of cron in UTC, or one of @hourly, @daily, @weekly, @monthly and @yearly.',
    docs: 'Seconds and time zones are not part of it. The CRD lets more pass than can be read.',
    accepts: [
      poolWithBudgets({ nodes: '1', ...allDay }),
      poolWithBudgets({ nodes: '1', schedule: '*/5 9-17 * * MON-FRI', duration: '5m' }),
      poolWithBudgets({ nodes: '1', schedule: '@daily', duration: '8h' }),
      poolWithBudgets({ nodes: '1', schedule: '0\t9  * * *', duration: '8h' }),
    ],
    rejects: [
      poolWithBudgets({ nodes: '1', schedule: 'TZ=Europe/Berlin 0 9 * * *', duration: '8h' }),
      poolWithBudgets({ nodes: '1', schedule: '@dailyish', duration: '8h' }),
      poolWithBudgets({ nodes: '1', schedule: '0 0 9 * * *', duration: '8h' }),
    ],
  },
  {
    ...onPools,
    name: 'machine-outlives-a-short-lull',
    code: 'KPU128',
    severity: 'warn',
    path: 'spec',
    cel: oneLine(`has(self.replicas) || (has(self.disruption) && has(self.disruption.consolidateAfter)
      && !self.disruption.consolidateAfter.matches('^(0+[smh])+$'))`),
    message:
      'With disruption.consolidateAfter 0s, also by default, a machine goes the moment it empties, and the next takes minutes.',
    fix: 'Set disruption.consolidateAfter to a few minutes.',
    docs: 'Between two Jobs, or while a Deployment rolls, a machine is empty for a moment.',
    accepts: [
      poolWith({ disruption: { consolidateAfter: '30s' } }),
      poolWith({ disruption: { consolidateAfter: 'Never' }, replicas: 2, limits: undefined }),
      poolWith({ disruption: { consolidateAfter: '0s' }, replicas: 2, limits: undefined }),
    ],
    rejects: [
      poolWith({ disruption: { consolidateAfter: '0s' } }),
      poolWith({ disruption: undefined }),
    ],
  },
  {
    ...onPools,
    name: 'empty-machine-goes-some-day',
    code: 'KPU129',
    severity: 'warn',
    path: 'spec',
    cel: oneLine(`has(self.replicas) || !has(self.disruption) || !has(self.disruption.consolidateAfter)
      || self.disruption.consolidateAfter != 'Never'`),
    message:
      'With disruption.consolidateAfter Never a machine stays, and is paid for, when nothing runs on it.',
    fix: 'Set disruption.consolidateAfter to a duration.',
    docs: 'Such a pool only grows until machines expire.',
    accepts: [
      poolWith({ disruption: { consolidateAfter: '1h' } }),
      poolWith({ disruption: { consolidateAfter: 'Never' }, replicas: 2, limits: undefined }),
    ],
    rejects: [poolWith({ disruption: { consolidateAfter: 'Never' } })],
  },
];

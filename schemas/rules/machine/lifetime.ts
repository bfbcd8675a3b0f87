import type { Rule } from '../rule.ts';
import { noTime } from '../text.ts';
import { forPoolsAndClaims } from './both.ts';

/** How long machines live, and how long their Pods have to end. */
export const lifetimeRules: readonly Rule[] = [
  ...forPoolsAndClaims({
    code: 'KPU125',
    severity: 'deny',
    name: 'machine-lives-for-some-time',
    path: 'expireAfter',
    cel: `!${noTime}`,
    message: 'Machines would expire the moment they are made, without end.',
    fix: 'Set expireAfter to days, such as 720h, or to Never.',
    docs: 'Expired machines are removed and made anew whatever budgets say.',
    accepts: [{ expireAfter: '720h' }, { expireAfter: 'Never' }, { expireAfter: '1h0m' }, {}],
    rejects: [{ expireAfter: '0s' }, { expireAfter: '0h0m' }],
  }),
  ...forPoolsAndClaims({
    code: 'KPU126',
    severity: 'warn',
    name: 'machine-lives-longer-than-it-takes-to-make',
    path: 'expireAfter',
    cel: "!self.matches('^0*([1-9][0-9]?s|[1-9]m|[1-9]m[0-9][0-9]?s)$')",
    message: 'A machine takes minutes to become a Node, and this lets it live for less than ten.',
    fix: 'Set expireAfter to hours or days.',
    docs: 'Most of what is paid for would be the making of machines.',
    accepts: [{ expireAfter: '10m' }, { expireAfter: '600s' }, { expireAfter: '24h' }],
    rejects: [{ expireAfter: '30s' }, { expireAfter: '9m30s' }, { expireAfter: '05m' }],
  }),
  ...forPoolsAndClaims({
    code: 'KPU127',
    severity: 'warn',
    name: 'pods-have-time-to-end',
    path: 'terminationGracePeriod',
    cel: `!${noTime}`,
    message:
      'Pods on a machine that is removed are ended at once, whatever their own grace period or budget says.',
    fix: 'Set terminationGracePeriod to what Pods may take, or remove it.',
    docs: 'It is a hard limit on draining: past it PodDisruptionBudgets do not hold.',
    accepts: [{ terminationGracePeriod: '5m' }, {}],
    rejects: [{ terminationGracePeriod: '0s' }],
  }),
];

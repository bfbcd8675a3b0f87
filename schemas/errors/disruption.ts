import type { Explanation } from './explanation.ts';

/** KPU4xx: when a machine that runs is to go. */
export const disruption = {
  KPU401: {
    title: 'A Pod, Node or claim asks not to be disrupted',
    happens: 'The machine stays, save for its expiry, a deletion by hand or its own end.',
    fix: 'Remove karpenter.sh/do-not-disrupt when the work is done.',
  },
  KPU402: {
    title: 'A PodDisruptionBudget allows no eviction',
    happens:
      'The machine stays; a drain that has begun waits, until terminationGracePeriod where it is set.',
    fix: 'Give the workload more replicas, or loosen its budget.',
  },
  KPU403: {
    title: 'The budgets of the NodePool allow no more disruption now',
    happens: 'The machine stays until the budget has room.',
    fix: 'Raise nodes in spec.disruption.budgets.',
  },
  KPU404: {
    title: 'A budget of the NodePool cannot be read',
    happens: 'It counts as zero: nothing is disrupted by choice.',
    fix: 'Correct nodes, schedule and duration of the budget that the message names.',
  },
  KPU405: {
    title: 'A drain does not come to an end',
    happens: 'The Pods that are left are named in the event, and eviction is tried again.',
    fix: 'Look at their finalizers and PodDisruptionBudgets, or set terminationGracePeriod on the NodePool.',
  },
  KPU369: {
    title: 'A machine is to be replaced for its certificate',
    happens:
      'Two thirds of the life of its certificate are over, or the Secret that it came from holds another one. Machines of a pool are replaced one at a time, within the budgets for Drifted; Drifted on the claim says why, and DisruptionBlocked what is waited for.',
    fix: 'Nothing, where it goes on. Else lift what the event names before the certificate ends: karpenter.sh/do-not-disrupt, a budget of no nodes, a node class that is not ready. After its end neither the operator nor Kraftlet believes the machine.',
  },
} as const satisfies Record<string, Explanation>;

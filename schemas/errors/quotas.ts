import type { Explanation } from './explanation.ts';

/** What comes of a UnikraftQuotaPolicy: KPU17x when an object is written, KPU34x afterwards. */
export const quotas = {
  KPU170: {
    title: 'A value is above the ceiling of a quota policy',
    happens:
      'The write is refused where the quota policies component is installed. Of what came in otherwise the controller uses the smaller value.',
    fix: 'Lower the value to the ceiling that the message names, or have the UnikraftQuotaPolicy raised.',
  },
  KPU171: {
    title: 'A value is capped by a quota policy',
    happens:
      'The write is let through with a warning. The spec stays as it is written; the controller uses the smaller value, and the status of the policy shows both.',
    fix: 'Lower the value to the ceiling that the message names, or have the UnikraftQuotaPolicy raised.',
  },
  KPU172: {
    title: 'A value is above a ceiling that is only told of',
    happens:
      'The write is let through, with a warning (Warn) or a note in the audit log (Audit). Nothing is held back.',
    fix: 'Lower the value before the UnikraftQuotaPolicy becomes Cap or Deny.',
  },
  KPU341: {
    title: 'A quota policy leaves no room',
    happens:
      'No machine is launched that would exceed it, and none that runs is ended. Condition and event LimitReached, on the NodePool and on the policy, name the resource.',
    fix: 'Have the UnikraftQuotaPolicy raised, or remove what uses it.',
  },
  KPU344: {
    title: 'A quota policy holds a NodePool to less than it asks for',
    happens:
      'Condition Capped names each limit that is asked for and the one that holds. The spec stays as it is written.',
    fix: 'Nothing has to be done. Lower spec.limits to what the policy allows to be rid of the condition, or have the policy raised.',
  },
} as const satisfies Record<string, Explanation>;

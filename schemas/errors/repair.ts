import type { Explanation } from './explanation.ts';

/** KPU3xx: a machine, or its Kraftlet, that is down. */
export const repair = {
  KPU370: {
    title: 'A Kraftlet is down, and its machine is not',
    happens:
      'The platform on the machine answers healthy, and its Node is not Ready. The machine stays, and its guests run on. The release of the Kraftlet is put back as it was rendered, its Pod is replaced every 5 minutes, and let go where it is stuck on a lost host (docs/adr/0027-at-most-one-kraftlet.md). Condition KraftletDown on the claim says what is the matter.',
    fix: 'Read the condition and the events of the claim, then the log of the Kraftlet Pod. Where a host is switched off, say so: kubectl taint nodes HOST node.kubernetes.io/out-of-service=nodeshutdown:NoExecute.',
  },
  KPU380: {
    title: 'A machine is down',
    happens:
      'Its instance runs, and its platform does not answer, which is tolerated for 10 minutes, or answers that it is not healthy, which is tolerated for 30. Then the claim ends and its Pods find another machine. Condition MachineDown on the claim says since when.',
    fix: 'Nothing, unless it repeats: then look at the console of such an instance before it goes; karpenter.sh/do-not-repair: "true" on its Node keeps it.',
  },
  KPU390: {
    title: 'A machine is down and is not replaced',
    happens:
      'Too many of its NodePool or node class are down together, a budget allows none now, its Node asks not to be repaired, or it belongs to no NodePool. It is looked at again every minute.',
    fix: 'Do what the message says: where many are down together, look at what they share (network, image, the way from the controller to them); else raise the budget, take karpenter.sh/do-not-repair off, or delete the claim by hand.',
  },
} as const satisfies Record<string, Explanation>;

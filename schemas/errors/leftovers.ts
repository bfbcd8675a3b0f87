import type { Explanation } from './explanation.ts';

/** KPU39x: what NodeClaims that are no more have left. */
export const leftovers = {
  KPU391: {
    title: 'Something was left by a NodeClaim that is no more',
    happens:
      'It was made by this cluster for that claim, which the API server does not have, and has been seen without it for five minutes. It is removed: first what runs Kraftlet, then names, the instance, the Node with the Pods that are held on it, the Secret, and last volumes and network interfaces that nobody has.',
    fix: 'Nothing, unless it repeats: claims take all of it along. Look for whoever takes the finalizer karpenter.sh/termination off NodeClaims.',
  },
  KPU392: {
    title: 'What machines may have left somewhere cannot be listed in whole',
    happens:
      'Nothing is concluded of that place, and nothing removed there. It is looked at again in five minutes; all other places go on.',
    fix: 'Read the message: a permission that is missing (docs/tasks/aws-permissions.md, docs/tasks/gcp-permissions.md, kustomize/rbac), or a zone of the cloud that cannot be reached.',
  },
  KPU393: {
    title: 'Something that a NodeClaim left cannot be removed',
    happens: 'It stays, and what has to go after it, too; it is tried again every five minutes.',
    fix: 'Do what the message says: give the permission, or lift the protection of the instance.',
  },
} as const satisfies Record<string, Explanation>;

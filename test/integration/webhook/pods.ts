import type { Pod } from '#schemas/kubernetes/core.ts';
import type { ObjectMeta } from '#schemas/kubernetes/meta.ts';

export const inject_ = 'karpenter.unikraft.com/inject';
export const ukc = { key: 'virtual-kubelet.io/provider', operator: 'Equal', value: 'ukc' } as const;
export const injectedToleration = { ...ukc, effect: 'NoSchedule' } as const;
export const selector = { 'unikraft.com/virtual-kubelet': 'true' };

/** Pods carry secrets, which nobody who looks at them may tell. */
export const podSecret = 'q7Lr0vGm2XwZ9sNeB4tKpA';

/** A token's volume has a random name. */
const withoutToken: object = { automountServiceAccountToken: false };

const container = {
  name: 'main',
  image: 'example.com/app:1',
  env: [{ name: 'PASSWORD', value: podSecret }],
};

export function podWith(metadata: ObjectMeta, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    metadata: { name: 'subject', namespace: 'default', ...metadata },
    spec: { containers: [container], ...withoutToken, ...spec },
  };
}

/** Pods that no hook may change, each with the reason. */
export const others: readonly (readonly [string, Pod])[] = [
  ['it says nothing', podWith({ labels: { app: 'web', constructor: 'x' } })],
  [
    'it says "false", whatever else',
    podWith({ labels: { [inject_]: 'false' } }, { tolerations: [ukc], nodeSelector: selector }),
  ],
  [
    'it tolerates any virtual node',
    podWith({}, { tolerations: [{ key: ukc.key, operator: 'Exists' }] }),
  ],
  ['it tolerates everything', podWith({}, { tolerations: [{ operator: 'Exists' }] })],
  ["it is another provider's", podWith({}, { tolerations: [{ ...ukc, value: 'azure' }] })],
  [
    'it selects other nodes',
    podWith({}, { nodeSelector: { 'unikraft.com/virtual-kubelet': 'false' } }),
  ],
  [
    'it has both already',
    podWith({ labels: { [inject_]: 'true' } }, { tolerations: [ukc], nodeSelector: selector }),
  ],
  ['its label says something else', podWith({ labels: { [inject_]: 'yes' } })],
  [
    'its namespace is the system’s',
    podWith({ labels: { [inject_]: 'true' }, namespace: 'kube-system' }),
  ],
  [
    'it is a DaemonSet’s',
    podWith({
      labels: { [inject_]: 'true' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u' }],
    }),
  ],
];

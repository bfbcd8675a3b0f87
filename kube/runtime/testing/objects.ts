import type { Pod, PodSpec } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';

/** A Pod as the API server would hand it out. */
export function pod(name: string, spec: Partial<PodSpec> = {}): Live<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-of-${name}`, resourceVersion: '1' },
    spec: { containers: [], ...spec },
  };
}

import type { Manifest } from './render.ts';

/** What must be there before the rest can be: kinds, then places, then what Pods and hooks lean on. */
const FIRST = [
  'CustomResourceDefinition',
  'Namespace',
  'PriorityClass',
  'ServiceAccount',
  'ClusterRole',
  'Role',
  'ClusterRoleBinding',
  'RoleBinding',
  'ConfigMap',
  'Secret',
  'Service',
];

/** What judges others' objects comes last, so that it cannot refuse what it needs itself. */
const LAST = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/** In the order in which they can be applied one after the other; the order within a kind stays. */
export function inOrder(objects: readonly Manifest[]): Manifest[] {
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

export function isCrd({ kind }: Manifest): boolean {
  return kind === 'CustomResourceDefinition';
}

function rank({ kind }: Manifest): number {
  const first = FIRST.indexOf(kind);
  if (first >= 0) return first;
  return FIRST.length + 1 + LAST.indexOf(kind);
}

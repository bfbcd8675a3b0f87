/**
 * Gives a Pod that opts in what it lacks to run on a Kraftlet Node: the toleration and the node selector. Nothing a
 * person wrote is changed, and a Pod that lacks nothing gets no patch, so a second call does nothing.
 *
 * Source of the two: Unikraft's Kubernetes integration page; docs/concepts/admission.md says why each rule is so.
 */
import type { Pod, Toleration } from '#schemas/kubernetes/core.ts';
import { labels, taints } from '#schemas/names.ts';

import { allow, type AdmissionRequest, type Decision, type PatchOperation } from './review.ts';

const { key, value, effect } = taints.kraftlet;
const toleration = { key, operator: 'Equal', value, effect } as const;

/** The mutating hook's decision on a Pod that is being created. */
export function injectInto(request: AdmissionRequest): Decision {
  if (request.operation !== 'CREATE' || request.subResource || !isPod(request)) return allow;
  const pod = request.object as Pod;
  if (!optsIn(pod)) return allow;
  const skip = reasonToSkip(pod);
  if (skip !== undefined) return { allowed: true, auditAnnotations: { skipped: skip } };
  const conflict = conflictingSelector(pod);
  if (conflict !== undefined) return { allowed: true, warnings: [conflict] };
  const patch = [...selectorPatch(pod), ...tolerationPatch(pod)];
  return patch.length === 0
    ? allow
    : { allowed: true, patch, auditAnnotations: { injected: 'true' } };
}

function isPod({ kind, object }: AdmissionRequest): boolean {
  return kind.group === '' && kind.kind === 'Pod' && object !== undefined && object !== null;
}

/**
 * By label, by the toleration with exactly key and value (one that tolerates any provider's virtual nodes is no wish
 * for ours), or by the selector; a label "false" wins over all of them.
 */
function optsIn(pod: Pod): boolean {
  const wish = pod.metadata?.labels?.[labels.inject];
  if (wish === 'false') return false;
  return (
    wish === 'true' ||
    (pod.spec?.tolerations ?? []).some((one) => one.key === key && one.value === value) ||
    pod.spec?.nodeSelector?.[labels.virtualKubelet] === 'true'
  );
}

/** Pods that are somebody else's to place, or that no Kraftlet can run. */
function reasonToSkip({ metadata, spec }: Pod): string | undefined {
  if (metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined) return 'mirror Pod';
  if ((metadata?.ownerReferences ?? []).some(({ kind }) => kind === 'DaemonSet')) {
    return 'DaemonSet Pod: it follows its DaemonSet to every node that it fits';
  }
  if (spec?.nodeName) return 'bound to a node already';
  if (spec?.hostNetwork) return 'hostNetwork: a Unikraft machine has no host network to share';
  return spec?.os?.name === 'windows' ? 'Windows Pod' : undefined;
}

function conflictingSelector({ spec }: Pod): string | undefined {
  const present = spec?.nodeSelector?.[labels.virtualKubelet];
  if (present === undefined || present === 'true') return undefined;
  return `spec.nodeSelector[${labels.virtualKubelet}] is "${present}", so the Pod stays off Unikraft nodes`;
}

function selectorPatch({ spec }: Pod): PatchOperation[] {
  if (spec?.nodeSelector?.[labels.virtualKubelet] !== undefined) return [];
  if (!spec?.nodeSelector) {
    return [{ op: 'add', path: '/spec/nodeSelector', value: { [labels.virtualKubelet]: 'true' } }];
  }
  const name = labels.virtualKubelet.replaceAll('~', '~0').replaceAll('/', '~1');
  return [{ op: 'add', path: `/spec/nodeSelector/${name}`, value: 'true' }];
}

function tolerationPatch({ spec }: Pod): PatchOperation[] {
  if ((spec?.tolerations ?? []).some(covers)) return [];
  return spec?.tolerations
    ? [{ op: 'add', path: '/spec/tolerations/-', value: toleration }]
    : [{ op: 'add', path: '/spec/tolerations', value: [toleration] }];
}

function covers(one: Toleration): boolean {
  if (one.effect !== undefined && one.effect !== effect) return false;
  if (one.operator === 'Exists') return one.key === undefined || one.key === '' || one.key === key;
  return one.key === key && one.value === value;
}

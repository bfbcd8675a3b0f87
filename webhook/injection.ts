/**
 * Gives a Pod that opts in what it lacks to run on a Kraftlet Node: the toleration and the node selector. Nothing a
 * person wrote is changed, and a Pod that lacks nothing gets no patch, so a second call does nothing.
 *
 * A patch that does not apply fails the Pod's creation even where the hook's own failure would not (failurePolicy
 * Ignore covers the call, not the patch). So every path is computed from the Pod at hand, and a Pod of any shape that
 * the patch could stumble over is left alone.
 *
 * Source of the two: Unikraft's Kubernetes integration page.
 */
import type { Pod, Toleration } from '#schemas/kubernetes/core.ts';
import { labels, taints } from '#schemas/names.ts';

import {
  allow,
  isRecord,
  warning,
  type AdmissionRequest,
  type Decision,
  type PatchOperation,
} from './review.ts';

const { key, value, effect } = taints.kraftlet;
const toleration = { key, operator: 'Equal', value, effect } as const;
const selector = labels.virtualKubelet;

export interface InjectionOptions {
  /** Namespaces whose Pods are never touched. */
  readonly excluded?: ReadonlySet<string>;
  /** The Pod's namespace opts in, which the API server has seen; a review does not carry a namespace's labels. */
  readonly byNamespace?: boolean;
}

/** The mutating hooks' decision on a Pod that is being created. */
export function injectInto(request: AdmissionRequest, options: InjectionOptions = {}): Decision {
  const { object, namespace } = request;
  if (!createsPod(request) || !isPod(object) || isOptedOut(object)) return allow;
  const asks = optsIn(object);
  if (!asks && !options.byNamespace) return allow;
  if (isExcluded(namespace, options)) return skipped(`namespace ${namespace} is excluded`, false);
  const obstacle = obstacleIn(object);
  if (obstacle === undefined) return patched(object);
  return skipped(obstacle, asks || selectsOthers(object.spec));
}

function patched({ spec }: ReadablePod): Decision {
  const patch = [...selectorPatch(spec), ...tolerationPatch(spec)];
  if (patch.length === 0) return allow;
  return { allowed: true, patch, auditAnnotations: { injected: 'true' } };
}

/** @param namespace the request's: the object's own may be empty */
function isExcluded(namespace: string | undefined, { excluded }: InjectionOptions): boolean {
  return namespace !== undefined && excluded?.has(namespace) === true;
}

function createsPod({ operation, kind, subResource }: AdmissionRequest): boolean {
  return operation === 'CREATE' && kind.group === '' && kind.kind === 'Pod' && !subResource;
}

/** @param tell whoever makes the Pod has asked for it, and is to know that it was not done */
function skipped(obstacle: string, tell: boolean): Decision {
  return {
    allowed: true,
    ...(tell && { warnings: [warning(`not made fit for Unikraft nodes: ${obstacle}`)] }),
    auditAnnotations: { skipped: obstacle },
  };
}

/** Null as a server may send it for what is absent. */
type Loose<T> = { readonly [K in keyof T]?: T[K] | null };

interface ReadablePod {
  readonly metadata?: Loose<NonNullable<Pod['metadata']>> | null;
  readonly spec: Loose<NonNullable<Pod['spec']>>;
}

/** A Pod whose parts that count here have the shapes that they should have, or are not there. */
function isPod(object: unknown): object is ReadablePod {
  if (!isRecord(object) || !isRecord(object['spec'])) return false;
  const { metadata, spec } = object;
  if (!isMap(metadata)) return false;
  const { labels: own, annotations, ownerReferences } = metadata ?? {};
  const { nodeSelector, tolerations } = spec as Record<string, unknown>;
  return (
    [own, annotations, nodeSelector].every(isMap) && [ownerReferences, tolerations].every(isList)
  );
}

function isMap(value: unknown): value is Record<string, unknown> | null | undefined {
  return isRecord(value ?? {});
}

function isList(value: unknown): boolean {
  return Array.isArray(value ?? []) && ((value ?? []) as unknown[]).every(isRecord);
}

/** The label "false" wins over every way in. */
function isOptedOut({ metadata }: ReadablePod): boolean {
  return metadata?.labels?.[labels.inject] === 'false';
}

/**
 * By label, by the toleration with exactly key and value (one that tolerates any provider's virtual nodes is no wish
 * for ours), or by the selector.
 */
function optsIn({ metadata, spec }: ReadablePod): boolean {
  return (
    metadata?.labels?.[labels.inject] === 'true' ||
    (spec.tolerations ?? []).some(isOurs) ||
    spec.nodeSelector?.[selector] === 'true'
  );
}

/** Why the Pod is left alone although it opts in: it is somebody else's to place, or no Kraftlet can run it. */
function obstacleIn({ metadata, spec }: ReadablePod): string | undefined {
  if (metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined) return 'a mirror Pod';
  if (metadata?.ownerReferences?.some((owner) => owner.kind === 'DaemonSet')) {
    return 'a Pod of a DaemonSet, which is for every node that it fits'; // else made and removed without end
  }
  return spec.nodeName ? 'it is bound to a node already' : obstacleInSpec(spec);
}

function obstacleInSpec(spec: ReadablePod['spec']): string | undefined {
  const { hostNetwork, os, nodeSelector } = spec;
  if (hostNetwork) return 'spec.hostNetwork, and a machine has no host network to share';
  if (os?.name === 'windows' || nodeSelector?.[labels.os] === 'windows') return 'a Windows Pod';
  if (!selectsOthers(spec)) return undefined;
  return `nodeSelector ${selector}=${JSON.stringify(nodeSelector?.[selector])} is kept`;
}

function selectsOthers({ nodeSelector }: ReadablePod['spec']): boolean {
  const present = nodeSelector?.[selector];
  return present !== undefined && present !== 'true';
}

function selectorPatch({ nodeSelector }: ReadablePod['spec']): PatchOperation[] {
  if (!nodeSelector) {
    return [{ op: 'add', path: '/spec/nodeSelector', value: { [selector]: 'true' } }];
  }
  if (nodeSelector[selector] !== undefined) return [];
  return [{ op: 'add', path: `/spec/nodeSelector/${pointerTo(selector)}`, value: 'true' }];
}

function tolerationPatch({ tolerations }: ReadablePod['spec']): PatchOperation[] {
  if (!tolerations) return [{ op: 'add', path: '/spec/tolerations', value: [toleration] }];
  if (tolerations.some(covers)) return [];
  return [{ op: 'add', path: '/spec/tolerations/-', value: toleration }];
}

/** Whether a toleration says our key and value; an operator that is absent is Equal. */
function isOurs(one: Toleration): boolean {
  return one.key === key && one.value === value && (one.operator || 'Equal') === 'Equal';
}

/** Whether a toleration covers the taint as the scheduler sees it: without effect all effects, without key all keys. */
function covers(one: Toleration): boolean {
  if (one.effect && one.effect !== effect) return false;
  if (one.operator === 'Exists') return !one.key || one.key === key;
  return isOurs(one);
}

/** One step of a JSON pointer (RFC 6901): `~` first, else it would be escaped twice. */
function pointerTo(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * What a Node has become that its claim did not promise. Whoever makes it so does it to each Node of the pool, whatever
 * Pods it was made for, so machines in vain are counted by this as well as by the kind of their Pods.
 *
 * Told as kube-scheduler judges it. Source: Kubernetes v1.37, pkg/scheduler/framework/plugins: tainttoleration,
 * nodeunschedulable (which asks for a toleration of the taint of its name), nodeaffinity, noderesources.
 */
import { isTrue } from '#kube/conditions.ts';
import { alternativesOf } from '#scheduling/affinity.ts';
import { toAmounts } from '#scheduling/amounts.ts';
import { podRequests } from '#scheduling/pod-requests.ts';
import { matchesLabels } from '#scheduling/requirements.ts';
import { untolerated } from '#scheduling/taints.ts';
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Node, Pod, Taint } from '#schemas/kubernetes/core.ts';
import { labels, taints } from '#schemas/names.ts';

import { has, lastingTaints, startupTaints } from '../../nodeclaim/launch/claim-taints.ts';
import { isEphemeral } from '../in-flight.ts';

export type Cause =
  | { readonly kind: 'taint'; readonly subject: string; readonly taint: Taint }
  /** A label that the claim has, and that its Node lacks or has with another value. */
  | { readonly kind: 'label'; readonly subject: string; readonly value: string | undefined }
  /** A resource of which the Node offers less than was planned onto it. */
  | {
      readonly kind: 'resource';
      readonly subject: string;
      /** In thousandths. */
      readonly offered: bigint;
      readonly instanceType: string | undefined;
    };

/**
 * Taints that follow from something else: a Node that is on its way out, as nobody came; memory that is short, as
 * Kraftlet has refused a Pod.
 */
const following: ReadonlySet<string> = new Set([
  taints.disrupted.key,
  'node.kubernetes.io/memory-pressure',
]);

const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** What machines in vain are counted by: the value of a taint or label may be another on each Node. */
export function keyOf({ kind, subject }: Cause): string {
  return `${kind} ${subject}`;
}

/** Nothing of a Node that is only starting: it may still become what was promised. */
export function causesOn(claim: NodeClaim, node: Node): Cause[] {
  return [...taintCauses(claim, node), ...labelCauses(claim, node), ...resourceCauses(claim, node)];
}

/**
 * Whether the cause keeps this Pod off.
 *
 * @param instanceType  of the machine that there is, or that would be made: others may offer what was promised
 */
export function concerns(cause: Cause, { spec }: Pod, instanceType: string | undefined): boolean {
  if (!spec) return false;
  if (cause.kind === 'taint') return untolerated([cause.taint], spec.tolerations) !== undefined;
  if (cause.kind === 'label') return asksForAnother(spec, cause.subject, cause.value);
  const asked = toAmounts(podRequests(spec)).get(cause.subject) ?? 0n;
  const isOfThatSize = cause.offered === 0n || cause.instanceType === instanceType;
  return asked > cause.offered && isOfThatSize;
}

/** Taints that stay on a Node and keep Pods off, whether promised or not. */
export function keepingOff({ spec }: Node): Taint[] {
  return (spec?.taints ?? []).filter(({ key }) => !following.has(key));
}

/** What somebody or something put on a Node; a person who empties a Node to take it away cordons it first. */
export function isTaintOfSomebody(cause: Cause): cause is Extract<Cause, { kind: 'taint' }> {
  return cause.kind === 'taint' && cause.subject !== cordon.key;
}

function taintCauses(claim: NodeClaim, node: Node): Cause[] {
  const promised = [...lastingTaints(claim), ...startupTaints(claim)];
  const isStarting = !isTrue(claim.status?.conditions, 'Initialized');
  return [...keepingOff(node), ...stateOf(node)]
    .filter((taint) => !has(promised, taint) && taint.effect !== 'PreferNoSchedule')
    .filter((taint) => !isStarting || !isEphemeral(taint, claim))
    .map((taint) => ({ kind: 'taint', subject: taint.key, taint }));
}

/** Kubernetes puts these taints on such a Node too, a moment later. */
function stateOf({ spec, status }: Node): Taint[] {
  const isReady = isTrue(status?.conditions, 'Ready');
  return [...(spec?.unschedulable ? [cordon] : []), ...(isReady ? [] : [notReady])];
}

function labelCauses({ metadata }: NodeClaim, node: Node): Cause[] {
  const given = node.metadata?.labels ?? {};
  return Object.entries(metadata?.labels ?? {}).flatMap(([key, promised]) => {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    return value === promised ? [] : [{ kind: 'label', subject: key, value }];
  });
}

function resourceCauses({ metadata, spec, status }: NodeClaim, node: Node): Cause[] {
  if (!isTrue(status?.conditions, 'Initialized')) return [];
  const instanceType = metadata?.labels?.[labels.instanceType];
  const there = toAmounts(node.status?.allocatable ?? {});
  return [...toAmounts(spec.resources?.requests ?? {})].flatMap(([subject, planned]) => {
    const offered = there.get(subject) ?? 0n;
    return offered >= planned ? [] : [{ kind: 'resource', subject, offered, instanceType }];
  });
}

function asksForAnother(
  spec: NonNullable<Pod['spec']>,
  key: string,
  value: string | undefined,
): boolean {
  const given = value === undefined ? {} : { [key]: value };
  const kinds = alternativesOf(spec);
  return (
    kinds.length > 0 &&
    kinds.every((kind) => {
      const asked = kind.get(key);
      return asked !== undefined && !matchesLabels(new Map([[key, asked]]), given);
    })
  );
}

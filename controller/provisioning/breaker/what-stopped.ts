/**
 * What keeps a Pod off a Node, told as kube-scheduler judges it: by what the Node says of itself now, not by what was
 * planned.
 *
 * Source: Kubernetes v1.37, pkg/scheduler/framework/plugins: tainttoleration, nodeunschedulable, nodeaffinity,
 * noderesources.
 */
import { isTrue } from '#kube/conditions.ts';
import { alternativesOf } from '#scheduling/affinity.ts';
import { toAmounts } from '#scheduling/amounts.ts';
import { podRequests, boundPodRequests } from '#scheduling/pod-requests.ts';
import { matchesLabels } from '#scheduling/requirements.ts';
import { isBinary } from '#scheduling/slots.ts';
import { taintText, untolerated } from '#scheduling/taints.ts';
import type { Node, Pod, Taint } from '#schemas/kubernetes/core.ts';
import type { Live } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

import { keepingOff } from './cause.ts';

/**
 * @param others  Pods that are on the Node
 * @returns half a sentence, as `Node web-1 has taint a=b:NoSchedule, which they do not tolerate`; undefined when
 * nothing that stands on the Node speaks against the Pod
 */
export function whatStopped(
  pod: Pod,
  node: Live<Node>,
  others: readonly Pod[],
): string | undefined {
  const found = untolerated(keepingOff(node), pod.spec?.tolerations);
  if (found) return tainted(node, found);
  const why = state(node) ?? selection(pod, node) ?? lack(pod, node, others);
  return why && `Node ${node.metadata.name} ${why}`;
}

/** As {@link whatStopped} says it of a taint. */
export function tainted({ metadata }: Live<Node>, taint: Taint): string {
  return `Node ${metadata.name} has taint ${taintText(taint)}, which they do not tolerate`;
}

/** What kube-scheduler itself says of the Pod: the next best where the Node shows nothing. */
export function schedulersWords({ status }: Pod): string | undefined {
  const verdict = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return verdict?.message ? `kube-scheduler says: ${verdict.message.slice(0, 300)}` : undefined;
}

function state({ spec, status }: Node): string | undefined {
  if (spec?.unschedulable) return 'is cordoned';
  return isTrue(status?.conditions, 'Ready') ? undefined : 'is not Ready';
}

function selection({ spec }: Pod, { metadata }: Live<Node>): string | undefined {
  const given = metadata.labels ?? {};
  const kinds = spec ? alternativesOf(spec) : [];
  if (kinds.length === 0 || kinds.some((kind) => matchesLabels(kind, given))) return undefined;
  const wrong = [...(kinds[0] ?? [])].find((one) => !matchesLabels(new Map([one]), given));
  const [key = ''] = wrong ?? [];
  return !Object.hasOwn(given, key)
    ? `has no label ${key}, which they ask for`
    : `has label ${key}=${given[key]}, and they ask for another`;
}

function lack(pod: Pod, { status }: Node, others: readonly Pod[]): string | undefined {
  const offered = toAmounts(status?.allocatable ?? {});
  const taken = others.map((other) => toAmounts(boundPodRequests(other)));
  for (const [name, asked] of toAmounts(podRequests(pod.spec ?? { containers: [] }))) {
    const used = taken.reduce((sum, one) => sum + (one.get(name) ?? 0n), 0n);
    const left = (offered.get(name) ?? 0n) - used;
    if (asked > 0n && asked > left) {
      return `has ${text(name, left)} left, and they ask for ${text(name, asked)}`;
    }
  }
  return undefined;
}

/** `10Gi memory`, from thousandths; a node that is full beyond its size has nothing left. */
function text(name: string, milli: bigint): string {
  const amount = milli > 0n ? milli : 0n;
  const quantity = isBinary(name)
    ? Quantity.ofInteger(amount / 1000n, 'BinarySI')
    : Quantity.parse(`${amount}m`);
  return `${quantity.toString()} ${name}`;
}

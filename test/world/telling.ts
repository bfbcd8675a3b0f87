/** Objects as a failed test shows them: a line each, with what decides whether a Pod gets to run. */
import type { NodeClaim } from '#schemas/karpenter/types.ts';
import type { Event, Node, Pod } from '#schemas/kubernetes/core.ts';
import type { Condition, Live } from '#schemas/kubernetes/meta.ts';

export function tellClaim({ metadata, status }: Live<NodeClaim>): string {
  const conditions = (status?.conditions ?? []).map((condition) => `    ${tell(condition)}`);
  return [`  ${metadata.name} ${metadata.deletionTimestamp ?? ''}`, ...conditions].join('\n');
}

export function tellNode({ metadata, spec, status }: Live<Node>): string {
  const taints = (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
  const conditions = (status?.conditions ?? []).map(tell);
  const offered = JSON.stringify(status?.allocatable ?? {});
  return [`  ${metadata.name} ${offered} ${taints.join(' ')}`, ...conditions].join('\n    ');
}

export function tellPod({ metadata, spec, status }: Live<Pod>): string {
  const { phase = '', nominatedNodeName = 'none', conditions = [] } = status ?? {};
  const where = `on ${spec?.nodeName ?? 'no node'}, nominated ${nominatedNodeName}`;
  const name = `${metadata.namespace ?? ''}/${metadata.name} ${metadata.deletionTimestamp ?? ''}`;
  return [
    `  ${name} ${phase} ${where}`,
    ...conditions.map((condition) => `    ${tell(condition)}`),
  ].join('\n');
}

export function tellEvent({ reason = '', message = '', involvedObject }: Live<Event>): string {
  return `  ${involvedObject.name ?? ''}: ${reason} ${message}`;
}

function tell({ type, status, reason = '', message = '' }: Condition): string {
  return `${type}=${status} ${reason} ${message}`;
}

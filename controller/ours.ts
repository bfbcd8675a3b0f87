import type { NodeClaim, NodePool } from '#schemas/karpenter/types.ts';
import type { Node } from '#schemas/kubernetes/core.ts';
import { group, labels, nodeClassKind } from '#schemas/names.ts';

/**
 * Whether a pool or claim is ours to act on: by the group and kind of its node class, as upstream judges it, so
 * that other Karpenter providers in the cluster are never touched.
 */
export function isOurs(object: NodeClaim | NodePool): boolean {
  const spec = 'template' in object.spec ? object.spec.template.spec : object.spec;
  return spec.nodeClassRef.group === group && spec.nodeClassRef.kind === nodeClassKind;
}

/** Whether a Node fronts one of our machines: it carries the node class label from birth. */
export function isOurNode(node: Node): boolean {
  return node.metadata?.labels?.[labels.nodeClass] !== undefined;
}

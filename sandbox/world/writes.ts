import type { AuditEntry } from '../control-plane/audit.ts';
import { isWrite } from '../control-plane/audit.ts';

const controller = 'system:serviceaccount:karpenter-unikraft:karpenter-unikraft-controller';

/** A NodeClaim from its creation to Initialized, and the Node that it became. */
export interface MachineSpan {
  readonly claim: string;
  readonly node: string;
  /** RFC 3339. */
  readonly initializedAt: string;
}

/**
 * Writes of the controller to a NodeClaim and its Node, subresources included, from the claim's creation (which
 * counts) until it was Initialized; one number a machine.
 */
export function writesPerNode(
  entries: readonly AuditEntry[],
  spans: readonly MachineSpan[],
): number[] {
  const ours = entries.filter(
    (entry) =>
      entry.user === controller &&
      isWrite(entry) &&
      (entry.resource === 'nodeclaims' || entry.resource === 'nodes'),
  );
  return spans.map(({ claim, node, initializedAt }) => {
    const later = ours.filter(
      ({ resource, name, at, verb }) =>
        at <= initializedAt &&
        verb !== 'create' && // the log of a create with generateName has no name: it is the 1 below
        (resource === 'nodeclaims' ? name === claim : name === node),
    );
    return 1 + later.length;
  });
}

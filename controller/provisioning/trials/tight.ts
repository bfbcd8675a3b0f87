import { toAmounts } from '#scheduling/amounts.ts';
import { podRequests } from '#scheduling/pod-requests.ts';
import type { PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';

/** A prediction may be wrong by a tenth. */
const certain = { parts: 9n, of: 10n };

/** Whether a Pod would not fit if a machine had a tenth less of anything than this. */
export function needsNearlyAll(spec: PodSpec, capacity: Readonly<ResourceList>): boolean {
  const offered = toAmounts(capacity);
  return [...toAmounts(podRequests(spec))].some(([name, asked]) => {
    const there = offered.get(name);
    return there !== undefined && asked * certain.of > there * certain.parts;
  });
}

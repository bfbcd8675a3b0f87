import { podRequests } from '#scheduling/pod-requests.ts';
import type { PodSpec } from '#schemas/kubernetes/core.ts';
import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import { Quantity } from '#schemas/quantity/quantity.ts';

/** A prediction may be wrong by a tenth. */
const certain = { parts: 9n, of: 10n };

/** Whether a Pod would not fit if a machine had a tenth less of anything than this. */
export function needsNearlyAll(spec: PodSpec, capacity: Readonly<ResourceList>): boolean {
  return Object.entries(podRequests(spec)).some(([name, asked]) => {
    const there = capacity[name];
    if (there === undefined) return false;
    return milli(asked) * certain.of > milli(there) * certain.parts;
  });
}

function milli(text: string): bigint {
  return Quantity.parse(text).toMilli();
}

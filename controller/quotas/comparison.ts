import type { ResourceList } from '#schemas/kubernetes/meta.ts';
import type { UnikraftNodeClass } from '#schemas/nodeclass/types.ts';
import { InvalidQuantity, Quantity } from '#schemas/quantity/quantity.ts';
import type { Limit } from '#schemas/quotapolicy/ceilings.ts';

/** A value that is asked for and is more than a ceiling allows. */
export interface Excess {
  /** In the object that asks: `spec.limits.cpu`. */
  readonly path: string;
  /** As the user spelled it; undefined: without any limit. */
  readonly requested: string | undefined;
  /** Canonical. */
  readonly ceiling: string;
}

/** Which of a pool's own limits are above these ceilings. To have no limit is to ask for more than any ceiling. */
export function excessOf(
  own: Readonly<ResourceList> | undefined,
  ceilings: readonly Limit[],
): Excess[] {
  return ceilings.flatMap(({ resource, amount }) => {
    const requested = own && Object.hasOwn(own, resource) ? own[resource] : undefined;
    const isAbove = requested === undefined || isMore(requested, amount);
    return isAbove ? [{ path: `spec.limits.${resource}`, requested, ceiling: amount }] : [];
  });
}

/** The capacity that a node class states for each machine, as it is spelled there. */
export function statedCapacity({ spec }: Pick<UnikraftNodeClass, 'spec'>): ResourceList {
  const { vcpus, memory, volumeStorage, instances } = spec.platform?.capacity ?? {};
  const stated = { vcpus, memory, volumeStorage, instances };
  return Object.fromEntries(
    Object.entries(stated).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
}

/** `spec.limits.cpu: 500 is asked for, 256 holds`. */
export function excessText({ path, requested, ceiling }: Excess): string {
  return requested === undefined
    ? `${path}: no limit is asked for, ${ceiling} holds`
    : `${path}: ${requested} is asked for, ${ceiling} holds`;
}

/** What cannot be read is judged by the pool's own validation. */
function isMore(requested: string, ceiling: string): boolean {
  try {
    return Quantity.parse(requested).compareTo(Quantity.parse(ceiling)) > 0;
  } catch (error) {
    if (error instanceof InvalidQuantity) return false;
    throw error;
  }
}

import type { PlatformQuotas } from '#schemas/instances/instance-type.ts';
import type { UnikraftNodeClassStatus } from '#schemas/nodeclass/types.ts';

/** What platforms turned out to allow, as a node class keeps it in its status. */
export type Corrections = NonNullable<UnikraftNodeClassStatus['capacityCorrections']>;

/** Those that were learned from machines of this revision; another one may be another image. */
export function correctionsOf(
  status: UnikraftNodeClassStatus | undefined,
  revision: string,
): Corrections {
  return (status?.capacityCorrections ?? []).filter((one) => one.revision === revision);
}

/** The quotas to expect of a size: what its platform was seen to allow beats any arithmetic. */
export function corrected(
  predicted: PlatformQuotas,
  instanceType: string,
  corrections: Corrections,
): PlatformQuotas {
  const learned = corrections.find((one) => one.instanceType === instanceType);
  if (!learned) return predicted;
  const { vcpus, memoryMiB, instances } = learned;
  return { ...predicted, vcpus, memoryMiB, instances };
}

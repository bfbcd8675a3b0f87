import { labels } from '../names.ts';
import type { MachineType } from './instance-type.ts';

/** What every Node of a size is labelled with, wherever it is sold. Memory is in MiB, as a number can be compared. */
export function labelsOf(machine: MachineType): Record<string, string> {
  return {
    [labels.instanceType]: machine.name,
    [labels.arch]: machine.architecture,
    [labels.os]: 'linux',
    [labels.instanceFamily]: machine.family,
    [labels.instanceVcpus]: String(machine.vcpus),
    [labels.instanceMemory]: String(machine.memoryMiB),
    [labels.nestedVirtualization]: String(machine.nested),
  };
}
